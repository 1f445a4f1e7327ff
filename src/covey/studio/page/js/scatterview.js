// The view for data that is not geographic, and for a browser without a map: two axes, dragged and zoomed on our own canvas.
import { amount } from "./words.js";
import { palette } from "./palette.js";
import { plane } from "./projection.js";
import { isDark } from "./theme.js";

const FONT = "12px system-ui, sans-serif";
const MARGIN = { left: 76, right: 34, top: 20, bottom: 48 };

/** Round values between two ends, about one every `pixels`. */
export function ticks(from, to, length, pixels) {
  const raw = ((to - from) * pixels) / length;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((each) => each * power >= raw);
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.max(0, Math.floor(to / step) - first + 1) }, (_, i) => (first + i) * step);
}

/** Values along an axis in words, with as many digits as tell them apart. */
export function labels(values) {
  const step = values.length > 1 ? Math.abs(values[1] - values[0]) : Math.abs(values[0] ?? 1) / 100;
  if (!(step < 1)) return values.map((value) => (Math.abs(value) < 1000 ? String(Math.round(value)) : amount(value)));
  const digits = Math.min(15, Math.ceil(-Math.log10(step) - 1e-9));
  return values.map((value) => value.toFixed(digits));
}

export function createScatterView({ overlay, bounds, axes, square, hooks }) {
  const [west, south, east, north] = bounds;
  let touched = false; // whether the reader has moved the view; until then it keeps fitting its frame
  let camera = null; // {x, y, sx, sy}: the plane position in the middle and pixels per unit
  const size = () => [overlay.clientWidth, overlay.clientHeight];

  function fit() {
    touched = false;
    const [width, height] = size();
    let sx = (width - MARGIN.left - MARGIN.right) / (east - west || 1);
    let sy = (height - MARGIN.top - MARGIN.bottom) / (north - south || 1);
    if (square) {
      const stretch = Math.cos((((south + north) / 2) * Math.PI) / 180);
      const scale = Math.min(sx / stretch, sy);
      [sx, sy] = [scale * stretch, scale];
    }
    camera = { x: (west + east) / 2 - (MARGIN.left - MARGIN.right) / 2 / sx, y: -(south + north) / 2 - (MARGIN.top - MARGIN.bottom) / 2 / sy, sx, sy };
    hooks.moved();
  }

  function transform() {
    const [width, height] = size();
    return { sx: camera.sx, tx: width / 2 - camera.sx * camera.x, sy: camera.sy, ty: height / 2 - camera.sy * camera.y, width, height };
  }

  function place(event) {
    const frame = overlay.getBoundingClientRect();
    const at = [event.clientX - frame.left, event.clientY - frame.top];
    const view = transform();
    return { at, position: plane.inverse([(at[0] - view.tx) / view.sx, (at[1] - view.ty) / view.sy]) };
  }

  function zoomAt(factor, [x, y]) {
    touched = true;
    const [width, height] = size();
    const [dx, dy] = [x - width / 2, y - height / 2];
    camera.x += dx / camera.sx - dx / (camera.sx * factor);
    camera.y += dy / camera.sy - dy / (camera.sy * factor);
    camera.sx *= factor;
    camera.sy *= factor;
    hooks.moved();
  }

  function drag(dx, dy) {
    touched = true;
    camera.x -= dx / camera.sx;
    camera.y -= dy / camera.sy;
    hooks.moved();
  }

  const fingers = new Map();
  let travelled = 0;
  const spread = () => {
    const [a, b] = [...fingers.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  };
  const handlers = {
    pointerdown(event) {
      overlay.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      travelled = 0;
    },
    pointermove(event) {
      const { at, position } = place(event);
      const before = fingers.get(event.pointerId);
      if (!before) {
        hooks.over(position, at);
        return;
      }
      const width = fingers.size === 2 ? spread() : 0;
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      const [dx, dy] = [event.clientX - before[0], event.clientY - before[1]];
      travelled += Math.abs(dx) + Math.abs(dy);
      if (fingers.size === 2) zoomAt(spread() / Math.max(width, 1), at);
      else drag(dx, dy);
    },
    pointerup(event) {
      fingers.delete(event.pointerId);
      const { at, position } = place(event);
      if (travelled < 5) hooks.click(position, at);
    },
    pointercancel: (event) => fingers.delete(event.pointerId),
    pointerleave: () => hooks.out(),
    dblclick(event) {
      const { at, position } = place(event);
      if (!hooks.double(position, at)) zoomAt(1.8, at);
    },
    wheel(event) {
      event.preventDefault();
      zoomAt(Math.exp(-event.deltaY * 0.0016), place(event).at);
    },
    keydown(event) {
      const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
      if (step) drag(...step);
      else if (event.key === "+" || event.key === "=") zoom(1);
      else if (event.key === "-") zoom(-1);
      else return;
      event.preventDefault();
    },
  };
  for (const [name, handler] of Object.entries(handlers)) overlay.addEventListener(name, handler, { passive: false });
  const zoom = (steps) => zoomAt(1.6 ** steps, size().map((side) => side / 2));
  overlay.tabIndex = 0;
  overlay.setAttribute("role", "application");
  overlay.setAttribute("aria-label", `Scatter view of ${axes[0]} and ${axes[1]}. Arrow keys move it, plus and minus zoom.`);
  fit();

  /** Grid and axes, painted beneath everything else; gives back what is painted last. */
  function under(context) {
    const colours = palette(isDark());
    const view = transform();
    const [x0, y0] = plane.inverse([(MARGIN.left - view.tx) / view.sx, (view.height - MARGIN.bottom - view.ty) / view.sy]);
    const [x1, y1] = plane.inverse([(view.width - view.tx) / view.sx, -view.ty / view.sy]);
    context.fillStyle = colours.paper;
    context.fillRect(0, 0, view.width, view.height);
    context.lineWidth = 1;
    context.strokeStyle = colours.grid;
    const columns = ticks(x0, x1, view.width - MARGIN.left, 110);
    const lines = axes[1] === "" ? [] : ticks(y0, y1, view.height - MARGIN.bottom, 70);
    context.beginPath();
    for (const x of columns) {
      const at = Math.round(view.sx * x + view.tx) + 0.5;
      context.moveTo(at, 0);
      context.lineTo(at, view.height - MARGIN.bottom);
    }
    for (const y of lines) {
      const at = Math.round(view.sy * -y + view.ty) + 0.5;
      context.moveTo(MARGIN.left, at);
      context.lineTo(view.width, at);
    }
    context.stroke();
    return () => above(context, { colours, view, columns, lines });
  }

  /** The values along the axes, painted above the data on a plain margin. */
  function above(context, { colours, view, columns, lines }) {
    context.fillStyle = colours.paper;
    context.fillRect(0, 0, MARGIN.left, view.height);
    context.fillRect(0, view.height - MARGIN.bottom, view.width, MARGIN.bottom);
    context.fillStyle = colours.soft;
    context.font = FONT;
    context.textBaseline = "middle";
    context.textAlign = "center";
    labels(columns).forEach((words, i) => context.fillText(words, Math.max(MARGIN.left, view.sx * columns[i] + view.tx), view.height - MARGIN.bottom + 14));
    context.textAlign = "right";
    labels(lines).forEach((words, i) => context.fillText(words, MARGIN.left - 8, view.sy * -lines[i] + view.ty));
    context.fillStyle = colours.ink;
    context.textAlign = "center";
    context.fillText(axes[0], (MARGIN.left + view.width) / 2, view.height - 12);
    context.save();
    context.translate(13, (view.height - MARGIN.bottom) / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(axes[1], 0, 0);
    context.restore();
  }

  return {
    kind: "scatter", projection: plane, focusable: overlay, transform, under, zoom, fit,
    middle: () => plane.inverse([camera.x, camera.y]),
    recolour: hooks.moved,
    resized: () => (touched ? hooks.moved() : fit()),
    destroy() {
      for (const [name, handler] of Object.entries(handlers)) overlay.removeEventListener(name, handler);
      for (const name of ["tabindex", "role", "aria-label"]) overlay.removeAttribute(name);
    },
  };
}
