// The four corners of the board, tapped in the camera's picture when its markers are missing or cannot be seen.
import { $, command, el, say, w } from "./dom.js";

const points = [];
let names = [];

export function enableCorners(state) {
  names = state.corners;
  $("#open-corners").hidden = !names.length;
}

function show() {
  const left = names.slice(points.length);
  $("#corners-ask").textContent = left.length ? w("corners_tap", { corner: left[0], number: points.length + 1 }) : w("corners_done");
  $("#corners [data-send]").disabled = left.length > 0;
  $("#corners .spots").replaceChildren(...points.map(spot));
}

function spot([x, y], i) {
  const node = el("span", {}, names[i]);
  node.style.left = `${100 * x}%`;
  node.style.top = `${100 * y}%`;
  return node;
}

async function send(chosen) {
  const reply = await command("tap_corners", { points: chosen });
  if (reply.ok) $("#corners").close();
  else {
    $("#corners-ask").textContent = reply.words;
    say("");
    points.length = 0;
    $("#corners .spots").replaceChildren();
    $("#corners [data-send]").disabled = true;
  }
}

$("#open-corners").addEventListener("click", () => {
  points.length = 0;
  $("#corners img").src = $("#camera img").src;
  show();
  $("#corners").showModal();
});

$("#corners img").addEventListener("click", (event) => {
  if (points.length === names.length) return;
  const box = event.target.getBoundingClientRect();
  points.push([(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height].map((part) => Math.min(1, Math.max(0, part))));
  show();
});

$("#corners [data-again]").addEventListener("click", () => { points.length = 0; show(); });
$("#corners [data-send]").addEventListener("click", () => send(points));
$("#corners [data-markers]").addEventListener("click", () => send([]));
$("#corners [data-close]").addEventListener("click", () => $("#corners").close());
