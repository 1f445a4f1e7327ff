// The page's own state: one object, replaced field by field; listeners hear which fields changed.

export function createStore(initial) {
  let state = initial;
  const listeners = [];
  return {
    get: () => state,
    set(patch) {
      const changed = new Set(Object.keys(patch).filter((name) => patch[name] !== state[name]));
      if (changed.size === 0) return;
      state = { ...state, ...patch };
      for (const { fields, hear } of listeners) if (fields.some((name) => changed.has(name))) hear(state, changed);
    },
    /** Calls `hear(state)` after any of `fields` changed. */
    on: (fields, hear) => listeners.push({ fields, hear }),
  };
}

export const FIRST = {
  server: null, // what api/state said last
  level: null,
  k: 5,
  objective: "k-means",
  current: null, // the level on the screen
  places: null, // how far its centres may be off, once the server has found out: {radii, excess}
  visible: { points: true, centres: true, regions: true, zones: true },
  owner: null, // non-private centres, while the owner's switch is on
  sets: [], // alternatives: {name, sites: [[x, y]…]}
  activeSet: 0,
  forbidden: [], // polygons: {name, ring}
  compared: null,
  highlight: null, // a centre pointed at in the list
  mode: null, // {kind: "polygon" | "site", hint, …} while the next click on the map means something
};
