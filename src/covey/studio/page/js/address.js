// What is on the screen, in the part of the address after #, which no server sees: a reload or a bookmark comes back to
// it. Only what is listed here is written: no token, no name, nothing drawn.

const whole = (text) => (/^\d{1,3}$/.test(text) ? Number(text) : undefined);
const one = (...names) => (text) => (names.includes(text) ? text : undefined);
const FIELDS = {
  level: whole, k: whole, objective: one("k-means", "k-median"), edges: (text) => (text === "no" ? false : undefined),
  view: one("map", "scatter"), tab: one("look", "zones", "compare", "profile", "ledger"),
};

/** The fields that the address names and that make sense. */
export function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(Object.entries(FIELDS).map(([name, read]) => [name, read(given.get(name) ?? "")]).filter(([, value]) => value !== undefined));
}

/** Keeps the address in step with the state; `asked(fields)` hears of one that somebody typed. */
export function startAddress(store, asked) {
  let written = location.hash;
  store.on(Object.keys(FIELDS), (state) => {
    if (state.level === null) return;
    const values = { level: state.level, k: state.k, objective: state.objective, edges: state.edges ? null : "no", view: state.view, tab: state.tab };
    written = `#${new URLSearchParams(Object.entries(values).filter(([, value]) => value !== null))}`;
    history.replaceState(history.state, "", written);
  });
  window.addEventListener("hashchange", () => {
    const fields = readAddress();
    if (location.hash !== written && Object.keys(fields).length) asked(fields);
  });
}
