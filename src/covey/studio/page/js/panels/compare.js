// Alternatives: sets of candidate sites and forbidden regions, compared on the private coreset. Free, as often as wanted.
import { api } from "../api.js";
import { attempt, byId, h, later, redraw } from "../dom.js";
import { createHistory } from "../history.js";
import { mark } from "../palette.js";
import { isDark } from "../theme.js";
import { amount, axes, count, metres, outward, place } from "../words.js";
import { searchForm } from "./search.js";
import { boxForm, modeButton } from "./shapes.js";

const MOST_SETS = 6;
const WAIT = 150;

export function startCompare(store) {
  const panel = byId("panel-compare");
  const list = h("div", { className: "items", id: "set-list" });
  const regions = h("div", { className: "items", id: "forbidden-list" });
  const result = h("section", { className: "items", id: "compare-result", "aria-live": "polite" });
  const unfolded = new Set(); // names of sets whose sites are listed
  const history = createHistory(panel, (before) => {
    last = before;
    store.set({ ...before, mode: null });
  });
  let latest = 0;
  let last = null; // what a step back returns to

  const sets = () => store.get().sets;
  const change = (index, patch) => store.set({ sets: sets().map((set, i) => (i === index ? { ...set, ...patch } : set)) });
  const freeName = (wanted) => {
    const names = new Set(sets().map(({ name }) => name));
    for (let i = 1; ; i += 1) {
      const name = i === 1 && wanted ? wanted : `${wanted ?? "Plan"} ${wanted ? i : String.fromCharCode(64 + i)}`;
      if (!names.has(name)) return name;
    }
  };

  function addSet(sites = [], full = null, name = freeName()) {
    if (sets().length >= MOST_SETS) return;
    store.set({ sets: [...sets(), { name, sites, full }], activeSet: sets().length });
  }

  function addSite(position) {
    if (sets().length === 0) addSet();
    const index = Math.min(store.get().activeSet, sets().length - 1);
    if (sets()[index].full) addSet();
    const active = store.get().activeSet;
    change(active, { sites: [...sets()[active].sites, position] });
  }

  function addCentres() {
    const { current, server } = store.get();
    if (current) addSet(current.centres, server.data.columns.length === 2 ? null : current.full_centres, freeName("Private centres"));
  }

  function rename(index, wanted) {
    const name = wanted.trim();
    const taken = sets().some((set, i) => i !== index && set.name === name);
    if (name && !taken) change(index, { name });
    else showSets();
  }

  function setItem(set, index) {
    const active = index === store.get().activeSet;
    return h("div", { className: `item${active ? " active" : ""}` },
      h("div", { className: "row" }, mark(index, isDark()),
        h("input", { type: "text", value: set.name, maxlength: "60", "aria-label": `Name of set ${index + 1}`, onchange: (event) => rename(index, event.target.value) }),
        h("button", { type: "button", className: "quiet small", "aria-label": `Remove ${set.name}`, onclick: () => remove(index) }, "Remove")),
      h("div", { className: "row" },
        h("span", { className: "hint" }, set.sites.length === 1 ? "1 site" : `${set.sites.length} sites`),
        h("span", { className: "buttons" },
          !set.full && h("button", { type: "button", className: "small", "aria-pressed": String(active), "aria-label": `${active ? "Adding" : "Add"} here: ${set.name}`, onclick: () => store.set({ activeSet: index }) }, active ? "Adding here" : "Add here"))),
      set.sites.length > 0 && !set.full && siteList(set, index));
  }

  /** Every site with its place, to be moved without dragging, or removed. */
  function siteList(set, index) {
    const { data } = store.get().server;
    const about = (number) => `site ${number + 1} of ${set.name}`;
    const move = (number) => ({ kind: "spot", what: `Site ${number + 1}`, place: (to) => { store.set({ mode: null }); change(index, { sites: set.sites.map((each, i) => (i === number ? to : each)) }); } });
    const fold = h("details", { className: "fine", open: unfolded.has(set.name), ontoggle: () => (fold.open ? unfolded.add(set.name) : unfolded.delete(set.name)) },
      h("summary", { "aria-label": `Move or delete sites of ${set.name}` }, "Move or delete sites"),
      h("ol", { className: "sites" }, ...set.sites.map((site, number) => h("li", {}, h("div", { className: "row" }, h("span", { className: "number" }, place(site, data)),
        h("span", { className: "buttons" },
          h("button", { type: "button", className: "quiet small", "aria-label": `Move ${about(number)}`, onclick: () => store.set({ mode: move(number) }) }, "Move"),
          h("button", { type: "button", className: "quiet small", "aria-label": `Delete ${about(number)}`, onclick: () => change(index, { sites: set.sites.filter((_, i) => i !== number) }) }, "Delete")))))));
    return fold;
  }

  function remove(index) {
    store.set({ sets: sets().filter((_, i) => i !== index), activeSet: Math.max(0, Math.min(store.get().activeSet, sets().length - 2)) });
  }

  function showSets() {
    redraw(list, ...sets().map(setItem));
  }

  function showRegions() {
    const { forbidden } = store.get();
    regions.replaceChildren(...forbidden.map(({ name }, index) => h("div", { className: "item" }, h("div", { className: "row" }, h("span", {}, name),
      h("button", { type: "button", className: "quiet small", "aria-label": `Remove ${name}`, onclick: () => store.set({ forbidden: forbidden.filter((_, i) => i !== index) }) }, "Remove")))));
  }

  /** The forbidden regions as GeoJSON, or null. */
  function forbiddenGround() {
    const features = store.get().forbidden.map(({ name, ring }) => ({ type: "Feature", properties: { name }, geometry: { type: "Polygon", coordinates: [ring] } }));
    return features.length ? { type: "FeatureCollection", features } : null;
  }

  /** The set that new sites go into, or null. */
  const chosen = () => sets()[store.get().activeSet] ?? null;
  const found = (sites, stand, more) => addSet(sites, null, freeName(stand ? `${stand.name} and ${more} more` : "Best places"));

  /** Asks the server about all sets that have sites, on the level that the slider shows. */
  const compare = later(async () => {
    const { level, objective, server } = store.get();
    const filled = sets().filter(({ sites }) => sites.length);
    const mine = ++latest;
    if (!server?.looked || filled.length === 0) {
      result.replaceChildren();
      return;
    }
    const answer = await attempt(() => api.alternatives({
      level, objective, sets: Object.fromEntries(filled.map(({ name, sites, full }) => [name, full ?? sites])),
      forbidden: forbiddenGround(),
    }));
    if (answer && mine === latest) showResult(answer);
  }, WAIT);

  function showResult(answer) {
    const rows = sets().map((set, index) => ({ ...set, index, ...answer.sets[set.name] })).filter(({ cost }) => cost !== undefined);
    const byMap = rows.some(({ mean_km: km }) => typeof km === "number"); // noise may hide that of some
    const length = ({ mean_km: km, cost }) => (byMap ? km ?? 0 : cost);
    const most = Math.max(...rows.map(length));
    const range = ({ km_low: low, km_high: high }) => (typeof low === "number" ? ` (${outward(low, high).map(metres).join(" to ")})` : " (how far off is not known)");
    const distance = (row) => (typeof row.mean_km === "number" ? `${metres(row.mean_km)}${range(row)}` : !byMap && told(row) ? amount(row.per_row) : "cannot be told");
    const told = ({ low, why }) => typeof low === "number" || !why;
    const interval = (row) => (told(row) ? `${amount(row.cost)}${typeof row.low === "number" ? ` (${outward(row.low, row.high).map(amount).join(" to ")})` : ""}` : "cannot be told");
    const bar = (row) => {
      const part = h("span");
      part.style.width = `${told(row) ? Math.max(1, (100 * length(row)) / most) : 0}%`;
      return h("div", { className: "bar", "aria-hidden": "true" }, part);
    };
    const badges = ({ name, inside_forbidden: inside }) => [
      rows.length > 1 && name === answer.best && rows.every(told) && h("span", { className: "badge" }, "best"),
      inside > 0 && h("span", { className: "badge bad" }, inside === 1 ? "1 site forbidden" : `${inside} sites forbidden`),
    ];
    const untold = [...new Set(rows.map(({ why }) => why).filter(Boolean))];
    const against = ({ against_best: ratio, tied, ...row }) => (tied ? "cannot be told apart" : !told(row) || typeof ratio !== "number" ? "" : Math.abs(ratio - 1) < 5e-4 ? "lowest" : `${ratio < 1 ? "−" : "+"}${amount(Math.abs(ratio - 1) * 100)}%`);
    const uneven = new Set(rows.map(({ sites }) => sites.length)).size > 1;
    result.replaceChildren(...[
      h("h3", {}, byMap ? "How far people are from the nearest site, on average, noisy" : store.get().objective === "k-means" ? "Total squared distance, noisy" : "Total distance, noisy"),
      uneven && h("p", { className: "hint amber", id: "uneven" }, "The sets differ in their number of sites: more sites are nearer to everybody, whatever they cost."),
      h("ul", { className: "bars" }, ...rows.map((row) => h("li", {},
        h("div", { className: "row" }, h("span", {}, mark(row.index, isDark()), row.name, ...badges(row)), h("span", { className: "number" }, against(row))), bar(row)))),
      h("div", { className: "table-wrap" }, h("table", { id: "compare-table" },
        h("thead", {}, h("tr", {}, ...["Set", "Sites", byMap ? "Mean distance" : "Cost per row", "Total cost"].map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, ...rows.map((row) => h("tr", {}, h("td", {}, row.name), h("td", {}, count(row.sites.length)), h("td", {}, distance(row)), h("td", {}, interval(row))))))),
      ...untold.map((why) => h("p", { className: "hint" }, `A cost cannot be told: ${why}.`)),
      h("p", { className: "hint" }, answer.note ?? "")].filter(Boolean));
  }

  /** Sets and regions survive a reload of this tab; they are nobody's rows. */
  const shelf = () => `covey ${store.get().server?.data?.name}`;
  const now = () => ({ sets: sets(), forbidden: store.get().forbidden, activeSet: store.get().activeSet });
  function keep({ server, held }) {
    if (!server?.data || held) return;
    const { sets: kept, forbidden } = now();
    if (last && (last.sets !== kept || last.forbidden !== forbidden)) history.remember(last);
    last = now();
    sessionStorage.setItem(shelf(), JSON.stringify({ sets: kept, forbidden }));
  }
  function restore() {
    last = null;
    history.forget();
    try {
      store.set(JSON.parse(sessionStorage.getItem(shelf()) ?? "{}"));
    } catch {
      sessionStorage.removeItem(shelf());
    }
    last = now();
  }

  function siteForm(data) {
    const [x, y] = axes(data).map((name) => h("input", { type: "number", step: "any", required: true, "aria-label": name }));
    const add = (event) => {
      event.preventDefault();
      addSite([Number(x.value), Number(y.value)]);
    };
    return h("details", { className: "fine" }, h("summary", {}, "Type a site instead"),
      h("form", { className: "items", onsubmit: add }, h("div", { className: "pair" }, h("label", {}, axes(data)[0], x), h("label", {}, axes(data)[1], y)), h("button", { type: "submit" }, "Add the site")));
  }

  function addForbidden(ring) {
    const { forbidden } = store.get();
    store.set({ forbidden: [...forbidden, { name: `Forbidden ${forbidden.length + 1}`, ring }] });
  }

  function build() {
    const { data } = store.get().server;
    if (!data) return;
    const flat = data.columns.length === 2;
    const search = flat ? searchForm(store, { beside: chosen, forbidden: forbiddenGround, found }) : null;
    const before = h("p", { className: "empty", id: "compare-before" }, "Comparisons need a look first.");
    panel.replaceChildren(
      h("div", { className: "items" }, h("h2", { className: "title" }, "Compare plans"),
        h("p", {}, "Drop candidate sites, or take the private centres, and see how far people would be from each plan. Sites drag on the map. This reads only what is already private: it costs nothing.")),
      before, list,
      h("div", { className: "buttons" },
        flat && modeButton(store, "drop-sites", "Drop sites", { kind: "site", what: "Sites", place: addSite }),
        flat && h("button", { type: "button", id: "new-set", onclick: () => addSet() }, "New set"),
        h("button", { type: "button", id: "take-centres", onclick: addCentres }, "Take the centres"), history.button),
      result,
      ...(flat ? [siteForm(data), search,
        h("section", { className: "items" }, h("h3", {}, "Where nothing may stand"), regions,
          h("div", { className: "buttons" }, modeButton(store, "draw-forbidden", "Draw a forbidden region", { kind: "polygon", what: "Forbidden region", done: addForbidden })),
          boxForm(data, "forbidden-box", "Type a box instead", addForbidden))]
        : [h("p", { className: "hint" }, "Sites can be dropped only where the data has exactly two columns.")]));
    const showBefore = () => {
      before.hidden = store.get().server.looked;
      if (search) search.hidden = !before.hidden;
    };
    store.on(["server"], showBefore);
    showBefore();
    restore();
    showSets();
    showRegions();
  }

  store.on(["sets", "activeSet"], showSets);
  store.on(["forbidden"], showRegions);
  store.on(["sets", "forbidden", "current"], compare);
  store.on(["sets", "forbidden", "held"], keep);
  return { build, recolour: () => { showSets(); compare(); } };
}
