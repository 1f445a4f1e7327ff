// The page of a node: a person opens their own track, draws zones, sees what would leave, and saves it. Nothing is sent or kept.
import { byId, h, problem } from "../page/js/dom.js";
import { startLegend } from "../page/js/legend.js";
import { createStore } from "../page/js/store.js";
import { isDark } from "../page/js/theme.js";
import { count } from "../page/js/words.js";
import { decimal, drawWords, keeping, promised } from "./coins.js";
import { NOWHERE, createMap } from "./map.js";
import { checkedRing, features, members, readZones } from "./shapes.js";
import { LARGEST_FILE, findAxes, parts, places, readTrack } from "./track.js";

const TIMES = [0.5, 1, 2, 5];
const upward = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 2, roundingMode: "ceil" });
const atMost = (value) => upward.format(Number(value.toPrecision(10))); // what ten digits do not show is rounding
const short = (value) => String(Number(value.toPrecision(6)));

const store = createStore({
  track: null, // the file, its records, and of each a word that was drawn when it was opened
  axes: [-1, -1],
  places: null,
  zones: [], // {name, epsilon: text, rings}
  epsilon: "1",
  decided: null, // of each row its zone and whether it leaves
  shown: false, // whether the coins are looked at
  changed: false, // whether zones or epsilon were changed after that
  saved: 0,
  mode: null,
});
const map = createMap(store);
const known = new WeakMap(); // rings of a zone: which rows of which places they hold

/** Which of 2^64 words keep a row of each zone; null where an epsilon is none, or not below that of the releases. */
function rates({ zones, epsilon }) {
  const whole = decimal(epsilon);
  return zones.map((zone) => {
    const own = decimal(zone.epsilon);
    const words = whole && own && own[0] * whole[1] < whole[0] * own[1] ? keeping(own, whole) : 0n;
    return words > 0n ? words : null;
  });
}

function held(rings, where) {
  if (known.get(rings)?.where !== where) known.set(rings, { where, rows: members(rings, where.xs, where.ys) });
  return known.get(rings).rows;
}

/** Of every row the number of its strictest zone, and whether its word lets it leave. */
function decide(state) {
  const { track, places: where, zones } = state;
  const keep = rates(state);
  if (!where || keep.includes(null)) return null;
  const zone = Int32Array.from(where.xs, (x) => (Number.isNaN(x) ? NOWHERE : -1));
  const leaves = new Uint8Array(zone.length);
  const order = [...zones.keys()].sort((a, b) => (keep[a] < keep[b] ? 1 : -1)); // the strictest comes last, and stays
  for (const number of order) held(zones[number].rings, where).forEach((there, i) => there && (zone[i] = number));
  const [rows, left] = [zones.map(() => 0), zones.map(() => 0)];
  let [all, nowhere] = [0, 0];
  zone.forEach((number, i) => {
    leaves[i] = number === -1 || (number >= 0 && track.words[i] < keep[number]) ? 1 : 0;
    all += leaves[i];
    nowhere += number === NOWHERE;
    if (number >= 0) [rows[number], left[number]] = [rows[number] + 1, left[number] + leaves[i]];
  });
  return { zone, leaves, keep, rows, left, all, nowhere };
}

/** Takes a change of zones, epsilon or columns. The words stay as they are. */
function change(patch) {
  const next = { ...store.get(), ...patch };
  store.set({ ...patch, changed: next.changed || next.shown, decided: decide(next) });
}

async function attempt(file, largest, action) {
  try {
    problem(null);
    if (file.size > largest) throw new Error("The file is too large for this page; use covey thin.");
    action(new Uint8Array(await file.arrayBuffer()));
  } catch (error) {
    problem(error instanceof SyntaxError ? "The file is not a JSON document." : error.message);
  }
}

function openTrack(file) {
  return attempt(file, LARGEST_FILE, (content) => {
    const track = readTrack(file.name, content);
    Object.assign(track, { file: file.name, words: drawWords(track.records.length) });
    store.set({ track, axes: [-1, -1], places: null, decided: null, shown: false, changed: false, saved: 0 });
    place(findAxes(track.names));
  });
}

function place(axes) {
  const ready = axes.every((axis) => axis >= 0) && axes[0] !== axes[1];
  const where = ready ? places(store.get().track, axes) : null;
  change({ axes, places: where });
  if (where) map.open(where);
}

const openZones = (file) => attempt(file, 5_000_000, (content) => change({ zones: [...store.get().zones, ...readZones(new TextDecoder().decode(content))] }));

function addZone(ring) {
  try {
    problem(null);
    const { zones, epsilon } = store.get();
    const own = Number(epsilon) > 0.1 ? "0.1" : short(Number(epsilon) / 10 || 0.1);
    change({ zones: [...zones, { name: `Zone ${zones.length + 1}`, epsilon: own, rings: [checkedRing(ring)] }] });
  } catch (error) {
    problem(error.message);
  }
}

function save(name, content, type) {
  const address = URL.createObjectURL(new Blob(content, { type }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

function zoneItem(zone, number, { zones, decided, shown }) {
  const edit = (patch) => change({ zones: zones.map((each) => (each === zone ? { ...each, ...patch } : each)) });
  const title = zone.name || `Zone ${number + 1}`;
  const words = !decided ? (rates(store.get())[number] === null ? "Its epsilon must be a number below that of the releases." : "")
    : shown ? `${count(decided.rows[number])} rows in it, ${count(decided.left[number])} of them leave.`
      : `${count(decided.rows[number])} rows in it; each leaves with a chance of ${Number(((100 * Number(decided.keep[number])) / 2 ** 64).toPrecision(3))}%.`;
  return h("li", { className: "item" },
    h("div", { className: "row" },
      h("input", { type: "text", value: zone.name, maxlength: "80", "aria-label": `Name of zone ${number + 1}`, onchange: (event) => edit({ name: event.target.value }) }),
      h("label", { className: "epsilon" }, "ε", h("input", { type: "text", inputmode: "decimal", value: zone.epsilon, "aria-label": `Epsilon of ${title}`, onchange: (event) => edit({ epsilon: event.target.value.trim() }) })),
      h("button", { type: "button", className: "quiet small", "aria-label": `Remove ${title}`, onclick: () => change({ zones: zones.filter((each) => each !== zone) }) }, "Remove")),
    h("p", { className: "hint" }, words));
}

/** The epsilon of one row, in each zone and elsewhere, by that of all releases together. */
function promiseRows({ zones, epsilon, decided }) {
  const totals = TIMES.map((times) => times * Number(epsilon));
  const line = (name, value) => h("tr", {}, h("th", { scope: "row", className: "words" }, name), ...totals.map((total) => h("td", {}, value(total))));
  const head = h("tr", {}, h("th", { className: "words", scope: "col" }, "All releases together"), ...totals.map((total) => h("th", { scope: "col" }, short(total))));
  return [head, ...zones.map(({ name }, i) => line(name, (total) => atMost(promised(decided.keep[i], total)))), line("A row elsewhere", short)];
}

function summary({ decided, shown }) {
  if (!decided) return "";
  const inside = decided.rows.reduce((sum, each) => sum + each, 0);
  const always = decided.zone.length - inside - decided.nowhere;
  const chance = decided.rows.reduce((sum, rows, i) => sum + (rows * Number(decided.keep[i])) / 2 ** 64, 0);
  const lost = decided.nowhere ? ` ${count(decided.nowhere)} without a place on the map never leave.` : "";
  if (shown) return `${count(decided.all)} of ${count(decided.zone.length)} rows leave, ${count(decided.zone.length - decided.all)} stay here.${lost}`;
  return `${count(always)} rows in no zone leave. Of ${count(inside)} in your zones about ${count(chance)} will, by coins.${lost}`;
}

function show(state) {
  const { track, axes, zones, decided, shown, changed, saved } = state;
  byId("data-name").textContent = track?.file ?? "";
  byId("track-words").textContent = track ? `${count(track.records.length)} rows. A coin for each was thrown when the file was opened. Opening it again throws new ones: do that only if you have sent nothing of it.`
    : "CSV with longitude and latitude, GeoJSON points, or GPX. It is read in this page alone; the page cannot send anything anywhere, and keeps nothing.";
  byId("columns").hidden = !track;
  ["lon", "lat"].forEach((id, i) => {
    const options = (track?.names ?? []).map((name, column) => h("option", { value: String(column), selected: column === axes[i] }, name));
    byId(id).replaceChildren(h("option", { value: "-1", selected: axes[i] < 0 }, "choose…"), ...options);
  });
  byId("work").hidden = !state.places;
  byId("empty").hidden = Boolean(state.places);
  byId("legend").hidden = !state.places;
  byId("zone-list").replaceChildren(...zones.map((zone, i) => zoneItem(zone, i, state)));
  byId("summary").textContent = summary(state);
  byId("show").hidden = shown || zones.length === 0;
  byId("seen").hidden = !(shown && changed);
  byId("promise").hidden = !decided;
  if (decided) byId("promise-table").replaceChildren(...promiseRows(state));
  byId("show").disabled = byId("save").disabled = !decided;
  byId("save-zones").hidden = !decided || zones.length === 0;
  byId("saved").textContent = saved > 1 ? "Saved more than once: send one upload only, or the promise does not hold." : saved ? "Saved. Send it once; keep the track and the zones here." : "";
  byId("legend-coin").hidden = shown || zones.length === 0;
  byId("legend-stay").hidden = !shown || zones.length === 0;
  Object.assign(byId("stage").dataset, { rows: String(track?.records.length ?? 0), zones: String(zones.length), leave: shown ? String(decided?.all) : "", shown: String(shown) });
  if (decided) map.soon();
}

function picker(id, open) {
  byId(id).addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (file) await open(file);
    event.target.value = "";
  });
}

picker("track-file", openTrack);
picker("zone-file", openZones);
for (const [i, id] of ["lon", "lat"].entries()) {
  byId(id).addEventListener("change", (event) => place(store.get().axes.with(i, Number(event.target.value))));
}
byId("epsilon").addEventListener("change", (event) => change({ epsilon: event.target.value.trim() }));
byId("draw-zone").addEventListener("click", () => store.set({ mode: store.get().mode ? null : { kind: "polygon", what: "New zone", done: addZone } }));
store.on(["mode"], ({ mode }) => byId("draw-zone").setAttribute("aria-pressed", String(Boolean(mode))));
byId("show").addEventListener("click", () => store.set({ shown: true }));
byId("save").addEventListener("click", () => {
  const { track, decided, saved } = store.get();
  save("upload.csv", parts(track, decided.leaves), "text/csv");
  store.set({ saved: saved + 1 });
});
byId("save-zones").addEventListener("click", () => save("my-zones-keep-at-home.geojson", [JSON.stringify({ type: "FeatureCollection", features: features(store.get().zones) }, null, 1)], "application/geo+json"));
byId("theme-switch").addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  byId("theme-switch").setAttribute("aria-label", isDark() ? "Switch to light colours" : "Switch to dark colours");
  map.soon();
});
store.on(["track", "axes", "places", "zones", "epsilon", "decided", "shown", "changed", "saved"], show);
startLegend();
show(store.get());
