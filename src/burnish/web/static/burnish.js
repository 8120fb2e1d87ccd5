// What pages do beyond forms: a run that is watched live, and a few small conveniences. Whatever comes from the server as
// HTML was written by its templates; words of a model are only ever set as text.
"use strict";

const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// --- everywhere ---

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.fill) {
    const field = one(button.dataset.fill);
    field.value = button.dataset.text;
    field.focus();
  } else if (button.dataset.copy) {
    const copied = one(button.dataset.copy);
    const lines = all("code", copied); // without numbers and notes
    await navigator.clipboard.writeText((lines.length ? lines : [copied]).map((part) => part.textContent).join(""));
    const before = button.textContent;
    button.textContent = "✓";
    setTimeout(() => (button.textContent = before), 1200);
  } else if (button.dataset.line) {
    one("#said-line").value = button.dataset.line;
    one("#said-kind").value = "comment";
    one("#said-words").focus();
  } else if ("themeSwitch" in button.dataset) {
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.dataset.theme || (isDark ? "dark" : "light");
    const next = now === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    localStorage.setItem("theme", next);
  } else if ("notify" in button.dataset) {
    wantsNotice = (await Notification.requestPermission()) === "granted";
    button.disabled = wantsNotice;
  }
});

// A form that was sent is not sent twice.
document.addEventListener("submit", (event) => {
  if (event.target.dataset.guard === undefined) return;
  setTimeout(() => all("button", event.target).forEach((button) => (button.disabled = true)));
});
addEventListener("pageshow", () => all("form[data-guard] button").forEach((button) => (button.disabled = false)));

// A menu of models is filled anew once servers have answered; what somebody has chosen meanwhile stays chosen. What the
// menu has no room for stands below it.
for (const menu of all("select[hx-get]")) {
  let chosen = "";
  const note = one(`#${menu.id}-good-for`);
  const show = () => note && (note.textContent = menu.selectedOptions[0]?.dataset.note ?? "");
  const keep = () => all("option", menu).some((option) => option.value === chosen) && (menu.value = chosen);
  menu.addEventListener("change", () => (chosen = menu.value));
  menu.addEventListener("change", show);
  new MutationObserver(() => (keep(), show())).observe(menu, { childList: true });
  show();
}

// What is searched for stands in the address, so that it is still there when the page is loaded anew.
document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-address]");
  if (!form) return;
  const asked = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  history.replaceState(null, "", `${form.getAttribute("action")}${asked.size ? "?" : ""}${asked}`);
});

function tick() {
  for (const clock of all("[data-since]")) {
    const spent = Math.max(Date.now() / 1000 - Number(clock.dataset.since), 0);
    clock.textContent = spent < 100 ? `${Math.round(spent)} s` : `${Math.floor(spent / 60)} min`;
  }
}
setInterval(tick, 1000);

// --- a run ---

const page = one("#run");
const words = page ? JSON.parse(page.dataset.words) : {};
const title = document.title;
let wantsNotice = false;

function setState(state) {
  page.dataset.state = state;
  const marks = { idle: "○", queued: "◔", asking: "✎", working: "⚙", running: "▶", waiting: "❓", done: "✓", stopped: "■" };
  const mark = marks[state] || "!";
  document.title = `${mark} ${words[state]} · ${title}`;
}

function setPart(name, part) {
  const section = one(`#part-${name}`);
  if (section.dataset.key === part.key) return;
  const focused = section.contains(document.activeElement) && document.activeElement.id;
  const open = all("details[open][id]", section).map((details) => details.id);
  section.innerHTML = part.html;
  section.dataset.key = part.key;
  htmx.process(section);
  for (const id of open) one(`#${CSS.escape(id)}`, section)?.setAttribute("open", "");
  tick();
  if (focused && one(`#${CSS.escape(focused)}`)) one(`#${CSS.escape(focused)}`).focus();
}

function answerBox(ask) {
  const known = one(`[data-ask="${CSS.escape(ask)}"]`);
  if (known) return known;
  const box = document.createElement("div");
  box.className = "answer";
  box.dataset.ask = ask;
  const thoughts = document.createElement("details");
  thoughts.hidden = true;
  const summary = document.createElement("summary");
  summary.textContent = words.thinks;
  thoughts.append(summary, document.createElement("pre"));
  box.append(thoughts, document.createElement("pre"));
  all("pre", box).forEach((text) => (text.tabIndex = 0)); // they scroll, by keyboard too
  one("#answers").append(box);
  while (one("#answers").children.length > 4) one("#answers").firstChild.remove();
  return box;
}

function addPiece(piece) {
  const box = answerBox(piece.ask);
  const thoughts = one("details", box);
  const text = piece.thought ? one("pre", thoughts) : box.lastChild;
  if (piece.instead) all("pre", box).forEach((other) => other.replaceChildren()); // it was no thought, or no answer
  if (piece.begins) text.replaceChildren();
  text.append(piece.text);
  thoughts.hidden = !one("pre", thoughts).firstChild;
  text.scrollTop = text.scrollHeight;
}

// A question and the result come below what is being read, which stays where it is.
function lowerEmpty() {
  for (const part of all("#run > #part-result, #run > #part-wish")) {
    if (!part.childElementCount) one(".columns").after(part);
  }
}

function watch() {
  const source = new EventSource(`/runs/${page.dataset.run}/events?after=${page.dataset.after}`);
  const on = (kind, take) => source.addEventListener(kind, (event) => take(JSON.parse(event.data)));
  source.addEventListener("open", () => (one("#notice").textContent = ""));
  source.addEventListener("error", () => {
    one("#notice").textContent = words.lost;
    if (source.readyState === EventSource.CLOSED) setTimeout(watch, 3000); // refused; the others it tries again itself
  });
  source.addEventListener("steps", (event) => (page.dataset.after = event.lastEventId));
  on("steps", (data) => {
    one("#timeline").insertAdjacentHTML("beforeend", data.html);
    one("#notice").textContent = "";
  });
  on("parts", (data) => {
    setState(data.state);
    for (const [name, part] of Object.entries(data.parts)) setPart(name, part);
    lowerEmpty();
  });
  on("pieces", (pieces) => {
    one("#notice").textContent = ""; // whoever answers is not waited for any more
    pieces.forEach(addPiece);
  });
  on("notice", (data) => (one("#notice").textContent = data.text));
  on("over", async () => {
    source.close();
    // The result has files and forms that exist only now; what is open on the page stays as it is.
    const fresh = new DOMParser().parseFromString(await (await fetch(location.pathname)).text(), "text/html");
    for (const section of all("[id^=part-]", fresh)) {
      setPart(section.id.slice(5), { html: section.innerHTML, key: section.dataset.key });
    }
    setState(one("#run", fresh).dataset.state);
    one("#answers").replaceChildren();
    one("#notice").textContent = "";
    if (wantsNotice && document.hidden) new Notification(words.notify, { body: title });
  });
}

if (page) {
  setState(page.dataset.state);
  tick();
  if (page.dataset.live) {
    lowerEmpty();
    watch();
  }
}
