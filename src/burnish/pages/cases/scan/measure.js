// Watched until it is done: at the end for as long as it may take, before that for as long as one likes to wait.
const HOSTS = ["127.0.0.2", "127.0.0.3", "127.0.0.4"], TARGETS = HOSTS.length * 12001;
const longest = isLast ? 300_000 : 45_000, patience = 8_000;
const bars = new Set(), shown = new Set();
let canvas = await until(findCanvas, 500), picture = canvas && readPixels(canvas), text = "", moved = performance.now();
const isOver = () => /scan complete/i.test(text);
const look = () => {
  const now = shownText(), before = picture;
  picture = canvas && readPixels(canvas);
  const grown = before ? findGrowth(before, picture, canvas.width) : [];
  for (const bar of grown) bars.add(bar);
  if (grown.length || now !== text) moved = performance.now();
  text = now;
  // A server that was found is no address that is looked at now.
  const rest = servers.reduce((rest, server) => rest.replaceAll(new RegExp(`${server}(?!\\d)`, "g"), ""), text);
  for (const host of isOver() ? [] : HOSTS) if (rest.includes(host)) shown.add(host);
};
// The page's own clock began with its document, some seconds before this.
for (look(); !isOver() && performance.now() < longest && performance.now() - moved < patience; look()) await wait(400);
const seconds = isOver() ? performance.now() / 1000 : null;
await wait(200);
look();
const listed = [...new Set(text.match(/127\.0\.0\.\d+:\d+/g))].filter((target) => !target.endsWith(":12000"));
return {
  isOpen: seconds === null && !isLast && performance.now() - moved < patience,
  bars: bars.size, hosts: shown.size, seconds, perSecond: seconds && Math.round(TARGETS / seconds),
  missing: servers.filter((server) => !listed.includes(server)).length,
  wrong: listed.filter((target) => !servers.includes(target)).length,
  blocked: /^\W*blocked ports:.*\b6000\b/im.test(text),
};
