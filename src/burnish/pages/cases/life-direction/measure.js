// A click, and then the gliders are followed from picture to picture until one has flown far enough.
const FAR = 20, NEAR = 5;
let canvas = await until(findCanvas, 500);
if (!canvas) return { why: "there is no canvas" };
const button = findButtons()[0];
const facts = { button: !!button, beside: !!button && isBeside(button, canvas) };
button?.click();
let grid;
await until(() => { canvas = findCanvas(); grid = findGrid(canvas); return !grid.why; }, 1500);
if (grid.why) return { ...facts, why: grid.why };
const { columns, rows } = grid, first = readCells(canvas, grid), bounds = boundsOf(first, columns);
Object.assign(facts, {
  isGun: isGun(first, columns), isLeft: bounds.left < columns / 4, isLow: bounds.bottom > rows * 3 / 4,
});
const pictures = await watchCells(canvas, grid, 3000, (pictures) => pictures.length > 20);
const seen = followRules(pictures, grid);
// Each glider that flies alone: where it was seen first and last, and how far the rules let it fly from there.
const flights = [];
const length = ({ from, to }) => Math.max(Math.abs(to.x - from.x), Math.abs(to.y - from.y));
const longest = () => flights.toSorted((a, b) => length(b) - length(a))[0];
const end = performance.now() + 25_000, patience = 8_000;
let far = 0, grown = performance.now();
while (far < FAR && performance.now() < Math.min(end, grown + patience)) {
  for (const glider of findGliders(readCells(canvas, grid), columns)) {
    const known = flights.find(({ to }) => to.dx === glider.dx && to.dy === glider.dy
      && (glider.x - to.x) * to.dx >= 0 && Math.max(Math.abs(to.x - glider.x), Math.abs(to.y - glider.y)) <= NEAR);
    if (known) known.to = glider;
    else flights.push({ from: glider, to: glider });
  }
  const now = flights.length ? length(longest()) : 0;
  if (now > far) [far, grown] = [now, performance.now()];
  await wait(50);
}
const flight = longest();
const vector = flight && length(flight) >= 2 ? [flight.to.x - flight.from.x, flight.from.y - flight.to.y] : null;
const ahead = flight ? Math.min(flight.to.dx > 0 ? columns - flight.to.x : flight.to.x,
  flight.to.dy > 0 ? rows - flight.to.y : flight.to.y) : 0;
const hasTime = performance.now() < end;
// By now the pattern is another one: a click that sets it up anew brings back what was seen at first.
const old = readCells(canvas, grid), isSame = (a, b) => a.every((live, at) => live === b[at]);
button?.click();
const anew = await watchCells(canvas, grid, 800, (pictures) => pictures.length > 25);
const isBack = anew.some(({ cells }) => pictures.some((early) => isSame(early.cells, cells)))
  || countBetween(first, anew.at(-1).cells, columns, 40) !== null;  // where generations are too quick to be seen singly
return {
  ...facts, columns, rows, vector, isWrong: seen.isWrong, generations: seen.generations,
  angle: vector && Math.abs(Math.atan2(Math.abs(vector[1]), Math.abs(vector[0])) * 180 / Math.PI - 45),
  way: flight && vector ? length(flight) + (hasTime ? 0 : Math.max(0, Math.floor(ahead) - 2)) : 0,
  starts: !!button && pictures.length > 1,
  startsAnew: anew.length > 1 && !isSame(old, first) && isBack,
};
