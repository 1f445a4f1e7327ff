// Zones: rings of [longitude, latitude]. A border belongs to its zone, with a few metres more; a ring must not meet itself.

const NEAR = 4e-5; // degrees, some four metres: more than `covey thin` allows, and far more than any rounding
const MOST_CORNERS = 3000;
const LEVELS = { "most private": 0.1, "very private": 0.25, balanced: 0.5, detailed: 1, "most detailed": 2 }; // the usual ones

/** Whether a place lies in a ring or near its border. */
export function inside(x, y, ring) {
  let odd = false;
  for (let i = 0, j = ring.length - 1; i < ring.length; j = i, i += 1) {
    const [xi, yi] = ring[i];
    const [xj, yj] = ring[j];
    if (distance(x, y, ring[i], ring[j]) <= NEAR) return true;
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) odd = !odd;
  }
  return odd;
}

function distance(x, y, [ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay];
  const along = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - ax - along * dx, y - ay - along * dy);
}

/** For every place, 1 where one of the rings holds it. */
export function members(rings, xs, ys) {
  const found = new Uint8Array(xs.length);
  for (const ring of rings) {
    const [west, east] = ends(ring.map(([x]) => x));
    const [south, north] = ends(ring.map(([, y]) => y));
    for (let i = 0; i < xs.length; i += 1) {
      if (!found[i] && xs[i] >= west && xs[i] <= east && ys[i] >= south && ys[i] <= north && inside(xs[i], ys[i], ring)) found[i] = 1;
    }
  }
  return found;
}

const ends = (values) => [Math.min(...values) - 2 * NEAR, Math.max(...values) + 2 * NEAR];

/** A ring as corners, none twice in a row; throws, in words, where it is not clear what it encloses. */
export function checkedRing(positions) {
  if (!Array.isArray(positions) || positions.length > MOST_CORNERS) throw new Error(`A zone is a ring of at most ${MOST_CORNERS} corners.`);
  const corners = positions.map((each) => [each?.[0], each?.[1]]);
  if (!corners.flat().every((each) => typeof each === "number") || !corners.every(([x, y]) => Math.abs(x) <= 180 && Math.abs(y) <= 90)) throw new Error("A corner of a zone is not on the map: longitude first, in degrees.");
  const ring = corners.filter((corner, i) => !same(corner, corners[(i + 1) % corners.length]));
  if (ring.length < 3) throw new Error("A zone needs three corners or more.");
  const edges = ring.map((corner, i) => [corner, ring[(i + 1) % ring.length]]);
  if (edges.some(([[a], [b]]) => Math.abs(a - b) > 180)) throw new Error("A side of a zone goes half around the world; cut the zone in two.");
  for (let i = 0; i < edges.length; i += 1) {
    for (let j = i + 1; j < edges.length; j += 1) {
      if (meet(edges[i], edges[j], j === i + 1, i === 0 && j === edges.length - 1)) {
        throw new Error("The border of a zone crosses or touches itself, so it is not clear what it encloses; draw it without crossings.");
      }
    }
  }
  return ring;
}

const same = ([a, b], [c, d]) => a === c && b === d;
const turn = ([ax, ay], [bx, by], [cx, cy]) => {
  const [left, right] = [(bx - ax) * (cy - ay), (by - ay) * (cx - ax)];
  return Math.abs(left - right) <= 1e-12 * (Math.abs(left) + Math.abs(right)) ? 0 : Math.sign(left - right);
};
const between = ([ax, ay], [bx, by], [x, y]) => x >= Math.min(ax, bx) && x <= Math.max(ax, bx) && y >= Math.min(ay, by) && y <= Math.max(ay, by);

/** Whether two sides meet anywhere but in the corner that neighbours share. */
function meet([a, b], [c, d], follows, leads) {
  const [t1, t2, t3, t4] = [turn(a, b, c), turn(a, b, d), turn(c, d, a), turn(c, d, b)];
  if (t1 * t2 < 0 && t3 * t4 < 0) return true;
  const touching = [[t1, a, b, c], [t2, a, b, d], [t3, c, d, a], [t4, c, d, b]];
  const shared = [follows ? b : null, leads ? a : null].filter(Boolean);
  return touching.some(([t, from, to, end]) => t === 0 && between(from, to, end) && !shared.some((corner) => same(corner, end)));
}

/** Zones from a GeoJSON text: {name, epsilon, rings}. What lies in a hole counts as in the zone. */
export function readZones(text) {
  const given = JSON.parse(text);
  const features = given?.type === "Feature" ? [given] : given?.type === "FeatureCollection" ? given.features : null;
  if (!Array.isArray(features) || features.length === 0) throw new Error("Zones are GeoJSON: features with polygons.");
  return features.map(({ geometry, properties }, i) => {
    const polygons = { Polygon: [geometry?.coordinates], MultiPolygon: geometry?.coordinates }[geometry?.type];
    const given = [properties?.epsilon, Object.hasOwn(LEVELS, properties?.level) ? LEVELS[properties.level] : null].filter((each) => each !== null && each !== undefined);
    if (!Array.isArray(polygons) || given.length === 0 || given.some((each) => typeof each !== "number")) throw new Error("Every zone is a Polygon or MultiPolygon with a property epsilon, a number.");
    if (properties.buffer_metres !== undefined && properties.buffer_metres !== null) throw new Error("This page knows no buffer_metres; `covey thin` does. Or draw the zone as wide as it is meant.");
    return { name: String(properties.name ?? `Zone ${i + 1}`), epsilon: String(Math.min(...given)), rings: polygons.map((polygon) => checkedRing(polygon?.[0])) };
  });
}

/** One feature for each zone, as maps draw them. */
export const features = (zones) => zones.map(({ name, epsilon, rings }) => {
  const closed = rings.map((ring) => [[...ring, ring[0]]]);
  const geometry = closed.length === 1 ? { type: "Polygon", coordinates: closed[0] } : { type: "MultiPolygon", coordinates: closed };
  return { type: "Feature", properties: { name, epsilon: Number(epsilon) }, geometry };
});
