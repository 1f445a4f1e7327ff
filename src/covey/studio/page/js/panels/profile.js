// What is in the clusters on the slider: a question to the rows, with a price of its own that is confirmed first.
import { api } from "../api.js";
import { attempt, behind, byId, h } from "../dom.js";
import { inFull, shareBetween } from "../words.js";

const MOST_CELLS = 12; // of a column, that a table has room for

/** "Cluster 3: …" of the library, by the number that the map shows. */
const renumbered = (sentence, number) => sentence.replace(/^Cluster \d+/, `Centre ${number}`);

function table({ name, cells, shares, overall, few }, numbers) {
  const shown = cells.slice(0, MOST_CELLS);
  const line = (label, told, blind) => h("tr", {}, h("th", { scope: "row" }, label),
    ...shown.map((_, cell) => h("td", {}, blind ? "cannot tell" : shareBetween(told[cell]))));
  return h("div", { className: "table-wrap" }, h("table", { className: "profile-table" },
    h("caption", {}, cells.length > shown.length ? `${name}: the first ${shown.length} of ${cells.length}` : name),
    h("thead", {}, h("tr", {}, h("td"), ...shown.map((cell) => h("th", { scope: "col" }, cell)))),
    h("tbody", {}, ...shares.map((told, i) => line(String(numbers[i]), told, few[i])), line("all", overall, false))));
}

export function startProfile(store) {
  const columns = h("textarea", { id: "profile-columns", rows: "3", maxlength: "4000", spellcheck: "false", "aria-describedby": "profile-how" });
  const epsilon = h("input", { type: "number", id: "profile-epsilon", min: "0.001", max: "10", step: "any", value: "0.2" });
  const delta = h("input", { type: "number", id: "profile-delta", min: "0", max: "0.01", step: "any", placeholder: "none" });
  const ask = h("button", { type: "button", className: "primary", id: "profile-ask", onclick: price }, "Ask…");
  const card = h("div", { id: "profile-price", "aria-live": "polite" });
  const result = h("section", { className: "items", id: "profile-result", "aria-live": "polite" });
  const closed = h("p", { className: "hint", id: "profile-closed" }, "Pay for a level first, under Look: a profile is about centres that were paid for.");
  byId("panel-profile").replaceChildren(h("section", { className: "block", "aria-labelledby": "profile-heading" },
    h("h2", { id: "profile-heading" }, "What is in the clusters"),
    h("p", {}, "Noisy shares of other columns of the data, for each centre on the map."),
    closed,
    h("div", { className: "field" }, h("label", { for: "profile-columns" }, "Columns"), columns,
      h("p", { className: "hint", id: "profile-how" }, "mode=bike|car|walk, age=0:120, hour(when), shop=private: separated by commas. What you declare must be known without looking at the rows; private categories are found, and need a delta.")),
    h("div", { className: "row" }, h("label", { for: "profile-epsilon" }, "Epsilon"), epsilon),
    h("div", { className: "row" }, h("label", { for: "profile-delta" }, "Delta, for private categories"), delta),
    h("div", { className: "buttons" }, ask), card, result));

  const listed = () => columns.value.split(/[,\n]/).map((each) => each.trim()).filter(Boolean);

  /** The last question before rows are read. */
  function price() {
    const { price: budget } = store.get().server;
    const cost = Number(epsilon.value);
    const { current, edges } = store.get();
    const asked = { level: current.level, k: current.centres.length, objective: current.objective, edges: current.edges ?? edges, columns: listed(), epsilon: cost };
    if (delta.value) asked.delta = Number(delta.value);
    const told = `epsilon ${cost}${asked.delta ? ` and delta ${asked.delta}` : ""}`; // with all digits: it is what is charged
    const left = budget.remaining === null || budget.remaining === undefined ? "" : ` of the ${inFull(budget.remaining)} that remain`;
    const confirm = h("button", { type: "button", className: "primary", id: "profile-confirm", onclick: () => pay(confirm, asked, current) }, `Pay ${cost}`);
    card.replaceChildren(h("div", { className: "card" },
      h("p", {}, `It costs ${told}${left}, and adds to what the level cost. It is written to the ledger before a row is read, and is never given back.`),
      h("div", { className: "buttons" }, h("button", { type: "button", onclick: () => card.replaceChildren() }, "Not now"), confirm)));
    confirm.focus();
  }

  async function pay(button, asked, current) {
    button.disabled = true;
    const answer = await attempt(() => api.profile(asked));
    card.replaceChildren();
    if (!answer) return;
    tell(answer, current);
    const server = await behind(() => api.state()); // what is left of the budget
    if (server) store.set({ server });
  }

  function tell({ sentences, columns: found, statement, document: text }, current) {
    const numbers = current.numbers ?? current.centres.map((_, i) => i + 1);
    const file = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    result.replaceChildren(
      h("ul", { className: "points", id: "profile-sentences" }, ...sentences.map((each, i) => h("li", {}, renumbered(each, numbers[i])))),
      ...found.map((column) => table(column, numbers)),
      h("p", { className: "hint" }, statement),
      h("a", { href: file, download: "profile.json", id: "profile-save" }, "Save the profile"));
    result.dataset.columns = String(found.length);
  }

  store.on(["server", "rehearsing", "current"], ({ server, rehearsing, current }) => {
    const open = Boolean(server?.looked && !rehearsing && current);
    closed.hidden = open;
    ask.disabled = !open;
    if (!open) card.replaceChildren();
  });
}
