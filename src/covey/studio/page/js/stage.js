// The stage: the view, the canvas above it, the pointer, and the modes in which a click places something.
import { byId } from "./dom.js";
import { createDragging } from "./dragging.js";
import { createDrawing } from "./drawing.js";
import { handlesOf, isLoose, movedTo } from "./handles.js";
import { find, nearestWithin, regionAt } from "./hit.js";
import { showLegend } from "./legend.js";
import { createMapView, createWaitingView, whyNoMap } from "./mapview.js";
import { grownFrom } from "./mosaic.js";
import { flatten } from "./projection.js";
import { paint, prepare } from "./painter.js";
import { palette } from "./palette.js";
import { createScatterView } from "./scatterview.js";
import { isDark } from "./theme.js";
import { hideTip, showTip } from "./tooltip.js";
import { axes, box, drawn } from "./words.js";

const SHOWN = ["server", "current", "places", "visible", "owner", "sets", "forbidden", "highlight", "you", "tab"];
const GROWTH = 200; // milliseconds in which boxes grow from one level into the next
const still = matchMedia("(prefers-reduced-motion: reduce)");

export function createStage(store) {
  const element = byId("stage");
  const overlay = byId("overlay");
  let view = null;
  let scene = null;
  let waiting = false;
  let grown = null; // {level, mosaic, from, began}: the level that was drawn last, and where its boxes came from
  const drawing = createDrawing(store, { view: () => view, changed: () => changed() });

  function changed() {
    if (!view) return;
    const state = store.get();
    const data = state.server.data;
    scene = prepare({
      current: state.current, places: state.places, visible: state.visible, owner: state.owner, sets: state.sets, forbidden: state.forbidden,
      highlight: state.highlight, you: state.you, data, zones: state.server.zones?.features ?? [], draft: drawing.draft(), handles: handlesOf(state),
      bounds: box(data), drawn: drawn(data), unit: data.unit,
    }, view.projection);
    if (grown?.level !== state.current || grown.kind !== view.kind) {
      const before = grown?.kind === view.kind && grown.mosaic && state.current?.points !== grown.level?.points ? grown.mosaic : null;
      grown = { level: state.current, kind: view.kind, mosaic: scene.mosaic, from: still.matches ? null : grownFrom(scene.mosaic, before), began: performance.now() };
    }
    showLegend(state, isDark(), scene.mosaic);
    soon();
  }

  /** How far the boxes have grown; null once they have. */
  function growth() {
    const done = grown?.from ? Math.min(1, (performance.now() - grown.began) / GROWTH) : 1;
    return done < 1 ? { from: grown.from, done: 1 - (1 - done) ** 3 } : null;
  }

  function soon() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  }

  function draw() {
    if (!view || !scene) return;
    const at = view.transform();
    const dense = Math.min(window.devicePixelRatio || 1, 2);
    const [width, height] = [Math.round(at.width * dense), Math.round(at.height * dense)];
    if (overlay.width !== width || overlay.height !== height) Object.assign(overlay, { width, height });
    const context = overlay.getContext("2d");
    scene.growth = growth();
    context.setTransform(dense, 0, 0, dense, 0, 0);
    paint(context, at, scene, palette(isDark()), view.under ? () => view.under(context) : null);
    tellWhatIsDrawn();
    if (scene.growth) soon();
  }

  /** What the canvas shows, in words that tests and assistive tools can read. */
  function tellWhatIsDrawn() {
    const level = scene.current;
    Object.assign(element.dataset, {
      view: view.kind, ready: !view.waiting, level: level ? level.level : "", k: level ? level.centres.length : "",
      objective: level?.objective ?? "", points: level ? level.points.length : "0", boxes: scene.mosaic?.boxes.length ?? 0,
      edge: level?.outside ? scene.mosaic?.boxes.filter(({ edge }) => edge).length ?? 0 : 0, growing: Boolean(scene.growth),
      rehearsing: level?.rehearsing ?? "", numbers: level?.numbers.join(" ") ?? "", you: Boolean(scene.youAt),
      zones: scene.zones.length, sites: scene.sets.reduce((sum, { sites }) => sum + sites.length, 0),
      owner: scene.owner ? scene.owner.length : 0, dark: isDark(),
      doubtful: level?.errors?.doubtful?.filter(Boolean).length ?? 0, rings: scene.ringsAt.filter(Boolean).length,
    });
  }

  const hooks = {
    moved: () => {
      if (view?.kind === "map") draw(); // in the map's own frame, so that both move together
      else soon();
    },
    trouble: (message) => notice(message),
    click(position, at) {
      if (!drawing.click(position)) hooks.over(position, at);
    },
    double: (position) => drawing.double(position),
    over(position, at) {
      drawing.over(position);
      element.toggleAttribute("data-grab", Boolean(grab({ at }, 10)));
      if (!scene || store.get().mode || store.get().held) return;
      const found = find(scene, view.transform(), at[0], at[1], position);
      if (found) showTip(found, at, { ...store.get(), mosaic: scene.mosaic }, element);
      else hideTip();
      const region = found?.kind === "centre" ? found.index : regionAt(scene, position);
      store.set({ highlight: store.get().visible.regions ? region : null });
    },
    out() {
      hideTip();
      store.set({ highlight: null });
    },
  };

  /** The site or corner within so many pixels of a place of the screen, that may be dragged now. */
  function grab({ at }, pixels) {
    if (!scene || !view) return null;
    const state = store.get();
    const near = (positions) => nearestWithin(flatten(positions, view.projection), view.transform(), at, pixels);
    if (state.mode?.kind === "polygon") {
      const corner = near(drawing.corners());
      return corner < 0 ? null : { kind: "draft", corner };
    }
    if (state.mode && state.mode.kind !== "site") return null;
    for (let set = state.sets.length - 1; set >= 0; set -= 1) {
      const index = isLoose(state, { kind: "site", set }) ? near(state.sets[set].sites) : -1;
      if (index >= 0) return { kind: "site", set, index };
    }
    const corner = state.mode ? -1 : near(scene.handles.map(({ position }) => position));
    return corner < 0 ? null : scene.handles[corner];
  }

  createDragging(element, {
    grab,
    place(event) {
      const frame = overlay.getBoundingClientRect();
      const at = [event.clientX - frame.left, event.clientY - frame.top];
      if (!view) return { at, position: null };
      const { sx, tx, sy, ty } = view.transform();
      return { at, position: view.projection.inverse([(at[0] - tx) / sx, (at[1] - ty) / sy]) };
    },
    moved(held, position) {
      hideTip();
      if (held.kind === "draft") drawing.moveCorner(held.corner, position);
      else store.set({ ...movedTo(store.get(), held, position), held });
    },
    dropped: () => store.set({ held: null }),
    click: ({ position, at }) => hooks.click(position, at),
  });

  async function start(wanted) {
    const { data, basemap, demo } = store.get().server;
    const options = { base: byId("base"), overlay, bounds: box(data), basemap, demo, axes: axes(data), square: data.geographic, hooks };
    view?.destroy();
    view = null;
    element.dataset.view = wanted;
    try {
      if (wanted === "map") {
        view = createWaitingView(options);
        changed();
        view = await createMapView(options);
      } else view = createScatterView(options);
    } catch {
      notice("The map could not start in this browser, so this is the scatter view.");
      element.dataset.view = "scatter";
      view = createScatterView(options);
    }
    drawing.listen(view.focusable);
    byId("view-switch").textContent = view.kind === "map" ? "Scatter view" : "Map view";
    store.set({ view: view.kind });
    changed();
  }

  /** Chooses the map for geographic data where a map is possible, and says why where it is not. */
  async function open(wanted = "map") {
    const { data, basemap } = store.get().server;
    const reason = data.geographic && basemap?.kind !== "none" ? await whyNoMap() : "";
    await start(reason === null ? wanted : "scatter");
    if (reason) notice(reason);
    const button = byId("view-switch");
    button.hidden = reason !== null;
    button.onclick = () => start(view.kind === "map" ? "scatter" : "map");
  }

  store.on(SHOWN, changed);
  store.on(["mode"], drawing.modeChanged);
  new ResizeObserver(() => view?.resized?.()).observe(element);
  byId("zoom-in").addEventListener("click", () => view?.zoom(1));
  byId("zoom-out").addEventListener("click", () => view?.zoom(-1));
  byId("zoom-fit").addEventListener("click", () => view?.fit());
  return {
    open,
    /** Another view, if it can be chosen at all. */
    show: (wanted) => { if (view && view.kind !== wanted && !byId("view-switch").hidden) start(wanted); },
    recolour() {
      view?.recolour();
      changed();
    },
  };
}

function notice(message) {
  const element = byId("notice");
  element.textContent = message;
  element.hidden = false;
  setTimeout(() => { element.hidden = true; }, 12_000);
}
