// The boxes of a level as they are: coloured by rows per square kilometre, on a scale of powers of ten, the same for every
// box. From level to level each box grows out of the one that covered its middle.
import { toScreen } from "./projection.js";
import { KM_PER_DEGREE } from "./words.js";

const DECADES = 4; // of the scale: what is thinner has its lightest colour
const LEAST_EDGE = 10; // pixels
const STEPS = 32; // colours that are told apart

/** What is painted of a level with two columns; null of any other, which has no boxes in the plane. */
export function mosaicOf(level, { bounds, data, projection }) {
  if (!level?.sides?.length || data.columns.length !== 2) return null;
  const shown = [...level.stands.keys()].filter((i) => level.stands[i] && level.weights[i] > 0);
  const [west, south, east, north] = bounds;
  const whole = (east - west) * (north - south);
  const size = ([w, h], y) => (data.geographic ? KM_PER_DEGREE ** 2 * w * h * Math.cos((y * Math.PI) / 180) : (1e4 * w * h) / whole);
  const boxes = shown.map((i) => {
    const [x, y] = level.points[i];
    const side = level.sides[level.side[i]];
    const [a, b] = [projection.forward([x - side[0] / 2, y - side[1] / 2]), projection.forward([x + side[0] / 2, y + side[1] / 2])];
    return { index: i, at: [a[0], a[1], b[0], b[1]], density: level.weights[i] / size(side, y), edge: Boolean(level.edge[i]) };
  });
  const most = 10 ** Math.ceil(Math.log10(usual(boxes, level.weights)) - 1e-9);
  return { boxes, most, unit: data.geographic ? "rows per km²" : "rows per 1/10,000 of the area", part: (density) => partOf(density, most) };
}

/** A density that few rows exceed; boxes at the edge, where rows were moved to, do not set the scale. */
function usual(boxes, weights) {
  const sorted = boxes.filter(({ edge }) => !edge).sort((a, b) => a.density - b.density);
  const whole = sorted.reduce((sum, { index }) => sum + weights[index], 0);
  let below = 0;
  for (const { index, density } of sorted) {
    below += weights[index];
    if (below >= 0.98 * whole) return Math.max(density, 1e-9);
  }
  return 1;
}

const partOf = (density, most) => Math.max(0, Math.min(1, 1 + Math.log10(Math.max(density, 1e-12) / most) / DECADES));

/** The values at the marks of the legend, from the lightest colour to the darkest. */
export const marks = ({ most }) => Array.from({ length: DECADES + 1 }, (_, i) => most / 10 ** (DECADES - i));

/** Where each box comes from: the one of the level before that covers its middle, or its own middle. */
export function grownFrom(mosaic, before) {
  if (!mosaic || !before) return null;
  return mosaic.boxes.map(({ at, density }) => {
    const [x, y] = [(at[0] + at[2]) / 2, (at[1] + at[3]) / 2];
    const old = before.boxes.find(({ at: b }) => (x - b[0]) * (x - b[2]) <= 0 && (y - b[1]) * (y - b[3]) <= 0);
    return old ?? { at: [x, y, x, y], density };
  });
}

/** A colour of the ramp, `part` of the way from light to dark. */
export function shade(ramp, part) {
  const at = part * (ramp.length - 1);
  const i = Math.min(ramp.length - 2, Math.floor(at));
  const mix = ramp[i].map((value, c) => Math.round(value + (ramp[i + 1][c] - value) * (at - i)));
  return `rgb(${mix.join(" ")})`;
}

/** Paints the boxes; `growth` is {from, done}: where they come from, and how far they are, 0 to 1. */
export function paintMosaic(context, view, mosaic, colours, growth) {
  const buckets = Array.from({ length: STEPS }, () => []);
  mosaic.boxes.forEach((box, i) => {
    const from = growth?.from[i];
    const at = from ? box.at.map((value, c) => from.at[c] + (value - from.at[c]) * growth.done) : box.at;
    const density = from ? from.density + (box.density - from.density) * growth.done : box.density;
    buckets[Math.min(STEPS - 1, Math.floor(mosaic.part(density) * STEPS))].push(onScreen(view, at));
  });
  context.globalAlpha = colours.mosaicAlpha;
  buckets.forEach((rects, i) => {
    if (!rects.length) return;
    context.fillStyle = shade(colours.ramp, i / (STEPS - 1));
    for (const [x, y, w, h] of rects) {
      const gap = Math.min(w, h) > 5 ? 1 : 0; // boxes are told apart where they are large enough
      context.fillRect(x, y, Math.max(1, w - gap), Math.max(1, h - gap));
    }
  });
  context.globalAlpha = 1;
}

/** Outlines of the boxes at the edge of the bounds, to be hatched: wide enough to be seen. */
export function traceEdge(context, view, mosaic) {
  context.beginPath();
  for (const { at, edge } of mosaic.boxes) {
    if (!edge) continue;
    const [x, y, w, h] = onScreen(view, at);
    const [more, higher] = [Math.max(0, LEAST_EDGE - w), Math.max(0, LEAST_EDGE - h)];
    context.rect(x - more / 2, y - higher / 2, w + more, h + higher);
  }
}

function onScreen(view, [x0, y0, x1, y1]) {
  const [a, b] = [toScreen(view, x0, y0), toScreen(view, x1, y1)];
  return [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.abs(b[0] - a[0]), Math.abs(b[1] - a[1])];
}

/** The box under a place of the plane, or -1. */
export const boxAt = (mosaic, [x, y]) => mosaic.boxes.find(({ at }) => (x - at[0]) * (x - at[2]) <= 0 && (y - at[1]) * (y - at[3]) <= 0)?.index ?? -1;
