// The slider, the number of centres, the objective, and what is shown: of made-up rows first, then of what was paid for.
import { attempt, behind, byId, h, later } from "../dom.js";
import { createLevels } from "../levels.js";
import { numbered } from "../numbers.js";
import { levelsOf } from "../store.js";
import { priceLines } from "./price.js";
import { tell } from "./facts.js";

const LAYERS = { points: "Noisy boxes, coloured by density", centres: "Centres", regions: "Regions of the centres", zones: "Zones" };
const PAUSE = 120; // milliseconds without another wish before the server is asked

export function startLook(store) {
  const levels = createLevels();
  const slider = byId("level");
  const numberOf = byId("k");
  let latest = 0;

  const asked = ({ rehearsing, rows, level, k, objective, edges }) => [rehearsing ? rows : null, level, k, objective, edges];

  /** Fetches what the controls ask for and hands it to the stage; a later wish overtakes an earlier one. */
  async function show() {
    const state = store.get();
    const mine = ++latest;
    levels.stop();
    store.set({ busy: true });
    const answer = await attempt(() => levels.get(...asked(state)));
    if (mine !== latest) return;
    if (!answer) {
      goBack();
      return;
    }
    const { level, objective } = state;
    store.set({ current: { ...numbered(answer, state.current), level, objective, rehearsing: state.rehearsing }, places: null, busy: false });
    setTimeout(() => places(mine), 300);
    setTimeout(() => {
      if (mine === latest) levels.ahead(...asked(state), { levels: levelsOf(state).length, mostK: state.server.most_k });
    }, 100);
  }

  const soon = later(show, PAUSE);

  /** What the server refused is not what the controls say: they return to what is on the screen. */
  function goBack() {
    const { current } = store.get();
    store.set({ busy: false });
    if (!current) return;
    store.set({ level: current.level, k: current.centres.length, objective: current.objective, edges: current.edges });
    sync();
  }

  /** What reruns say about the centres on the screen: computed by the server after they were drawn. */
  async function places(mine) {
    const wanted = () => mine === latest;
    const answer = wanted() && await behind(() => levels.places(wanted, ...asked(store.get())));
    if (answer && wanted()) store.set({ places: answer });
  }

  /** Opens the slider: on made-up rows, or on what was paid for. */
  function begin(first) {
    const { server, rehearsing } = store.get();
    const shown = levelsOf(store.get());
    slider.max = shown.length - 1;
    numberOf.max = server.most_k;
    byId("slider").hidden = shown.length === 1;
    byId("ticks").replaceChildren(...shown.map(() => h("span")));
    byId("explore").hidden = false;
    byId("owner-card").hidden = rehearsing || !server.owner?.raw_available;
    byId("made-up").hidden = !rehearsing;
    levels.forget();
    store.set({ level: shown[first] ? first : Math.floor((shown.length - 1) / 2), current: null, places: null });
    sync();
    show();
  }

  /** The controls say what the state says. */
  function sync() {
    const state = store.get();
    const shown = levelsOf(state);
    const { name, meaning } = shown[state.level];
    slider.value = state.level;
    numberOf.value = state.k;
    byId("edges-out").checked = !state.edges;
    for (const radio of radios()) radio.checked = radio.value === state.objective;
    slider.setAttribute("aria-valuetext", name);
    slider.style.setProperty("--part", `${(100 * state.level) / Math.max(1, shown.length - 1)}%`);
    byId("level-name").textContent = name;
    byId("level-meaning").textContent = meaning;
    byId("level-price").replaceChildren(...priceLines(state));
  }

  function wish(patch, when = show) {
    store.set({ ...patch, busy: true });
    sync();
    when();
  }

  const radios = () => document.querySelectorAll('input[name="objective"]');
  const setK = (value) => wish({ k: Math.max(1, Math.min(store.get().server.most_k, Math.round(value) || 1)) }, soon);

  slider.addEventListener("input", () => wish({ level: Number(slider.value) }));
  numberOf.addEventListener("change", () => setK(Number(numberOf.value)));
  byId("k-less").addEventListener("click", () => setK(store.get().k - 1));
  byId("k-more").addEventListener("click", () => setK(store.get().k + 1));
  for (const radio of radios()) radio.addEventListener("change", () => wish({ objective: radio.value }));
  byId("edges-out").addEventListener("change", ({ target }) => wish({ edges: !target.checked }));
  byId("layer-checks").replaceChildren(...Object.entries(LAYERS).map(([name, words]) => {
    const box = h("input", { type: "checkbox", checked: true, onchange: () => store.set({ visible: { ...store.get().visible, [name]: box.checked } }) });
    box.name = `layer-${name}`;
    return h("label", {}, box, words);
  }));
  store.on(["current", "places", "server"], (state) => tell(state, store));
  store.on(["upTo", "server", "rehearsing"], (state) => {
    if (state.level !== null && levelsOf(state)?.[state.level]) byId("level-price").replaceChildren(...priceLines(state));
  });
  store.on(["busy"], ({ busy }) => {
    byId("explore").setAttribute("aria-busy", String(busy));
    for (const name of ["pay", "publish"]) byId(name).disabled = busy;
  });
  store.on(["rows"], () => { if (store.get().rehearsing) soon(); });

  let zones = null; // that the levels on made-up rows were made with
  store.on(["server"], ({ server, rehearsing, current }) => {
    const now = JSON.stringify(server?.zones ?? null);
    if (now === zones) return;
    zones = now;
    if (!rehearsing || !current) return;
    levels.forget();
    soon();
  });

  /** What somebody typed into the address, as far as it can be had. */
  function ask({ level, k, objective, edges = true }) {
    const { server, ...state } = store.get();
    if (!server?.data || state.level === null) return;
    wish({
      level: levelsOf(store.get())[level] ? level : state.level, k: Math.max(1, Math.min(server.most_k, k ?? state.k)),
      objective: objective ?? state.objective, edges,
    });
  }

  return { begin, ask };
}
