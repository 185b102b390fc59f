// The new-game form: which game, who plays, house rules, start position; built from the games' own options.
import { $, ask, boot, command, el, w } from "./dom.js";

const dialog = $("#new-game");
const fields = $(".fields", dialog);
let running = false;
let names = [];
let game = "";
let camera = false;
let people = [];

export function enableNewGame(state, seats) {
  running = ["playing", "paused", "start_check"].includes(state.phase);
  game = state.game;
  camera = state.devices.some((device) => device.name === "camera");
  if (state.players.length) names = state.players;
  $("#open-new-game").hidden = !boot.offers.length || !(seats.free_for_all || seats.may.length);
  $("#open-new-game").classList.toggle("main", ["setup", "over"].includes(state.phase));
  $("#open-new-game").classList.toggle("quiet", !["setup", "over"].includes(state.phase));
}

function select(id, label, choices, chosen) {
  return el("p", { class: "field" }, el("label", { for: id }, label),
    el("select", { id, name: id }, ...choices.map(([value, words]) => el("option", { value, selected: value === chosen }, words))));
}

function build(offer) {
  const players = Array.from({ length: offer.max_players }, (_, i) => el("p", { class: "field" },
    el("label", { for: `player-${i}` }, w("player_name", { n: i + 1 })),
    el("input", { id: `player-${i}`, maxlength: "40", required: i < offer.min_players, list: "known-people", value: names[i] ?? people[i] ?? (i < offer.min_players ? w("player_name", { n: i + 1 }) : ""), autocomplete: "off" })));
  const games = boot.offers.length > 1 ? [select("game-name", w("game"), boot.offers.map((o) => [o.name, o.title]), offer.name)] : [];
  const options = offer.options.map((option) => select(`option-${option.name}`, option.words,
    option.choices.map((choice, i) => [String(i), choice.value_words]),
    String(option.choices.findIndex((choice) => choice.value === option.default))));
  fields.replaceChildren(...games,
    el("fieldset", {}, el("legend", {}, w("players")), ...players, el("datalist", { id: "known-people" }, ...people.map((name) => el("option", { value: name })))),
    select("start", w("start"), [["table", w("start.table")], ["shuffle", w("start.shuffle")]], camera ? "table" : "shuffle"),
    ...(offer.data ? [el("p", {}, el("a", { href: `/data/${offer.name}` }, w("data_open")))] : []),
    ...(options.length ? [el("details", {}, el("summary", {}, w("options")), ...options)] : []));
  $("#game-name", fields)?.addEventListener("change", (event) => build(boot.offers.find((o) => o.name === event.target.value)));
  dialog.dataset.game = offer.name;
}

// Who is registered at this table, where figures are: they need not be typed.
async function registered() {
  if (!$('a[href="/people"]')) return [];
  const reply = await fetch("/api/enrol");
  return reply.ok ? (await reply.json()).people : [];
}

function begin(offer) {
  const players = Array.from({ length: offer.max_players }, (_, i) => $(`#player-${i}`).value.trim()).filter(Boolean);
  const options = Object.fromEntries(offer.options.map((option) => [option.name, option.choices[Number($(`#option-${option.name}`).value)].value]));
  return command("new_game", { game: offer.name, players, options, start: $("#start").value });
}

$("#open-new-game").addEventListener("click", async () => {
  if (running && !(await ask(w("new_game_replace")))) return;
  people = await registered();
  build(boot.offers.find((offer) => offer.name === game) ?? boot.offers[0]);
  dialog.showModal();
});
$("form", dialog).addEventListener("submit", async (event) => {
  event.preventDefault();
  const reply = await begin(boot.offers.find((offer) => offer.name === dialog.dataset.game));
  if (reply.ok) return dialog.close();
  const old = $(".error", dialog);
  old?.remove();
  fields.append(el("p", { class: "error", role: "alert" }, reply.words));
});
$("[data-close]", dialog).addEventListener("click", () => dialog.close());
