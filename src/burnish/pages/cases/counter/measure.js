const button = findButtons(/add|\+|count|click|plus/i)[0];
// The number beside the button, not one that its own label may have.
const number = () => {
  const found = shownText().replace(button?.innerText || "\0", " ").match(/-?\d+/);
  return found && Number(found[0]);
};
const first = await until(number, 300) ?? null;
if (!button) return { button: false, first, once: null, more: null };
const before = number() ?? 0;
button.click();
await until(() => number() === before + 1, 400);
const after = number();
for (let n = 0; n < 10; n++) findButtons(/add|\+|count|click|plus/i)[0]?.click();  // it may be made anew by each click
await until(() => number() === after + 10, 400);
return { button: true, first, once: after === null ? null : after - before, more: after === null ? null : number() - after };
