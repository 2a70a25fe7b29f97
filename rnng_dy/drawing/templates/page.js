"use strict";
/* What moves on the pages; each page works without it. */

/* The film: the arrow keys go through the words, and a button plays them. */
function film(frames) {
  const links = new Map([...document.querySelectorAll(".words a")].map((link) => [link.hash, link]));
  const frame = () => document.querySelector(".frame:target");
  const go = (rel) => frame()?.querySelector(`[rel=${rel}]`)?.click();
  let timer = 0;
  const stop = () => { clearInterval(timer); timer = 0; };

  function show() {
    for (const link of links.values()) link.removeAttribute("aria-current");
    const link = links.get(location.hash);
    link?.setAttribute("aria-current", "true");
    link?.scrollIntoView({ block: "nearest" });
    for (const button of document.querySelectorAll(".play")) button.textContent = timer ? "Stop" : "Play";
    /* the words read last are at the right */
    for (const tree of frame()?.querySelectorAll(".tree") ?? []) tree.scrollLeft = tree.scrollWidth;
  }
  function play() {
    if (timer) stop();
    else timer = setInterval(() => { if (frame()?.querySelector("[rel=next]")) go("next"); else { stop(); show(); } }, 1000);
    show();
  }

  for (const each of frames) {
    const button = Object.assign(document.createElement("button"), { className: "play", textContent: "Play", onclick: play });
    each.querySelector(".close").before(button);
  }
  addEventListener("hashchange", show);
  addEventListener("load", show);
  addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.matches?.("input, textarea, select")) return;
    const rel = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
    if (rel && frame()) { event.preventDefault(); stop(); go(rel); }
    if (event.key === "Escape") location.hash = "none";
  });
  /* the first trees are shown, and the page still begins at its top */
  if (!location.hash) {
    location.replace("#1.1");
    for (const event of ["load", "hashchange"]) addEventListener(event, () => scrollTo(0, 0), { once: true });
  }
}

/* Trees while one types: the page with the new address is fetched, and its answer replaces the one here. */
function live(form) {
  const busy = document.getElementById("busy");
  let waiting = 0, running = null;

  async function refresh() {
    if (!form.checkValidity()) return;
    running?.abort();
    const mine = running = new AbortController();
    const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    const address = `${location.pathname}?${query}`;
    busy.textContent = "computing …";
    try {
      const answer = await fetch(address, { signal: mine.signal });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      document.getElementById("answer").replaceWith(page.getElementById("answer"));
      history.replaceState(null, "", address);
      busy.textContent = "";
    } catch (error) {
      if (error.name !== "AbortError") busy.textContent = "The server does not answer.";
    }
  }
  const later = () => { clearTimeout(waiting); waiting = setTimeout(refresh, 250); };
  form.addEventListener("input", later);
  form.addEventListener("submit", (event) => { event.preventDefault(); later(); });
}

const frames = document.querySelectorAll(".frame"), form = document.querySelector("[data-live]");
if (frames.length) film(frames);
if (form) live(form);
