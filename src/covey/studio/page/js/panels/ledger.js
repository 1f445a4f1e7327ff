// The ledger: what was spent, when, on what; and what was published, which costs nothing more.
import { api } from "../api.js";
import { attempt, byId, h } from "../dom.js";
import { inFull, when } from "../words.js";

export function startLedger() {
  const panel = byId("panel-ledger");

  async function show() {
    const ledger = await attempt(() => api.ledger());
    if (!ledger) return;
    const published = ledger.publications ?? (await attempt(() => api.publications()))?.publications ?? [];
    panel.replaceChildren(
      h("div", { className: "items" }, h("h2", { className: "title" }, "Ledger"),
        h("p", {}, "Every charge is written here before a row is read, and is never given back."),
        ledger.durable === false && h("p", { className: "hint" }, "This ledger lives in memory and ends with the studio. Start it with --ledger to keep one.")),
      ...Object.entries(ledger.datasets).map(([name, account]) => dataset(name, account)),
      charges(ledger.entries),
      ...publications(published));
  }

  return { show };
}

function dataset(name, { total, spent, remaining }) {
  const limited = typeof total === "number" && total > 0;
  const used = h("span", { className: "spent" });
  used.style.width = limited ? `${Math.min(100, (100 * spent) / total)}%` : "0";
  return h("section", { className: "card", "aria-label": `Budget of ${name}` },
    h("div", { className: "row" }, h("strong", {}, name), h("span", { className: "hint" }, "privacy budget, ε")),
    limited ? h("p", { className: "big number" }, inFull(remaining), " ", h("small", {}, `of ${inFull(total)} remain`))
      : h("p", { className: "big number" }, inFull(spent), " ", h("small", {}, "spent; no limit was set")),
    limited && h("div", { className: "bar", role: "img", "aria-label": `${inFull(spent)} of ${inFull(total)} spent` }, used),
    limited && h("p", { className: "keys" }, h("span", {}, h("i", { className: "spent" }), `spent ${inFull(spent)}`), h("span", {}, h("i", { className: "left" }), `left ${inFull(remaining)}`)));
}

function charges(entries) {
  if (entries.length === 0) return h("p", { className: "empty" }, "Nothing has been spent.");
  const row = (entry) => h("tr", {}, h("td", {}, when(entry.time)), h("td", { className: "words" }, entry.purpose, " ", h("span", { className: "hint" }, entry.dataset)),
    h("td", {}, inFull(entry.epsilon), entry.delta ? ` (δ ${entry.delta})` : ""));
  return h("section", { className: "items" }, h("h3", {}, "Charges"), h("div", { className: "table-wrap" }, h("table", { id: "ledger-table" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "When"), h("th", { scope: "col", className: "words" }, "For what"), h("th", { scope: "col" }, "ε"))),
    h("tbody", {}, ...[...entries].reverse().map(row)))));
}

function publications(published) {
  if (published.length === 0) return [];
  return [h("section", { className: "items" }, h("h3", {}, "Published, at no further cost"), ...[...published].reverse().map((each) => h("div", { className: "item" },
    h("div", { className: "row" }, h("strong", {}, each.name ?? each.id), h("span", { className: "hint" }, each.time ? when(each.time) : "")),
    h("p", { className: "buttons" }, ...each.files.map((file) => h("a", { href: file.url, target: "_blank", rel: "noopener" }, file.name))))))];
}
