// Opening a file in the page: sent to this machine's own server; columns and bounds are declared, never read from rows.
import { api } from "../api.js";
import { attempt, byId, h } from "../dom.js";

const LONGITUDE = [-180, 180];
const LATITUDE = [-90, 90];
const USUAL = new Map([
  ["lon", LONGITUDE],
  ["lng", LONGITUDE],
  ["longitude", LONGITUDE],
  ["lat", LATITUDE],
  ["latitude", LATITUDE],
]);

export function startOpen(opened) {
  const slot = byId("open-slot");

  function ask({ person } = {}) {
    const words = h("p", { className: "hint", role: "status" });
    const choose = async (event) => {
      const [file] = event.target.files;
      if (!file) return;
      words.textContent = `Sending ${file.name} to the studio on this machine`;
      const upload = await attempt(() => api.upload(file));
      words.textContent = "";
      if (upload) declare(upload, file.name, person);
    };
    slot.replaceChildren(h("section", { className: "card", "aria-labelledby": "open-title" },
      h("h2", { className: "title", id: "open-title" }, "Open a data set"),
      h("p", {}, `A CSV, Parquet, Excel, GeoPackage or GeoJSON file ${person ? `whose column “${person.column}” says whose a row is` : "with one row per person"}. It stays on this machine; nothing of it is shown before you confirm a look.`),
      h("label", { className: "file" }, h("input", { type: "file", id: "data-file", accept: ".csv,.tsv,.txt,.zip,.parquet,.arrow,.feather,.xlsx,.gpkg,.geojson,.json,.jsonl", onchange: choose, "aria-label": "Choose a data file" }), h("span", { "aria-hidden": "true" }, "Choose a file")), words));
  }

  function declare(upload, name, person) {
    const columns = upload.columns.filter((column) => column !== person?.column);
    const rows = columns.map((column) => {
      const [low, high] = USUAL.get(column.toLowerCase()) ?? ["", ""];
      const use = h("input", { type: "checkbox", checked: low !== "" || columns.length <= 2, "aria-label": `Use ${column}` });
      const ends = [["from", low], ["to", high]].map(([end, value]) => h("input", { type: "number", step: "any", value: String(value), "aria-label": `${column} ${end}`, placeholder: end }));
      const need = () => { for (const end of ends) end.required = use.checked; };
      use.addEventListener("change", need);
      need();
      return { column, use, ends, element: h("tr", {}, h("td", {}, h("label", { className: "row" }, use, h("span", { style: "flex:1" }, column))), ...ends.map((end) => h("td", {}, end))) };
    });
    const dataset = h("input", { type: "text", maxlength: "100", placeholder: "as the studio was started" });
    const send = async (event) => {
      event.preventDefault();
      const used = rows.filter(({ use }) => use.checked);
      const server = await attempt(() => api.open({
        upload: upload.id, columns: used.map(({ column }) => column),
        bounds: { lower: used.map(({ ends }) => Number(ends[0].value)), upper: used.map(({ ends }) => Number(ends[1].value)) },
        ...(dataset.value ? { dataset: dataset.value } : {}),
      }));
      if (!server) return;
      slot.replaceChildren();
      opened(server);
    };
    slot.replaceChildren(h("form", { className: "card", onsubmit: send },
      h("h2", { className: "title" }, name),
      h("p", {}, "Which columns, and within which limits? Use limits that you know without looking at the rows, such as the edges of the city. Values outside are moved to the edge."),
      h("div", { className: "table-wrap" }, h("table", {}, h("tbody", {}, ...rows.map(({ element }) => element)))),
      h("label", { className: "field" }, "Data set in the ledger (optional)", dataset),
      h("button", { type: "submit", className: "primary wide" }, "Open")));
  }

  return { ask };
}
