// What probes share. It is put before each script of a case, in the page's isolated world: it sees the document and the
// pixels of its canvases, and none of its variables.
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const isShown = (element) => {
  const box = element.getBoundingClientRect(), style = getComputedStyle(element);
  return box.width > 0 && box.height > 0 && style.visibility !== "hidden" && style.display !== "none";
};
const shownText = () => document.body.innerText;

// Buttons that can be seen; the first is the one whose words fit best.
function findButtons(wish = /start|run|play|begin|go\b/i) {
  const all = [...document.querySelectorAll("button, input[type=button], input[type=submit], [role=button]")];
  const words = (button) => button.innerText || button.value || "";
  return all.filter(isShown).sort((a, b) => wish.test(words(b)) - wish.test(words(a)));
}

async function until(test, ms, step = 20) {
  for (const end = performance.now() + ms; performance.now() < end; await wait(step)) {
    const found = test();
    if (found) return found;
  }
  return test();
}
