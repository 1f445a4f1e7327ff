// The stage: the view, the canvas above it, the pointer, and the modes in which a click places something.
import { byId } from "./dom.js";
import { createDrawing } from "./drawing.js";
import { find, regionAt } from "./hit.js";
import { showLegend } from "./legend.js";
import { createMapView, createWaitingView, whyNoMap } from "./mapview.js";
import { grownFrom } from "./mosaic.js";
import { paint, prepare } from "./painter.js";
import { palette } from "./palette.js";
import { createScatterView } from "./scatterview.js";
import { isDark } from "./theme.js";
import { hideTip, showTip } from "./tooltip.js";
import { axes, box, drawn } from "./words.js";

const SHOWN = ["server", "current", "places", "visible", "owner", "sets", "forbidden", "highlight", "you"];
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
      highlight: state.highlight, you: state.you, data, zones: state.server.zones?.features ?? [], draft: drawing.draft(), bounds: box(data),
      drawn: drawn(data), unit: data.unit,
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
      view: view.kind, level: level ? level.level : "", k: level ? level.centres.length : "",
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
      if (!scene || store.get().mode) return;
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
    changed();
  }

  /** Chooses the map for geographic data where a map is possible, and says why where it is not. */
  async function open() {
    const { data, basemap } = store.get().server;
    const reason = data.geographic && basemap?.kind !== "none" ? await whyNoMap() : "";
    await start(reason === null ? "map" : "scatter");
    if (reason) notice(reason);
    const button = byId("view-switch");
    button.hidden = reason !== null;
    button.onclick = async () => {
      await start(view.kind === "map" ? "scatter" : "map");
      button.textContent = view.kind === "map" ? "Scatter view" : "Map view";
    };
  }

  store.on(SHOWN, changed);
  store.on(["mode"], drawing.modeChanged);
  new ResizeObserver(() => view?.resized?.()).observe(element);
  byId("zoom-in").addEventListener("click", () => view?.zoom(1));
  byId("zoom-out").addEventListener("click", () => view?.zoom(-1));
  byId("zoom-fit").addEventListener("click", () => view?.fit());
  return {
    open,
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
