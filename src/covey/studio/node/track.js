// A person's own track: its records as they stand in the file, byte for byte, and where each of them is.

const NUMBER = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/;
const USUAL = [["lon", "lng", "long", "longitude", "x_lon"], ["lat", "latitude", "y_lat"]];
const MISPLACED = "A quote in the file is misplaced or never closed, so rows may run together; mend it first.";
export const LARGEST_FILE = 500_000_000;

/** The track in a file: the names of its columns, its bytes, and where its records begin and end. Points and GPX become CSV. */
export function readTrack(name, content) {
  const text = () => new TextDecoder().decode(content);
  if (/\.gpx$/i.test(name)) return readCsv(new TextEncoder().encode(gpx(text())));
  if (/\.(geo)?json$/i.test(name)) return readCsv(new TextEncoder().encode(points(text())));
  return readCsv(content);
}

/** The records of RFC 4180. A character is a byte here, whatever the file's letters are: places in both are the same. */
function readCsv(bytes) {
  const text = new TextDecoder("latin1").decode(bytes);
  const start = text.startsWith("\u00ef\u00bb\u00bf") ? 3 : 0;
  const first = scan(text, start);
  const names = first.cells.map(([a, b]) => unquoted(new TextDecoder().decode(bytes.subarray(a, b)).replace(/\r$/, "")));
  if (names.every((each) => !each.trim()) || names.some((each) => NUMBER.test(each) || /[\r\n]/.test(each))) throw new Error("The first line of the file must name its columns.");
  if (names.length === 1 && /[;\t|]/.test(names[0])) throw new Error("Commas must stand between the cells of the file, and numbers have points: save it so. The command covey thin reads other files too (--decimal ,).");
  const records = [];
  for (let place = first.end; place < text.length;) {
    const { cells, end } = scan(text, place);
    const empty = cells.length === 1 && /^\r?$/.test(text.slice(...cells[0]));
    if (!empty || names.length === 1) records.push([place, end]);
    place = end;
  }
  return { bytes, text, names, header: [start, first.end], records };
}

/** The cells of a record, as the places where they begin and end, and the place behind its newline. */
function scan(text, start) {
  const cells = [];
  for (let place = start; ;) {
    const from = place;
    const inQuotes = text[place] === '"';
    if (inQuotes) {
      place += 1;
      while (place < text.length && (text[place] !== '"' || text[place + 1] === '"')) place += text[place] === '"' ? 2 : 1;
      if (place >= text.length) throw new Error(MISPLACED);
      place += 1;
    }
    for (; place < text.length && text[place] !== "," && text[place] !== "\n"; place += 1) {
      if (text[place] === '"' || (inQuotes && text[place] !== "\r")) throw new Error(MISPLACED);
    }
    cells.push([from, place]);
    if (place >= text.length || text[place] === "\n") return { cells, end: Math.min(place + 1, text.length) };
    place += 1;
  }
}

const unquoted = (cell) => (cell.startsWith('"') ? cell.replace(/^"|"$/g, "").replaceAll('""', '"') : cell);

/** Which columns are longitude and latitude by their names; -1 where that is not clear. */
export const findAxes = (names) => USUAL.map((usual) => {
  const found = [...names.keys()].filter((i) => [names[i].toLowerCase(), ...names[i].toLowerCase().replaceAll("-", "_").split("_")].some((word) => usual.includes(word)));
  return found.length === 1 ? found[0] : -1;
});

/** Longitudes and latitudes of all records; NaN where one has no place on the map. */
export function places({ text, names, records }, axes) {
  const xs = new Float64Array(records.length).fill(NaN);
  const ys = xs.slice();
  records.forEach(([start], i) => {
    const { cells } = scan(text, start);
    const whole = cells.length === names.length;
    const [x, y] = axes.map((axis) => (whole ? unquoted(text.slice(...cells[axis]).trim()) : "")).map((cell) => (NUMBER.test(cell) ? Number(cell) : NaN));
    if (Math.abs(x) <= 180 && Math.abs(y) <= 90) [xs[i], ys[i]] = [x, y];
  });
  return { xs, ys };
}

/** The parts of the file that leave: its header and the records that are to be kept, as they stand. */
export function parts({ bytes, header, records }, leaves) {
  const runs = [[...header]];
  records.forEach(([start, end], i) => {
    if (!leaves[i]) return;
    if (runs.at(-1)[1] === start) runs.at(-1)[1] = end;
    else runs.push([start, end]);
  });
  const found = runs.map(([start, end]) => bytes.subarray(start, end));
  return found.at(-1).at(-1) === 10 ? found : [...found, "\n"];
}

function points(text) {
  const given = JSON.parse(text);
  const found = given?.type === "MultiPoint" ? given.coordinates : given?.type === "FeatureCollection" ? given.features?.map((each) => each?.geometry?.coordinates) : null;
  if (!Array.isArray(found)) throw new Error("The file is not a GeoJSON FeatureCollection of points.");
  return lines(["lon", "lat"], found.map((each) => [each?.[0], each?.[1]].map((value) => (typeof value === "number" ? value : ""))));
}

function gpx(text) {
  const document_ = /<!(DOCTYPE|ENTITY)/i.test(text) ? null : new DOMParser().parseFromString(text, "application/xml");
  if (!document_ || document_.getElementsByTagName("parsererror").length) throw new Error("The file is not a GPX document, or broke off, or declares entities.");
  const time = (point) => point.getElementsByTagNameNS("*", "time")[0]?.textContent.trim() ?? "";
  const found = [...document_.getElementsByTagNameNS("*", "trkpt")];
  if (found.length === 0) throw new Error("The GPX document has no points of a track; routes and waypoints are not read.");
  return lines(["lon", "lat", "time"], found.map((point) => [point.getAttribute("lon") ?? "", point.getAttribute("lat") ?? "", time(point)]));
}

const quoted = (value) => (/[",\r\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
const lines = (names, rows) => [names, ...rows].map((row) => `${row.map(quoted).join(",")}\n`).join("");
