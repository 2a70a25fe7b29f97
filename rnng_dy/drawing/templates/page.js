"use strict";
/* What moves on the pages: one function for each page that has more than text, by the name of its template. */
const data = JSON.parse(document.getElementById("data")?.textContent ?? "null");

/* An element with a text, at the end of its parent where there is one. */
function element(name, text = "", parent = null, className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  parent?.append(made);
  return made;
}

/* An element of SVG. */
function shape(name, attributes, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  made.textContent = text;
  return made;
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

const LEVEL = 27, GAP = 14, MARGIN = 8;
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
  const svg = shape("svg", { role: "img", "aria-label": text });
  let x = MARGIN;
  const line = (x1, y1, x2, y2, open) => svg.append(shape("line", { x1, y1, x2, y2, class: open ? "open" : "" }));
  const label = (node, middle, y) => {
    svg.append(shape("text", { x: middle, y, class: "label" }, node.label));
    const half = width(node.label, true) / 2 + 4;
    if (node.open) svg.append(shape("rect", { x: middle - half, y: y - 13, width: 2 * half, height: 18, rx: 3, class: "open" }));
  };
  const place = (node, level) => {
    const text = node.word ?? node.label, own = width(text, node.word === undefined) + (node.open ? 8 : 0), left = x;
    if (node.word !== undefined) {
      x += own + GAP;
      svg.append(shape("text", { x: left + own / 2, y: bottom, class: "leaf" }, text));
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

const PAGES = {
  /* Which runs are shown and by what is kept while the page refreshes itself; browsers keep the scrolled place. */
  training() {
    const inputs = [...document.querySelectorAll("input")];
    const KEY = "rnng-dy plot " + location.pathname;

    function show() {
      for (const box of document.querySelectorAll("input[data-series]")) {
        const section = box.closest("section");
        for (const drawn of section.querySelectorAll(`g[data-series="${box.dataset.series}"]`)) {
          drawn.classList.toggle("hidden", !box.checked);
        }
      }
    }

    try {
      const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
      for (const input of inputs) input.checked = kept[input.id] ?? input.checked;
    } catch { /* a browser that keeps nothing */ }
    for (const input of inputs) {
      input.addEventListener("change", () => {
        show();
        try {
          const now = Object.fromEntries(inputs.map((each) => [each.id, each.checked]));
          sessionStorage.setItem(KEY, JSON.stringify(now));
        } catch { /* as above */ }
      });
    }
    show();

    const seconds = Number(document.body.dataset.refresh);
    if (seconds) setTimeout(() => location.reload(), 1000 * seconds);
  },

  /* Thousands of trees, each drawn where it is looked at; of each section: pictures, each [caption, width, height,
     drawing, brackets]. */
  trees() {
    const main = document.querySelector("main");
    const sections = [...document.querySelectorAll("section")];
    const links = [...document.querySelectorAll("nav li")];
    const find = document.getElementById("find"), errors = document.getElementById("errors");
    const order = document.getElementById("order"), count = document.getElementById("count");

    function draw(section) {
      const place = section.querySelector(".drawings");
      if (!place || place.firstChild) return;
      for (const [caption, width, height, body, brackets] of data[sections.indexOf(section)]) {
        const figure = element("figure", "", place);
        if (caption) element("figcaption", caption, figure);
        const frame = element("div", "", figure);
        frame.innerHTML = `<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">${body}</svg>`;
        frame.firstChild.setAttribute("aria-label", brackets);
        // what scrolls must be reached by keys, too
        frame.tabIndex = 0;
      }
    }

    const watcher = new IntersectionObserver(
      (seen) => seen.filter((entry) => entry.isIntersecting).forEach((entry) => draw(entry.target)),
      { rootMargin: "800px" },
    );
    sections.forEach((section) => watcher.observe(section));
    addEventListener("beforeprint", () => sections.filter((section) => !section.hidden).forEach(draw));

    const spaced = (text) => text.toLowerCase().replace(/\s+/g, " ").trim();
    let texts = null;

    function filter() {
      const wanted = spaced(find.value);
      if (wanted) texts ??= data.map((pictures) => pictures.map((picture) => spaced(picture[4])).join("\n"));
      let shown = 0;
      sections.forEach((section, i) => {
        const words = wanted && spaced(section.querySelector("p")?.textContent ?? "");
        const hidden = (errors.checked && section.dataset.errors === "0")
          || (wanted && !texts[i].includes(wanted) && !words.includes(wanted));
        section.hidden = links[i].hidden = Boolean(hidden);
        shown += !hidden;
      });
      count.value = `${shown.toLocaleString("en")} of ${sections.length.toLocaleString("en")} sentences`;
    }

    function sort() {
      const by = { "": () => 0, f1: (s) => Number(s.dataset.f1 ?? -1), errors: (s) => -Number(s.dataset.errors ?? 1e9) }[order.value];
      const places = sections.map((section, i) => [by(section), i]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      main.append(...places.map(([, i]) => sections[i]));
      document.querySelector("nav ol").append(...places.map(([, i]) => links[i]));
    }

    let waiting = 0;
    find.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 120); });
    errors.addEventListener("change", filter);
    order.addEventListener("change", sort);
    document.addEventListener("keydown", (event) => {
      if (event.key === "/" && document.activeElement !== find) { event.preventDefault(); find.focus(); }
    });
    document.getElementById("contents").open = matchMedia("(min-width: 1000px)").matches;
    filter();
  },

  /* Which words are shown, their trees, and where a row of bars gets its axis. */
  surprisals() {
    const lists = [...document.querySelectorAll("#sentences .words")];
    const panel = document.getElementById("panel");
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
        unpacked.set(s, (data[s] || []).map(({ texts }) =>
          before = texts.map(([which, kept, rest]) => (kept ? before[which].slice(0, kept) : "") + rest)));
      }
      return unpacked.get(s)[w] || [];
    }

    /* A word with its numbers, its analyses and the tree of one of them. */
    function article(place) {
      const [s, w] = place, made = element("article"), numbers = element("p", "", made);
      element("b", cell(place).querySelector("bdi").textContent, numbers);
      numbers.append(cell(place).title.split("\n").slice(1).join(" · "));
      const texts = brackets(s, w);
      if (!texts.length) return made;
      const rank = Math.min(ranks.get(place.join(".")) ?? 0, texts.length - 1);
      const { shares, more } = data[s][w], choice = element("div", "", made, "analyses");
      texts.forEach((_, i) => {
        const button = element("button", `${i + 1}: ${shares[i]}`, choice);
        button.setAttribute("aria-pressed", i === rank);
        button.onclick = () => { ranks.set(place.join("."), i); render(); };
      });
      if (more) element("span", more, choice, "hint");
      element("div", "", made, "tree").append(draw(texts[rank]));
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
      if (event.altKey || event.ctrlKey || event.metaKey || !chosen || event.target.matches?.("input, textarea, select")) return;
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
  },
};

PAGES[document.body.className]?.();
