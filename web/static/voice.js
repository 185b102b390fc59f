// The caller: what is announced to those who listen is spoken, too, where somebody at this browser has asked for it.
import { $, w } from "./dom.js";

const KEY = "voice";
const speech = window.speechSynthesis;

// Shows the switch where this browser can speak; it starts silent, for browsers speak only after a click.
export function offerVoice() {
  const button = $("#voice");
  if (!button || !speech) return;
  button.hidden = false;
  const show = () => button.setAttribute("aria-pressed", String(on()));
  button.addEventListener("click", () => {
    sessionStorage.setItem(KEY, on() ? "" : "on");
    speech.cancel();
    if (on()) say(w("voice_on"));
    show();
  });
  show();
}

// Speaks only the newest announcement: one that is corrected meanwhile is not worth hearing.
export function say(text) {
  if (!speech || !on() || !text) return;
  speech.cancel();
  const words = new SpeechSynthesisUtterance(text);
  words.lang = document.documentElement.lang;
  speech.speak(words);
}

function on() {
  return sessionStorage.getItem(KEY) === "on";
}
