// What of the map can be dragged: sites of alternatives, corners of forbidden regions and, before the look, of zones.
import { polygons } from "./projection.js";

const MOST_CORNERS = 100; // of one shape: a coastline from a file has too many to be moved by hand

/** Rings are closed: their last position is the first one again, and moves with it. */
const corners = (ring, about) => ring.slice(0, -1).map((position, corner) => ({ position, corner, ...about }));
const few = (handles) => (handles.length > MOST_CORNERS ? [] : handles);

const moved = (ring, corner, position) => ring.map((each, i) => (i === corner || (corner === 0 && i === ring.length - 1) ? position : each));

/** Whether zones may still change. */
export const zonesStand = ({ server }) => Boolean(server?.looked || server?.job?.state === "running" || server?.person);

/** The corners that can be dragged on the tab that is open. */
export function handlesOf(state) {
  if (state.tab === "compare") return state.forbidden.flatMap(({ ring }, index) => few(corners(ring, { kind: "forbidden", index })));
  if (state.tab !== "zones" || zonesStand(state)) return [];
  return (state.server?.zones?.features ?? []).flatMap(({ geometry }, index) =>
    few(polygons(geometry).flatMap((rings, part) => rings.flatMap((ring, number) => corners(ring, { kind: "zone", index, part, number })))));
}

/** Whether a site can be dragged: of centres in more than two columns only two are on the map. */
export const isLoose = (state, { kind, set }) => kind === "site" && state.tab === "compare" && !state.sets[set].full;

/** The fields of the state after a handle was moved to a position. */
export function movedTo(state, handle, position) {
  const { kind, index, corner } = handle;
  if (kind === "site") {
    return { sets: state.sets.map((each, i) => (i === handle.set ? { ...each, sites: each.sites.map((site, j) => (j === index ? position : site)) } : each)) };
  }
  if (kind === "forbidden") {
    return { forbidden: state.forbidden.map((each, i) => (i === index ? { ...each, ring: moved(each.ring, corner, position) } : each)) };
  }
  const zones = state.server.zones;
  const reshaped = ({ type, coordinates }) => {
    const parts = polygons({ type, coordinates }).map((rings, i) => (i === handle.part ? rings.map((ring, j) => (j === handle.number ? moved(ring, corner, position) : ring)) : rings));
    return { type, coordinates: type === "Polygon" ? parts[0] : parts };
  };
  const features = zones.features.map((each, i) => (i === index ? { ...each, geometry: reshaped(each.geometry) } : each));
  return { server: { ...state.server, zones: { ...zones, features } } };
}
