// Puts the stream and the parts of the page together.
import { showBoard, showPicture } from "./board.js";
import { $, boot, post, w } from "./dom.js";
import { showRecord } from "./record.js";
import { showStatus } from "./status.js";
import { follow } from "./stream.js";
import { offerVoice, say } from "./voice.js";

const now = { state: null, seats: null, record: [] };
const newGame = boot.tv ? null : await import("./newgame.js");
const corners = boot.tv ? null : await import("./corners.js");
const replay = boot.tv ? null : await import("./replay.js");
let announced = "";
let queued = false;

// The events of one push arrive together; draw once.
function redraw() {
  if (queued) return;
  queued = true;
  setTimeout(() => {
    queued = false;
    if (!now.state || !now.seats) return;
    showStatus(now.state, now.seats, now.record);
    showBoard(now.state, now.seats);
    showRecord(now.record, now.state, now.seats);
    corners?.enableCorners(now.state);
    replay?.followReplay(now.state, now.record, now.seats);
    newGame?.enableNewGame(now.state, now.seats);
    announce();
  });
}

// One line a turn for those who listen: the turn and whose turn it is now, a question, a refusal.
function announce() {
  const { state, record } = now;
  const last = record.at(-1);
  const red = state.signal === "illegal" ? state.verdict : "";
  const key = JSON.stringify([record.length, last?.words, state.question?.id, red, state.outcome]);
  if (key === announced) return;
  const first = announced === "";
  announced = key;
  if (first) return;
  const words = [red || last?.words, state.question?.words, state.outcome ?? state.headline].filter(Boolean).join(". ");
  $("#live").textContent = words;
  say(words);
}

function showFrame(number) {
  const box = $("#camera");
  box.hidden = number === "0";
  if (number !== "0") $("img", box).src = `/picture.jpg?n=${number}`;
}

follow({
  state: (data) => { now.state = JSON.parse(data); redraw(); },
  seats: (data) => { now.seats = JSON.parse(data); redraw(); },
  record: (data) => { now.record = JSON.parse(data); redraw(); },
  board: showPicture,
  frame: showFrame,
}, (why) => {
  const banner = $("#stale");
  document.body.classList.toggle("is-stale", Boolean(why));
  banner.hidden = !why;
  if (why) banner.textContent = w(why);
});

offerVoice();

$("#language")?.addEventListener("change", async (event) => {
  if ((await post("/api/language", { language: event.target.value })).ok) location.reload();
});
