// A game's data as a form: every change is checked by the table; what is typed lives in this browser until it is saved.
import { $, ask, boot, el, post, say, w } from "./dom.js";

const KEPT = `data ${boot.game}`;
const FILE = `${boot.game}.toml`;
const rows = boot.groups.flatMap((group) => group.rows);
const filled = { values: { ...boot.values }, marks: { ...boot.marks }, before: { ...boot.marks } };
let asked = 0;
let text = "";
let waiting = 0;

const isConfirmed = (key) => boot.confirmed.includes(filled.marks[key]);

function keep() {
  try { localStorage.setItem(KEPT, JSON.stringify({ ...filled, from: boot.values })); } catch { /* then it lives as long as the page */ }
}

// What was typed here before, unless the program's own data have changed since.
function remember() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT));
    if (kept && JSON.stringify(kept.from) === JSON.stringify(boot.values)) for (const part of ["values", "marks", "before"]) filled[part] = kept[part];
  } catch { /* nothing that can be used */ }
}

function box(row, n) {
  const part = row.parts[n % row.parts.length];
  const value = filled.values[row.key][n];
  const label = [row.words, part.words || (filled.values[row.key].length > 1 ? n + 1 : "")].filter(Boolean).join(", ");
  const known = part.choices.some(([choice]) => choice === value);
  const choices = known || !value ? part.choices : [[value, value], ...part.choices];
  const node = part.choices.length
    ? el("select", { "aria-label": label }, ...choices.map(([choice, words]) => el("option", { value: choice, selected: choice === value }, words)))
    : el("input", { type: "number", inputmode: "numeric", min: part.low, max: part.high, value, "aria-label": label, title: part.words });
  node.addEventListener("input", () => {
    filled.values[row.key] = filled.values[row.key].with(n, node.value);
    confirm(row, true);
  });
  return node;
}

function boxes(row) {
  const size = row.parts.length;
  const all = filled.values[row.key].map((_, n) => box(row, n));
  const units = [];
  for (let n = 0; n < all.length; n += size) units.push(el("span", { class: "unit" }, ...all.slice(n, n + size)));
  if (row.grows) {
    const first = () => row.parts.map((part) => part.choices[0]?.[0] ?? String(part.low));
    const change = (values) => { filled.values[row.key] = values; confirm(row, true); draw(row); };
    units.push(el("span", { class: "unit" },
      el("button", { type: "button", class: "quiet", "aria-label": `${row.words}: ${w("data_less")}`, title: w("data_less"), disabled: !all.length, onclick: () => change(filled.values[row.key].slice(0, -size)) }, "−"),
      el("button", { type: "button", class: "quiet", "aria-label": `${row.words}: ${w("data_more")}`, title: w("data_more"), onclick: () => change([...filled.values[row.key], ...first()]) }, "+")));
  }
  return units;
}

const nodeOf = (row) => document.getElementById(`row-${row.key}`);

function draw(row) {
  $(".boxes", nodeOf(row)).replaceChildren(...boxes(row));
}

function mark(row) {
  const node = nodeOf(row);
  const badge = $(".badge", node);
  node.dataset.confirmed = String(isConfirmed(row.key));
  badge.textContent = w(`data_mark.${filled.marks[row.key]}`);
  $("input[type=checkbox]", node).checked = isConfirmed(row.key);
}

function confirm(row, yes) {
  if (yes === isConfirmed(row.key)) { changed(); return; }
  filled.marks[row.key] = yes ? "owner" : boot.confirmed.includes(filled.before[row.key]) ? "invented" : filled.before[row.key];
  mark(row);
  changed();
}

function line(row) {
  return el("li", { id: `row-${row.key}` },
    el("span", { class: "name" }, row.words), el("span", { class: "boxes" }),
    el("label", { class: "same" }, el("input", { type: "checkbox", onchange: (event) => confirm(row, event.target.checked) }), w("data_same")),
    el("span", { class: "badge" }), el("ul", { class: "row-faults" }));
}

function build() {
  $("#groups").replaceChildren(...boot.groups.map((group) => el("section", { class: "card" }, el("h2", {}, group.words),
    el("ul", { class: "data-rows" }, ...group.rows.map(line)),
    el("button", { type: "button", class: "quiet all", onclick: () => group.rows.forEach((row) => confirm(row, true)) }, w("data_all_same")))));
  for (const row of rows) { draw(row); mark(row); }
}

function changed() {
  keep();
  text = "";
  $("#save").disabled = true;
  const left = rows.filter((row) => !isConfirmed(row.key)).length;
  $("#left").textContent = left ? w("data_left", { n: left, all: rows.length }) : w("data_all");
  clearTimeout(waiting);
  waiting = setTimeout(check, 150);
}

// Only the newest answer counts: an older one is about other values.
async function check() {
  const number = ++asked;
  const reply = await post(`/api/data/${boot.game}/check`, { values: filled.values, marks: filled.marks });
  if (number !== asked) return;
  if (!reply.ok) {
    $("#good").textContent = reply.words ?? w("data_unsure");
    waiting = setTimeout(check, 3000);
    return;
  }
  text = reply.text;
  $("#save").disabled = !text;
  document.body.dataset.good = String(Boolean(text));
  $("#good").textContent = text ? w("data_good") : w("data_faults", { n: reply.faults.length });
  $("#faults-of-data").replaceChildren(...reply.faults.map((fault) => el("li", {}, fault.words)));
  for (const row of rows) {
    const own = reply.faults.filter((fault) => fault.key === row.key);
    nodeOf(row).classList.toggle("wrong", own.length > 0);
    $(".row-faults", nodeOf(row)).replaceChildren(...own.map((fault) => el("li", {}, fault.words)));
  }
}

function take(data) {
  Object.assign(filled, { values: { ...data.values }, marks: { ...data.marks }, before: { ...data.marks } });
  build();
  changed();
}

$("#save").addEventListener("click", () => {
  if (!text) return;
  const url = URL.createObjectURL(new Blob([text], { type: "application/toml" }));
  el("a", { href: url, download: FILE }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
});
$("#load").addEventListener("change", async (event) => {
  const file = event.target.files[0];
  if (!file) return;
  const reply = await post(`/api/data/${boot.game}/open`, { text: await file.text() });
  event.target.value = "";
  say(reply.words ?? null);
  if (reply.ok) take(reply);
});
$("#restart").addEventListener("click", async () => {
  if (await ask(w("data_restart_ask"))) take(boot);
});

$("#how").textContent = w("data_how", { file: FILE });
remember();
build();
changed();
