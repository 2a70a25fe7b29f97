"use strict";
/* What moves on the pages of the server. Without this script each page is a form whose answer is a new page. */

/* Trees while one types: the page with the new address is fetched, and its results replace those here. */
function live(form) {
  const busy = document.getElementById("busy"), tagged = form.elements.tagged;
  let waiting = 0, running = null;
  /* without this script, nothing would empty it when the text changes */
  tagged.disabled = false;

  async function refresh() {
    if (!form.checkValidity()) return;
    running?.abort();
    const mine = running = new AbortController();
    const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    const address = `${location.pathname}?${query}`;
    busy.textContent = busy.dataset.text;
    try {
      const answer = await fetch(address, { signal: mine.signal });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const results = page.getElementById("answer");
      if (!results) throw new Error(String(answer.status));
      document.getElementById("answer").replaceWith(results);
      history.replaceState(null, "", address);
      busy.textContent = "";
    } catch (error) {
      if (error.name !== "AbortError") busy.textContent = form.dataset.offline;
    }
  }

  form.addEventListener("input", (event) => {
    if (event.target.name === "text") tagged.value = "";
    clearTimeout(waiting);
    waiting = setTimeout(refresh, 250);
  });
  form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(waiting); refresh(); });

  /* All tags of a word are options as soon as somebody turns to it; a choice asks for the tree of these tags. */
  const fill = ({ target }) => {
    if (!target.matches?.(".tags select") || target.length > 1) return;
    const chosen = target.value;
    const tags = document.getElementById("answer").dataset.tags.split(" ");
    target.replaceChildren(...tags.map((tag) => new Option(tag, tag, tag === chosen, tag === chosen)));
  };
  document.addEventListener("pointerover", fill);
  document.addEventListener("focusin", fill);
  document.addEventListener("change", ({ target }) => {
    if (!target.matches(".tags select")) return;
    tagged.value = [...document.querySelectorAll(".tags")].map((sentence) =>
      [...sentence.querySelectorAll("select")].map((each) => `${each.dataset.token}_${each.value}`).join(" ")).join("\n");
    refresh();
  });
  document.addEventListener("click", async ({ target }) => {
    if (target.id === "untag") { tagged.value = ""; refresh(); }
    if (target.id === "png") savePictures();
    if (target.dataset.copy !== undefined) {
      await navigator.clipboard.writeText(target.dataset.copy);
      target.textContent = document.getElementById("answer").dataset.copied;
    }
  });
}

/* Each tree of the page as a PNG file, twice as large as on the screen, in black on white. */
async function savePictures() {
  let number = 0;
  for (const svg of document.querySelectorAll("#answer .tree svg")) {
    const copy = svg.cloneNode(true), { width, height } = svg.viewBox.baseVal;
    copy.prepend(shape("rect", { width: "100%", height: "100%", fill: "#fff" }));
    for (const text of copy.querySelectorAll("text")) text.setAttribute("font-family", "sans-serif");
    for (const text of copy.querySelectorAll("text")) text.setAttribute("font-size", "12");
    for (const path of copy.querySelectorAll(".edge")) { path.setAttribute("stroke", "#888"); path.setAttribute("fill", "none"); }
    const image = new Image();
    image.src = "data:image/svg+xml," + encodeURIComponent(new XMLSerializer().serializeToString(copy));
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    const link = Object.assign(document.createElement("a"), { href: canvas.toDataURL("image/png"), download: `tree${++number}.png` });
    link.click();
  }
}

/* Frames, one after the other: by buttons, slider and arrow keys. A frame is { trees, said, current }. */
function player(box) {
  const strip = document.getElementById("strip"), slider = document.getElementById("position");
  const play = document.getElementById("play"), said = document.getElementById("said");
  const STEP = 900;
  let frames = [], at = 0, timer = 0, onShow = () => {};

  function stop() {
    clearInterval(timer);
    timer = 0;
    play.textContent = box.dataset.play;
    play.setAttribute("aria-pressed", false);
  }

  function card({ text, said, share, dies }) {
    const item = element("li", "", null, dies ? "dies" : "");
    if (said) {
      element("p", said, item);
      element("div", "", element("div", "", item, "track"), "share").style.width = `${100 * share}%`;
    }
    const tree = element("div", "", item, "tree");
    tree.tabIndex = 0;
    tree.append(draw(text));
    return item;
  }

  function show(number) {
    at = Math.min(Math.max(number, 0), frames.length - 1);
    strip.replaceChildren(...frames[at].trees.map(card));
    slider.value = at;
    slider.setAttribute("aria-valuetext", frames[at].name);
    said.textContent = frames[at].said;
    for (const tree of strip.querySelectorAll(".tree")) tree.scrollLeft = tree.scrollWidth;
    onShow(at);
  }

  const step = (by) => { stop(); show(at + by); };
  document.getElementById("back").onclick = () => step(-1);
  document.getElementById("on").onclick = () => step(1);
  slider.oninput = () => { stop(); show(Number(slider.value)); };
  play.onclick = () => {
    if (timer) return stop();
    if (at === frames.length - 1) show(0);
    play.textContent = box.dataset.stop;
    play.setAttribute("aria-pressed", true);
    timer = setInterval(() => { if (at === frames.length - 1) stop(); else show(at + 1); }, STEP);
  };
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.matches("input, textarea, select")) return;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by) { event.preventDefault(); step(by); }
  });

  return function open(given, first, shown = () => {}) {
    [frames, onShow] = [given, shown];
    slider.max = frames.length - 1;
    stop();
    show(first);
  };
}

/* A text with {0}, {1} ... filled in. */
const filled = (text, ...values) => values.reduce((found, value, i) => found.replace(`{${i}}`, value), text);

/* The beam: a frame for each word. */
function film(box) {
  const buttons = [...document.querySelectorAll("#frames button")];
  const { died, dies, survives } = box.dataset;
  const frames = data.map((frame) => ({
    name: frame.word,
    said: frame.died ? filled(died, frame.died, frame.had) : "",
    trees: frame.trees.map((tree) => ({
      ...tree, said: `${tree.said}, ${tree.dies ? filled(dies, tree.dies) : filled(survives, tree.last)}`,
    })),
  }));
  const open = player(box);
  const start = Number(location.hash.slice(1)) - 1;
  open(frames, frames[start] ? start : 0, (at) => {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", i === at));
  });
  buttons.forEach((button, i) => { button.onclick = () => { document.getElementById("position").value = i; document.getElementById("position").oninput(); }; });
}

/* Samples: a frame for each action of the chosen sentence. */
function samples(box) {
  const buttons = [...document.querySelectorAll("#samples button")], open = player(box);
  const choose = (number) => {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", i === number));
    const frames = data[number].map((text, i) => ({ name: `${i + 1}`, said: "", trees: [{ text }] }));
    open(frames, frames.length - 1);
  };
  buttons.forEach((button, i) => { button.onclick = () => choose(i); });
  choose(0);
}

/* words that came one by one, of which the whole answer is there now */
document.querySelector(".coming")?.remove();
const asked = document.getElementById("ask"), box = document.getElementById("player");
if (asked) live(asked);
if (box) (document.getElementById("frames") ? film : samples)(box);
