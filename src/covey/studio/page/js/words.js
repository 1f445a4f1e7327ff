// Numbers and sentences as a reader wants them.

const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 3 });
const upward = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 2, roundingMode: "ceil" });
export const KM_PER_DEGREE = 111.32;

export const count = (value) => whole.format(Math.round(value));

export function amount(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "unknown";
  return Math.abs(value) >= 1000 ? whole.format(value) : fine.format(value);
}

/** A privacy amount with all its digits, as certificates state it: rounded down it would promise too much. */
export const inFull = (value) => (value === null || value === undefined || !Number.isFinite(value) ? "unknown" : String(Number(value.toPrecision(12))));

/** The ends of an interval as they are written, three digits or whole numbers: the lower is never rounded up, the upper never down. */
export function outward(low, high) {
  const step = (value) => (Math.abs(value) >= 1000 ? 1 : 10 ** (Math.floor(Math.log10(Math.abs(value) || 1)) - 2));
  return [[low, Math.floor], [high, Math.ceil]].map(([end, round]) => Number((round(end / step(end)) * step(end)).toPrecision(12)));
}

/** "4,120 (3,990 to 4,250)": a noisy number of rows and between which two it is. There are no fewer than none. */
export function between(size, interval) {
  const told = count(Math.max(0, size));
  if (!interval) return `${told} (how far off is not known)`;
  const [low, high] = [Math.max(0, Math.floor(interval[0])), Math.max(0, Math.ceil(interval[1]))];
  return `${told} (${count(low)} to ${count(high)})`;
}

/** Two digits, never less: for what is said to be "at most" or "within". What ten digits do not show is rounding. */
const most = (value) => upward.format(Number(value.toPrecision(10)));

export const percent = (share, { up = true } = {}) => (share < 0.001 ? "under 0.1%" : `${(up ? most : fine.format)(100 * share)}%`);

/** "61% (57 to 65)": a share and the ends of its interval, rounded outward. A small share is not in their middle. */
export const shareBetween = ([share, low, high]) => `${Math.round(100 * share)}% (${Math.floor(100 * low)} to ${Math.ceil(100 * high)})`;

/** By how many rows a size may be off, as it is told: one below 0 is told as 0, and reaches as far up as 0 would. */
export const off = (size, interval) => interval[1] - Math.max(0, size);

/** By what part of itself a size may be off; of one that is told as 0, by any. */
export const doubt = (size, interval) => (interval ? off(size, interval) / Math.max(size, 1) : 0);

/** What share of the rows lies outside the bounds: where noise leaves every share possible, that it is not known. */
export function outsideWords({ share, low, high, whose }) {
  if (low <= 0 && high >= 1) return `What share of the ${whose} lies outside the bounds or lacks a number is not known: noise leaves all open`;
  const told = (value) => percent(value, { up: false });
  const ends = outward(Math.max(0, low), high).map(told).join(" to ");
  return `About ${told(share)} of the ${whose} (${ends}) lie outside the bounds or lack a number`;
}

/** The class of a number that may be off by a part of itself: amber above a tenth, red above a half. */
export const grade = (part) => (part > 0.5 ? "red" : part > 0.1 ? "amber" : null);

/** "about a fifth" for a share between 0 and 1. */
export function inWords(share) {
  if (share >= 0.97) return "all";
  const known = [[0.9, "nine tenths"], [0.8, "four fifths"], [0.75, "three quarters"], [2 / 3, "two thirds"], [0.6, "three fifths"],
    [0.5, "half"], [0.4, "two fifths"], [1 / 3, "a third"], [0.25, "a quarter"], [0.2, "a fifth"], [0.1, "a tenth"], [0.05, "a twentieth"]];
  if (share < 0.035) return "a small part";
  const [value, words] = known.reduce((best, each) => (Math.abs(each[0] - share) < Math.abs(best[0] - share) ? each : best));
  return Math.abs(value - share) < 0.004 ? words : `about ${words}`;
}

/** A length in metres or kilometres. */
export const metres = (km) => (km < 1 ? `${fine.format(Math.round(km * 1000))} m` : `${fine.format(km)} km`);

/** The width and height of a cell in words: on a map as lengths, else in the units of the columns. */
export function cellSize(size, data) {
  if (size === null || size === undefined) return null;
  const sides = Array.isArray(size) ? size : [size, size];
  if (!data.geographic) return sides.slice(0, 3).map(amount).join(" × ") + (sides.length > 3 ? " …" : "");
  const { lower, upper } = data.bounds;
  const [lon, lat] = sides.length > Math.max(data.lon, data.lat) ? [sides[data.lon], sides[data.lat]] : sides;
  const middle = (lower[data.lat] + upper[data.lat]) / 2;
  const across = metres(lon * KM_PER_DEGREE * Math.cos((middle * Math.PI) / 180));
  const up = metres(lat * KM_PER_DEGREE);
  return across === up ? across : `${across} × ${up}`;
}

/** How near a centre probably is to its place: in metres on a map, else in the units of the columns that are drawn. */
export function reach(radius, [, y], data) {
  if (radius === null) return "place not determined";
  const [across, up] = drawn(data).map((column) => (column === null ? null : radius * data.unit[column]));
  if (!data.geographic) {
    const parts = [across, up].map((width, i) => width !== null && `${most(width)} in ${axes(data)[i]}`).filter(Boolean);
    return `probably within ${parts.join(" and ")}`;
  }
  const km = KM_PER_DEGREE * Math.max(across * Math.cos((y * Math.PI) / 180), up);
  return `probably within ${km < 1 ? `${most(km * 1000)} m` : `${most(km)} km`}`;
}

/** Kilometres from a place on the map to the nearest of some others. */
export const toNearest = ([x, y], others) => Math.min(...others.map(([u, v]) => KM_PER_DEGREE * Math.hypot((x - u) * Math.cos((y * Math.PI) / 180), y - v)));

/** A place in words: degrees on a map, values of the first two columns elsewhere. */
export function place([x, y], data) {
  if (!data.geographic) return `${axes(data)[0]} ${amount(x)}, ${axes(data)[1]} ${amount(y)}`;
  const side = (value, plus, minus) => `${Math.abs(value).toFixed(4)}° ${value >= 0 ? plus : minus}`;
  return `${side(y, "N", "S")}, ${side(x, "E", "W")}`;
}

/** The places of the two columns that are drawn; the second is null where there is only one. */
export const drawn = (data) => [data.lon ?? 0, data.lat ?? (data.columns.length > 1 ? 1 : null)];

/** The names of the two columns that are drawn. */
export const axes = (data) => drawn(data).map((column) => (column === null ? "" : data.columns[column]));

/** West, south, east, north (or their like) of the declared bounds; one column alone lies in the middle of a strip. */
export function box(data) {
  const [i, j] = drawn(data);
  const { lower, upper } = data.bounds;
  return j === null ? [lower[i], -1, upper[i], 1] : [lower[i], lower[j], upper[i], upper[j]];
}

export function when(text) {
  const date = new Date(typeof text === "number" ? text * 1000 : text);
  if (Number.isNaN(date.valueOf())) return String(text);
  return date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}
