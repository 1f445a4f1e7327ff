// Zones from a file: polygons as they are, and everything within some metres of points and lines (schools, clinics).
// What is added, and how much of it is kept, is said before anything is paid.
import { h, problem } from "../dom.js";
import { count } from "../words.js";

const LARGEST_FILE = 1_000_000;
const USUAL_METRES = 200;
const EAST = ["lon", "lng", "long", "longitude", "x"];
const NORTH = ["lat", "latitude", "y"];

/** The cells of a line of a table; a cell in quotes may hold what lies between others. */
function cut(line, between) {
  const cells = [""];
  let quoted = false;
  for (const letter of line) {
    if (letter === '"') quoted = !quoted;
    else if (letter === between && !quoted) cells.push("");
    else cells[cells.length - 1] += letter;
  }
  return cells.map((cell) => cell.trim());
}

/** The lines of a table with a header as GeoJSON features, without a shape where a line has no place; none at all where
 * no two columns are longitude and latitude. */
export function placesOf(text) {
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  const between = [";", "\t", ","].find((each) => lines[0]?.includes(each)) ?? ",";
  const cells = (line) => cut(line, between);
  const header = cells(lines[0] ?? "").map((name) => name.toLowerCase());
  const [x, y] = [EAST, NORTH].map((names) => header.findIndex((name) => names.includes(name)));
  if (x < 0 || y < 0) return [];
  const number = (cell) => Number((between === "," ? cell : cell?.replace(",", ".")) || NaN);
  return lines.slice(1).map((line) => cells(line)).map((row) => [number(row[x]), number(row[y])])
    .map((coordinates) => ({ type: "Feature", properties: {}, geometry: coordinates.every(Number.isFinite) ? { type: "Point", coordinates } : null }));
}

/** The features of a document; some may have no shape. */
function featuresOf(text) {
  let document_;
  try {
    document_ = JSON.parse(text);
  } catch {
    return placesOf(text);
  }
  const given = document_?.type === "FeatureCollection" ? document_.features : document_?.type === "Feature" ? [document_] : [];
  return Array.isArray(given) ? given : [];
}

const isArea = ({ geometry }) => geometry.type.endsWith("Polygon");

/** Zones to send: an area each, and one for all points and lines that are promised the same. What the file itself says
 * of a feature, its ε, level or metres, counts before what is said here. */
function zonesOf(features, metres, { title, first, strictest }) {
  const own = ({ properties }) => ({
    epsilon: properties?.epsilon ?? (properties?.level ? undefined : strictest),
    level: properties?.level ?? undefined,
    buffer_metres: properties?.buffer_metres ?? (metres > 0 ? metres : undefined),
  });
  const areas = features.filter(isArea).map((each, i) => ({
    type: "Feature", geometry: each.geometry, properties: { name: each.properties?.name ?? `Zone ${first + i}`, ...own(each) },
  }));
  const rest = features.filter((each) => !isArea(each));
  const kinds = [...new Set(rest.map((each) => JSON.stringify(own(each))))];
  return [...areas, ...kinds.map((kind) => {
    const geometries = rest.filter((each) => JSON.stringify(own(each)) === kind).map(({ geometry }) => geometry);
    const properties = JSON.parse(kind);
    return { type: "Feature", geometry: { type: "GeometryCollection", geometries }, properties: { name: `${title}: ${count(geometries.length)} places, ${count(properties.buffer_metres)} m`, ...properties } };
  })];
}

/** kept : says how much of a zone with an ε is kept. add : sends zones. */
export function zoneFile({ geographic, first, strictest, kept, add }) {
  const slot = h("div", { id: "zone-import" });

  async function read(event) {
    const [file] = event.target.files;
    event.target.value = "";
    slot.replaceChildren();
    if (!file) return;
    if (file.size > LARGEST_FILE) {
      problem("This file is larger than a megabyte; simplify the regions first.");
      return;
    }
    const all = featuresOf(await file.text().catch(() => ""));
    const usable = all.filter((each) => each?.geometry?.type && (geographic || isArea(each)));
    problem(usable.length ? null : "This file holds no polygons and no places: it must be GeoJSON, or a table with the columns lon and lat.");
    if (usable.length) ask(file.name.replace(/\.[^.]*$/, ""), usable, all.length - usable.length);
  }

  function ask(title, features, without) {
    const areas = features.filter(isArea).length;
    const others = features.length - areas;
    const metres = h("input", { type: "number", id: "zone-buffer", min: others ? "1" : "0", max: "100000", step: "any", required: true, value: String(others ? USUAL_METRES : 0) });
    const found = [areas && `${count(areas)} ${areas === 1 ? "area" : "areas"}`, others && `${count(others)} ${others === 1 ? "place" : "places"}`].filter(Boolean);
    const send = async (event) => {
      event.preventDefault();
      const wanted = zonesOf(features, Number(metres.value), { title, first: first(), strictest: strictest() });
      if (await add(wanted)) slot.replaceChildren();
    };
    slot.replaceChildren(h("form", { className: "item", onsubmit: send },
      h("p", {}, `${title}: ${found.join(" and ")}.`),
      without > 0 && h("p", { className: "hint amber" }, `${count(without)} more in the file ${without === 1 ? "has no place on the map and is" : "have no place on the map and are"} left out.`),
      geographic && h("label", { className: "field" }, `Metres around ${others ? "each place" : "the areas"} that belong to the zone, where the file does not say`, metres),
      h("p", { className: "hint" }, kept(strictest())),
      h("div", { className: "buttons" },
        h("button", { type: "submit", className: "primary", id: "zone-add" }, "Add to the zones"),
        h("button", { type: "button", onclick: () => slot.replaceChildren() }, "Leave it"))));
    (geographic ? metres : slot.querySelector("#zone-add")).focus();
  }

  const chooser = h("label", { className: "file" },
    h("input", { type: "file", id: "zone-file", accept: ".geojson,.json,.csv,application/geo+json,text/csv", "aria-label": "Upload zones: GeoJSON, or a table of places", onchange: read }),
    h("span", { "aria-hidden": "true" }, "From a file"));
  return { chooser, slot };
}
