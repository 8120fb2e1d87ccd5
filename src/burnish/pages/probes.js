// What probes share. It is put before each script of a case, in the page's isolated world: it sees the document and the
// pixels of its canvases, and none of its variables.
const unknown = (why) => { throw new Error(why); };  // a criterion is not judged where its probe throws
const wait = (ms) => new Promise((done) => setTimeout(done, ms))
  .then(() => document.hidden && unknown("the page was in the background, where a browser slows it down"));
const nextFrame = () => new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 100); });
// Of elements, and of canvases, where the shim has put it.
const shownText = () => [document.body.innerText, ...[...document.querySelectorAll("canvas")].filter(isShown)
  .map((canvas) => canvas.getAttribute("aria-label") ?? "")].join("\n");
const isShown = (element) => {
  const box = element.getBoundingClientRect(), style = getComputedStyle(element);
  return box.width > 0 && box.height > 0 && style.visibility !== "hidden";
};

// Next to each other, with a small gap, on any side.
function isBeside(one, other) {
  const [a, b] = [one, other].map((element) => element.getBoundingClientRect());
  const gap = Math.max(a.left - b.right, b.left - a.right, a.top - b.bottom, b.top - a.bottom);
  return gap >= -4 && gap <= 80;
}

async function until(test, ms, step = 20) {
  for (const end = performance.now() + ms; performance.now() < end; await wait(step)) {
    const found = test();
    if (found) return found;
  }
  return test();
}

// Buttons that can be seen; the first is the one whose words fit best.
function findButtons(wish = /start|run|play|begin|go\b/i) {
  const all = [...document.querySelectorAll("button, input[type=button], input[type=submit], [role=button]")];
  const words = (button) => button.innerText || button.value || "";
  return all.filter(isShown).sort((a, b) => wish.test(words(b)) - wish.test(words(a)));
}

// Type a number into a box, as a person does.
function typeNumber(box, number) {
  box.focus();
  box.value = String(number);
  for (const kind of ["input", "change"]) box.dispatchEvent(new Event(kind, { bubbles: true }));
  for (const kind of ["keydown", "keyup"]) box.dispatchEvent(new KeyboardEvent(kind, { key: "Enter", keyCode: 13, bubbles: true }));
  box.blur();
}

const findCanvas = () => [...document.querySelectorAll("canvas")].filter(isShown)
  .sort((a, b) => b.width * b.height - a.width * a.height)[0] ?? null;

// A part of the canvas, drawn to `columns` by `rows` pixels: the middle of each cell, where there is one for each.
// As a copy, so that the page's own canvas keeps its kind of context.
const copy = document.createElement("canvas");
function readPixels(canvas, columns = canvas.width, rows = canvas.height, area = [0, 0, canvas.width, canvas.height]) {
  [copy.width, copy.height] = [columns, rows];
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.imageSmoothingEnabled = false;
  context.drawImage(canvas, ...area, 0, 0, columns, rows);
  return new Uint32Array(context.getImageData(0, 0, columns, rows).data.buffer);
}

const MUCH = 40;  // by which two colours differ, all channels together
function differ(a, b) {
  if (a === b) return false;
  let sum = 0;
  for (let shift = 0; shift < 32; shift += 8) sum += Math.abs((a >>> shift & 255) - (b >>> shift & 255));
  return sum > MUCH;
}

// Bars that have become longer between two pictures, by where they begin: a run of changed pixels that goes on in the colour
// to its left, which was there, the same in four rows, one below the other.
function findGrowth(before, after, width) {
  const found = new Set();
  let above = new Map();
  for (let row = 0; row < after.length; row += width) {
    const here = new Map();
    for (let x = 1; x < width; x++) {
      const from = x;
      if (differ(before[row + x - 1], after[row + x - 1])) continue;
      while (x < width && differ(before[row + x], after[row + x]) && !differ(after[row + x], after[row + from - 1])) x++;
      if (x === from) continue;
      let left = from - 1;
      while (left && !differ(after[row + left - 1], after[row + from])) left--;
      const key = `${from}-${x}`, { top, rows } = above.get(key) ?? { top: row / width, rows: 0 };
      here.set(key, { top, rows: rows + 1 });
      if (rows + 1 === 4) found.add(`${left},${top}`);
    }
    above = here;
  }
  return [...found];
}

function mostCommon(values) {
  const counts = new Map();
  let best;
  for (const value of values) {
    const count = (counts.get(value) ?? 0) + 1;
    counts.set(value, count);
    if (count > (counts.get(best) ?? 0)) best = value;
  }
  return best;
}

// --- A grid of cells, read from its pixels ---

// The size of cells along one axis: the largest that a page may have chosen with which nearly all places, where something
// begins, lie on one lattice; a frame around the canvas may lie beside it.
function fitCells(places, length, other) {
  const sizes = new Set();
  for (let size = 2; size <= 60; size += 0.5) sizes.add(size);
  for (const side of [length, other]) for (let n = 10; n <= 400; n++) sizes.add(side / n);
  const fits = [];
  for (const size of sizes) {
    for (const origin of places.slice(0, 3)) {
      const errors = places.map((at) => Math.abs((at - origin) / size - Math.round((at - origin) / size)) * size)
        .filter((error) => error <= Math.min(0.75, size / 4));
      const error = Math.hypot(...errors) / Math.sqrt(errors.length);
      if (size >= 1.5 && errors.length >= places.length * 0.85) fits.push({ size, origin, error });
    }
  }
  const largest = Math.max(...fits.map((fit) => fit.size));
  return fits.filter((fit) => fit.size > largest * 0.96).sort((a, b) => a.error - b.error || b.size - a.size)[0] ?? null;
}

// Where on the canvas cells are, from a picture with live ones: {area, columns, rows, dead}, or {why} there are none.
// `wanted` columns and rows are looked for in a square part of the canvas too, as nothing else shows how far cells go.
function findGrid(canvas, wanted = 0) {
  const { width, height } = canvas, pixels = readPixels(canvas), ground = mostCommon(pixels);
  const isMarked = memoize((colour) => differ(colour, ground));
  const across = new Set(), down = new Set();
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      if (!isMarked(pixels[at])) continue;
      if (x && !isMarked(pixels[at - 1])) across.add(x);
      if (y && !isMarked(pixels[at - width])) down.add(y);
    }
  }
  const [xs, ys] = [across, down].map((places) => [...places].sort((a, b) => a - b));
  const why = "no regular cells can be seen on the canvas";
  if (xs.length < 4 || ys.length < 3) return { why };
  const [x, y] = [fitCells(xs, width, height), fitCells(ys, height, width)];
  if (!x || !y) return { why };
  if (Math.abs(x.size - y.size) < x.size * 0.1) y.size = x.size;  // few rows say less about their size
  const span = (fit, places, length) => {
    const [from, to] = [places[0], places.at(-1)];
    const isRuled = places.length > 40 && places.length > 0.9 * (to - from) / fit.size;
    const isWhole = !isRuled || (from < fit.size + 2 && to > length - fit.size - 2);
    if (!isWhole) return [from, to - from];
    const rest = fit.origin % fit.size, shift = rest > fit.size / 2 ? rest - fit.size : rest;
    return [Math.abs(shift) > 1.5 ? shift : 0, length];
  };
  const [[left, across_], [top, down_]] = [span(x, xs, width), span(y, ys, height)];
  const whole = makeGrid(canvas, [left, top, across_, down_], x.size, y.size);
  if (!wanted || (whole.columns === wanted && whole.rows === wanted)) return whole;
  const [w, h] = [wanted * x.size, wanted * y.size];
  const isSnug = Math.min(Math.abs(width - w), Math.abs(height - h)) < x.size || width % x.size > 0.5;
  for (const [x0, y0] of isSnug && w <= width + 1 && h <= height + 1 ? [[0, 0], [(width - w) / 2, (height - h) / 2]] : []) {
    const part = makeGrid(canvas, [Math.round(x0), Math.round(y0), w, h], x.size, y.size);
    const box = boundsOf(readCells(canvas, part), wanted), all = boundsOf(readCells(canvas, whole), whole.columns);
    const isAll = box && all && Math.abs(box.width - all.width) < 2 && Math.abs(box.height - all.height) < 2;
    if (isAll && Math.hypot(box.x - wanted / 2, box.y - wanted / 2) < 20) return part;
  }
  return whole;
}

function makeGrid(canvas, area, width, height) {
  const [columns, rows] = [Math.round(area[2] / width + 0.01), Math.round(area[3] / height + 0.01)];
  const dead = mostCommon(readPixels(canvas, columns, rows, [area[0], area[1], columns * width, rows * height]));
  return { area: [area[0], area[1], columns * width, rows * height], columns, rows, dead };
}

function memoize(work) {
  const known = new Map();
  return (key) => known.get(key) ?? (known.set(key, work(key)), known.get(key));
}

const readCells = (canvas, { area, columns, rows, dead }) => {
  const isLive = memoize((colour) => differ(colour, dead));
  return Uint8Array.from(readPixels(canvas, columns, rows, area), (colour) => +isLive(colour));
};

// Around all live cells, or null: its middle, its size, its edges.
function boundsOf(cells, columns) {
  let [left, right, top, bottom] = [Infinity, -1, Infinity, -1];
  cells.forEach((live, at) => {
    if (!live) return;
    const x = at % columns, y = (at - x) / columns;
    [left, right, top, bottom] = [Math.min(left, x), Math.max(right, x), Math.min(top, y), Math.max(bottom, y)];
  });
  const [width, height] = [right - left + 1, bottom - top + 1];
  return right < 0 ? null : { left, right, top, bottom, width, height, x: left + width / 2, y: top + height / 2 };
}

// --- The Game of Life, as a reference ---

function nextGeneration(cells, columns) {
  const rows = cells.length / columns, sums = new Uint8Array(cells.length), next = new Uint8Array(cells.length);
  for (let at = 0; at < cells.length; at++) {
    if (!cells[at]) continue;
    const x = at % columns, y = (at - x) / columns;
    for (let j = Math.max(0, y - 1); j <= Math.min(rows - 1, y + 1); j++) {
      for (let i = Math.max(0, x - 1); i <= Math.min(columns - 1, x + 1); i++) sums[j * columns + i]++;
    }
  }
  // Each live cell is counted in its own sum: 3 and 4 keep it alive.
  for (let at = 0; at < cells.length; at++) next[at] = +(sums[at] === 3 || (cells[at] === 1 && sums[at] === 4));
  return next;
}

// How many generations lie between two pictures, at most `most`; null where the rules lead from one to the other in none.
// What is near the edge is left out, as nothing says whether the grid wraps around; the middle half is always looked at.
function countBetween(before, after, columns, most) {
  const rows = after.length / columns, last = Math.min(most, Math.floor(Math.min(rows, columns) / 4) - 1);
  const isSame = (cells, edge) => {
    for (let y = edge; y < rows - edge; y++) {
      for (let x = edge; x < columns - edge; x++) if (cells[y * columns + x] !== after[y * columns + x]) return false;
    }
    return true;
  };
  for (let count = 0, cells = before; count <= last; count++, cells = nextGeneration(cells, columns)) {
    if (isSame(cells, count && count + 1)) return count;
  }
  return null;
}

// Each picture of the canvas that differs from the one before, until `isEnough` or the time is over.
async function watchCells(canvas, grid, ms, isEnough = () => false) {
  const pictures = [];
  for (const end = performance.now() + ms; performance.now() < end && !isEnough(pictures); await nextFrame()) {
    const cells = readCells(canvas, grid), last = pictures.at(-1)?.cells;
    if (!last || last.some((live, at) => live !== cells[at])) pictures.push({ at: performance.now(), cells });
  }
  return pictures;
}

// What pictures show: how many generations went by as the rules want it, whether one did not, and how many a second: the
// slope of the line through them, as each picture of a busy machine is a little late.
function followRules(pictures, grid) {
  const points = [];
  let generations = 0;
  for (let n = 1; n < pictures.length; n++) {
    const steps = countBetween(pictures[n - 1].cells, pictures[n].cells, grid.columns, 8);
    if (steps === null) return { generations, isWrong: true, rate: null };
    generations += steps;
    points.push([pictures[n].at / 1000, generations]);  // how long the first one took is not known
  }
  const mean = (of) => points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [at, count] = [mean(([x]) => x), mean(([, y]) => y)];
  const rate = mean(([x, y]) => (x - at) * (y - count)) / mean(([x]) => (x - at) ** 2);
  return { generations, isWrong: false, rate: points.length > 1 ? rate : null };
}

// Gliders that touch nothing else, with the way they fly.
function findGliders(cells, columns) {
  const seen = new Set(), found = [];
  const around = (at) => [-columns - 1, -columns, -columns + 1, -1, 1, columns - 1, columns, columns + 1].map((by) => at + by);
  cells.forEach((live, start) => {
    if (!live || seen.has(start)) return;
    const group = [start];
    seen.add(start);
    for (const at of group) for (const next of around(at)) if (cells[next] && !seen.has(next)) { seen.add(next); group.push(next); }
    if (group.length !== 5) return;
    const alone = new Uint8Array(cells.length);
    for (const at of group) alone[at] = 1;
    const from = boundsOf(alone, columns);
    let later = alone;
    for (let n = 0; n < 4; n++) later = nextGeneration(later, columns);
    const to = boundsOf(later, columns);
    const [dx, dy] = to ? [to.x - from.x, to.y - from.y] : [0, 0];
    if (Math.abs(dx) === 1 && Math.abs(dy) === 1 && from.width === to.width) found.push({ x: from.x, y: from.y, dx, dy });
  });
  return found;
}

// Whether a pattern sends out gliders again and again, on a field that is wide enough for it.
function isGun(cells, columns) {
  const box = boundsOf(cells, columns), edge = 50;
  if (!box) return false;
  const wide = box.width + 2 * edge;
  let field = new Uint8Array(wide * (box.height + 2 * edge));
  cells.forEach((live, at) => { field[(Math.floor(at / columns) - box.top + edge) * wide + at % columns - box.left + edge] ||= live; });
  for (let n = 1; n <= 260; n++) {
    field = nextGeneration(field, wide);
    if (n % 20 === 0 && findGliders(field, wide).length >= 2) return true;
  }
  return false;
}
