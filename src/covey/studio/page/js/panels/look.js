// The slider, the number of centres, the objective, and what is shown.
import { api } from "../api.js";
import { attempt, byId, h, terms } from "../dom.js";
import { createLevels } from "../levels.js";
import { amount, axes, between, cellSize, count, percent, reach } from "../words.js";

const LAYERS = { points: "Noisy cells, sized by weight", centres: "Centres", regions: "Regions of the centres", zones: "Zones" };

export function startLook(store) {
  const levels = createLevels();
  const slider = byId("level");
  const numberOf = byId("k");
  let latest = 0;

  /** Fetches what the controls ask for and hands it to the stage; a later wish overtakes an earlier one. */
  async function show() {
    const { level, k, objective, server } = store.get();
    const mine = ++latest;
    levels.stop();
    const answer = await attempt(() => levels.get(level, k, objective));
    if (!answer || mine !== latest) return;
    store.set({ current: { ...answer, objective }, places: null });
    setTimeout(() => places(mine), 300);
    setTimeout(() => {
      if (mine === latest) levels.ahead(level, k, objective, { levels: server.levels.length, mostK: server.most_k });
    }, 100);
  }

  /** What reruns say about the centres on the screen: computed by the server after they were drawn. */
  async function places(mine) {
    const { level, k, objective } = store.get();
    const wanted = () => mine === latest;
    const answer = wanted() && await attempt(() => levels.places(level, k, objective, wanted));
    if (answer && wanted()) store.set({ places: answer });
  }

  function begin() {
    const { server } = store.get();
    const most = server.levels.length - 1;
    slider.max = most;
    slider.value = Math.floor(most / 2);
    numberOf.max = server.most_k;
    byId("ticks").replaceChildren(...server.levels.map(() => h("span")));
    byId("explore").hidden = false;
    byId("owner-card").hidden = !server.owner?.raw_available;
    byId("owner-switch").checked = Boolean(server.owner?.on);
    levels.forget();
    choose(Number(slider.value));
    if (server.owner?.on) owner(true);
  }

  function choose(level) {
    const { server } = store.get();
    const { name, meaning } = server.levels[level];
    slider.setAttribute("aria-valuetext", name);
    slider.style.setProperty("--part", `${(100 * level) / Math.max(1, server.levels.length - 1)}%`);
    byId("level-name").textContent = name;
    byId("level-meaning").textContent = meaning;
    store.set({ level });
    show();
  }

  function setK(value) {
    const k = Math.max(1, Math.min(store.get().server.most_k, Math.round(value) || 1));
    numberOf.value = k;
    store.set({ k });
    show();
    if (store.get().owner) owner(true);
  }

  async function owner(on) {
    const before = store.get().server;
    const answer = await attempt(() => (before.owner.on === on ? Promise.resolve({ on }) : api.owner(on)));
    if (!answer) {
      byId("owner-switch").checked = before.owner.on;
      return;
    }
    store.set({ server: { ...store.get().server, owner: { ...before.owner, on, ever: before.owner.ever || on } } });
    byId("owner-card").classList.toggle("on", on);
    const raw = on ? await attempt(() => api.ownerCentres(store.get().k)) : null;
    store.set({ owner: on ? raw?.centres ?? null : null });
  }

  slider.addEventListener("input", () => choose(Number(slider.value)));
  numberOf.addEventListener("change", () => setK(Number(numberOf.value)));
  byId("k-less").addEventListener("click", () => setK(Number(numberOf.value) - 1));
  byId("k-more").addEventListener("click", () => setK(Number(numberOf.value) + 1));
  byId("owner-switch").addEventListener("change", (event) => owner(event.target.checked));
  for (const radio of document.querySelectorAll('input[name="objective"]')) {
    radio.addEventListener("change", () => {
      store.set({ objective: radio.value });
      show();
    });
  }
  byId("layer-checks").replaceChildren(...Object.entries(LAYERS).map(([name, words]) => {
    const box = h("input", { type: "checkbox", checked: true, onchange: () => store.set({ visible: { ...store.get().visible, [name]: box.checked } }) });
    box.name = `layer-${name}`;
    return h("label", {}, box, words);
  }));
  store.on(["current", "places"], (state) => tell(state, store));
  return { begin };
}

/** Everything in words beside the map: what the level means, how far off it may be, where the centres are. */
function tell({ current, places, server }, store) {
  if (!current) return;
  const { expected = {} } = current;
  const cell = cellSize(expected.cell_size, server.data);
  byId("level-meaning").textContent = current.meaning ?? server.levels[current.level].meaning;
  byId("facts").replaceChildren(...terms([
    current.errors?.sizes && ["Rows of a centre are off by, 9 times in 10", sizesOff(current.errors.sizes)],
    isNumber(expected.smallest_that_stands_out) ? ["A place stands out of the noise from", `${count(expected.smallest_that_stands_out)} ${rows(expected.smallest_that_stands_out)}`] : cell && ["Finest detail kept", cell],
    [`Cost (${current.objective}), 9 times in 10`, costBetween(current)],
    isNumber(places?.excess) && ["Worse than without privacy, if no cluster was missed, by up to", percent(places.excess)],
    ["Size of the coreset", `${count(current.size ?? current.points.length)} points`],
  ]));
  byId("detail-rows").replaceChildren(...terms([
    ["ε of this level alone", amount(current.epsilon)],
    ["ε of the whole slider, paid once", amount(server.price.epsilon)],
    isNumber(expected.rows_noisy) && ["Rows, noisy", `${count(expected.rows_noisy)}${isNumber(expected.rows_error) ? ` ± ${count(expected.rows_error)}` : ""}`],
    cell && ["Usual size of a cell", cell],
    ["Data set in the ledger", server.price.dataset ?? "none"],
    ["Covey", server.version],
  ]));
  byId("centre-table").replaceChildren(...centreTable(current, places, server.data, store));
  byId("error-words").replaceChildren(...(current.words ?? []).map((sentence) => h("p", { className: "hint" }, sentence)));
}

/** "± 40 to 350 rows": half of the narrowest and of the widest interval. */
function sizesOff(intervals) {
  const halves = intervals.map(([low, high]) => Math.ceil((high - low) / 2));
  const [least, most] = [Math.min(...halves), Math.max(...halves)].map(amount);
  return `± ${least === most ? least : `${least} to ${most}`} rows`;
}

/** Between which two numbers the cost is, or why that cannot be told. */
function costBetween({ errors, objective, not_told: untold = {} }) {
  const known = errors?.costs?.[objective];
  if (known) return `${amount(known[1])} to ${amount(known[2])}`;
  const why = untold[`${objective} cost`] ?? untold.errors;
  return h("span", { title: why }, untold.errors ? "cannot be told" : "cannot be told at this level of privacy");
}

const rows = (number) => (number === 1 ? "row" : "rows");
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

function centreTable(current, places, data, store) {
  const names = axes(data);
  const point = (index) => () => store.set({ highlight: index });
  const leave = () => store.set({ highlight: null });
  const digits = (value) => (data.geographic ? value.toFixed(4) : amount(value));
  const doubtful = (i) => Boolean(current.errors?.doubtful?.[i]);
  const size = (i) => (current.sizes ? between(current.sizes[i], current.errors?.sizes?.[i]) : "not asked");
  const about = (i) => [doubtful(i) && "may be only noise", places?.radii && reach(places.radii[i], current.centres[i], data)].filter(Boolean).join("; ");
  const row = ([x, y], i) => h("tr", { className: doubtful(i) ? "doubtful" : null, tabindex: "0", onfocus: point(i), onmouseenter: point(i), onblur: leave, onmouseleave: leave },
    h("td", {}, h("span", { className: "number" }, String(i + 1))), h("td", {}, digits(x)), h("td", {}, y === undefined ? "" : digits(y)), h("td", {}, h("span", { className: "whole" }, size(i)), h("span", { className: "hint" }, about(i))));
  return [
    h("thead", {}, h("tr", {}, ...["Centre", names[0], names[1], "Rows, noisy"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, ...current.centres.map(row)),
  ];
}
