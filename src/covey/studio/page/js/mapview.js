// The view on a map: MapLibre underneath, our canvas above, moved together.
import { addDetail, bundledStyle, tileStyle } from "./basemap.js";
import { isDark } from "./theme.js";
import { mercator, MOST_LATITUDE } from "./projection.js";

const LIBRARY = new URL("../assets/maplibre/", import.meta.url).href;

/** Why there can be no map in this browser or installation, or null. */
export async function whyNoMap() {
  const answer = await fetch("assets/versions.json").catch(() => null);
  if (!answer?.ok) return "The map library is not installed here (run make studio-assets), so this is the scatter view.";
  const probe = document.createElement("canvas");
  if (!probe.getContext("webgl2")) return "This browser has no WebGL 2, which the map needs, so this is the scatter view.";
  return null;
}

function addStyles() {
  if (document.querySelector("link[data-map]")) return;
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: `${LIBRARY}maplibre-gl.css` });
  link.dataset.map = "";
  document.head.append(link);
}

/** Lets the library read one file of tiles by ranges of bytes. */
async function openTiles(library, url) {
  if (!globalThis.pmtiles) {
    await new Promise((resolve, reject) => {
      document.head.append(Object.assign(document.createElement("script"), { src: new URL("../assets/pmtiles/pmtiles.js", import.meta.url).href, onload: resolve, onerror: () => reject(new Error("the reader of tiles is not installed")) }));
    });
  }
  const archive = new globalThis.pmtiles.PMTiles(url);
  const protocol = new globalThis.pmtiles.Protocol();
  protocol.add(archive);
  library.removeProtocol("pmtiles");
  library.addProtocol("pmtiles", protocol.tile);
  return { url, header: await archive.getHeader(), metadata: await archive.getMetadata() };
}

/** What the map will show of the plane, before its library has come: the data is drawn at once. */
export function createWaitingView({ base, bounds: given }) {
  const bounds = shown(given);
  const [[x0, y1], [x1, y0]] = [mercator.forward(bounds.slice(0, 2)), mercator.forward(bounds.slice(2))];
  return {
    kind: "map", waiting: true, projection: mercator, focusable: base, zoom() {}, fit() {}, recolour() {}, destroy() {},
    middle: () => mercator.inverse([(x0 + x1) / 2, (y0 + y1) / 2]),
    transform() {
      const [width, height, edge] = [base.clientWidth, base.clientHeight, 2 * padding(base)];
      const scale = Math.min((width - edge) / (x1 - x0), (height - edge) / (y1 - y0));
      return { sx: scale, tx: width / 2 - (scale * (x0 + x1)) / 2, sy: scale, ty: height / 2 - (scale * (y0 + y1)) / 2, width, height };
    },
  };
}

const padding = (element) => Math.min(70, 0.07 * Math.min(element.clientWidth, element.clientHeight));

/** Bounds that Web Mercator can show: it ends short of the poles. */
function shown([west, south, east, north]) {
  const clip = (lat) => Math.max(-MOST_LATITUDE, Math.min(MOST_LATITUDE, lat));
  return [west, clip(south), east, clip(north)];
}

export async function createMapView({ base, bounds: given, basemap, demo, hooks }) {
  const bounds = shown(given);
  addStyles();
  const library = await import(`${LIBRARY}maplibre-gl.mjs`);
  const own = basemap?.kind === "geojson" ? basemap.url : null;
  const tiles = basemap?.kind === "pmtiles" ? await openTiles(library, new URL(basemap.url, document.baseURI).href) : null;
  const bundled = basemap?.kind !== "style" && !tiles;
  const style = () => (tiles ? tileStyle(tiles.url, { ...tiles, dark: isDark() })
    : bundled ? bundledStyle(bounds, { dark: isDark(), own, demo }) : new URL(basemap.url, document.baseURI).href);
  const map = new library.Map({
    container: base, style: style(), bounds, fitBoundsOptions: { padding: padding(base) },
    attributionControl: tiles || (bundled && demo) ? false : bundled ? { compact: false, customAttribution: "Natural Earth" } : {}, dragRotate: false, pitchWithRotate: false, touchPitch: false,
    renderWorldCopies: false, maxZoom: 19, fadeDuration: 0,
  });
  map.touchZoomRotate.disableRotation();
  map.keyboard.disableRotation();
  map.addControl(new library.ScaleControl({ maxWidth: 110 }), "bottom-right");
  const canvas = map.getCanvas();
  canvas.setAttribute("aria-label", "Map. Arrow keys move it, plus and minus zoom.");
  canvas.setAttribute("role", "application");
  map.on("error", () => hooks.trouble("A part of the base map could not be drawn. The data does not need it."));
  map.on("render", hooks.moved);
  let touched = false; // whether the reader has moved the map; until then it keeps fitting its frame
  map.on("movestart", ({ originalEvent }) => { touched ||= Boolean(originalEvent); });
  map.on("resize", () => {
    if (!touched) map.fitBounds(bounds, { padding: padding(base), duration: 0 });
    hooks.moved();
  });
  const tell = (hear) => (event) => hear(event.lngLat.toArray(), [event.point.x, event.point.y], event);
  map.on("click", tell(hooks.click));
  map.on("dblclick", tell((position, at, event) => {
    if (hooks.double(position, at)) event.preventDefault();
  }));
  map.on("mousemove", tell(hooks.over));
  map.on("mouseout", hooks.out);

  let detail = () => {};
  if (bundled) {
    const ready = new Promise((resolve) => { map.once("load", resolve); });
    addDetail(map, bounds, demo).then(async (put) => {
      await ready;
      detail = () => put(isDark());
      detail();
    }).catch(() => {}); // land everywhere
  }

  return {
    kind: "map",
    projection: mercator,
    focusable: canvas,
    /** Where the plane lies on the screen now; null until the map knows. */
    transform() {
      const [a, b] = [bounds.slice(0, 2), bounds.slice(2)];
      const [pa, pb] = [map.project(a), map.project(b)];
      const [ma, mb] = [mercator.forward(a), mercator.forward(b)];
      const sx = (pb.x - pa.x) / (mb[0] - ma[0]);
      const sy = (pb.y - pa.y) / (mb[1] - ma[1]);
      return { sx, tx: pa.x - sx * ma[0], sy, ty: pa.y - sy * ma[1], width: canvas.clientWidth, height: canvas.clientHeight };
    },
    middle: () => map.getCenter().toArray(),
    zoom(steps) {
      touched = true;
      map.easeTo({ zoom: map.getZoom() + steps, duration: 180 });
    },
    fit() {
      touched = false;
      map.fitBounds(bounds, { padding: padding(base), duration: 250 });
    },
    recolour() {
      if (!bundled && !tiles) return;
      map.setStyle(style(), { diff: true });
      map.once("idle", () => detail());
    },
    destroy: () => map.remove(),
  };
}
