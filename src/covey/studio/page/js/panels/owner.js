// The owner's own view: centres of the raw rows. It asks first, because every certificate of this run will say so.
import { api } from "../api.js";
import { attempt, behind, byId, h } from "../dom.js";

export function startOwner(store) {
  const control = byId("owner-switch");
  const dialog = byId("owner-dialog");

  async function turn(on) {
    const server = await attempt(() => api.owner(on));
    if (server) store.set({ server });
    await refresh();
  }

  /** Centres for the number on the screen, or none; a refusal leaves the switch as it is. */
  async function refresh() {
    const { server, current, rehearsing } = store.get();
    const on = Boolean(server?.owner?.on);
    control.checked = on;
    byId("owner-card").classList.toggle("on", on);
    const raw = on && current && !rehearsing ? await behind(() => api.ownerCentres(current.centres.length)) : null;
    if (store.get().current === current) store.set({ owner: raw?.centres ?? null });
  }

  function ask() {
    const close = () => dialog.close();
    dialog.replaceChildren(h("div", { className: "done" },
      h("h2", { className: "title", id: "owner-title" }, "Look at raw data?"),
      h("p", {}, "The crosses are centres of the rows themselves, without noise. Whoever sees them learns what no certificate covers."),
      h("p", { className: "card warn" }, "From now on every certificate of this run says: level chosen with sight of raw data, the choice is not covered. Switching off does not take that back."),
      h("div", { className: "actions" }, h("button", { type: "button", onclick: close }, "Keep it off"),
        h("button", { type: "button", className: "primary", id: "owner-confirm", onclick: () => { close(); turn(true); } }, "Show them to me"))));
    dialog.showModal();
  }

  control.addEventListener("change", () => {
    const wanted = control.checked;
    control.checked = Boolean(store.get().server.owner?.on);
    if (!wanted) turn(false);
    else if (store.get().server.owner?.ever) turn(true);
    else ask();
  });
  store.on(["current"], () => { if (store.get().server?.owner?.on) refresh(); });
}
