// Small helpers: elements, the page's words, and requests to the table.

export const boot = JSON.parse(document.getElementById("boot").textContent);

export const $ = (selector, root = document) => root.querySelector(selector);

export function w(key, values = {}) {
  return (boot.words[key] ?? `[${key}]`).replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
}

// el("button", {class: "main", onclick: f}, "text", child)
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === false || value == null) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

// Only for pictures drawn by our own server.
export function picture(svg, props = {}) {
  const node = el("span", props);
  node.innerHTML = svg;
  return node;
}

// Replaces the children only when `key` differs from last time, so that nothing flickers or loses the focus.
export function fill(node, key, make) {
  const text = JSON.stringify(key);
  if (node.dataset.key === text) return;
  const focused = node.contains(document.activeElement) ? [...node.querySelectorAll("button, input, select, summary")].indexOf(document.activeElement) : -1;
  node.dataset.key = text;
  node.replaceChildren(...make().filter((child) => child != null));
  if (focused >= 0) node.querySelectorAll("button, input, select, summary")[focused]?.focus();
}

export async function post(path, data) {
  try {
    const response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Companion": "1" },
      body: JSON.stringify(data),
    });
    return await response.json();
  } catch {
    return { ok: false, words: w("not_sent") };
  }
}

let hideSaid = 0;

// What the table answered to the last thing done here.
export function say(words) {
  const said = $("#said");
  if (!said) return;
  clearTimeout(hideSaid);
  said.textContent = words ?? "";
  said.hidden = !words;
  if (words) hideSaid = setTimeout(() => { said.hidden = true; }, 12000);
}

export async function command(name, args = {}, player = null) {
  const reply = await post("/api/command", { command: name, args, ...(player == null ? {} : { player }) });
  say(reply.words);
  return reply;
}

// Asks yes or no, or for a line of text when `label` is given; resolves to true / the text, or null.
export function ask(title, label = "", text = "") {
  const dialog = $("#ask");
  const input = $("#ask-text");
  $("#ask-title").textContent = title;
  $("#ask-label").textContent = label;
  input.hidden = $("#ask-label").hidden = !label;
  input.required = Boolean(label);
  input.value = text;
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      resolve(dialog.returnValue !== "yes" ? null : label ? input.value.trim() : true);
    }, { once: true });
  });
}
