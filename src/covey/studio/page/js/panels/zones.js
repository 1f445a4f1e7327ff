// Zones: public regions with a stricter level. They are drawn, typed or uploaded before the look and stand still after it.
import { api } from "../api.js";
import { behind, byId, h, problem, redraw, wordsOf } from "../dom.js";
import { zonesStand } from "../handles.js";
import { createHistory } from "../history.js";
import { amount } from "../words.js";
import { boxForm, modeButton } from "./shapes.js";
import { zoneFile } from "./zonefile.js";

export function startZones(store) {
  const panel = byId("panel-zones");
  const list = h("div", { className: "items", id: "zone-list" });
  const tools = h("div", { className: "items", id: "zone-tools" });
  const note = h("p", { className: "empty" });
  const history = createHistory(panel, (before) => save(before, { back: true }));
  let taken = null; // what the server has

  const features = () => store.get().server.zones?.features ?? [];
  const stricter = () => {
    const { offers: levels } = store.get().server;
    const most = Math.max(...levels.map(({ epsilon }) => epsilon));
    return levels.filter(({ epsilon }) => epsilon < most);
  };
  const feature = (ring, name) => ({
    type: "Feature", properties: { name, epsilon: stricter()[0].epsilon }, geometry: { type: "Polygon", coordinates: [ring] },
  });

  /** Sends the whole list; what the server took is what the map shows. Gives back whether it did. */
  async function save(next, { back = false } = {}) {
    const { revision } = store.get().server;
    const before = taken?.features ?? [];
    const send = next.length ? () => api.setZones({ type: "FeatureCollection", features: next }, revision) : () => api.clearZones(revision);
    try {
      problem(null);
      store.set({ server: await send() });
      if (!back) history.remember(before);
      return true;
    } catch (error) {
      const server = error.status === 409 ? await behind(() => api.state()) : null; // another window was first
      if (server) store.set({ server });
      else store.set({ server: { ...store.get().server, zones: taken } }); // as before
      problem(wordsOf(error));
      return false;
    }
  }

  const add = (ring) => save([...features(), feature(ring, `Zone ${features().length + 1}`)]);
  const replace = (index, properties) =>
    save(features().map((each, i) => (i === index ? { ...each, properties: { ...each.properties, ...properties } } : each)));

  function item({ properties }, index, fixed) {
    const options = stricter().map(({ name, epsilon }) => h("option", { value: String(epsilon), selected: epsilon === properties.epsilon }, name));
    if (!stricter().some(({ epsilon }) => epsilon === properties.epsilon)) {
      options.unshift(h("option", { value: String(properties.epsilon), selected: true }, "as given in the file"));
    }
    const title = properties.name || `Zone ${index + 1}`;
    return h("div", { className: "item" },
      h("div", { className: "row" },
        h("input", { type: "text", value: title, disabled: fixed, maxlength: "80", "aria-label": `Name of zone ${index + 1}`, onchange: (event) => replace(index, { name: event.target.value }) }),
        !fixed && h("button", { type: "button", className: "quiet small", "aria-label": `Remove ${title}`, onclick: () => save(features().filter((_, i) => i !== index)) }, "Remove")),
      h("label", { className: "field" }, "People inside are protected as on the level",
        h("select", { disabled: fixed, onchange: (event) => replace(index, { epsilon: Number(event.target.value) }) }, ...options)),
      h("p", { className: "hint kept" }, kept(properties.epsilon)));
  }

  /** What a zone costs in detail: the share of its rows that is kept, which depends on the level that is paid for. */
  function kept(own) {
    const { server, level, rehearsing, upTo } = store.get();
    const paid = rehearsing ? [server.offers[level ?? upTo].epsilon, server.offers[upTo].epsilon] : [server.price.epsilon];
    const share = (epsilon) => (own >= epsilon ? "all" : `${amount((100 * Math.expm1(own)) / Math.expm1(epsilon))}%`);
    return `Of the rows inside ${share(paid[0])} ${rehearsing ? "would be" : "were"} kept${rehearsing ? ` on this level alone, ${share(paid[1])} with the slider up to ${amount(paid[1])}` : ""}.`;
  }

  function show() {
    const { server } = store.get();
    if (!server?.data) return;
    const fixed = server.looked || server.job?.state === "running";
    redraw(list, ...features().map((each, i) => item(each, i, fixed)));
    tools.hidden = zonesStand(store.get());
    note.textContent = server.person ? "Zones are not for levels of people: this studio was started with --person." : fixed
      ? features().length ? "These zones were fixed when the look was taken; they take part in every level." : "No zones were drawn before the look. Zones cannot be added afterwards, because the noise is already in."
      : features().length ? "" : "No zones yet.";
    note.hidden = !note.textContent;
  }

  function build() {
    const { data } = store.get().server;
    if (!data) return;
    const file = zoneFile({
      geographic: data.geographic, first: () => features().length + 1, strictest: () => stricter()[0].epsilon, kept,
      add: (zones) => save([...features(), ...zones]),
    });
    tools.replaceChildren(
      h("div", { className: "buttons" },
        modeButton(store, "draw-zone", "Draw a zone", { kind: "polygon", what: "New zone", done: add }),
        file.chooser, history.button),
      file.slot, boxForm(data, "zone-box", "Type a box instead", add));
    panel.replaceChildren(
      h("div", { className: "items" }, h("h2", { className: "title" }, "Stricter places"),
        h("p", {}, "Around a home, a clinic or a school people may deserve more protection. Inside a zone each row is kept only by chance, so that it enjoys the stricter level."),
        h("p", { className: "hint" }, "A zone is public: it is part of the certificate. Do not draw one that gives away who asked for it.")),
      list, note, tools);
    history.forget();
    show();
  }

  /** A corner that was dragged is on the map at once; when it is let go, the server is asked. */
  store.on(["server", "held"], ({ server, held }, changed) => {
    if (held) return;
    if (changed.has("held") && server.zones !== taken) save(features());
    else taken = server?.zones ?? null;
  });
  store.on(["server", "level", "upTo", "rehearsing"], show);
  return { build };
}
