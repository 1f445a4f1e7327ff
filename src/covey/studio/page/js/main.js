// Starts the page: the state from the server, then the panels, then the map; the words are there before the map is.
import { readAddress, startAddress } from "./address.js";
import { api } from "./api.js";
import { attempt, byId, problem } from "./dom.js";
import { startLegend } from "./legend.js";
import { startCompare } from "./panels/compare.js";
import { startCurve } from "./panels/curve.js";
import { startLedger } from "./panels/ledger.js";
import { startLook } from "./panels/look.js";
import { startOpen } from "./panels/open.js";
import { startOwner } from "./panels/owner.js";
import { startPrice } from "./panels/price.js";
import { startProfile } from "./panels/profile.js";
import { startPublish } from "./panels/publish.js";
import { startYou } from "./panels/you.js";
import { startZones } from "./panels/zones.js";
import { createStage } from "./stage.js";
import { createStore, FIRST } from "./store.js";
import { startTabs } from "./tabs.js";
import { startTheme } from "./theme.js";

const MOST_COLUMNS = 4;

async function start() {
  const store = createStore(FIRST);
  const stage = createStage(store);
  const look = startLook(store);
  const zones = startZones(store);
  const compare = startCompare(store);
  const ledger = startLedger();
  const open = startOpen(store, stage, opened);
  const price = startPrice(store, { looked: () => slide(false), rehearse: () => slide(true) });
  startCurve(store);
  startOwner(store);
  startYou(store);
  startProfile(store);
  startPublish(store);
  startLegend();
  const tabs = startTabs((name) => {
    store.set({ mode: null, tab: name });
    if (name === "ledger") ledger.show();
  });
  startTheme(() => {
    stage.recolour();
    compare.recolour();
  });

  startAddress(store, (asked) => {
    look.ask(asked);
    if (asked.tab) tabs.choose(asked.tab);
    if (asked.view) stage.show(asked.view);
  });

  /** Puts the slider on made-up rows, or on what was paid for. */
  function slide(rehearsing) {
    store.set({ rehearsing, you: null, owner: null });
    look.begin();
    byId("level").focus();
  }

  function opened(server) {
    const { level, tab, view, k = FIRST.k, ...asked } = readAddress();
    const { rows, tab: here } = store.get();
    store.set({ ...FIRST, rows, tab: here, server, rehearsing: !server.looked, k: Math.max(1, Math.min(server.most_k, k)), ...asked });
    byId("data-name").textContent = server.data.name;
    document.title = `${server.data.name}: Covey Studio`;
    zones.build();
    compare.build();
    price.introduce();
    if (server.data.columns.length <= MOST_COLUMNS) look.begin(level);
    else problem(`The slider shows 1 to ${MOST_COLUMNS} columns; this data has ${server.data.columns.length}.`);
    stage.open(view);
    if (tab) tabs.choose(tab);
  }

  /** What another window did meanwhile is seen when one comes back to this one. */
  async function refresh() {
    const before = store.get().server;
    if (!before?.data || document.querySelector("dialog[open]")) return;
    const server = await api.state().catch(() => null);
    if (!server || server.revision === before.revision) return;
    if (server.data.name !== before.data.name) opened(server);
    else {
      store.set({ server });
      if (server.looked && (!before.looked || server.levels.length !== before.levels.length)) slide(false);
    }
  }
  window.addEventListener("focus", refresh);

  const server = await attempt(() => api.state());
  if (!server) return;
  if (server.data) opened(server);
  else {
    store.set({ server });
    open.ask(server);
  }
}

start();
