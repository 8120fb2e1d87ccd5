// Opens transcripts and filters the grid. Everything that is shown becomes a text node: no data is ever read as HTML.
"use strict";
const { texts, attempts } = JSON.parse(document.getElementById("transcripts").textContent);
const words = JSON.parse(document.getElementById("words")?.textContent ?? "{}"); // of another language than English
const tiles = [...document.querySelectorAll(".grid button")];
const dialog = document.querySelector("dialog");
const story = document.getElementById("story");
const begins = new Set(["task", "ask", "code", "broke"]);
let open = 0;

function make(tag, kind, text) {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  if (text !== undefined) made.textContent = text;
  return made;
}

function fold(label, ...inside) {
  const made = make("details");
  made.append(make("summary", "", label), ...inside);
  return made;
}

function say(text, values = {}) {
  return (words[text] ?? text).replace(/{(\w+)}/g, (name, of) => values[of] ?? name);
}

const badge = (kind, text) => make("span", `badge ${kind}`, text);

const tell = {
  task(box, [, prompt, code]) {
    box.append(make("h3", "", say("The task")), make("pre", "", texts[prompt]));
    if (texts[code]) box.append(fold(say("The code it starts from"), make("pre", "", texts[code])));
  },
  ask(box, [, purpose, messages, temperature], seen) {
    box.append(make("h3", "", say("Call {n}: {purpose}", { n: ++seen.calls, purpose })));
    const said = messages.flatMap(([role, text]) => [make("p", "role", role), make("pre", "", texts[text])]);
    box.append(fold(say("What the model was asked (temperature {n})", { n: Math.round(temperature * 100) / 100 }), ...said));
  },
  reply(box, [, text, tokens, seconds, ended]) {
    const cut = { length: say(", cut at its limit"), cut: say(", broken off") }[ended] || "";
    box.append(fold(say("What it answered: {tokens} tokens in {seconds} s", { tokens, seconds }) + cut, make("pre", "", texts[text])));
  },
  code(box, [, version, by, code, problem], seen) {
    const score = seen.scores.get(version);
    box.append(make("h3", "", say("Version {version}, by {by}", { version, by })));
    if (texts[problem]) box.append(badge("bad", say("cannot be run")), make("p", "small", texts[problem]));
    if (score) {
      const [, , passed, late, why] = score;
      box.classList.add(passed ? "good" : "bad");
      box.append(badge(passed ? "good" : "bad", (passed ? say("passes the scoring tests") : say("fails the scoring tests")) + (late ? say(": out of time") : "")));
      if (texts[why]) box.append(make("p", "small", texts[why]));
    }
    if (texts[code]) box.append(make("pre", "", texts[code]));
  },
  tests(box, [, version, passed, total, problem, failed]) {
    const fine = total > 0 && passed === total && !texts[problem];
    box.append(badge(fine ? "good" : "bad", say("tests it may see: {passed} of {total} pass with version {version}", { passed, total, version })));
    for (const text of [problem, ...failed]) if (texts[text]) box.append(make("pre", "", texts[text]));
  },
  answer(box, [, call, round, version]) {
    const what = version === null ? say("nothing yet that could be run") : say("version {version}", { version });
    box.append(make("p", "small", say("After call {call} (round {round}) it would hand over {what}.", { call, round, what })));
  },
  note: (box, [, text]) => box.append(make("p", "small", say(texts[text]))),
  broke(box, [, text]) {
    box.classList.add("broke");
    box.append(badge("broke", say("this attempt broke")), make("pre", "", texts[text]));
  },
};

function show(place) {
  open = (place + tiles.length) % tiles.length;
  const steps = attempts[open];
  const seen = { calls: 0, scores: new Map(steps.filter((step) => step[0] === "score").map((step) => [step[1], step])) };
  story.replaceChildren();
  let box = null;
  for (const step of steps) {
    if (!tell[step[0]]) continue;
    if (!box || begins.has(step[0])) story.append(box = make("div", "step"));
    tell[step[0]](box, step, seen);
  }
  document.getElementById("which").textContent = tiles[open].title;
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  history.replaceState(null, "", `#attempt-${open + 1}`);
}

function next(step) {
  let place = open;
  do place = (place + step + tiles.length) % tiles.length; while (tiles[place].hidden && place !== open);
  show(place);
}

function filter() {
  const group = document.querySelector(".tools [aria-pressed=true]").dataset.group;
  const words = document.getElementById("find").value.toLowerCase();
  for (const tile of tiles) {
    tile.hidden = !((group === "all" || tile.dataset.group === group) && tile.title.toLowerCase().includes(words));
  }
}

tiles.forEach((tile, place) => tile.addEventListener("click", () => show(place)));
for (const button of document.querySelectorAll(".tools button")) {
  button.addEventListener("click", () => {
    for (const other of document.querySelectorAll(".tools button")) other.setAttribute("aria-pressed", other === button);
    filter();
  });
}
document.getElementById("find").addEventListener("input", filter);
document.getElementById("earlier").addEventListener("click", () => next(-1));
document.getElementById("later").addEventListener("click", () => next(1));
document.getElementById("close").addEventListener("click", () => dialog.close());
dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
dialog.addEventListener("close", () => history.replaceState(null, "", location.pathname + location.search));
dialog.addEventListener("keydown", (event) => {
  if (event.key === "ArrowLeft") next(-1);
  if (event.key === "ArrowRight") next(1);
});
const named = /^#attempt-(\d+)$/.exec(location.hash);
if (named && tiles[named[1] - 1]) show(named[1] - 1);
