// The lab: a click begins a fault for so many seconds, another one ends it.
const boot = JSON.parse(document.getElementById("boot").textContent);
const seconds = document.getElementById("seconds");
const now = document.getElementById("now");
const rows = [...document.querySelectorAll("#faults [data-kind]")];

function show(running) {
  for (const row of rows) row.firstElementChild.setAttribute("aria-pressed", String(running.includes(row.dataset.kind)));
  const text = running.length ? `${boot.words.running}: ${running.map((kind) => boot.kinds[kind] ?? kind).join(", ")}` : boot.words.none;
  if (now.textContent !== text) now.textContent = text;
}

async function toggle(row) {
  const runs = row.firstElementChild.getAttribute("aria-pressed") === "true";
  const response = await fetch("/api/lab", {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Companion": "1" },
    body: JSON.stringify({ kind: row.dataset.kind, seconds: runs ? 0 : Number(seconds.value) }),
  });
  const reply = await response.json();
  if (reply.ok) show(reply.running);
  else now.textContent = reply.words;
}

async function ask() {
  try {
    show((await (await fetch("/api/lab")).json()).running);
  } catch {
    // The table is away for a moment; the next question will tell.
  }
}

for (const row of rows) row.firstElementChild.addEventListener("click", () => toggle(row));
setInterval(ask, 1000);
ask();
