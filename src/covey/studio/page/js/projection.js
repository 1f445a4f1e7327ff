// From user units to the plane and from the plane to the screen. On a map the plane is Web Mercator, elsewhere the data's
// own two columns; in both cases the step to the screen is a scale and a shift for each axis, so that thousands of points
// are moved with two multiplications each.

const RADIAN = Math.PI / 180;
export const MOST_LATITUDE = 85.051;

export const mercator = {
  forward([lon, lat]) {
    const clipped = Math.max(-MOST_LATITUDE, Math.min(MOST_LATITUDE, lat)) * RADIAN;
    return [lon / 360 + 0.5, 0.5 - Math.log(Math.tan(Math.PI / 4 + clipped / 2)) / (2 * Math.PI)];
  },
  inverse([x, y]) {
    return [(x - 0.5) * 360, (2 * Math.atan(Math.exp((0.5 - y) * 2 * Math.PI)) - Math.PI / 2) / RADIAN];
  },
};

export const plane = { forward: ([x, y]) => [x, -y], inverse: ([x, y]) => [x, -y] };

/** Flat arrays of plane coordinates for a list of positions. */
export function flatten(positions, projection) {
  const xs = new Float64Array(positions.length);
  const ys = new Float64Array(positions.length);
  positions.forEach((position, i) => {
    [xs[i], ys[i]] = projection.forward(position);
  });
  return { xs, ys };
}

/** Screen position of a plane position under {sx, tx, sy, ty}. */
export const toScreen = (view, x, y) => [view.sx * x + view.tx, view.sy * y + view.ty];

/** The polygons of a GeoJSON Polygon or MultiPolygon, each a list of rings. Where they overlap they add up. */
export function polygons(geometry) {
  if (geometry?.type === "Polygon") return [geometry.coordinates];
  if (geometry?.type === "MultiPolygon") return geometry.coordinates;
  return [];
}

/** Whether a position lies in a geometry: in any of its polygons. */
export const within = (position, geometry) => polygons(geometry).some((ringList) => inside(position, ringList));

/** Even-odd test of a position against the rings of one polygon. The server takes no ring that crosses itself. */
export function inside([x, y], ringList) {
  let odd = false;
  for (const ring of ringList) {
    for (let i = 0, j = ring.length - 1; i < ring.length; j = i, i += 1) {
      const [xi, yi] = ring[i];
      const [xj, yj] = ring[j];
      if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) odd = !odd;
    }
  }
  return odd;
}
