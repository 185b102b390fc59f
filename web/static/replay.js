// The seconds around a doubted turn in slow motion, and what the table makes of it.
import { $, ask, command, el, say, w } from "./dom.js";

const POLL_MS = 400;
const PATIENCE_MS = 8000; // the clip's last picture is taken a moment after the turn
const AHEAD = 8; // pictures fetched before they are shown
const SLOWEST_GAP_S = 0.5;

const dialog = $("#replay");
const image = dialog && $("img", dialog); // the big screen has no player
const slider = $("#replay-at");
let wanted = 0; // the turn whose clip has been asked for and not come yet
let line = null; // the turn that is shown; none for a question
let clip = "";
let times = [];
let at = 0;
let timer = 0;
let round = 0;
let may = false; // whether somebody here plays

export function replayButton(of) {
  return of.clip ? el("button", { type: "button", class: "replay", onclick: () => open(of.clip, of.number ? of : null) }, w("replay")) : null;
}

export function doubtButton(of) {
  return el("button", { type: "button", class: "doubt", onclick: () => doubt(of.number) }, w("doubt"));
}

async function doubt(number) {
  wanted = number;
  if (!(await command("doubt", { number })).ok) wanted = 0;
}

// What has come from the table: a clip that was waited for is opened, an open one knows its turn's newest state.
export function followReplay(state, record, seats) {
  may = seats.may.length > 0;
  const lines = [...record, state.provisional && { ...state.provisional, provisional: true }].filter(Boolean);
  const found = lines.find((each) => each.number === wanted && each.doubted);
  if (found) {
    wanted = 0;
    if (found.clip) open(found.clip, found);
  }
  if (line && dialog.open) {
    line = lines.find((each) => each.number === line.number && each.clip === clip);
    if (!line) dialog.close();
    else showDecision();
  }
}

async function open(name, of = null) {
  clip = name;
  line = of;
  times = [];
  const mine = ++round;
  image.removeAttribute("src");
  $("#replay-title").textContent = of ? w("replay_title", of) : w("replay_asked");
  $("#replay-words").textContent = of?.words ?? "";
  $("#replay-state").textContent = w("replay_wait");
  dialog.dataset.ready = "";
  showDecision();
  if (!dialog.open) dialog.showModal();
  const began = Date.now();
  while (dialog.open && mine === round && !times.length && Date.now() - began < PATIENCE_MS) {
    times = await fetch(`/clip/${clip}`).then((r) => r.json()).then((data) => data.times_s).catch(() => []);
    if (!times.length) await new Promise((done) => setTimeout(done, POLL_MS));
  }
  if (!dialog.open || mine !== round) return;
  if (!times.length) {
    $("#replay-state").textContent = w("replay_gone");
    return;
  }
  slider.max = String(times.length - 1);
  dialog.dataset.ready = "yes";
  show(0);
  play();
}

function show(number) {
  at = Math.max(0, Math.min(times.length - 1, number));
  image.src = address(at);
  slider.value = String(at);
  const words = w("replay_at", { seconds: times[at].toFixed(2), number: at + 1, count: times.length });
  $("#replay-state").textContent = words;
  slider.setAttribute("aria-valuetext", words);
  for (let next = at + 1; next <= Math.min(at + AHEAD, times.length - 1); next++) new Image().src = address(next);
}

const address = (number) => `/clip/${clip}/${number}.jpg`;

function play() {
  pause();
  if (at >= times.length - 1) show(0);
  $("#replay-play").textContent = w("replay_pause");
  step();
}

function step() {
  const gap = at + 1 < times.length ? Math.min(times[at + 1] - times[at], SLOWEST_GAP_S) : 0;
  if (!gap || !dialog.open) return pause();
  timer = setTimeout(async () => {
    show(at + 1);
    await image.decode().catch(() => {}); // a slow line makes it slower, never blind
    if (timer) step();
  }, (1000 * gap) / Number($("#replay-speed").value));
}

function pause() {
  clearTimeout(timer);
  timer = 0;
  $("#replay-play").textContent = w("replay_play");
}

function showDecision() {
  $("#replay-doubt").textContent = line?.doubt ?? "";
  $("#replay-decide").hidden = !line || !may || !line.doubted;
  $("#replay-correct").hidden = !line || line.provisional;
}

async function decide(name, args) {
  const reply = await command(name, args);
  if (reply.ok) dialog.close();
  else {
    $("#replay-doubt").textContent = reply.words;
    say("");
  }
}

if (dialog) {
  $("#replay-play").addEventListener("click", () => (timer ? pause() : play()));
  $("#replay-back").addEventListener("click", () => { pause(); show(at - 1); });
  $("#replay-on").addEventListener("click", () => { pause(); show(at + 1); });
  slider.addEventListener("input", () => { pause(); show(Number(slider.value)); });
  $("#replay-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => { pause(); line = null; round++; });
  $("#replay-stands").addEventListener("click", () => decide("uphold", { number: line.number }));
  $("#replay-takeback").addEventListener("click", () => (line.provisional ? decide("takeback", {}) : decide("undo_to", { number: line.number - 1 })));
  $("#replay-correct").addEventListener("click", async () => {
    const { number } = line;
    const text = await ask(w("correct_turn"), w("correct_turn_label", line), line.text);
    if (text) decide("correct_turn", { number, text });
  });
}
