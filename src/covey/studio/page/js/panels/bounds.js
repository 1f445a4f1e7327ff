// Where the data lies, said on a map: by the name of a place, or by drawing around it. Public limits, never read from rows.
import { api } from "../api.js";
import { attempt, h, later } from "../dom.js";
import { count } from "../words.js";
import { modeButton } from "./shapes.js";

const WAIT = 250; // milliseconds after the last letter
const degrees = (value, plus, minus) => `${Math.abs(value).toFixed(1)}° ${value >= 0 ? plus : minus}`;

/** The part of the form above the numbers. `chosen([west, south, east, north], { fit })` takes what was said. */
export function boundsOnMap(store, chosen) {
  const found = h("ul", { className: "items places", id: "places-found", "aria-live": "polite" });
  let last = "";
  const search = later(async () => {
    const name = input.value.trim();
    if (name.length < 2 || name === last) return;
    last = name;
    const answer = await attempt(() => api.gazetteer(name));
    if (!answer || input.value.trim() !== name) return;
    found.replaceChildren(...(answer.places.length ? answer.places.map(line) : [h("li", { className: "hint" }, "No place of that name is known here. Draw the limits, or type them.")]));
  }, WAIT);
  const line = (each) => h("li", {}, h("button", { type: "button", className: "quiet wide", onclick: () => take(each) },
    each.name, h("small", {}, `${degrees(each.lat, "N", "S")}, ${degrees(each.lon, "E", "W")}${each.people ? `, ${count(each.people)} people` : ""}`)));
  const take = (each) => {
    input.value = each.name;
    last = each.name;
    found.replaceChildren();
    chosen(each.bounds, { fit: true });
  };
  const input = h("input", { type: "text", id: "place-name", autocomplete: "off", maxlength: "80", placeholder: "such as Köln", oninput: search });
  const around = (ring) => {
    const [xs, ys] = [0, 1].map((axis) => ring.map((corner) => Number(corner[axis].toFixed(5))));
    chosen([Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)], { fit: false });
  };
  return h("div", { className: "items" },
    h("label", { className: "field" }, "Around which place?", input), found,
    h("div", { className: "buttons" }, modeButton(store, "draw-bounds", "Draw the limits on the map", { kind: "polygon", what: "Limits", done: around })));
}
