// which runs are shown and by what is kept while the page refreshes itself; browsers keep the scrolled place
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
