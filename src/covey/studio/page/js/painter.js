// Paints everything that is private, drawn or compared on one canvas, above whatever lies beneath.
import { SHAPES, trace } from "./palette.js";
import { mosaicOf, paintMosaic, traceEdge } from "./mosaic.js";
import { flatten, polygons, toScreen } from "./projection.js";
import { metres, toNearest } from "./words.js";

const SMALLEST = 1.1;
const LARGEST = 21;

/** What a scene needs once per change of data rather than once per frame. */
export function prepare(scene, projection) {
  const level = scene.current;
  const line = (ring) => ring.map((position) => projection.forward(position));
  const shapes = (features) => features.flatMap(({ geometry }) => polygons(geometry).map((ringList) => ringList.map(line)));
  return {
    ...scene,
    mosaic: mosaicOf(level, { ...scene, projection }),
    at: level ? flatten(level.points, projection) : null,
    youAt: scene.you ? projection.forward(scene.you) : null,
    typical: level ? large(level.weights) : 1,
    cell: level ? cellInPlane(level, scene, projection) : null,
    centresAt: level ? flatten(level.centres, projection) : null,
    ringsAt: level ? level.centres.map((centre, i) => ring(centre, scene.places?.radii?.[i], scene, projection)) : [],
    mostSize: Math.max(1, ...(level?.sizes ?? [])),
    regions: level ? shapes(level.regions?.features ?? []) : [],
    borders: level ? borders(level.regions?.features ?? []).map(line) : [],
    ownerAt: scene.owner ? flatten(scene.owner, projection) : null,
    zoneShapes: shapes(scene.zones),
    forbiddenShapes: scene.forbidden.map(({ ring }) => [line(ring)]),
    setsAt: scene.sets.map(({ sites }) => flatten(sites, projection)),
    boundsShape: scene.bounds ? line(corners(scene.bounds)) : null,
    handlesAt: line((scene.handles ?? []).map(({ position }) => position)),
    draftLine: line(scene.draft ?? []),
  };
}

/** The half-axes in the plane of where a centre probably is; null where that is not known or not determined. */
function ring([x, y], radius, scene, projection) {
  if (radius === null || radius === undefined) return null;
  const [across, up] = scene.drawn.map((column) => (column === null ? 1 : scene.unit[column]));
  const [x0, y0] = projection.forward([x, y]);
  const [x1, y1] = projection.forward([x + radius * across, y + radius * up]);
  return [Math.abs(x1 - x0), scene.drawn[1] === null ? 0 : Math.abs(y1 - y0)];
}

/** Every edge between regions once, so that dashes of two neighbours do not run into one another. */
function borders(features) {
  const seen = new Map();
  for (const ring of features.flatMap(({ geometry }) => polygons(geometry).flat())) {
    for (let i = 1; i < ring.length; i += 1) {
      const ends = [ring[i - 1], ring[i]].map((end) => end.map((value) => value.toPrecision(7)).join(" ")).sort();
      seen.set(ends.join("|"), [ring[i - 1], ring[i]]);
    }
  }
  return [...seen.values()];
}

const corners = ([west, south, east, north]) => [[west, south], [east, south], [east, north], [west, north]];

/** A weight that few exceed: the 98th percentile, so that one heavy cell does not shrink all others. */
function large(weights) {
  const sorted = Float64Array.from(weights).sort();
  return Math.max(sorted[Math.floor(sorted.length * 0.98)] ?? 1, 1e-9);
}

/** Width and height of a cell in the plane, from the level's own formula or from how many points share the bounds. */
function cellInPlane(level, scene, projection) {
  const [west, south, east, north] = scene.bounds;
  const [x0, y0] = projection.forward([west, south]);
  const [x1, y1] = projection.forward([east, north]);
  const size = level.expected?.cell_size;
  const sides = Array.isArray(size) ? scene.drawn.map((column) => size[column] ?? size[0]) : null;
  if (sides) return [(Math.abs(x1 - x0) * sides[0]) / (east - west), (Math.abs(y1 - y0) * sides[1]) / (north - south)];
  const per = Math.sqrt(Math.max(level.points.length, 16) * 2);
  return [Math.abs(x1 - x0) / per, Math.abs(y1 - y0) / per];
}

/** The radius in pixels of weight `typical`: what just fits the cell on the screen. */
export function unitRadius(scene, view) {
  const side = Math.min(Math.abs(scene.cell[0] * view.sx), Math.abs(scene.cell[1] * view.sy));
  return Math.max(3.4, Math.min(LARGEST, 0.5 * side));
}

export const pointRadius = (weight, scene, unit) =>
  Math.max(SMALLEST, Math.min(unit * 1.25, unit * Math.sqrt(Math.max(weight, 0) / scene.typical)));

/** Smaller on a small stage, so that a phone still shows the cells around a centre. */
export const centreRadius = (size, scene, view) => (view.width < 480 ? 0.75 : 1) * (9 + 9 * Math.sqrt(Math.max(size ?? 0, 0) / scene.mostSize));

/** One frame; `ground` paints what lies beneath and may give back a function for what lies above. */
export function paint(context, view, scene, colours, ground) {
  context.clearRect(0, 0, view.width, view.height);
  const above = ground?.();
  if (scene.boundsShape) stroke(context, view, [scene.boundsShape], colours.bounds, 1, [5, 5]);
  if (scene.visible.points && scene.mosaic) mosaic(context, view, scene, colours);
  else if (scene.visible.points && scene.at) points(context, view, scene, colours);
  if (scene.visible.regions) regions(context, view, scene, colours);
  if (scene.visible.zones) {
    for (const shape of scene.zoneShapes) area(context, view, shape, colours.zone, colours.zoneFill, "rising");
  }
  for (const shape of scene.forbiddenShapes) area(context, view, shape, colours.forbidden, colours.forbiddenFill, "crossed");
  if (scene.visible.centres && scene.centresAt) centres(context, view, scene, colours);
  if (scene.ownerAt) owner(context, view, scene, colours);
  sites(context, view, scene, colours);
  handles(context, view, scene, colours);
  draft(context, view, scene, colours);
  if (scene.youAt) pin(context, toScreen(view, ...scene.youAt), colours);
  above?.();
}

function mosaic(context, view, scene, colours) {
  paintMosaic(context, view, scene.mosaic, colours, scene.growth);
  if (!scene.current.outside) return;
  context.save();
  traceEdge(context, view, scene.mosaic);
  context.clip();
  hatch(context, view, colours.edge, "rising", 0.9, 5);
  context.restore();
}

/** Where somebody asked what could be learnt about them. */
function pin(context, [x, y], colours) {
  context.beginPath();
  context.moveTo(x, y);
  context.arc(x, y - 17, 9, 0.8 * Math.PI, 2.2 * Math.PI);
  context.closePath();
  context.fillStyle = colours.draft;
  context.strokeStyle = colours.ring;
  context.lineWidth = 3;
  context.stroke();
  context.fill();
  disc(context, x, y - 17, 3.4, colours.ring);
}

function points(context, view, scene, colours) {
  const { xs, ys } = scene.at;
  const weights = scene.current.weights;
  const unit = unitRadius(scene, view);
  const heavy = new Path2D();
  const negative = new Path2D();
  for (let i = 0; i < xs.length; i += 1) {
    const x = view.sx * xs[i] + view.tx;
    const y = view.sy * ys[i] + view.ty;
    if (x < -LARGEST || y < -LARGEST || x > view.width + LARGEST || y > view.height + LARGEST) continue;
    const r = pointRadius(weights[i], scene, unit);
    const path = weights[i] >= 0 ? heavy : negative;
    path.moveTo(x + r, y);
    path.arc(x, y, r, 0, 2 * Math.PI);
  }
  context.fillStyle = colours.point;
  context.fill(heavy);
  context.strokeStyle = colours.pointNegative;
  context.lineWidth = 1;
  context.stroke(negative);
}

function regions(context, view, scene, colours) {
  const chosen = scene.regions[scene.highlight];
  if (chosen) {
    outline(context, view, chosen);
    context.fillStyle = colours.regionFill;
    context.fill("evenodd");
  }
  context.save();
  clipToBounds(context, view, scene.boundsShape);
  stroke(context, view, scene.borders, colours.region, 1.4, [6, 4], false);
  context.restore();
}

/** Leaves out the edge of the bounds itself, which has a line of its own. */
function clipToBounds(context, view, [a, , b]) {
  const [x0, y0] = toScreen(view, ...a);
  const [x1, y1] = toScreen(view, ...b);
  context.beginPath();
  context.rect(Math.min(x0, x1) + 1.5, Math.min(y0, y1) + 1.5, Math.abs(x1 - x0) - 3, Math.abs(y1 - y0) - 3);
  context.clip();
}

function centres(context, view, scene, colours) {
  const { xs, ys } = scene.centresAt;
  context.textAlign = "center";
  context.textBaseline = "middle";
  scene.ringsAt.forEach((half, i) => half && ellipse(context, view, [xs[i], ys[i]], half, colours));
  const order = [...xs.keys()].sort((a, b) => (scene.current.sizes?.[b] ?? 0) - (scene.current.sizes?.[a] ?? 0));
  for (const i of order) {
    const [x, y] = toScreen(view, xs[i], ys[i]);
    const r = centreRadius(scene.current.sizes?.[i], scene, view);
    disc(context, x, y, r + (i === scene.highlight ? 5 : 2.2), colours.ring);
    const hollow = Boolean(scene.current.errors?.doubtful?.[i]); // may be only noise
    if (hollow) dashed(context, x, y, r, colours.centre);
    else disc(context, x, y, r, colours.centre);
    context.fillStyle = hollow ? colours.centre : colours.onCentre;
    context.font = `600 ${r < 11 ? 10 : 12}px system-ui, sans-serif`;
    context.fillText(String(scene.current.numbers[i]), x, y + 0.5);
  }
}

/** Crosses of the raw rows' centres, each with a line to the nearest private centre and how far that is. */
function owner(context, view, scene, colours) {
  const { xs, ys } = scene.ownerAt;
  for (let i = 0; i < xs.length; i += 1) {
    const [x, y] = toScreen(view, xs[i], ys[i]);
    const near = scene.centresAt ? nearestTo(scene.centresAt, view, x, y) : null;
    const label = near && scene.data.geographic && near.away > 34 ? metres(toNearest(scene.owner[i], [scene.current.centres[near.index]])) : "";
    for (const [colour, width] of [[colours.ring, 6], [colours.owner, 2.6]]) {
      context.beginPath();
      if (near) context.moveTo(...near.at), context.lineTo(x, y);
      for (const [dx, dy] of [[7, 7], [7, -7]]) {
        context.moveTo(x - dx, y - dy);
        context.lineTo(x + dx, y + dy);
      }
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.lineCap = "round";
      context.stroke();
    }
    if (label) beside(context, label, x + 12, y - 12, colours);
  }
}

function nearestTo({ xs, ys }, view, x, y) {
  const all = Array.from(xs, (value, index) => {
    const at = toScreen(view, value, ys[index]);
    return { index, at, away: Math.hypot(at[0] - x, at[1] - y) };
  });
  return all.reduce((best, each) => (best && best.away <= each.away ? best : each), null);
}

function beside(context, words, x, y, colours) {
  context.font = "600 12px system-ui, sans-serif";
  context.textAlign = "left";
  context.lineWidth = 4;
  context.lineJoin = "round";
  context.strokeStyle = colours.ring;
  context.strokeText(words, x, y);
  context.fillStyle = colours.owner;
  context.fillText(words, x, y);
}

function sites(context, view, scene, colours) {
  scene.setsAt.forEach(({ xs, ys }, set) => {
    for (let i = 0; i < xs.length; i += 1) {
      const [x, y] = toScreen(view, xs[i], ys[i]);
      trace(context, SHAPES[set % SHAPES.length], x, y, 8);
      context.lineJoin = "round";
      context.lineWidth = 4;
      context.strokeStyle = colours.ring;
      context.stroke();
      context.fillStyle = colours.sets[set % SHAPES.length];
      context.fill();
    }
  });
}

function draft(context, view, scene, colours) {
  if (scene.draftLine.length === 0) return;
  stroke(context, view, [scene.draftLine], colours.draft, 2, [], scene.draftLine.length > 2);
  for (const [x, y] of scene.draftLine) disc(context, ...toScreen(view, x, y), 4.5, colours.draft);
}

/** Corners that can be dragged. */
function handles(context, view, scene, colours) {
  for (const place of scene.handlesAt) {
    const [x, y] = toScreen(view, ...place);
    disc(context, x, y, 6, colours.draft);
    disc(context, x, y, 3.6, colours.ring);
  }
}

function outline(context, view, shape, closed = true) {
  context.beginPath();
  for (const ring of shape) {
    ring.forEach(([x, y], i) => (i ? context.lineTo(...toScreen(view, x, y)) : context.moveTo(...toScreen(view, x, y))));
    if (closed) context.closePath();
  }
}

function stroke(context, view, shape, colour, width, dash, closed = true) {
  outline(context, view, shape, closed);
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.setLineDash(dash);
  context.stroke();
  context.setLineDash([]);
}

function area(context, view, shape, colour, fill, hatching) {
  outline(context, view, shape);
  context.save();
  context.fillStyle = fill;
  context.fill("evenodd");
  context.clip("evenodd");
  hatch(context, view, colour, hatching);
  context.restore();
  stroke(context, view, shape, colour, 1.8, []);
}

function hatch(context, view, colour, hatching, alpha = 0.4, step = 11) {
  context.beginPath();
  for (let start = -view.height; start < view.width; start += step) {
    context.moveTo(start, view.height);
    context.lineTo(start + view.height, 0);
    if (hatching === "crossed") {
      context.moveTo(start, 0);
      context.lineTo(start + view.height, view.height);
    }
  }
  context.globalAlpha = alpha;
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.stroke();
  context.globalAlpha = 1;
}

function ellipse(context, view, [x, y], [across, up], colours) {
  context.beginPath();
  context.ellipse(...toScreen(view, x, y), Math.abs(across * view.sx), Math.abs(up * view.sy), 0, 0, 2 * Math.PI);
  context.fillStyle = colours.regionFill;
  context.fill();
  context.strokeStyle = colours.centre;
  context.lineWidth = 1.4;
  context.stroke();
}

/** A hollow disc with a dashed rim: what may be only noise. */
function dashed(context, x, y, r, colour) {
  context.beginPath();
  context.arc(x, y, r - 1.2, 0, 2 * Math.PI);
  context.setLineDash([4, 3]);
  context.strokeStyle = colour;
  context.lineWidth = 2.4;
  context.stroke();
  context.setLineDash([]);
}

function disc(context, x, y, r, colour) {
  context.beginPath();
  context.arc(x, y, r, 0, 2 * Math.PI);
  context.fillStyle = colour;
  context.fill();
}
