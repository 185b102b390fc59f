// Whose turn, the verdict, the open question, what can be done, seats, devices: all in words from the table.
import { $, ask, boot, command, el, fill, picture, post, say, w } from "./dom.js";

import { doubtButton, replayButton } from "./replay.js";

const SIGNALS = ["accepted", "provisional", "question", "illegal"];
// Rarely used or far-reaching: behind "more", so that no thumb hits it by chance.
const rare = (act) => ["pause", "referee"].includes(act.command) || (act.command === "declare" && act.confirm);

export function showStatus(state, seats, record) {
  document.body.dataset.phase = state.phase;
  $("#title").textContent = state.title || w("title");
  document.title = state.headline ? `${state.headline} · ${state.title || w("title")}` : w("title");
  $("#headline").textContent = state.outcome ?? state.headline;
  showPlayers(state);
  list($("#notes"), state.notes);
  const mode = state.phase === "paused" ? w("paused") : state.manual && state.phase !== "setup" ? w("manual") : "";
  $("#mode").textContent = mode;
  $("#mode").hidden = !mode;
  showVerdict(state);
  showProvisional(state);
  showQuestion(state, seats);
  const troubles = $("#troubles");
  troubles.hidden = !state.troubles.length;
  list(troubles, state.troubles.map((t) => t.words));
  if (!boot.tv) {
    showActs(state, seats);
    showDoubt(state, seats, record);
    showSeats(state, seats);
    showDevices(state);
    showHouseRules(state);
  }
}

function list(node, lines) {
  fill(node, lines, () => lines.map((line) => el("li", {}, line)));
}

function showPlayers(state) {
  const key = [state.players, state.to_act, state.winners, state.chips];
  fill($("#players"), key, () => state.players.map((name, i) => {
    const acting = state.to_act.includes(i) && state.phase !== "over";
    const won = state.winners.includes(i);
    return el("div", { class: `player${acting ? " acting" : ""}${won ? " won" : ""}` },
      state.chips[i] ? picture(state.chips[i]) : null,
      el("span", {}, name),
      acting ? el("small", {}, w("to_act")) : won ? el("small", {}, w("winner")) : null);
  }));
}

function showVerdict(state) {
  const box = $("#verdict");
  box.hidden = !state.verdict;
  const known = SIGNALS.includes(state.signal);
  box.dataset.signal = known ? state.signal : "";
  $(".verdict-kind", box).textContent = known ? w(`signal.${state.signal}`) : "";
  $(".verdict-kind", box).hidden = !known;
  $(".verdict-words", box).textContent = state.verdict ?? "";
  list($(".details", box), state.details);
}

function showProvisional(state) {
  const box = $("#provisional");
  box.hidden = !state.provisional;
  $(".words", box).textContent = state.provisional?.words ?? "";
  $(".notation", box).textContent = state.provisional?.text ?? "";
}

// The newest judged turn can be doubted with one tap, and what was doubted looked at again.
function showDoubt(state, seats, record) {
  const judged = ["accepted", "provisional"].includes(state.signal) && !state.manual;
  const line = judged ? state.provisional ?? record.at(-1) ?? null : null;
  fill($("#doubt"), [line, seats.may.length > 0], () => (!line ? [] : [
    line.doubt ? el("p", { class: "doubted" }, line.doubt) : null,
    line.doubt ? replayButton(line) : null,
    !line.doubt && seats.may.length ? doubtButton(line) : null]));
}

function showQuestion(state, seats) {
  const box = $("#question");
  const question = state.question;
  box.hidden = !question;
  if (!question) return;
  $("h3", box).textContent = question.words;
  const may = !boot.tv && seats.may.length > 0;
  fill($(".answers", box), [question, may], () => question.answers.map((answer, i) =>
    boot.tv ? el("span", { class: "answer" }, answer.words)
      : el("button", {
        type: "button", class: i === 0 ? "main" : "", disabled: !may,
        onclick: () => command("answer", { question: question.id, value: answer.value }),
      }, answer.words)));
  if (!boot.tv) fill($(".clip", box), question.clip, () => [replayButton(question)]);
}

function showActs(state, seats) {
  const may = seats.may.length > 0 || seats.free_for_all;
  const acts = state.acts.filter((act) => may && (act.player == null || seats.may.includes(act.player)));
  const box = $("#acts");
  const open = $("details", box)?.open ?? false;
  fill(box, [acts, state.players, state.phase, may], () => {
    const some = acts.some((act) => !rare(act));
    const often = acts.filter((act) => !some || !rare(act));
    const rest = acts.filter((act) => some && rare(act));
    if (state.phase === "setup" && may && boot.offers.length) {
      return [el("button", { type: "button", class: "main", onclick: () => $("#open-new-game").click() }, w("new_game"))];
    }
    return [...often.map((act) => button(act, acts, state.players)), rest.length ? el("details", { open },
      el("summary", { class: "button" }, w("more_acts")), el("div", { class: "row" }, ...rest.map((act) => button(act, acts, state.players)))) : null];
  });
}

function button(act, acts, players) {
  const shared = acts.some((other) => other.words === act.words && other.player !== act.player);
  const words = shared && act.player != null ? `${act.words} (${players[act.player]})` : act.words;
  return el("button", {
    type: "button", class: ["done", "accept_start", "resume"].includes(act.command) ? "main" : "", "data-command": act.command,
    onclick: async () => {
      if (act.confirm && !(await ask(w("confirm", { words })))) return;
      command(act.command, act.args, act.player);
    },
  }, words);
}

function showSeats(state, seats) {
  const box = $("#seats");
  box.hidden = !state.players.length;
  fill(box, [state.players, seats], () => {
    const watching = seats.may.length === 0;
    const everybody = seats.at_table && seats.taken.length === 0;
    const lines = [el("p", { class: watching ? "watching" : "hint" }, watching ? w("watching") : everybody ? w("for_table") : "")];
    if (!lines[0].textContent) lines.pop();
    const rows = state.players.map((name, i) => {
      const mine = seats.mine.includes(i);
      const taken = seats.taken.includes(i);
      const act = mine ? ["leave", w("seat_leave")] : !taken ? ["take", w("seat_take")] : seats.at_table ? ["leave", w("seat_release")] : ["take", w("seat_take")];
      return el("li", {}, state.chips[i] ? picture(state.chips[i]) : null, el("span", {}, name),
        el("small", {}, mine ? w("seat_mine") : taken ? w("seat_taken_mark") : w("seat_free")),
        el("button", {
          type: "button", class: "quiet", "aria-label": `${act[1]}: ${name}`,
          onclick: async () => say((await post("/api/seat", { player: i, act: act[0] })).words),
        }, act[1]));
    });
    return [...lines, el("details", { open: watching }, el("summary", {}, w("seats")), el("ul", {}, ...rows))];
  });
}

function showDevices(state) {
  const box = $("#devices");
  box.hidden = !state.devices.length;
  fill($("ul", box), state.devices, () => state.devices.map((device) => el("li", { class: device.ok ? "ok" : "bad" },
    el("span", { class: "sign", role: "img", "aria-label": w(device.ok ? "device_ok" : "device_bad") }, device.ok ? "✓" : "!"),
    el("b", {}, device.name), el("span", {}, device.words), el("code", {}, device.url))));
}

function showHouseRules(state) {
  const box = $("#house");
  box.hidden = !state.options.length;
  fill($("dl", box), state.options, () => state.options.flatMap((option) => [
    el("dt", {}, option.words), el("dd", {}, option.value_words)]));
}
