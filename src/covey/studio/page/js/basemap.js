// The map under the data, from files that the studio ships: no tiles, no fonts, no address outside this server.
import { palette } from "./palette.js";

const asset = (path) => new URL(`../assets/${path}`, import.meta.url).href;
const page = (path) => new URL(`../${path}`, import.meta.url).href;
const EMPTY = { type: "FeatureCollection", features: [] };
const STATES = [-180, 13, -64, 72]; // where the outlines of the United States are worth loading
const FONT = ["system-ui", "Noto Sans", "DejaVu Sans", "sans-serif"];

const [PLACES, WATER] = [10, 5]; // degrees: the squares that names of places and water are filed by
const WORLD = "world/countries.json";
const isWide = ([west, south, east, north]) => Math.max(east - west, north - south) > 15;

const meet = (a, b) => a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3];

function lines(id, source, colour, width, more = {}) {
  return { id, type: "line", source, paint: { "line-color": colour, "line-width": width }, layout: { "line-join": "round", "line-cap": "round" }, ...more };
}

function names(id, source, colours, size, more = {}) {
  return {
    id, type: "symbol", source,
    layout: { "text-field": ["get", "name"], "text-font": FONT, "text-size": size, "text-max-width": 8, "text-padding": 6, ...more.layout },
    paint: { "text-color": colours.label, "text-halo-color": colours.halo, "text-halo-width": 1.4 },
    ...(more.minzoom === undefined ? {} : { minzoom: more.minzoom }),
    ...(more.filter ? { filter: more.filter } : {}),
  };
}

/** Lines of longitude and latitude at a round step, a few across the bounds and as many again around them. */
function graticule([west, south, east, north]) {
  const raw = Math.max(east - west, north - south) / 8;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((each) => each * power >= raw);
  const reach = 14 * step;
  const clip = (value, most) => Math.max(-most, Math.min(most, value));
  const features = [];
  const add = (...coordinates) => features.push({ type: "Feature", properties: {}, geometry: { type: "LineString", coordinates } });
  const [top, bottom] = [clip(north + reach, 85), clip(south - reach, 85)];
  const [left, right] = [clip(west - reach, 180), clip(east + reach, 180)];
  for (let x = Math.ceil(left / step) * step; x <= right; x += step) add([x, bottom], [x, top]);
  for (let y = Math.ceil(bottom / step) * step; y <= top; y += step) add([left, y], [right, y]);
  return { type: "FeatureCollection", features };
}

/** The style of MapLibre for the bundled map; `own` is GeoJSON that the owner gave with --basemap. */
export function bundledStyle(bounds, { dark, own = null, demo = false }) {
  const colours = palette(dark);
  const geojson = (data) => ({ type: "geojson", data });
  const american = meet(bounds, STATES);
  const sources = {
    countries: geojson(isWide(bounds) ? asset(WORLD) : EMPTY),
    countryNames: geojson(asset("world/labels.json")),
    graticule: geojson(graticule(bounds)),
  };
  const layers = [
    { id: "sea", type: "background", paint: { "background-color": colours.land } }, // until it is drawn where the land is
    lines("graticule", "graticule", colours.graticule, 1),
  ];
  layers.push({ id: "countries", type: "fill", source: "countries", paint: { "fill-color": colours.land } }, lines("countries-line", "countries", colours.border, 1));
  if (american) {
    for (const [name, colour, width, minzoom] of [["counties", colours.lesser, 1, 5], ["states", colours.border, 1.2, 2]]) {
      sources[name] = geojson(asset(`us/${name}.json`));
      layers.push(lines(name, name, colour, width, { minzoom }));
    }
  }
  if (!demo && !isWide(bounds)) addWater(sources, layers, colours);
  layers.push(names("country-names", "countryNames", colours, 13, {
    filter: ["<=", ["get", "rank"], ["+", ["zoom"], 0]], layout: { "symbol-sort-key": ["get", "rank"] },
  }));
  if (american) {
    for (const [name, size, minzoom] of [["states", 13, 3.5], ["counties", 12, 7.5]]) {
      sources[`${name}-names`] = geojson(asset(`us/${name}-labels.json`));
      layers.push(names(`${name}-names`, `${name}-names`, colours, size, { minzoom }));
    }
  }
  if (!demo && !isWide(bounds)) addPlaces(sources, layers, colours);
  if (demo) addCity(sources, layers, colours);
  if (own) addOwn(sources, layers, colours, own);
  return { version: 8, sources, layers };
}

/** Water over land: where it is drawn, it says where the land ends, and the coarser shores below are covered. */
function addWater(sources, layers, colours) {
  for (const name of ["ground", "borders"]) sources[name] = { type: "geojson", data: EMPTY };
  sources.water = { type: "geojson", data: EMPTY, attribution: "© OpenStreetMap contributors" };
  const below = layers.findIndex(({ id }) => id === "counties" || id === "states");
  layers.splice(below < 0 ? layers.length : below, 0, { id: "ground", type: "fill", source: "ground", paint: { "fill-color": colours.land, "fill-antialias": false } });
  layers.push(lines("borders", "borders", colours.border, 1.2), { id: "water", type: "fill", source: "water", paint: { "fill-color": colours.water } });
}

function addPlaces(sources, layers, colours) {
  sources.places = { type: "geojson", data: EMPTY, attribution: "GeoNames" };
  layers.push(names("place-names", "places", colours, ["interpolate", ["linear"], ["get", "size"], 3, 11, 7, 16], { layout: { "symbol-sort-key": ["-", ["get", "size"]], "text-padding": 10 } }));
}

const read = (path) => fetch(asset(path)).then((answer) => answer.json());

/** The bounds and half as much again around them. */
function around([west, south, east, north]) {
  const [dx, dy] = [(east - west) / 2, (north - south) / 2];
  return [west - dx, south - dy, east + dx, north + dy];
}

/** The squares of so many degrees that a frame touches, and what the files of those that have one hold. */
async function squaresOf([west, south, east, north], side, folder) {
  const squares = [];
  for (let x = Math.floor(west / side); x <= Math.floor(east / side); x += 1) for (let y = Math.floor(south / side); y <= Math.floor(north / side); y += 1) squares.push([x, y]);
  const there = new Set(await read(`${folder}/index.json`));
  const names = squares.map((square) => square.join("_")).filter((name) => there.has(name));
  return { squares, found: await Promise.all(names.map((name) => read(`${folder}/${name}.json`))) };
}

const feature = (type, coordinates) => ({ type: "Feature", properties: {}, geometry: { type, coordinates } });
const gathered = (features) => ({ type: "FeatureCollection", features });

/** A line of differences in ten-thousandths of a degree. */
function walked(steps, closed) {
  const line = [];
  for (let i = 0, x = 0, y = 0; i < steps.length; i += 2) line.push([(x += steps[i]) / 1e4, (y += steps[i + 1]) / 1e4]);
  return closed ? [...line, line[0]] : line;
}

/** Water and borders in the squares around the bounds, and what the squares cover, which is land where no water is. */
async function waterNear(bounds) {
  const { squares, found } = await squaresOf(around(bounds), WATER, "water");
  const [[x0, y0], [x1, y1]] = [squares[0], squares.at(-1).map((each) => each + 1)];
  return {
    ground: feature("Polygon", [[[x0, y0], [x1, y0], [x1, y1], [x0, y1], [x0, y0]].map(([x, y]) => [x * WATER, y * WATER])]),
    water: gathered(found.flatMap(({ water }) => water.map((rings) => feature("Polygon", rings.map((ring) => walked(ring, true)))))),
    borders: gathered(found.flatMap(({ borders }) => borders.map((line) => feature("LineString", walked(line, false))))),
  };
}

/** Names of places around the bounds. */
async function placesNear(bounds) {
  const [x0, y0, x1, y1] = around(bounds);
  const { found } = await squaresOf([x0, y0, x1, y1], PLACES, "places");
  const features = found.flat().filter(([, x, y]) => x >= x0 && x <= x1 && y >= y0 && y <= y1).slice(0, 2000)
    .map(([name, x, y, people]) => ({ type: "Feature", properties: { name, size: Math.log10(people + 10) }, geometry: { type: "Point", coordinates: [x, y] } }));
  return gathered(features);
}

const TILES = { // what layers of vector tiles are called, by Protomaps and by OpenMapTiles, and how they are drawn
  earth: ["fill", "land"], landcover: ["fill", "land"], water: ["fill", "water"], ocean: ["fill", "water"], landuse: ["fill", "lesser"],
  buildings: ["fill", "border"], building: ["fill", "border"], roads: ["line", "road"], transportation: ["line", "road"],
  boundaries: ["line", "border"], boundary: ["line", "border"], places: ["symbol", "label"], place: ["symbol", "label"],
};

/** A style for a file of tiles, in the colours of the page: pictures as they are, vectors by the names of their layers. */
export function tileStyle(url, { dark, header, metadata }) {
  const colours = palette(dark);
  const vector = header.tileType === 1;
  const sources = { tiles: { type: vector ? "vector" : "raster", url: `pmtiles://${url}`, ...(vector ? {} : { tileSize: 256 }) } };
  const layers = [{ id: "ground", type: "background", paint: { "background-color": colours.land } }];
  if (!vector) return { version: 8, sources, layers: [...layers, { id: "tiles", type: "raster", source: "tiles" }] };
  const there = new Set((metadata.vector_layers ?? []).map(({ id }) => id));
  for (const [id, [type, colour]] of Object.entries(TILES)) {
    if (!there.has(id)) continue;
    const own = type === "fill" ? { type, source: "tiles", paint: { "fill-color": colours[colour], "fill-opacity": colour === "border" ? 0.35 : colour === "lesser" ? 0.3 : 1 } }
      : type === "line" ? lines(id, "tiles", colours[colour], id.startsWith("bound") ? 1 : ["interpolate", ["linear"], ["zoom"], 8, 0.5, 15, 4])
        : { ...names(id, "tiles", colours, 12), filter: ["has", "name"] };
    layers.push({ ...own, id, "source-layer": id });
  }
  return { version: 8, sources, layers };
}

function addCity(sources, layers, colours) {
  sources.city = { type: "geojson", data: page("demo-city.json") };
  const kind = (value) => ({ filter: ["==", ["get", "kind"], value] });
  layers.push(
    { id: "city-land", type: "fill", source: "city", paint: { "fill-color": colours.land }, ...kind("land") },
    lines("city-shore", "city", colours.border, 1, kind("land")),
    { id: "city-water", type: "fill", source: "city", paint: { "fill-color": colours.water }, ...kind("river") },
    lines("city-road-case", "city", colours.roadCase, 5, kind("road")),
    lines("city-road", "city", colours.road, 3, kind("road")),
    names("city-names", "city", colours, 13, { ...kind("district"), minzoom: 9, layout: { "text-anchor": "bottom" } }),
  );
}

function addOwn(sources, layers, colours, url) {
  sources.own = { type: "geojson", data: new URL(url, document.baseURI).href };
  layers.push(
    { id: "own-fill", type: "fill", source: "own", paint: { "fill-color": colours.lesser, "fill-opacity": 0.55 }, filter: ["==", ["geometry-type"], "Polygon"] },
    lines("own-line", "own", colours.border, 1.2, { filter: ["!=", ["geometry-type"], "Point"] }),
    names("own-names", "own", colours, 12, { filter: ["has", "name"] }),
  );
}

/** What says where land ends: water and names of places around the bounds, and coarse outlines beyond. All that is not land is then sea. */
export async function addDetail(map, bounds, demo) {
  const near = demo || isWide(bounds) ? {} : { ...await waterNear(bounds), places: await placesNear(bounds), countries: asset(WORLD) };
  return (dark) => {
    for (const [name, data] of Object.entries(near)) map.getSource(name).setData(data);
    map.once("idle", () => map.setPaintProperty("sea", "background-color", palette(dark).sea));
    map.triggerRepaint(); // without a picture there is no rest after it
  };
}
