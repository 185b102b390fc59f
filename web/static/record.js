// The record of turns, with going back and correcting; declaring a turn in notation.
import { $, ask, boot, command, el, fill, picture, w } from "./dom.js";
import { doubtButton, replayButton } from "./replay.js";

const TV_LINES = 9;

export function showRecord(record, state, seats) {
  const may = !boot.tv && seats.may.length > 0;
  const lines = boot.tv ? record.slice(-TV_LINES).reverse() : record;
  const list = $("#record");
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 60;
  fill(list, [lines, may, state.manual, state.chips, state.players], () => (lines.length ? lines.map((line) => el("li", { value: line.number, class: line.refused ? "refused" : "" },
    el("span", { class: "who", role: "img", "aria-label": state.players[line.player] ?? "" }, state.chips[line.player] ? picture(state.chips[line.player]) : ""),
    el("div", { class: "what" }, el("span", {}, line.words), " ", el("code", {}, line.text),
      line.corrected ? el("small", {}, ` ${w("corrected")}`) : null,
      line.doubt ? el("p", { class: "doubted" }, line.doubt) : null,
      !boot.tv && line.doubt ? replayButton(line) : null,
      line.refused ? el("p", { class: "why" }, `${w("refused")} ${line.refused}`) : null),
    may ? menu(line, !state.manual) : null)) : [el("li", { class: "empty" }, w("no_turns"))]));
  if (atEnd && !boot.tv) list.scrollTop = list.scrollHeight;
  const declare = $("#declare");
  if (declare) declare.hidden = !may || state.phase !== "playing";
}

function menu(line, seen) {
  return el("details", { class: "menu" }, el("summary", { "aria-label": w("turn_menu", line) }, "⋯"), el("div", {},
    el("button", {
      type: "button",
      onclick: async () => {
        if (await ask(w("undo_to_confirm", line))) command("undo_to", { number: line.number });
      },
    }, w("undo_to")),
    el("button", {
      type: "button",
      onclick: async () => {
        const text = await ask(w("correct_turn"), w("correct_turn_label", line), line.text);
        if (text) command("correct_turn", { number: line.number, text });
      },
    }, w("correct_turn")),
    seen && !line.doubted ? doubtButton(line) : null));
}

if (!boot.tv) {
  $("#declare form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const input = $("#declare-text");
    if ((await command("declare", { text: input.value.trim() })).ok) input.value = "";
  });
}
