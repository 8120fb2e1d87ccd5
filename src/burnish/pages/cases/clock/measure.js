const DAY = 86400;
const read = () => {
  const found = shownText().match(/(\d{1,2})\s*:\s*(\d{1,2})\s*:\s*(\d{1,2})\s*([ap]\.?m)?/i);
  if (!found) return null;
  const [hours, minutes, seconds] = found.slice(1, 4).map(Number);
  const isEvening = found[4] && found[4].toLowerCase().startsWith("p");
  return (found[4] ? (hours % 12) + (isEvening ? 12 : 0) : hours) * 3600 + minutes * 60 + seconds;
};
const now = () => { const date = new Date(); return date.getHours() * 3600 + date.getMinutes() * 60 + date.getSeconds(); };
const apart = (a, b) => Math.min((a - b + DAY) % DAY, (b - a + DAY) % DAY);
const first = await until(read, 1200);
if (!first && first !== 0) return { shown: false, right: false, goesOn: false };
const right = apart(first, now()) <= 2;
// Three new times, each a second after the one before, and no sooner.
let last = first, changed = 0, goesOn = true;
for (let step = 0; step < 3 && goesOn; step++) {
  const next = await until(() => { const time = read(); return time === last ? null : { time }; }, 1600);
  goesOn = !!next && next.time !== null && (next.time - last + DAY) % DAY === 1 && performance.now() - changed > 500;
  [last, changed] = [next?.time, performance.now()];
}
return { shown: true, right, goesOn };
