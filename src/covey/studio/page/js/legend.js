// The legend tells what is on the stage now, and nothing that is not.
import { byId, h } from "./dom.js";
import { marks, shade } from "./mosaic.js";
import { mark, palette } from "./palette.js";
import { amount } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";

function picture(...shapes) {
  const svg = document.createElementNS(SVG, "svg");
  for (const [name, value] of Object.entries({ viewBox: "0 0 22 18", width: 22, height: 18, "aria-hidden": "true" })) svg.setAttribute(name, value);
  for (const [tag, attributes] of shapes) {
    const shape = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
    svg.append(shape);
  }
  return svg;
}

/** Folded where the stage is small. */
export function startLegend() {
  const narrow = matchMedia("(max-width: 820px)");
  const fold = () => { byId("legend").open = !narrow.matches; };
  narrow.addEventListener("change", fold);
  fold();
}

/** The colours of the boxes, with the density that each stands for. */
function scale(mosaic, colours) {
  const bar = h("span", { className: "ramp", "aria-hidden": "true" });
  bar.style.background = `linear-gradient(to right, ${[0, 0.25, 0.5, 0.75, 1].map((part) => shade(colours.ramp, part)).join(", ")})`;
  const values = marks(mosaic).map((value) => h("span", {}, amount(value)));
  return h("li", { className: "scale" }, h("span", {}, `${mosaic.unit}, noisy`), bar, h("span", { className: "marks" }, ...values));
}

export function showLegend(state, dark, mosaic) {
  const colours = palette(dark);
  const items = [];
  const add = (sign, words) => items.push(h("li", {}, sign, words));
  const { current, places, visible, owner, server, sets, forbidden } = state;
  const patch = (stroke, fill) => picture(["rect", { x: 2, y: 2, width: 18, height: 14, rx: 2, stroke, fill, "stroke-width": 1.6 }]);
  if (current && visible.points && mosaic) items.push(scale(mosaic, colours));
  else if (current && visible.points) {
    add(picture(["circle", { cx: 5, cy: 11, r: 3, fill: colours.point }], ["circle", { cx: 15, cy: 9, r: 6, fill: colours.point }]), "rows per cell, noisy");
  }
  if (current?.outside && mosaic && visible.points) add(picture(["path", { d: "M3 15L15 3M8 16L18 6M2 9L9 2", stroke: colours.edge, "stroke-width": 1.4 }]), "rows from outside, moved to the edge");
  if (current && visible.centres) add(picture(["circle", { cx: 11, cy: 9, r: 7.5, fill: colours.centre }]), "private centre, noisy size");
  if (current?.errors?.doubtful?.some(Boolean) && visible.centres) {
    add(picture(["circle", { cx: 11, cy: 9, r: 6.5, fill: colours.ring, stroke: colours.centre, "stroke-width": 2.4, "stroke-dasharray": "4 3" }]), "may be only noise");
  }
  if (places?.radii?.some((radius) => radius !== null) && visible.centres) {
    add(picture(["circle", { cx: 11, cy: 9, r: 7.5, fill: colours.regionFill, stroke: colours.centre, "stroke-width": 1.4 }]), "where a centre probably is");
  }
  if (current?.regions?.features?.length && visible.regions) {
    add(picture(["path", { d: "M1 9h20", stroke: colours.region, "stroke-width": 1.8, "stroke-dasharray": "5 3" }]), "nearest-centre region");
  }
  if (owner) add(picture(["path", { d: "M6 4l10 10M16 4L6 14", stroke: colours.owner, "stroke-width": 2.6, "stroke-linecap": "round" }]), "NOT private: centre of raw rows");
  if (server?.zones?.features?.length && visible.zones) add(patch(colours.zone, colours.zoneFill), "zone with a stricter level");
  if (forbidden.length) add(patch(colours.forbidden, colours.forbiddenFill), "forbidden region");
  sets.forEach((set, i) => {
    if (set.sites.length) add(mark(i, dark), set.name);
  });
  byId("legend-items").replaceChildren(...items);
  byId("legend").hidden = items.length === 0;
}
