// The live stream: hands every event on, notices silence, connects again by itself, sleeps while the tab is hidden.

const SILENCE_MS = 40000; // the table pings every 15 s
const RETRY_MS = [500, 1000, 2000, 4000, 8000];

export function follow(handlers, connected) {
  let source = null;
  let tries = 0;
  let retry = 0;
  let watch = 0;

  function heard() {
    tries = 0;
    clearTimeout(watch);
    watch = setTimeout(() => lost("stale"), SILENCE_MS);
    connected(null);
  }

  function lost(why) {
    stop();
    connected(why);
    retry = setTimeout(open, RETRY_MS[Math.min(tries++, RETRY_MS.length - 1)]);
  }

  function stop() {
    clearTimeout(retry);
    clearTimeout(watch);
    source?.close();
    source = null;
  }

  function open() {
    stop();
    source = new EventSource("/events");
    watch = setTimeout(() => lost("stale"), SILENCE_MS);
    for (const [name, handle] of Object.entries(handlers)) {
      source.addEventListener(name, (event) => { heard(); handle(event.data); });
    }
    source.addEventListener("ping", heard);
    source.addEventListener("bye", () => lost("closed"));
    source.addEventListener("error", () => lost("stale"));
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? stop() : open()));
  addEventListener("pagehide", stop);
  addEventListener("pageshow", (event) => { if (event.persisted) open(); });
  open();
  return open;
}
