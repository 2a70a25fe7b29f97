"use strict";
// of each section: pictures, each [caption, width, height, drawing, brackets]
const trees = JSON.parse(document.getElementById("trees").textContent);
const main = document.querySelector("main");
const sections = [...document.querySelectorAll("section")];
const links = [...document.querySelectorAll("nav li")];
const find = document.getElementById("find"), errors = document.getElementById("errors");
const order = document.getElementById("order"), count = document.getElementById("count");

function draw(section) {
  const place = section.querySelector(".trees");
  if (!place || place.firstChild) return;
  for (const [caption, width, height, body, brackets] of trees[sections.indexOf(section)]) {
    const figure = document.createElement("figure"), frame = document.createElement("div");
    if (caption) figure.append(Object.assign(document.createElement("figcaption"), { textContent: caption }));
    frame.innerHTML = `<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">${body}</svg>`;
    frame.firstChild.setAttribute("aria-label", brackets);
    // what scrolls must be reached by keys, too
    frame.tabIndex = 0;
    figure.append(frame);
    place.append(figure);
  }
}

// a page of thousands of trees is drawn where it is looked at
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
  if (wanted) texts ??= trees.map((pictures) => pictures.map((picture) => spaced(picture[4])).join("\n"));
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
