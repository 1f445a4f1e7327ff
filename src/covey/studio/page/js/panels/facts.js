// Everything in words beside the map: what the level means, how far off it may be, where the centres are.
import { byId, h, terms } from "../dom.js";
import { levelsOf, statedOf } from "../store.js";
import { amount, axes, between, cellSize, count, doubt, grade, inFull, metres, off, outsideWords, outward, percent, reach } from "../words.js";

export function tell(state, store) {
  const { current, places, server } = state;
  if (!current || !levelsOf(state)?.[current.level]) return;
  const { expected = {} } = current;
  const cell = cellSize(expected.cell_size, server.data);
  byId("level-meaning").textContent = current.meaning;
  showEdge(current.outside);
  byId("facts").replaceChildren(...terms([
    current.sizes && ["Rows of a centre are off by, 9 times in 10", current.errors?.sizes ? sizesOff(current) : h("span", { className: "amber", title: current.not_told?.errors }, "cannot be told")],
    isNumber(expected.smallest_that_stands_out) ? ["A place stands out of the noise from", `${count(expected.smallest_that_stands_out)} ${expected.smallest_that_stands_out === 1 ? "row" : "rows"}`] : cell && ["Finest detail kept", cell],
    current.errors?.distances?.mean_m && ["A row is from its centre, on average, 9 times in 10", outward(...current.errors.distances.mean_m.slice(1).map((way) => way / 1000)).map(metres).join(" to ")],
    [`Cost (${current.objective}), 9 times in 10`, costBetween(current)],
    places?.radii && ["Worse than without privacy, 9 times in 10 and if no cluster was missed, by up to", isNumber(places.excess) ? h("span", { className: grade(places.excess) }, percent(places.excess)) : "cannot be told"],
    ["Places that stand out", `${count(expected.points)} boxes`],
  ]));
  byId("detail-rows").replaceChildren(...terms([
    ["ε of this level alone", inFull(current.epsilon)],
    ["ε that the certificate states", inFull(statedOf(state, current.level).epsilon)],
    isNumber(expected.rows_noisy) && ["Rows, noisy", `${count(expected.rows_noisy)}${isNumber(expected.rows_error) ? ` ± ${count(expected.rows_error)}` : ""}`],
    cell && ["Usual size of a box", cell],
    ["Places in the private summary", count(current.size)],
    ["Data set in the ledger", server.price.dataset ?? "none"],
    ["Covey", server.version],
  ]));
  byId("centre-table").replaceChildren(...centreTable(current, places, server.data, store));
  byId("error-words").replaceChildren(...[...(current.words ?? []), ofPeople(server.person)].filter(Boolean)
    .map((sentence) => h("p", { className: "hint" }, sentence)));
}

export const ofPeople = (person) => person && `Sizes count rows: at most ${person.rows} of a person, however many they have.`;

function showEdge(outside) {
  byId("edge-card").hidden = !outside;
  if (!outside) return;
  byId("edge-words").textContent = `${outsideWords(outside)}. Those outside were moved to the edge, which is hatched: boxes and centres there are not where people are. Wider bounds would show them.`;
}

/** "± 40 to 350 rows", of the narrowest and of the widest interval, and the worst part of a size. */
function sizesOff({ errors, sizes }) {
  const halves = errors.sizes.map((interval, i) => Math.ceil(off(sizes[i], interval)));
  const [least, most] = [Math.min(...halves), Math.max(...halves)].map(amount);
  const worst = Math.max(...sizes.map((size, i) => doubt(size, errors.sizes[i])));
  return h("span", { className: grade(worst) }, `± ${least === most ? least : `${least} to ${most}`} rows`, h("small", {}, `at worst ${worst > 5 ? "over 500%" : percent(worst)} of a size`));
}

/** Between which two numbers the cost is, or why that cannot be told. */
function costBetween({ errors, objective, not_told: untold = {} }) {
  const known = errors?.costs?.[objective];
  if (known) return h("span", { className: grade((known[2] - known[1]) / 2 / known[0]) }, outward(known[1], known[2]).map(amount).join(" to "));
  const why = untold[`${objective} cost`] ?? untold.errors;
  return h("span", { title: why }, untold.errors ? "cannot be told" : "cannot be told at this level of privacy");
}

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

function centreTable(current, places, data, store) {
  const names = axes(data);
  const point = (index) => () => store.set({ highlight: index });
  const leave = () => store.set({ highlight: null });
  const digits = (value) => (data.geographic ? value.toFixed(4) : amount(value));
  const doubtful = (i) => Boolean(current.errors?.doubtful?.[i]);
  const size = (i) => (current.sizes ? between(current.sizes[i], current.errors?.sizes?.[i]) : "not asked");
  const about = (i) => [doubtful(i) && "may be only noise", places?.radii && reach(places.radii[i], current.centres[i], data)].filter(Boolean).join("; ");
  const off = (i) => grade(doubt(current.sizes?.[i], current.errors?.sizes?.[i]));
  const row = (i) => h("tr", { className: doubtful(i) ? "doubtful" : null, tabindex: "0", onfocus: point(i), onmouseenter: point(i), onblur: leave, onmouseleave: leave },
    h("td", {}, h("span", { className: "number" }, String(current.numbers[i]))), ...[0, 1].map((axis) => h("td", {}, current.centres[i][axis] === undefined || !names[axis] ? "" : digits(current.centres[i][axis]))),
    h("td", {}, h("span", { className: `whole ${off(i) ?? ""}` }, size(i)), h("span", { className: "hint" }, about(i))));
  const order = [...current.numbers.keys()].sort((a, b) => current.numbers[a] - current.numbers[b]);
  return [
    h("thead", {}, h("tr", {}, ...["Centre", names[0], names[1], "Rows, noisy"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, ...order.map(row)),
  ];
}
