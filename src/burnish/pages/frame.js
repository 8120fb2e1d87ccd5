// The shim in the frame of a live page: it opens the channel, runs one version of the page's code, and notices what goes
// wrong. It runs before any code of the page, and keeps what it needs for itself; what the page does to it afterwards, the
// page does to its own words alone. Both sides speak MCP.
"use strict";
(() => {
  const { stringify, parse } = JSON;
  const { WebSocket, performance, document, console, Error, Promise, Map } = window;
  const nextFrame = requestAnimationFrame.bind(window);
  const later = setTimeout.bind(window);
  const compile = eval; // called by another name it is the global one
  const asynchronous = (async () => {}).constructor;
  const ui = document.getElementById("dyn-ui");
  const began = performance.now();
  const MOST_CHARACTERS = 2000;
  const MOST_PIXELS = 1 << 20;
  const MOST_TEXTS = 200;

  // No policy of a document forbids these, and a frame within this one runs no code: what is gone here is gone.
  for (const name of Object.getOwnPropertyNames(window)) if (/^(webkit)?RTC|^Notification$/.test(name)) delete window[name];
  document.currentScript.remove();

  // --- the channel ---

  const [, , token] = location.pathname.split("/");
  const socket = new WebSocket(`ws://${location.host}/channel/${token}${location.search}`);
  const sendText = WebSocket.prototype.send.bind(socket);
  const opened = new Promise((resolve) => (socket.onopen = resolve));
  const waiting = new Map();
  let last = 0;

  const send = (message) => socket.readyState === WebSocket.OPEN && sendText(stringify({ jsonrpc: "2.0", ...message }));
  const request = (method, params) =>
    new Promise((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      send({ id: last, method, params });
    });

  socket.onmessage = async ({ data }) => {
    const { id, method, params, result, error } = parse(data);
    if (method === undefined) {
      const asked = waiting.get(id);
      waiting.delete(id);
      if (error) asked?.reject(new Error(error.message));
      else asked?.resolve(result);
    } else if (id !== undefined) {
      const answer = METHODS[method];
      if (answer) send({ id, result: await answer(params ?? {}) });
      else send({ id, error: { code: -32601, message: `there is no ${method} here` } });
    }
  };

  const US = {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "burnish-page", version: "1" },
  };
  const METHODS = {
    initialize: () => US,
    ping: () => ({}),
    "tools/list": () => ({ tools: Object.keys(TOOLS).map((name) => ({ name, inputSchema: { type: "object" } })) }),
    "tools/call": async ({ name, arguments: given }) => {
      try {
        const value = await TOOLS[name](given ?? {});
        const picture = name === "picture" && value;
        if (picture) return { content: [{ type: "image", data: picture, mimeType: "image/png" }] };
        return { content: [], structuredContent: { value: value ?? null } };
      } catch (error) {
        return { content: [{ type: "text", text: describe(error) }], isError: true };
      }
    },
  };

  const callAgent = async (name, given) => {
    await opened;
    const { content, isError } = await request("tools/call", { name, arguments: given });
    const text = content.map((block) => block.text).join("");
    if (isError) throw new Error(text);
    return text;
  };
  opened.then(async () => {
    const { protocolVersion } = US;
    await request("initialize", { protocolVersion, capabilities: {}, clientInfo: US.serverInfo });
    send({ method: "notifications/initialized" });
  });

  // --- what is noticed ---

  let cycle = 0;
  let room = 0;
  let dropped = 0;

  function tell(logger, kind, text, line) {
    text = text.slice(0, MOST_CHARACTERS);
    room -= text.length + 16;
    if (room < 0) {
      dropped += 1;
      return;
    }
    const level = { exception: "error", rejection: "error", syntax: "error", blocked: "error", unseen: "warning", warn: "warning", log: "info" };
    send({ method: "notifications/message", params: { level: level[kind] ?? kind, logger, data: { kind, text, line } } });
  }

  function lineOf(stack) {
    const found = new RegExp(`page-${cycle}\\.js:(\\d+)`).exec(stack ?? "");
    return found ? Number(found[1]) : null;
  }

  function describe(value) {
    try {
      if (typeof value === "string") return value;
      if (value instanceof Error) return `${value.name}: ${value.message}`;
      if (ArrayBuffer.isView(value)) return `${value.constructor.name}(${value.length ?? value.byteLength})`;
      if (value instanceof Node) return value.outerHTML ?? value.nodeName;
      return (typeof value === "object" && stringify(value)) || String(value);
    } catch {
      return Object.prototype.toString.call(value);
    }
  }

  for (const level of ["log", "info", "warn", "error", "debug"]) {
    const show = console[level].bind(console);
    console[level] = (...parts) => {
      if (room >= 0) show(...parts);
      tell("console", level, room >= 0 ? parts.map(describe).join(" ") : "", room >= 0 ? lineOf(new Error().stack) : null);
    };
  }
  for (const name of ["alert", "confirm", "prompt"])
    window[name] = (text = "") => {
      console.warn(`${name}: ${text}`);
      return { confirm: false, prompt: null }[name];
    };

  addEventListener("error", ({ message, filename, lineno, error }) => {
    if (!message) return; // a picture that is missing
    const isSyntax = error instanceof SyntaxError && !lineOf(error.stack);
    // Code that cannot be read never gets as far as its own name: its line comes with the document's.
    const line = isSyntax || filename?.endsWith(`page-${cycle}.js`) ? lineno : lineOf(error?.stack);
    tell("error", isSyntax ? "syntax" : "exception", error instanceof Error ? describe(error) : message, line);
  });
  addEventListener("unhandledrejection", ({ reason }) => tell("error", "rejection", describe(reason), lineOf(reason?.stack)));
  addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI, sourceFile, lineNumber }) => {
    if (effectiveDirective === "script-src-attr") return; // handlers in markup are set below
    const line = sourceFile?.endsWith(`page-${cycle}.js`) ? lineNumber : null;
    tell("error", "blocked", `${effectiveDirective}: ${blockedURI}`, line);
  });

  // --- what a page expects of a browser, and a frame under this policy does not have of itself ---

  // Its code comes long after these two, so they come once more for whoever begins to listen.
  for (const target of [window, document]) {
    const listen = target.addEventListener.bind(target);
    target.addEventListener = (type, listener, options) => {
      if (type !== "load" && type !== "DOMContentLoaded") return listen(type, listener, options);
      listen(type, listener, { once: true });
      later(() => target.dispatchEvent(new Event(type)));
    };
  }
  document.write = document.writeln = (...parts) => ui.insertAdjacentHTML("beforeend", parts.join(""));

  // `onclick="…"` in markup: the policy takes it for inline code, which only the shim may be.
  function setHandlers(element) {
    for (const { name, value } of element.attributes ?? [])
      if (name.startsWith("on") && name in element && !element[name]) {
        try {
          element[name] = compile(`(function (event) {${value}\n})`);
        } catch (error) {
          tell("error", "syntax", `${describe(error)} in ${name}="${value}"`, null);
        }
      }
  }
  // Two mistakes of small models that throw nothing: elements within a canvas, which nobody sees, and a button that goes
  // when a text is set. Each is told once.
  const CONTROLS = "button, input, select, textarea";
  const known = new Set();
  const tellOnce = (text) => known.has(text) || (known.add(text), tell("error", "unseen", text, null));
  function findUnseen(target, added, removed) {
    if (target.nodeName === "CANVAS" && [...added].some((node) => node.nodeType === 1))
      tellOnce("an element was put into a canvas, where nobody sees it: append it to dyn-ui");
    const isGone = [...removed].some((node) => node.matches?.(CONTROLS) || node.querySelector?.(CONTROLS));
    if (isGone && added.length && target.isConnected && !target.querySelector(CONTROLS))
      tellOnce(
        `setting the text of ${target.id || target.localName} removed the button or box in it: ` +
          'make an element of its own for the text, const text = document.createElement("p")',
      );
  }
  new MutationObserver((changes) => {
    for (const { type, target, addedNodes, removedNodes } of changes) {
      if (type === "attributes") setHandlers(target);
      if (type === "childList") findUnseen(target, addedNodes, removedNodes);
      for (const node of addedNodes)
        if (node.querySelectorAll) [node, ...node.querySelectorAll("*")].forEach(setHandlers);
    }
  }).observe(document, { subtree: true, childList: true, attributes: true });

  // Text on a canvas cannot be read from its pixels. It stands in an attribute too, for probes and for screen readers.
  const texts = new WeakMap();
  function keepText(canvas, change) {
    const places = texts.get(canvas) ?? new Map();
    texts.set(canvas, places);
    change(places);
    const text = [...places.values()].map((one) => one.text).join("\n");
    if (canvas.isConnected && text !== (canvas.getAttribute("aria-label") ?? "")) canvas.setAttribute("aria-label", text);
  }
  const drawing = CanvasRenderingContext2D.prototype;
  for (const name of ["fillText", "strokeText"]) {
    const draw = drawing[name];
    drawing[name] = function (text, x, y, ...rest) {
      draw.call(this, text, x, y, ...rest);
      keepText(this.canvas, (places) => places.size < MOST_TEXTS && places.set(`${x},${y}`, { text: `${text}`, x, y }));
    };
  }
  for (const name of ["clearRect", "fillRect"]) {
    const draw = drawing[name];
    drawing[name] = function (left, top, width, height) {
      draw.call(this, left, top, width, height);
      if (!texts.get(this.canvas)?.size) return;
      const isWithin = ({ x, y }) => x >= left && x <= left + width && y >= top && y <= top + height;
      keepText(this.canvas, (places) => places.forEach((one, key) => isWithin(one) && places.delete(key)));
    };
  }

  Object.defineProperty(window, "burnish", {
    value: Object.freeze({
      log: (text) => callAgent("log", { text: describe(text) }),
      done: (text = "") => callAgent("done", { text: describe(text) }),
      giveUp: (reason = "") => callAgent("give_up", { reason: describe(reason) }),
      ask: (question) => callAgent("ask", { question: describe(question) }),
    }),
  });

  // --- what we are asked ---

  let frames = 0;
  const count = () => {
    frames += 1;
    nextFrame(count);
  };

  // Every pixel counts: one of another colour gives another mark.
  function look(canvases) {
    const scratch = document.createElement("canvas");
    let mark = 7;
    let blank = true;
    for (const canvas of canvases) {
      if (!canvas.width || !canvas.height) continue;
      const scale = Math.min(1, Math.sqrt(MOST_PIXELS / (canvas.width * canvas.height)));
      scratch.width = Math.max(1, canvas.width * scale);
      scratch.height = Math.max(1, canvas.height * scale);
      const context = scratch.getContext("2d", { willReadFrequently: true });
      context.drawImage(canvas, 0, 0, scratch.width, scratch.height);
      const pixels = new Uint32Array(context.getImageData(0, 0, scratch.width, scratch.height).data.buffer);
      const [first] = pixels;
      for (const pixel of pixels) {
        mark = Math.imul(mark ^ pixel, 16777619);
        if (pixel !== first) blank = false;
      }
    }
    return { mark, blank };
  }

  const TOOLS = {
    run({ code, cycle: number, room: bytes }) {
      [cycle, room] = [number, bytes];
      count();
      return new Promise((resolve, reject) => {
        // In a task of its own, so that a mistake in the syntax is an uncaught error, which alone has a line.
        later(() => {
          const body = compile(`(async () => {${code}\n})\n//# sourceURL=page-${cycle}.js`);
          const answer = body();
          if (window.onload) later(() => window.onload?.(new Event("load")));
          answer.then(
            (value) => resolve(value === undefined ? "" : describe(typeof value === "string" ? stringify(value) : value)),
            (error) => {
              tell("error", "exception", describe(error), lineOf(error?.stack));
              reject(error);
            },
          );
        });
      });
    },
    evaluate: ({ script }) => new asynchronous(`return (${script}\n)`)(),
    sample: () =>
      new Promise((resolve) => {
        const measure = () => {
          const canvases = [...document.querySelectorAll("canvas")];
          resolve({
            seconds: (performance.now() - began) / 1000,
            frames,
            nodes: document.getElementsByTagName("*").length,
            heap: performance.memory?.usedJSHeapSize ?? null,
            canvases: canvases.length,
            ...look(canvases),
            hidden: document.hidden,
            dropped,
          });
        };
        // Right after the page has drawn, where a canvas of WebGL still has its pixels; a tab in the background never draws.
        let done = false;
        const once = () => done || ((done = true), measure());
        nextFrame(() => later(once));
        later(once, 150);
      }),
    picture() {
      const [largest] = [...document.querySelectorAll("canvas")].sort((a, b) => b.width * b.height - a.width * a.height);
      return largest?.toDataURL("image/png").split(",")[1] ?? null;
    },
  };
})();
