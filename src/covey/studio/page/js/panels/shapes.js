// Parts that zones and comparisons share: a box typed as four numbers, a button that starts drawing.
import { h } from "../dom.js";
import { axes, box } from "../words.js";

/** A closed fold with four numbers; `done(ring)` gets the box as a closed ring. */
export function boxForm(data, id, words, done) {
  const [west, south, east, north] = box(data);
  const names = axes(data);
  const third = (a, b, part) => Number((a + (b - a) * part).toPrecision(6));
  const field = (words_, value) => {
    const input = h("input", { type: "number", step: "any", required: true, value: String(value) });
    return [input, h("label", {}, words_, input)];
  };
  const fields = [
    field(`${names[0]} from`, third(west, east, 1 / 3)), field(`${names[0]} to`, third(west, east, 2 / 3)),
    field(`${names[1]} from`, third(south, north, 1 / 3)), field(`${names[1]} to`, third(south, north, 2 / 3)),
  ];
  const add = (event) => {
    event.preventDefault();
    const [x0, x1, y0, y1] = fields.map(([input]) => Number(input.value));
    const [left, right, bottom, top] = [Math.min(x0, x1), Math.max(x0, x1), Math.min(y0, y1), Math.max(y0, y1)];
    if (left < right && bottom < top) done([[left, bottom], [right, bottom], [right, top], [left, top], [left, bottom]]);
  };
  return h("details", { className: "fine", id }, h("summary", {}, words),
    h("form", { onsubmit: add, className: "items" },
      h("div", { className: "pair" }, ...fields.map(([, label]) => label)),
      h("button", { type: "submit" }, "Add the box")));
}

/** A button that turns a mode on and off. */
export function modeButton(store, id, words, mode) {
  const on = () => store.get().mode?.id === id;
  const button = h("button", { type: "button", id, "aria-pressed": "false", onclick: () => store.set({ mode: on() ? null : { id, ...mode } }) }, words);
  store.on(["mode"], () => button.setAttribute("aria-pressed", String(on())));
  return button;
}
