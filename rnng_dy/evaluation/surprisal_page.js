"use strict";
/* What moves on the page: which words are shown, their trees, and where a row of bars gets its axis. */
const trees = JSON.parse(document.getElementById("trees").textContent);
const lists = [...document.querySelectorAll(".words")];
const panel = document.getElementById("panel");
const LEVEL = 27, GAP = 14, MARGIN = 8;
/* The word that was chosen by a click or the keyboard, and the one under the pointer: [sentence, word]. */
let chosen = null, pointed = null;
/* The analysis that is shown of a word, by "sentence.word"; the best where nothing else was chosen. */
const ranks = new Map();
const cell = ([s, w]) => lists[s]?.children[w];
const same = (a, b) => a && b && a[0] === b[0] && a[1] === b[1];

/* Brackets: each text is [which text of the word before, how much of it is kept, what follows]. */
const unpacked = new Map();
function brackets(s, w) {
  if (!unpacked.has(s)) {
    let before = [];
    unpacked.set(s, (trees[s] || []).map(({ texts }) =>
      before = texts.map(([which, kept, rest]) => (kept ? before[which].slice(0, kept) : "") + rest)));
  }
  return unpacked.get(s)[w] || [];
}

/* A tree of brackets; a constituent whose closing bracket is missing is open. */
function parse(text) {
  const root = { children: [] }, stack = [root];
  for (const token of text.match(/\([^\s()]*|\)|[^\s()]+/g) || []) {
    if (token === ")") stack.pop().open = false;
    else {
      const node = token[0] === "(" ? { label: token.slice(1), children: [], open: true } : { word: token };
      stack[stack.length - 1].children.push(node);
      if (node.children) stack.push(node);
    }
  }
  return root.children;
}

function element(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  return made;
}

const measure = document.createElement("canvas").getContext("2d");
function width(text, bold) {
  measure.font = `${bold ? "600 " : ""}13px system-ui, sans-serif`;
  return measure.measureText(text).width;
}

const depthOf = (node) => node.word !== undefined ? 0 : 1 + Math.max(0, ...node.children.map(depthOf));

/* Words in a row at the bottom, each label above the middle of its children; what is open is dashed. */
function draw(text) {
  const roots = parse(text);
  const bottom = Math.max(0, ...roots.map(depthOf)) * LEVEL + 18;
  const svg = element("svg", { role: "img", "aria-label": text });
  let x = MARGIN;
  const line = (x1, y1, x2, y2, open) => svg.append(element("line", { x1, y1, x2, y2, class: open ? "open" : "" }));
  const label = (node, middle, y) => {
    svg.append(element("text", { x: middle, y, class: "label" }, node.label));
    const half = width(node.label, true) / 2 + 4;
    if (node.open) svg.append(element("rect", { x: middle - half, y: y - 13, width: 2 * half, height: 18, rx: 3, class: "open" }));
  };
  const place = (node, level) => {
    const text = node.word ?? node.label, own = width(text, node.word === undefined) + (node.open ? 8 : 0), left = x;
    if (node.word !== undefined) {
      x += own + GAP;
      svg.append(element("text", { x: left + own / 2, y: bottom, class: "leaf" }, text));
      return { middle: left + own / 2, y: bottom - 13 };
    }
    const y = level * LEVEL + 18, below = node.children.map((child) => place(child, level + 1));
    /* what is still to come */
    if (node.open) { below.push({ middle: x + 4, y: y + LEVEL - 15, open: true }); x += GAP + 8; }
    x = Math.max(x, left + own + GAP);
    const middle = Math.max(left + own / 2, (below[0].middle + below[below.length - 1].middle) / 2);
    for (const child of below) {
      line(middle, y + 5, child.middle, Math.min(child.y, y + LEVEL - 13), child.open);
      /* a word stands at the bottom, however high its parent */
      if (child.y > y + LEVEL - 13) line(child.middle, y + LEVEL - 13, child.middle, child.y, false);
    }
    label(node, middle, y);
    return { middle, y: y - 13 };
  };
  for (const root of roots) place(root, 0);
  svg.setAttribute("width", Math.ceil(x));
  svg.setAttribute("height", bottom + 8);
  svg.setAttribute("viewBox", `0 0 ${Math.ceil(x)} ${bottom + 8}`);
  return svg;
}

function html(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

/* A word with its numbers, its analyses and the tree of one of them. */
function article(place) {
  const [s, w] = place, made = html("article"), numbers = html("p");
  numbers.append(html("b", cell(place).querySelector("bdi").textContent));
  numbers.append(cell(place).title.split("\n").slice(1).join(" · "));
  made.append(numbers);
  const texts = brackets(s, w);
  if (!texts.length) return made;
  const rank = Math.min(ranks.get(place.join(".")) ?? 0, texts.length - 1);
  const { shares, more } = trees[s][w], choice = html("div", undefined, "analyses");
  texts.forEach((_, i) => {
    const button = html("button", `${i + 1}: ${shares[i]}`);
    button.setAttribute("aria-pressed", i === rank);
    button.onclick = () => { ranks.set(place.join("."), i); render(); };
    choice.append(button);
  });
  if (more) choice.append(html("span", more, "hint"));
  const tree = html("div", undefined, "tree");
  tree.append(draw(texts[rank]));
  made.append(choice, tree);
  return made;
}

function render() {
  for (const old of document.querySelectorAll(".shown")) old.classList.remove("shown");
  const compared = pointed && !same(pointed, chosen);
  panel.classList.toggle("compared", Boolean(compared && chosen));
  const places = [chosen, compared ? pointed : null].filter((place) => place && cell(place));
  panel.replaceChildren(...places.map(article));
  panel.hidden = !places.length;
  for (const place of places) cell(place).classList.add("shown");
  /* the words read last are at the right */
  for (const tree of panel.querySelectorAll(".tree")) tree.scrollLeft = tree.scrollWidth;
}

function choose(place, focus) {
  if (!cell(place)) return;
  if (chosen) cell(chosen).tabIndex = -1;
  chosen = place;
  cell(place).tabIndex = 0;
  if (focus) cell(place).focus();
  render();
}

const placeOf = (target) => {
  const item = target.closest?.(".words li");
  return item && [lists.indexOf(item.parentElement), [...item.parentElement.children].indexOf(item)];
};

const main = document.getElementById("sentences");
main.addEventListener("pointerover", (event) => {
  const place = event.pointerType === "mouse" ? placeOf(event.target) : null;
  if (place && !same(place, pointed)) { pointed = place; render(); }
});
main.addEventListener("pointerleave", () => { pointed = null; render(); });
main.addEventListener("click", (event) => { const place = placeOf(event.target); if (place) choose(place, true); });

/* The next sentence with words, before or after; empty ones have a number alone. */
function beside(s, step) {
  do s += step; while (lists[s] && !lists[s].children.length);
  return s;
}
const last = (s) => lists[s].children.length - 1;
function moved(s, w, step) {
  const other = beside(s, step);
  return lists[other] ? [other, Math.min(w, last(other))] : [s, w];
}
const MOVES = {
  ArrowLeft: ([s, w]) => [s, w - 1],
  ArrowRight: ([s, w]) => [s, w + 1],
  ArrowUp: ([s, w]) => moved(s, w, -1),
  ArrowDown: ([s, w]) => moved(s, w, 1),
  Home: ([s]) => [s, 0],
  End: ([s]) => [s, last(s)],
};
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || !chosen) return;
  if (MOVES[event.key]) {
    event.preventDefault();
    pointed = null;
    choose(MOVES[event.key](chosen), true);
  } else if (/^[1-9]$/.test(event.key)) {
    ranks.set((pointed || chosen).join("."), Number(event.key) - 1);
    render();
  }
});

/* An axis at the first word of each row of bars. */
function axes() {
  const ticks = document.getElementById("axis").content;
  for (const old of document.querySelectorAll(".words .axis")) old.remove();
  const firsts = lists.flatMap(({ children }) =>
    [...children].filter((item, i) => !i || item.offsetTop !== children[i - 1].offsetTop));
  for (const item of firsts) item.firstElementChild.append(ticks.cloneNode(true));
}

for (const button of document.querySelectorAll("#columns button")) {
  button.onclick = () => {
    main.style.setProperty("--columns", button.textContent);
    for (const other of button.parentElement.children) other.setAttribute("aria-pressed", other === button);
    axes();
  };
}
addEventListener("resize", axes);
addEventListener("beforeprint", axes);
/* page.html#2.5 begins at the fifth word of the second sentence, #2.5-3.5 compares it with another */
const [first, second] = location.hash.slice(1).split("-").map((place) => place.split(".").map((n) => n - 1));
axes();
choose(cell(first) ? first : [beside(-1, 1), 0], false);
if (second && cell(second)) { pointed = second; render(); }
if (cell(first)) cell(first).scrollIntoView({ block: "nearest" });
