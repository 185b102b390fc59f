// People and figures: who there is, whose figure is whose, and a new figure from six photographs.
import { $, ask, boot, el, fill, post, w } from "./dom.js";

const MOST_PIXELS = 12e6; // larger photographs are made smaller before they are sent
const faces = Array.from({ length: boot.faces }, (_, i) => i + 1);
let version = 0;

function say(words) {
  $("#said").textContent = words ?? "";
  $("#said").hidden = !words;
  if (words) $("#said").scrollIntoView({ block: "nearest" });
}

function show(state, spoken = true) {
  if (spoken) say(state.words);
  if (!state.people) return;
  version += 1;
  const owners = [["", w("people_nobody")], ...state.people.map((name) => [name, name])];
  const choices = (chosen) => owners.map(([value, words]) => el("option", { value, selected: value === chosen }, words));
  fill($("#people-list"), state.people, () => (state.people.length ? state.people.map((name) => el("li", { class: "row" }, el("b", {}, name),
    el("button", { type: "button", class: "quiet", "aria-label": `${w("people_drop")}: ${name}`, onclick: async () => {
      if (await ask(w("people_drop_ask", { name }))) send("person", { name, drop: true });
    } }, w("people_drop")))) : [el("li", { class: "hint" }, w("people_none"))]));
  fill($("#figure-list"), [state.figures, state.people], () => (state.figures.length ? state.figures.map((figure) => el("li", {},
    el("div", { class: "row" }, el("b", {}, figure.name),
      el("label", {}, el("span", { class: "sr" }, `${w("people_owner")}: ${figure.name}`),
        el("select", { onchange: (event) => send("give", { figure: figure.id, owner: event.target.value }) }, ...choices(figure.owner))),
      el("button", { type: "button", class: "quiet", "aria-label": `${w("people_drop")}: ${figure.name}`, onclick: async () => {
        if (await ask(w("people_drop_ask", { name: figure.name }))) send("drop", { figure: figure.id });
      } }, w("people_drop"))),
    el("div", { class: "faces" }, ...faces.map((n) => el("img", { src: `/api/enrol/figure/${figure.id}/${n}.png`, alt: w("people_face", { n }), width: 120, height: 37 }))),
    figure.doubts.length ? el("ul", { class: "troubles" }, ...figure.doubts.map((words) => el("li", {}, words))) : el("p", { class: "hint" }, w("people_apart"))))
    : [el("li", { class: "hint" }, w("people_no_figures"))]));
  const owner = $("#figure-owner").value;
  $("#figure-owner").replaceChildren(...choices(owner));
  for (const n of faces) {
    const node = $(`#photo-${n}`);
    const there = state.taken.includes(n);
    $("img", node).hidden = !there;
    if (there) $("img", node).src = `/api/enrol/face/${n}.png?v=${version}`;
    node.classList.toggle("there", there);
  }
}

async function send(what, data) {
  const state = await post(`/api/enrol/${what}`, data);
  show(state);
  return state.ok;
}

// What became of a photograph stands beside it.
async function photographed(n, answer) {
  const node = $(`#photo-${n}`);
  const state = await answer;
  show(state, false);
  $(".why", node).textContent = state.ok ? "" : state.words;
  node.classList.toggle("bad", !state.ok);
  node.removeAttribute("aria-busy");
}

async function smaller(file) {
  const bitmap = await createImageBitmap(file).catch(() => null);
  if (!bitmap || bitmap.width * bitmap.height <= MOST_PIXELS) return file; // the table says what is wrong with it
  const scale = Math.sqrt(MOST_PIXELS / (bitmap.width * bitmap.height));
  const canvas = el("canvas", { width: Math.floor(bitmap.width * scale), height: Math.floor(bitmap.height * scale) });
  canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob((blob) => done(blob ?? file), "image/jpeg", 0.92));
}

async function upload(n, file) {
  try {
    const response = await fetch(`/api/enrol/photo/${n}`, { method: "POST", headers: { "X-Companion": "1" }, body: await smaller(file) });
    return await response.json();
  } catch {
    return { ok: false, words: w("not_sent") };
  }
}

function photo(n) {
  const busy = () => { $(`#photo-${n}`).setAttribute("aria-busy", "true"); $(".why", $(`#photo-${n}`)).textContent = w("people_looking"); };
  const input = el("input", { type: "file", accept: "image/jpeg,image/png", class: "sr", id: `file-${n}`,
    onchange: (event) => { const [file] = event.target.files; event.target.value = ""; if (file) { busy(); photographed(n, upload(n, file)); } } });
  return el("li", { id: `photo-${n}`, class: "photo" }, el("b", {}, w("people_face", { n })),
    el("img", { alt: w("people_face", { n }), hidden: true, width: 150, height: 46 }),
    el("span", { class: "row" },
      el("button", { type: "button", onclick: () => { busy(); photographed(n, post(`/api/enrol/camera/${n}`, {})); } }, w("people_camera")),
      input, el("label", { for: `file-${n}`, class: "button" }, w("people_upload"))),
    el("span", { class: "why error", role: "status" }));
}

function box(row, part, i) {
  const id = `field-${row.key}-${i}`;
  const label = [row.words, part.words].filter(Boolean).join(", ");
  return el("p", { class: "field" }, el("label", { for: id }, part.words && row.parts.length > 1 ? part.words : label),
    part.choices.length ? el("select", { id }, ...part.choices.map(([value, words]) => el("option", { value }, words)))
      : el("input", { id, type: "number", inputmode: "numeric", min: part.low, max: part.high, value: part.low, "aria-label": label }));
}

$("#photos").append(...faces.map(photo));
$("#new-figure .fields").append(...boot.rows.map((row) => (row.parts.length > 1
  ? el("fieldset", {}, el("legend", {}, row.words), el("div", { class: "many" }, ...row.parts.map((part, i) => box(row, part, i))))
  : box(row, row.parts[0], 0))));
$("#add-person").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (await send("person", { name: $("#person").value })) $("#person").value = "";
});
$("#new-figure").addEventListener("submit", async (event) => {
  event.preventDefault();
  const values = Object.fromEntries(boot.rows.map((row) => [row.key, row.parts.map((_, i) => $(`#field-${row.key}-${i}`).value)]));
  if (await send("figure", { name: $("#figure-name").value, owner: $("#figure-owner").value, values })) {
    $("#figure-name").value = "";
    say(w("people_saved"));
  }
});
show(await (await fetch("/api/enrol")).json());
