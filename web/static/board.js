// The board: shows the server's picture, and lets those who play change it by hand (tap, keyboard, sheet).
import { $, boot, command, el, fill, picture, say, w } from "./dom.js";

let state = null;
let seats = null;
let live = ""; // the newest picture from the stream
let kit = []; // kinds of facts that may be set by hand
let kitGame = "";
let draft = {}; // facts changed here and not sent yet
let focus = ""; // the place that the arrow keys stand on
let carrying = null; // {kind, place} of a piece on its way
let sheetPlace = "";
let before = {}; // the draft as it was when the sheet opened

const board = $("#board");
const mayEdit = () => !boot.tv && kit.length > 0 && state?.table && seats?.may.length > 0 && state.phase === "playing";
const value = (kind, place) => draft[`${kind}:${place}`] ?? state.facts[`${kind}:${place}`];

export function showPicture(svg) {
  live = svg;
  showDraft(); // what is being changed here stays on top of what is new
}

export function showBoard(newState, newSeats) {
  const other = state && state.match !== newState.match;
  state = newState;
  seats = newSeats;
  if (other || !mayEdit()) clearDraft();
  if (state.game && state.game !== kitGame && !boot.tv) loadKit(state.game);
  showLegend();
  showText();
  label();
}

async function loadKit(game) {
  kitGame = game;
  kit = await fetch(`/api/kit/${game}`).then((r) => (r.ok ? r.json() : [])).catch(() => { kitGame = ""; return []; });
  label();
}

function paint(svg) {
  if (board.dataset.svg === svg) return;
  const hadFocus = board.contains(document.activeElement);
  board.dataset.svg = svg;
  board.innerHTML = svg;
  const box = $("svg", board)?.viewBox.baseVal;
  if (box?.height) document.documentElement.style.setProperty("--ratio", box.width / box.height);
  label();
  if (hadFocus) placeNode(focus)?.focus();
}

const placeNode = (place) => (place ? $(`g.place[data-place="${CSS.escape(place)}"]`, board) : null);
const words = (place) => state?.table?.rows.flatMap((row) => row.cells).find((cell) => cell.place === place)?.words ?? "";

function label() {
  const svg = $("svg", board);
  if (!svg || !state) return;
  const edit = mayEdit();
  board.classList.toggle("editable", edit);
  svg.setAttribute("role", edit ? "group" : "img");
  svg.setAttribute("aria-label", w("board"));
  const places = [...svg.querySelectorAll("g.place")];
  if (!placeNode(focus)) focus = places.at(-1)?.dataset.place ?? "";
  for (const node of places) {
    const place = node.dataset.place;
    if (edit) {
      node.setAttribute("role", "button");
      node.setAttribute("aria-label", `${place}: ${words(place)}`);
      node.setAttribute("tabindex", place === focus ? "0" : "-1");
    } else {
      for (const name of ["role", "aria-label", "tabindex"]) node.removeAttribute(name);
    }
    node.classList.toggle("carried", carrying?.place === place);
  }
}

// ---- text view and legend

function showLegend() {
  const roles = [...new Set(state.marks.map((mark) => mark.role))];
  fill($("#legend"), roles, () => roles.map((role) => el("li", { class: role },
    el("span", { class: "swatch", "aria-hidden": "true" }), el("span", {}, w(`mark.${role}`)))));
}

function showText() {
  const box = $("#board-text");
  if (!box) return;
  box.hidden = !state.table;
  const marks = (place) => state.marks.filter((mark) => mark.place === place);
  fill($(".scroll", box), [state.table, state.marks], () => (state.table ? [el("table", {},
    el("thead", {}, el("tr", {}, el("td"), ...state.table.columns.map((c) => el("th", { scope: "col" }, c)))),
    el("tbody", {}, ...state.table.rows.map((row) => el("tr", {}, el("th", { scope: "row" }, row.name),
      ...row.cells.map((cell) => el("td", {}, cell.words, ...marks(cell.place).map((m) => el("em", {}, ` (${w(`mark.${m.role}`)})`))))))))] : []));
}

// ---- changing by hand

function clearDraft() {
  draft = {};
  carrying = null;
  $("#sheet")?.close();
  showDraft();
}

async function showDraft() {
  const bar = $("#draft");
  if (!bar) return paint(live);
  const keys = Object.keys(draft);
  const places = [...new Set(keys.map((key) => key.split(":")[1]))].sort();
  bar.hidden = !keys.length && !carrying;
  document.body.classList.toggle("drafting", !bar.hidden);
  bar.classList.toggle("carrying", Boolean(carrying));
  $("p", bar).textContent = carrying ? w("carry", carrying) : w("draft", { places: places.join(", ") });
  for (const button of bar.querySelectorAll("[data-send='set_facts'], [data-send='correct']")) button.hidden = !keys.length;
  if (!keys.length) return paint(live);
  const sent = JSON.stringify(draft);
  const response = await fetch("/api/preview", {
    method: "POST", headers: { "Content-Type": "application/json", "X-Companion": "1" }, body: JSON.stringify({ facts: draft }),
  }).catch(() => null);
  if (response?.ok && sent === JSON.stringify(draft)) paint(await response.text());
}

function set(kind, place, to) {
  const key = `${kind}:${place}`;
  if (state.facts[key] === to) delete draft[key];
  else draft[key] = to;
}

async function send(how) {
  if (how && how !== "keep") {
    const facts = { ...draft };
    if (!Object.keys(facts).length) return;
    clearDraft();
    const reply = await command(how, { facts });
    if (!reply.ok) return;
  } else if (!how) {
    clearDraft();
  }
}

function tap(place, onPiece) {
  if (!mayEdit()) return;
  focus = place;
  say("");
  if (carrying) {
    const kind = kit.find((k) => k.kind === carrying.kind);
    const from = carrying.place;
    if (place !== from && value(kind.kind, place) === kind.nothing) {
      set(kind.kind, place, value(kind.kind, from));
      set(kind.kind, from, kind.nothing);
      carrying = null;
    } else if (place !== from && onPiece) {
      carrying = { kind: kind.kind, place };
    } else {
      carrying = null;
      openSheet(place);
    }
  } else if (onPiece) {
    carrying = { kind: onPiece, place };
  } else {
    return openSheet(place);
  }
  label();
  showDraft();
}

function openSheet(place) {
  sheetPlace = place;
  before = { ...draft };
  $("#sheet-title").textContent = w("place", { place });
  showSheet();
  if (!$("#sheet").open) $("#sheet").showModal();
}

function showSheet() {
  const place = sheetPlace;
  $(".kinds", $("#sheet")).replaceChildren(...kit.map((kind) => {
    const now = value(kind.kind, place);
    const name = `kind-${kind.kind}`;
    const choose = (to) => { set(kind.kind, place, to); showSheet(); showDraft(); };
    const back = Object.fromEntries(Object.entries(kind.turn).map(([from, to]) => [to, from]));
    const turns = kind.turn[now] ? el("div", { class: "row" },
      el("button", { type: "button", id: "turn-left", onclick: () => { choose(back[now]); $("#turn-left").focus(); } }, `↺ ${w("turn_left")}`),
      el("button", { type: "button", id: "turn-right", onclick: () => { choose(kind.turn[now]); $("#turn-right").focus(); } }, `↻ ${w("turn_right")}`)) : null;
    return el("fieldset", {}, el("legend", {}, kind.words), turns ?? "", el("div", { class: "choices" }, ...kind.choices.map((choice) => {
      const id = `${name}-${choice.value}`;
      return el("label", { class: "choice", title: choice.words },
        el("input", { type: "radio", name, id, value: choice.value, checked: choice.value === now,
          onchange: () => { choose(choice.value); document.getElementById(id).focus(); } }),
        choice.icon ? picture(choice.icon) : el("span", { class: "none", "aria-hidden": "true" }, "–"),
        el("span", { class: choice.icon && kind.choices.length > 3 ? "sr" : "" }, choice.words));
    })));
  }));
  const changed = Object.keys(draft).length > 0;
  for (const button of $("#sheet").querySelectorAll("[data-send='set_facts'], [data-send='correct']")) button.disabled = !changed;
}

function move(key) {
  const rows = state.table?.rows.map((row) => row.cells.map((cell) => cell.place)) ?? [];
  const y = rows.findIndex((row) => row.includes(focus));
  if (y < 0) return;
  const x = rows[y].indexOf(focus);
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  focus = rows[y + dy]?.[x + dx] ?? focus;
  label();
  placeNode(focus)?.focus();
}

if (!boot.tv) {
  board.addEventListener("click", (event) => {
    const piece = event.target.closest("[data-piece]");
    const place = event.target.closest("[data-place]")?.dataset.place;
    if (place) tap(place, piece?.dataset.piece);
  });
  board.addEventListener("keydown", (event) => {
    if (!mayEdit()) return;
    if (event.key.startsWith("Arrow")) {
      event.preventDefault();
      move(event.key);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      if (carrying) tap(focus, null);
      else openSheet(focus);
    } else if (event.key === "Escape") {
      clearDraft();
      label();
    }
  });
  for (const root of [$("#draft"), $("#sheet")]) {
    root.addEventListener("click", (event) => {
      const button = event.target.closest("[data-send]");
      if (!button) return;
      const how = button.dataset.send;
      if (root.id === "sheet") {
        if (!how) { draft = before; showDraft(); }
        else send(how);
        $("#sheet").close();
      } else {
        send(how);
      }
      label();
    });
  }
  $("#sheet").addEventListener("cancel", () => { draft = before; showDraft(); });
  $("#sheet").addEventListener("close", () => placeNode(focus)?.focus());
}
