// The best places for more sites beside those of a set: anywhere that is not forbidden, or of another set's sites. Free.
import { api } from "../api.js";
import { attempt, h } from "../dom.js";

const ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
const MOST_MORE = 20;

/** beside : gives the set that stands, or null. found : hears of (sites, more). forbidden : gives GeoJSON or null. */
export function searchForm(store, { beside, forbidden, found }) {
  const more = h("input", { type: "number", id: "find-more", min: "1", max: String(MOST_MORE), value: "1", required: true, oninput: () => show() });
  const among = h("select", { id: "find-among" });
  const button = h("button", { type: "submit", id: "find-sites" });
  const number = () => Math.max(1, Math.min(MOST_MORE, Math.round(Number(more.value)) || 1));

  function show() {
    const { sets, forbidden: regions } = store.get();
    const stand = beside()?.sites.length ?? 0;
    const which = number() > 1 ? `${number()} more sites` : `${ORDINALS[stand] ?? "next"} site`;
    button.textContent = `Find the best ${which}${regions.length ? " outside what is forbidden" : ""}`;
    const chosen = among.value;
    const others = sets.map(({ name, sites }, i) => ({ name, i, many: sites.length })).filter(({ i, many }) => many && sets[i] !== beside());
    among.replaceChildren(h("option", { value: "" }, "anywhere"), ...others.map(({ name, i }) => h("option", { value: String(i), selected: String(i) === chosen }, `a site of ${name}`)));
  }

  async function search(event) {
    event.preventDefault();
    const { level, objective, sets } = store.get();
    const stand = beside();
    const asked = number();
    button.disabled = true;
    button.textContent = "Searching…";
    const answer = await attempt(() => api.sites({
      level, objective, more: asked, fixed: stand?.sites ?? [], forbidden: forbidden(), candidates: among.value === "" ? null : sets[Number(among.value)].sites,
    }));
    button.disabled = false;
    show();
    if (answer) found([...(stand?.sites ?? []), ...answer.sites], stand, asked);
  }

  store.on(["sets", "activeSet", "forbidden"], show);
  show();
  return h("form", { className: "items", id: "find-form", onsubmit: search }, h("h3", {}, "Where would one more help most?"),
    h("div", { className: "pair" }, h("label", {}, "How many more", more), h("label", {}, "Where", among)),
    h("div", { className: "buttons" }, button),
    h("p", { className: "hint" }, "Searched beside the sites of the chosen set, on what this level shows: free. The plan that is found is added as a set of its own."));
}
