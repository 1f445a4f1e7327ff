// Opening a file in the page: sent to this machine's own server; columns and bounds are declared, never read from rows.
import { api } from "../api.js";
import { attempt, byId, h, problem, wordsOf } from "../dom.js";
import { inFull } from "../words.js";
import { boundsOnMap } from "./bounds.js";
import { refusal } from "./refusal.js";

const LONGITUDE = [-180, 180];
const LATITUDE = [-90, 90];
const USUAL = new Map([
  ["lon", LONGITUDE],
  ["lng", LONGITUDE],
  ["longitude", LONGITUDE],
  ["lat", LATITUDE],
  ["latitude", LATITUDE],
]);

const READING = [
  ["delimiter", "Between cells", ["", "as the header line has it"], [",", "comma"], [";", "semicolon"], ["tab", "tab"], ["|", "bar"]],
  ["decimal", "Decimal sign", ["", "point"], [",", "comma"]],
  ["header_line", "Line with the names", { type: "number", min: "1", max: "10000", step: "1", placeholder: "1" }],
  ["encoding", "Encoding", ["", "UTF-8"], ["utf-16", "UTF-16"], ["cp1252", "Windows (cp1252)"], ["latin-1", "Latin-1"]],
  ["sheet", "Sheet or layer", { type: "text", maxlength: "200", placeholder: "the only one" }],
];

/** Fields that say how a file is written, where its ending and header line do not; `how` has what was chosen. */
function reading() {
  const fields = READING.map(([name, label, ...kinds]) => {
    const [first] = kinds;
    const input = Array.isArray(first)
      ? h("select", { name }, ...kinds.map(([value, text]) => h("option", { value }, text)))
      : h("input", { name, ...first });
    return { name, input, element: h("label", { className: "field" }, label, input) };
  });
  const how = () => Object.fromEntries(fields.map(({ name, input }) => [name, input.value]).filter(([, value]) => value));
  return { how, parts: fields.map(({ element }) => element) };
}

/** What a refusal says of a file to somebody who chose it here: without the names of fields and of a command's options. */
const aboutFile = (error) => wordsOf(error).replace(/^(data|name|sheet|encoding|header_line): /, "").replaceAll("'the upload'", "the file").replaceAll("the upload", "the file")
  .replace(/ \(--[^)]*\)/g, "").replace(/give (?:its )?(?:encoding, such as )?encoding='([^']*)'/, "its encoding is to be chosen below, perhaps $1").replace("give header_line", "say below which line has the names").replace("; send CSV", "; choose a CSV");

export function startOpen(store, stage, opened) {
  const slot = byId("open-slot");
  let shown = Promise.resolve(); // that the map is there which limits are drawn on

  function ask(server) {
    const { person } = server;
    const words = h("div", { className: "hint", role: "status" });
    const written = reading();
    let file;
    const send = async () => {
      if (!file) return;
      if (file.size === 0) {
        words.replaceChildren(refusal(`${file.name} was not opened: it is empty.`, [["Choose another file", () => byId("data-file").click()]]));
        return;
      }
      words.replaceChildren(`Sending ${file.name} to the studio on this machine`);
      try {
        const upload = await api.upload(file, written.how());
        words.replaceChildren();
        again.hidden = true;
        details.open = false;
        declare(upload, file.name, server, details);
      } catch (error) {
        again.hidden = false;
        const choices = [["Choose another file", () => byId("data-file").click()], ["Say how it is written", () => { details.open = true; details.querySelector("select").focus(); }]];
        if (words.isConnected) words.replaceChildren(refusal(`${file.name} was not opened: ${aboutFile(error)}`, choices));
        else problem(wordsOf(error));
      }
    };
    const again = h("button", { type: "button", className: "wide", id: "read-again", onclick: send }, "Read it this way");
    const details = h("details", { className: "fine", id: "reading", onchange: () => { again.hidden = !file; } },
      h("summary", {}, "How the file is written"),
      h("p", { className: "hint" }, "Usually the file says it itself. Nothing of this is guessed from rows."), ...written.parts, again);
    again.hidden = true;
    const take = ([given]) => {
      file = given;
      send();
    };
    const choose = (event) => take(event.target.files);
    document.ondragover = (event) => event.preventDefault();
    document.ondrop = (event) => {
      event.preventDefault();
      take(event.dataTransfer.files);
    };
    slot.replaceChildren(h("section", { className: "card", "aria-labelledby": "open-title" },
      h("h2", { className: "title", id: "open-title" }, "Open a data set"),
      h("p", {}, `A CSV, Parquet, Excel, GeoPackage or GeoJSON file ${person ? `whose column “${person.column}” says whose a row is` : "with one row per person"}. It stays on this machine; nothing of it is shown before you confirm a look.`),
      h("label", { className: "file" }, h("input", { type: "file", id: "data-file", accept: ".csv,.gz,.bz2,.xz,.zst,.lz4,.tsv,.txt,.zip,.parquet,.arrow,.feather,.xlsx,.gpkg,.geojson,.json,.jsonl", onchange: choose, "aria-label": "Choose a data file" }), h("span", { "aria-hidden": "true" }, "Choose a file, or drop it on this page")), words, details));
  }

  function declare(upload, name, server, details) {
    const { person } = server;
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
    const dataset = h("input", { type: "text", id: "data-set", maxlength: "100", placeholder: "as the studio was started" });
    const trouble = h("div", {});
    const send = async (event) => {
      event.preventDefault();
      const used = rows.filter(({ use }) => use.checked);
      const body = {
        upload: upload.id, columns: used.map(({ column }) => column),
        bounds: { lower: used.map(({ ends }) => Number(ends[0].value)), upper: used.map(({ ends }) => Number(ends[1].value)) },
        ...(dataset.value ? { dataset: dataset.value } : {}),
      };
      try {
        problem(null);
        const now = await api.open(body);
        await shown;
        slot.replaceChildren();
        document.ondragover = document.ondrop = null;
        opened(now);
      } catch (error) {
        trouble.replaceChildren(refusal(wordsOf(error), error.parameter === "dataset" ? await dataSets(dataset, trouble) : []));
      }
    };
    const map = onMap(rows, name, server);
    slot.replaceChildren(h("form", { className: "card", onsubmit: send },
      h("h2", { className: "title" }, name),
      h("p", {}, "Which columns, and within which limits? Use limits that you know without looking at the rows, such as the edges of the city. Values outside are moved to the edge."),
      map,
      h("div", { className: "table-wrap" }, h("table", {}, h("tbody", {}, ...rows.map(({ element }) => element)))),
      /\.(csv|tsv|txt)\b/i.test(name) && h("p", { className: "hint" }, "Numbers with a decimal comma, such as 6,95? Say so below, and have it read again: it is not guessed from rows, and numbers that cannot be read count as missing."),
      details,
      h("label", { className: "field" }, "Data set in the ledger (optional)", dataset), trouble,
      h("button", { type: "submit", className: "primary wide" }, "Open")));
  }

  /** The data sets that the ledger knows, each with what is left of its budget. */
  async function dataSets(field, trouble) {
    const { datasets } = (await attempt(() => api.ledger())) ?? { datasets: {} };
    return Object.entries(datasets).map(([name, { remaining }]) => [`“${name}”${remaining === null ? "" : `, ${inFull(remaining)} left`}`, () => {
      field.value = name;
      trouble.replaceChildren();
    }]);
  }

  /** A map to say the limits of longitude and latitude on; null where no columns are called so. */
  function onMap(rows, name, server) {
    const [lon, lat] = [LONGITUDE, LATITUDE].map((whole) => rows.find(({ column }) => USUAL.get(column.toLowerCase()) === whole));
    if (!lon || !lat) return null;
    const ends = () => [lon.ends[0], lat.ends[0], lon.ends[1], lat.ends[1]].map((input) => Number(input.value));
    const draw = () => {
      const [west, south, east, north] = ends();
      if (!(west < east && south < north)) return;
      const bounds = { lower: [west, south], upper: [east, north] };
      store.set({ server: { ...server, data: { name, columns: [lon.column, lat.column], geographic: true, lon: 0, lat: 1, bounds, unit: [1, 1] } } });
    };
    const show = () => {
      draw();
      shown = shown.then(() => stage.open()).catch(() => {});
    };
    for (const input of [...lon.ends, ...lat.ends]) input.addEventListener("change", draw);
    show();
    return boundsOnMap(store, ([west, south, east, north], { fit }) => {
      [[lon, west, east], [lat, south, north]].forEach(([row, low, high]) => {
        row.use.checked = true;
        row.ends[0].value = String(low);
        row.ends[1].value = String(high);
      });
      if (fit) show();
      else draw();
    });
  }

  return { ask };
}
