// Used as a person would: at 8 generations a second, back to the beginning, and at 22. Both lie between what a page can
// do that counts the frames of a 60 Hz screen.
const SLOW = 8, FAST = 22, SIZE = 200;
let canvas = await until(findCanvas, 500);
if (!canvas) return { why: "there is no canvas" };
const button = findButtons()[0];
const box = [...document.querySelectorAll("input, textarea")].filter((box) => isShown(box)
  && !["button", "submit", "checkbox", "radio", "color"].includes(box.type))[0];
const facts = { button: !!button, box: !!box, beside: !!button && isBeside(button, canvas) };
let grid = findGrid(canvas, SIZE);
const isEmpty = !!grid.why;
let pictures = isEmpty ? [] : await watchCells(canvas, grid, 350, (pictures) => pictures.length > 1);
const runsAlone = pictures.length > 1;
if (box) typeNumber(box, SLOW);
if (!runsAlone) button?.click();
if (isEmpty) {
  await until(() => { canvas = findCanvas(); grid = findGrid(canvas, SIZE); return !grid.why; }, 600);
  if (grid.why) return { ...facts, why: grid.why };
}
const first = pictures[0]?.cells ?? readCells(canvas, grid), bounds = boundsOf(first, grid.columns);
Object.assign(facts, {
  columns: grid.columns, rows: grid.rows, isGun: isGun(first, grid.columns),
  apart: bounds ? Math.round(Math.max(Math.abs(bounds.x - grid.columns / 2), Math.abs(bounds.y - grid.rows / 2))) : null,
});
const slow = await watchCells(canvas, grid, 1500);
facts.starts = !runsAlone && slow.length > 1;
button?.click();
await wait(150);
const back = readCells(canvas, grid);
pictures = await watchCells(canvas, grid, 350, (pictures) => pictures.length > 1);
// A page that begins again at once is some generations further; one that was empty at first may be empty again.
facts.resets = countBetween(first, back, grid.columns, pictures.length > 1 || isEmpty ? 8 : 0) !== null
  || (isEmpty && !back.includes(1));
if (box) typeNumber(box, FAST);
if (pictures.length < 2) button?.click();
const before = followRules(slow, grid);
const fast = await watchCells(canvas, grid, 4500, (pictures) => performance.now() - (pictures[0]?.at ?? Infinity) > 1200
  && pictures.length > 54 - before.generations);
const after = followRules(fast, grid);
const isNear = (rate, wanted) => rate !== null && Math.abs(rate - wanted) <= wanted * 0.2;
return {
  ...facts, isWrong: before.isWrong || after.isWrong, generations: before.generations + after.generations,
  rates: isNear(before.rate, SLOW) && isNear(after.rate, FAST), moved: slow.length + fast.length > 2,
  measured: [before.rate, after.rate],
};
