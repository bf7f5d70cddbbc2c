// Updates the page after new events of its policy: fetches the same page and replaces its main part. At most once per second, only
// while the page is visible, and never while a form is being filled in. Without this script the page shows the state when it was loaded.
(() => {
  "use strict";
  const address = document.body.dataset.live;
  if (!address || !window.EventSource || !window.fetch) return;
  const state = document.getElementById("live");
  const PAUSE_MS = 1000;
  let source = null;
  let newest = null;
  let fetched = 0;
  let timer = null;
  let busy = false;

  const main = () => document.querySelector("main");

  function say(words) {
    state.textContent = words;
    state.hidden = false;
  }

  function isTyping() {
    const active = document.activeElement;
    if (active && active.closest("main form")) return true;
    return Array.from(main().querySelectorAll("form textarea, form select, form input:not([type=hidden])")).some((field) => {
      if (field.type === "checkbox") return field.checked !== field.defaultChecked;
      if (field.tagName === "SELECT") return false;
      return field.value !== field.defaultValue;
    });
  }

  function schedule() {
    if (timer !== null || document.hidden || newest === null || newest === main().dataset.event) return;
    timer = setTimeout(refresh, Math.max(0, fetched + PAUSE_MS - Date.now()));
  }

  async function refresh() {
    timer = null;
    if (busy || document.hidden) return;
    fetched = Date.now();
    if (isTyping()) {
      say("Live, paused while you fill in a form");
      schedule();
      return;
    }
    busy = true;
    try {
      const answer = await fetch(location.pathname + location.search, { credentials: "same-origin", redirect: "manual" });
      if (!answer.ok) throw new Error(String(answer.status));
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.querySelector("main");
      if (fresh && !isTyping()) put(fresh);
      say("Live, as of " + new Date().toISOString().slice(11, 19) + " UTC");
    } catch (problem) {
      say("Not live: reload the page");
      close();
    } finally {
      busy = false;
      fetched = Date.now();
      schedule();
    }
  }

  // Keeps open what was open, and the focus where it was.
  function put(fresh) {
    const old = main();
    for (const open of old.querySelectorAll("details[id][open]")) {
      const same = fresh.querySelector("#" + CSS.escape(open.id));
      if (same) same.open = true;
    }
    const active = document.activeElement;
    const isSame = (one) => one.tagName === active.tagName && one.textContent === active.textContent;
    const focus = old.contains(active) ? Array.from(fresh.querySelectorAll("a, summary, button, [tabindex]")).find(isSame) : null;
    old.replaceWith(document.adoptNode(fresh));
    if (focus) focus.focus({ preventScroll: true });
  }

  function open() {
    if (source) return;
    source = new EventSource(address);
    source.onopen = () => say("Live");
    source.onmessage = (message) => {
      newest = message.data;
      schedule();
    };
    // When the session has ended, the stream closes for good. After other errors the browser reconnects.
    source.onerror = () =>
      say(source && source.readyState === EventSource.CLOSED ? "Not live: reload the page" : "Not connected: the page may be out of date");
  }

  function close() {
    if (source) source.close();
    source = null;
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  addEventListener("pagehide", close);
  if (!document.hidden) open();
})();
