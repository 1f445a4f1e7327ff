// The map: nothing but the track itself, a grid of degrees, zones and a scale. It moves as the studio's scatter view does.
import { byId } from "../page/js/dom.js";
import { createDrawing } from "../page/js/drawing.js";
import { paint, prepare } from "../page/js/painter.js";
import { palette } from "../page/js/palette.js";
import { createScatterView } from "../page/js/scatterview.js";
import { isDark } from "../page/js/theme.js";
import { metres } from "../page/js/words.js";
import { features } from "./shapes.js";

const KM_PER_DEGREE = 111.32;
export const NOWHERE = -2; // instead of the number of a zone: no place on the map
const NOTHING = { current: null, places: null, owner: null, sets: [], forbidden: [], bounds: null, highlight: null, drawn: [0, 1] };

export function createMap(store) {
  const overlay = byId("overlay");
  let view = null;
  let waiting = false;
  const drawing = createDrawing(store, { view: () => view, changed: () => soon() });
  drawing.listen(overlay);
  const hooks = { moved: () => soon(), click: (position) => drawing.click(position), double: (position) => drawing.double(position), over() {}, out() {} };

  function soon() {
    if (waiting || !view) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  }

  function draw() {
    const { zones } = store.get();
    const at = view.transform();
    const dense = Math.min(window.devicePixelRatio || 1, 2);
    const [width, height] = [Math.round(at.width * dense), Math.round(at.height * dense)];
    if (overlay.width !== width || overlay.height !== height) Object.assign(overlay, { width, height });
    const context = overlay.getContext("2d");
    context.setTransform(dense, 0, 0, dense, 0, 0);
    const visible = { points: false, regions: false, centres: false, zones: true };
    const scene = prepare({ ...NOTHING, visible, zones: features(zones), draft: drawing.draft() }, view.projection);
    paint(context, at, scene, palette(isDark()), () => {
      const above = view.under(context);
      rows(context, at, store.get());
      return () => {
        above();
        scale(context, at, view.middle()[1]);
      };
    });
    Object.assign(byId("stage").dataset, { drawn: String(Number(byId("stage").dataset.drawn ?? 0) + 1), dark: String(isDark()) });
  }

  /** The rows, in three kinds of marks: they leave, they stay, or a coin decides that has not been looked at. */
  function rows(context, at, { places: { xs, ys }, decided: { zone, leaves }, shown }) {
    const colours = palette(isDark());
    const [line, leave, stay, coin] = [new Path2D(), new Path2D(), new Path2D(), new Path2D()];
    const across = Math.ceil(at.width / 2);
    const taken = new Uint8Array(across * Math.ceil(at.height / 2)); // which marks are in every two pixels: one of a kind will do
    let last = null;
    for (let i = 0; i < xs.length; i += 1) {
      if (zone[i] === NOWHERE) continue;
      const [x, y] = [at.sx * xs[i] + at.tx, at.ty - at.sy * ys[i]];
      if (!last || Math.abs(x - last[0]) + Math.abs(y - last[1]) > 2) {
        line.lineTo(x, y);
        last = [x, y];
      }
      if (x < 0 || y < 0 || x >= at.width || y >= at.height) continue;
      const kind = zone[i] >= 0 && !shown ? 1 : leaves[i] ? 2 : 4;
      const cell = Math.floor(y / 2) * across + Math.floor(x / 2);
      if (taken[cell] & kind) continue;
      taken[cell] |= kind;
      if (kind === 4) cross(stay, x, y, 2.6);
      else ring(kind === 1 ? coin : leave, x, y, kind === 1 ? 2.6 : 3);
    }
    const marks = [[line, colours.bounds, 0.4], [stay, colours.soft, 0.9], [coin, colours.zone, 1.2]];
    for (const [path, colour, width] of marks) {
      Object.assign(context, { strokeStyle: colour, lineWidth: width, lineJoin: "round" });
      context.stroke(path);
    }
    context.fillStyle = colours.draft;
    context.fill(leave);
  }

  function ring(path, x, y, r) {
    path.moveTo(x + r, y);
    path.arc(x, y, r, 0, 2 * Math.PI);
  }

  function cross(path, x, y, r) {
    path.moveTo(x - r, y - r);
    path.lineTo(x + r, y + r);
    path.moveTo(x + r, y - r);
    path.lineTo(x - r, y + r);
  }

  function scale(context, at, latitude) {
    const perPixel = (KM_PER_DEGREE * Math.cos((latitude * Math.PI) / 180)) / at.sx;
    const power = 10 ** Math.floor(Math.log10(perPixel * 120));
    const km = power * [5, 2, 1].find((each) => each * power <= perPixel * 120);
    const [right, bottom, colours] = [at.width - 20, at.height - 62, palette(isDark())];
    Object.assign(context, { strokeStyle: colours.ink, fillStyle: colours.ink, lineWidth: 1.5, font: "12px system-ui, sans-serif", textAlign: "right" });
    context.beginPath();
    for (const [x, y] of [[right, bottom - 5], [right, bottom], [right - km / perPixel, bottom], [right - km / perPixel, bottom - 5]]) context.lineTo(x, y);
    context.stroke();
    context.fillText(metres(km), right - 4, bottom - 9);
  }

  /** Shows all places of a new track; where there is none, all of the world. */
  function open({ xs, ys }) {
    const ends = [Infinity, Infinity, -Infinity, -Infinity];
    for (let i = 0; i < xs.length; i += 1) {
      if (!Number.isNaN(xs[i])) ends.splice(0, 4, Math.min(ends[0], xs[i]), Math.min(ends[1], ys[i]), Math.max(ends[2], xs[i]), Math.max(ends[3], ys[i]));
    }
    const [west, south, east, north] = ends[0] > ends[2] ? [-180, -90, 180, 90] : ends;
    const room = Math.max(0.06 * (east - west), 0.06 * (north - south), 0.0005);
    byId("stage").dataset.view = "scatter";
    view?.destroy();
    view = createScatterView({ overlay, bounds: [west - room, south - room, east + room, north + room], axes: ["longitude", "latitude"], square: true, hooks });
    overlay.setAttribute("aria-label", "Map of your track. Arrow keys move it, plus and minus zoom.");
    soon();
  }

  new ResizeObserver(() => view?.resized()).observe(byId("stage"));
  store.on(["mode"], drawing.modeChanged);
  byId("zoom-in").addEventListener("click", () => view?.zoom(1));
  byId("zoom-out").addEventListener("click", () => view?.zoom(-1));
  byId("zoom-fit").addEventListener("click", () => view?.fit());
  return { open, soon };
}
