// Starts the page: the state from the server, then the panels, then the map; the words are there before the map is.
import { api } from "./api.js";
import { attempt, byId } from "./dom.js";
import { startLegend } from "./legend.js";
import { startCompare } from "./panels/compare.js";
import { startLedger } from "./panels/ledger.js";
import { startLook } from "./panels/look.js";
import { startOpen } from "./panels/open.js";
import { startPrice } from "./panels/price.js";
import { startPublish } from "./panels/publish.js";
import { startZones } from "./panels/zones.js";
import { createStage } from "./stage.js";
import { createStore, FIRST } from "./store.js";
import { startTabs } from "./tabs.js";
import { startTheme } from "./theme.js";

async function start() {
  const store = createStore(FIRST);
  const stage = createStage(store);
  const look = startLook(store);
  const zones = startZones(store);
  const compare = startCompare(store);
  const ledger = startLedger();
  const open = startOpen(opened);
  startPublish(store);
  startLegend();
  startTabs((name) => {
    store.set({ mode: null });
    if (name === "ledger") ledger.show();
  });
  startTheme(() => {
    stage.recolour();
    compare.recolour();
  });

  function opened(server) {
    store.set({ ...FIRST, server });
    byId("explore").hidden = true;
    byId("data-name").textContent = server.data.name;
    document.title = `${server.data.name}: Covey Studio`;
    zones.build();
    compare.build();
    if (server.looked) look.begin();
    stage.open();
  }

  const server = await attempt(() => api.state());
  if (!server) return;
  startPrice(store, () => {
    look.begin();
    byId("level").focus();
  });
  if (server.data) opened(server);
  else {
    store.set({ server });
    open.ask(server);
  }
}

start();
