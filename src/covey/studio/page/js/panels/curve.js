// How many clusters the noisy boxes show: a sentence, and a curve of what each number of centres costs, with intervals.
import { api } from "../api.js";
import { behind, byId, h } from "../dom.js";

const SVG = "http://www.w3.org/2000/svg";
const SIZE = { width: 320, height: 150, left: 40, right: 8, top: 10, bottom: 26 };

function s(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** The curve: whiskers for intervals, a band for the numbers that fit about equally well, a ring for what is shown. */
export function drawn({ costs, k, low, high, words }, shown) {
  const numbers = costs.map(([each]) => each);
  const [first, last] = [numbers[0], numbers.at(-1)];
  const told = costs.filter(([, cost]) => cost !== null); // noise hides the others
  const top = Math.max(...told.map(([, cost, , most]) => most ?? cost)); // at least 1: what the first costs
  const x = (each) => SIZE.left + ((SIZE.width - SIZE.left - SIZE.right) * (each - first + 0.5)) / (last - first + 1);
  const y = (cost) => SIZE.top + (SIZE.height - SIZE.top - SIZE.bottom) * (1 - cost / top);
  const half = (x(first + 1) - x(first)) / 2;
  const parts = [];
  if (k !== null) parts.push(s("rect", { class: "curve-band", x: x(low) - half, y: SIZE.top, width: x(high) - x(low) + 2 * half, height: SIZE.height - SIZE.top - SIZE.bottom }));
  for (const share of [0, 0.5, 1]) {
    const height = y(share);
    parts.push(s("line", { class: "curve-grid", x1: SIZE.left, x2: SIZE.width - SIZE.right, y1: height, y2: height }));
    parts.push(s("text", { class: "curve-label", x: SIZE.left - 6, y: height + 4, "text-anchor": "end" }, `${100 * share}%`));
  }
  told.slice(1).forEach(([each, cost], i) => {
    const [before, its] = told[i];
    if (each === before + 1) parts.push(s("line", { class: "curve-line", x1: x(before), x2: x(each), y1: y(its), y2: y(cost) }));
  });
  for (const [each, cost, least, most] of costs) {
    if (cost === null) parts.push(s("line", { class: "curve-hidden", x1: x(each), x2: x(each), y1: y(0), y2: y(top) }));
    if (least !== null) parts.push(s("line", { class: "curve-whisker", x1: x(each), x2: x(each), y1: y(least), y2: y(most) }));
    if (cost !== null) parts.push(s("circle", { class: each === shown ? "curve-dot shown" : "curve-dot", cx: x(each), cy: y(cost), r: each === shown ? 5 : 3 }));
    const free = k === null || Math.abs(each - k) > 1;
    if (each === k || ((each - first) % 3 === 0 && free)) parts.push(s("text", { class: each === k ? "curve-label best" : "curve-label", x: x(each), y: SIZE.height - 8, "text-anchor": "middle" }, String(each)));
  }
  return s("svg", { class: "curve", viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, role: "img", "aria-label": `Cost of ${first} to ${last} centres. ${words}` }, ...parts);
}

export function startCurve(store) {
  const words = h("p", { id: "curve-words", "aria-live": "polite" });
  const picture = h("div", { id: "curve-picture" });
  const take = h("button", { type: "button", id: "curve-take", hidden: true });
  const details = h("details", { className: "fine", id: "curve-details" },
    h("summary", {}, "How many clusters are there?"),
    h("div", { className: "items" }, words, picture, h("div", { className: "buttons" }, take),
      h("p", { className: "hint" }, "What each number of centres costs, in parts of what 2 cost, with what holds 9 times in 10 where that is known; a dotted line where noise hides it. From the noisy boxes alone: free.")));
  byId("curve-slot").replaceChildren(details);
  let latest = 0;

  async function show() {
    const { current, rehearsing, rows } = store.get();
    if (!details.open || !current) return;
    const mine = ++latest;
    const answer = await behind(() => api.howMany(rehearsing ? rows : null, current.level, current.objective));
    if (!answer || mine !== latest) return;
    const shown = store.get().current?.centres.length;
    words.textContent = answer.words;
    picture.replaceChildren(...(answer.costs.length > 1 ? [drawn(answer, shown)] : []));
    take.hidden = answer.k === null || answer.k === shown;
    take.textContent = `Show ${answer.k} centres`;
    take.onclick = () => {
      byId("k").value = answer.k;
      byId("k").dispatchEvent(new Event("change"));
    };
    details.dataset.k = String(answer.k);
    details.dataset.shown = String(shown);
  }

  details.addEventListener("toggle", show);
  store.on(["current"], show);
}
