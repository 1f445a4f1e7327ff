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
  rehearsing: true, // whether the slider is on made-up rows, before anything is paid for
  rows: 20_000, // of them
  upTo: 4, // how far the slider may go if several levels of the data are to be seen
  tab: "look",
  view: null, // "map" or "scatter", once there is one
  level: null,
  k: 5,
  objective: "k-means",
  edges: true, // whether narrow boxes at the edge of the bounds help to find the centres
  busy: false, // whether the screen shows something else than the controls ask for
  current: null, // the level on the screen, with the numbers of its centres
  places: null, // how far its centres may be off, once the server has found out: {radii, excess}
  visible: { points: true, centres: true, regions: true, zones: true },
  owner: null, // non-private centres, while the owner's switch is on
  sets: [], // alternatives: {name, sites: [[x, y]…]}
  activeSet: 0,
  forbidden: [], // polygons: {name, ring}
  compared: null,
  you: null, // a spot that somebody asked about
  held: null, // what is being dragged
  highlight: null, // a centre pointed at in the list
  mode: null, // {kind: "polygon" | "site", hint, …} while the next click on the map means something
};

/** The levels that the slider has now: those to rehearse, or those that were paid for. */
export const levelsOf = ({ rehearsing, server }) => (rehearsing ? server.offers : server.levels);

/** What a certificate would state of a level now. */
export const statedOf = (state, level = state.level) => {
  const own = levelsOf(state)[level];
  return state.rehearsing ? own.alone : own.certified;
};
