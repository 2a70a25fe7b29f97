"""Clusters as one self-contained HTML page: the merge tree to open, and a search over its words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby

from clusters.files import ClusteredWord


def by_cluster(entries: Iterable[ClusteredWord]) -> list[tuple[str, list[ClusteredWord]]]:
    """Clusters by path, the words of each by falling count.

    >>> by_cluster([ClusteredWord("1", "a", 1), ClusteredWord("0", "b", 1), ClusteredWord("1", "c", 2)])[1]
    ('1', [ClusteredWord(path='1', word='c', count=2), ClusteredWord(path='1', word='a', count=1)])
    """
    ordered = sorted(entries, key=lambda entry: (entry.path, -entry.count))
    return [(path, list(words)) for path, words in groupby(ordered, key=lambda entry: entry.path)]


def listing(entries: Iterable[ClusteredWord], words: int) -> Iterator[str]:
    """Yield a line of each cluster: its path, how much it holds, its most frequent words."""
    clusters = by_cluster(entries)
    width = max(len(path) for path, _ in clusters)
    for path, members in clusters:
        tokens = sum(entry.count for entry in members)
        top = " ".join(entry.word for entry in members[:words])
        yield f"{path:{width}} {len(members):7} types {tokens:9} tokens  {top}\n"


def html_page(entries: Sequence[ClusteredWord], title: str) -> str:
    """The page's text, which is ASCII. It loads nothing from elsewhere."""
    clusters = [
        [path, [[entry.word, entry.count] for entry in words]]
        for path, words in by_cluster(entries)
    ]
    # within <script> only `</script` and `<!--` could end the data early
    data = json.dumps(clusters, separators=(",", ":")).replace("<", "\\u003c")
    shown = escape(title).encode("ascii", "xmlcharrefreplace").decode()
    return _PAGE.replace("{{title}}", shown).replace("{{data}}", data)


_PAGE = r"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{title}}</title>
<style>
:root { color-scheme: light dark; --line: #8886; --soft: #8882; --found: #fc06; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 0 auto; padding: 0 1rem 4rem; }
header { position: sticky; top: 0; background: Canvas; padding: .8rem 0; border-bottom: 1px solid var(--line); }
h1 { font-size: 1.2rem; margin: 0; }
p { margin: .2rem 0 .5rem; opacity: .75; }
input { font: inherit; width: min(26rem, 100%); padding: .3rem .6rem; }
button { font: inherit; padding: .3rem .7rem; }
details details, .words { margin-left: .6rem; padding-left: .8rem; border-left: 1px solid var(--line); }
summary { cursor: pointer; padding: .1rem 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
summary:hover { background: var(--soft); }
code { font-family: ui-monospace, monospace; font-weight: 600; }
small { opacity: .7; margin: 0 .6rem; }
.words { padding-top: .2rem; padding-bottom: .5rem; }
.words span { display: inline-block; margin: 0 .9rem .1rem 0; }
.words sub { opacity: .6; margin-left: .15rem; }
.found { background: var(--found); outline: 2px solid var(--found); }
#results { list-style: none; margin: .4rem 0 0; padding: 0; max-height: 40vh; overflow: auto; }
#results button { border: 0; background: none; text-align: left; cursor: pointer; width: 100%; }
#results button:hover, #results button:focus { background: var(--soft); }
</style>
</head>
<body>
<header>
<h1>{{title}}</h1>
<p id="about"></p>
<input id="query" type="search" placeholder="word or path" aria-label="Search for a word or a path">
<button id="open">Open the tree</button> <button id="close">Close it</button>
<ul id="results"></ul>
</header>
<main id="tree"></main>
<script>
"use strict";
const clusters = {{data}};
const TOP = 10, MOST = 100;

function makeNode(path) { return { path, kids: [], words: [], clusters: 0, types: 0, tokens: 0, top: [] }; }

const root = makeNode("");
for (const [path, words] of clusters) {
  const way = [root];
  let node = root;
  for (const bit of path) {
    node = node.kids[bit] = node.kids[bit] || makeNode(node.path + bit);
    way.push(node);
  }
  node.words = words;
  const tokens = words.reduce((sum, word) => sum + word[1], 0);
  for (const above of way) {
    above.clusters += 1;
    above.types += words.length;
    above.tokens += tokens;
    above.top = above.top.concat(words.slice(0, TOP)).sort((a, b) => b[1] - a[1]).slice(0, TOP);
  }
}

function element(name, text, parent) {
  const made = document.createElement(name);
  made.textContent = text;
  parent.append(made);
  return made;
}

function number(n, one, more) { return n.toLocaleString("en") + " " + (n === 1 ? one : more); }

function showWords(node, box, limit) {
  box.replaceChildren();
  for (const [word, count] of node.words.slice(0, limit)) {
    const span = element("span", word, box);
    span.dataset.word = word;
    element("sub", count.toLocaleString("en"), span);
  }
  if (node.words.length > limit) {
    const more = element("button", number(node.words.length - limit, "more word", "more words"), box);
    more.onclick = () => showWords(node, box, Infinity);
  }
}

function fill(node) {
  if (node.filled) return;
  node.filled = true;
  if (node.words.length) {
    node.box = element("div", "", node.details);
    node.box.className = "words";
    showWords(node, node.box, 300);
  }
  for (const kid of node.kids) if (kid) render(kid, node.details);
}

function render(node, parent) {
  node.details = element("details", "", parent);
  const summary = element("summary", "", node.details);
  element("code", node.path || "root", summary);
  const sizes = [number(node.types, "word", "words"), number(node.tokens, "token", "tokens")];
  if (!node.words.length) sizes.unshift(number(node.clusters, "cluster", "clusters"));
  element("small", sizes.join(", "), summary);
  summary.append(node.top.map(word => word[0]).join(" "));
  node.details.ontoggle = () => { if (node.details.open) fill(node); };
}

function open(node) { fill(node); node.details.open = true; }

function openWay(path) {
  let node = root;
  open(node);
  for (const bit of path) open(node = node.kids[bit]);
  return node;
}

function reveal(path, word) {
  const node = openWay(path);
  for (const old of document.querySelectorAll(".found")) old.classList.remove("found");
  let target = node.details.querySelector("summary");
  if (word !== null) {
    showWords(node, node.box, Infinity);
    target = [...node.box.children].find(span => span.dataset.word === word);
  }
  target.classList.add("found");
  target.scrollIntoView({ block: "center" });
}

function search() {
  const query = document.getElementById("query").value.trim().toLowerCase();
  const results = document.getElementById("results");
  results.replaceChildren();
  if (!query) return;
  const found = [];
  for (const [path, words] of clusters) {
    if (path.startsWith(query)) found.push([path, null, Infinity]);
    for (const [word, count] of words)
      if (word.toLowerCase().includes(query)) found.push([path, word, word.toLowerCase() === query ? 1e18 : count]);
  }
  found.sort((a, b) => b[2] - a[2]);
  for (const [path, word] of found.slice(0, MOST)) {
    const button = element("button", "", element("li", "", results));
    element("code", path, button);
    button.append(" " + (word === null ? "(path)" : word));
    button.onclick = () => reveal(path, word);
  }
  const rest = found.length - MOST;
  element("li", found.length ? (rest > 0 ? number(rest, "more match", "more matches") : "") : "no match", results);
}

function openAll(node) { open(node); for (const kid of node.kids) if (kid && !kid.words.length) openAll(kid); }

function closeAll(node) {
  if (node.details) node.details.open = false;
  for (const kid of node.kids) if (kid) closeAll(kid);
}

document.getElementById("about").textContent = [
  number(root.clusters, "cluster", "clusters"), number(root.types, "word", "words"),
  number(root.tokens, "token", "tokens"),
].join(", ");
document.getElementById("query").oninput = search;
document.getElementById("open").onclick = () => openAll(root);
document.getElementById("close").onclick = () => { closeAll(root); open(root); };
render(root, document.getElementById("tree"));
for (const path of ["", "0", "1"]) if (!path || root.kids[path]) openWay(path);
</script>
</body>
</html>
"""
