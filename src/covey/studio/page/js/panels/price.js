// Before the first look: what it costs, what remains, and the question. While it runs: progress, and a way out.
import { api } from "../api.js";
import { attempt, byId, h, problem } from "../dom.js";
import { amount, inWords } from "../words.js";

const PAUSE = 120;

export function startPrice(store, looked) {
  let following = null;

  function show() {
    const { server } = store.get();
    const slot = byId("price-slot");
    if (!server?.data || server.looked) return slot.replaceChildren();
    if (server.job?.state === "running") return follow(server.job);
    return slot.replaceChildren(card(server));
  }

  function card({ price, zones, levels, seeded, person }) {
    const limited = price.remaining !== null && price.remaining !== undefined;
    const enough = !limited || price.remaining >= price.epsilon - 1e-9;
    const spread = levels.length;
    const name = price.dataset ? `the data set “${price.dataset}”` : "this data set";
    const share = limited && price.remaining > 0 ? inWords(price.epsilon / price.remaining) : null;
    const button = h("button", { type: "button", className: "primary wide", id: "confirm-look", disabled: !enough, onclick: () => confirm(button) },
      "Confirm and look");
    return h("section", { className: "card", "aria-labelledby": "price-title", id: "price-card" },
      h("h2", { className: "title", id: "price-title" }, "Before the first look"),
      h("p", {}, `Nothing has been read yet. One look counts the rows once, adds noise, and shows the result at ${spread} levels of privacy.`),
      h("div", {},
        h("p", { className: "big number" }, `Costs ${amount(price.epsilon)}`, " ", h("small", {}, limited ? `of the ${amount(price.remaining)} that remain for ${name}` : "of privacy budget")),
        !limited && h("p", { className: "hint" }, `No limit is set for ${name}: the ledger keeps count.`),
        share && enough && h("p", { className: "hint" }, share === "all" ? "The look uses up the privacy budget that is left." : `The look uses ${share} of the privacy budget that is left.`)),
      limited && enough && h("div", { className: "bar", "aria-hidden": "true" }, bar(price)),
      h("ul", { className: "points" },
        h("li", {}, "The price is that of the most detailed level. Moving the slider, other numbers of centres and comparisons cost nothing more."),
        h("li", {}, "It is written to the ledger before a row is read, and is never given back."),
        person && h("li", {}, `The promise is to each person with all their rows (column “${person.column}”, at most ${person.rows} of them count).`),
        !person && h("li", {}, zones?.features?.length ? `${zones.features.length === 1 ? "One zone takes" : `${zones.features.length} zones take`} part, fixed from now on.` : "Zones with a stricter level must be drawn before the look, under Zones.")),
      seeded && h("p", { className: "hint" }, "The noise is seeded, for teaching: what you see is not private."),
      !enough && h("p", { className: "hint", role: "alert" }, "The ledger does not hold enough for a look."),
      button);
  }

  function bar(price) {
    const part = h("span");
    part.style.width = `${Math.min(100, (100 * price.epsilon) / price.remaining)}%`;
    return part;
  }

  async function confirm(button) {
    button.disabled = true;
    try {
      const answer = await api.look(store.get().server.price.epsilon);
      await follow(answer.job ?? answer);
    } catch (error) {
      const server = await attempt(() => api.state()); // the price may have changed meanwhile
      if (server) store.set({ server });
      problem(error.message);
    }
  }

  async function follow(job) {
    if (following === job.id) return;
    following = job.id;
    const progress = h("progress", { "aria-label": "Progress of the look", max: "1" });
    const words = h("p", { className: "hint", role: "status" }, "Starting");
    const cancel = h("button", { type: "button", id: "cancel-look", onclick: () => attempt(() => api.cancel(job.id)) }, "Cancel");
    byId("price-slot").replaceChildren(h("section", { className: "card", "aria-labelledby": "busy-title" },
      h("h2", { className: "title", id: "busy-title" }, "Looking"), progress, words,
      h("div", { className: "row" }, h("p", { className: "hint" }, "What was charged stays charged."), cancel)));
    cancel.focus();
    let latest = job;
    while (latest && latest.state === "running") {
      if (latest.of) progress.value = latest.done / latest.of;
      words.textContent = latest.what || "Working";
      await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
      latest = await attempt(() => api.job(job.id));
    }
    following = null;
    await finish(latest);
  }

  async function finish(job) {
    const server = await attempt(() => api.state());
    if (!server) return;
    store.set({ server });
    if (server.looked) {
      byId("price-slot").replaceChildren();
      looked();
      return;
    }
    show();
    const why = job?.state === "cancelled" ? "The look was cancelled. What was charged stays charged." : job?.error?.message ?? job?.error;
    if (why) byId("price-card")?.prepend(h("p", { className: "hint", role: "alert" }, String(why)));
  }

  store.on(["server"], () => { if (!following) show(); });
  show();
}
