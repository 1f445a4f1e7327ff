// What it costs, before it is paid: one level alone, chosen on made-up rows, or several levels of the data to choose by.
import { api } from "../api.js";
import { attempt, behind, byId, h, problem, wordsOf } from "../dom.js";
import { statedOf } from "../store.js";
import { count, inFull, inWords } from "../words.js";
import { budgetRefusal } from "./refusal.js";

const PAUSE = 120;
const FACTOR = "A factor: by how much the chance of anything that is shown changes at most, whether one is in the data or not.";

/** Under the slider at all times: what the certificate will state, one way and the other. */
export function priceLines(state) {
  const own = statedOf(state);
  const line = (words, factor, className = "") => h("p", { className, title: FACTOR }, h("span", {}, words), h("strong", { className: "number" }, factor));
  const lines = [];
  if (state.rehearsing) {
    const all = state.server.offers[state.upTo].looking;
    lines.push(line("Chosen in advance, this level alone", own.factor), line("Publish after looking, at every level", all.factor, "other"));
  } else if (state.server.levels.length > 1) {
    lines.push(line("Publish after looking, at every level", own.factor), line("Chosen in advance it would have been", state.server.offers.find(({ name }) => name === state.server.levels[state.level].name).own, "other"));
  } else {
    lines.push(line("This level, which was paid for alone", own.factor));
  }
  if (own.chosen === "after other releases") lines.push(h("p", { className: "hint" }, `Other releases of this data set were seen before: the certificate states the sum of all of them, ε = ${inFull(own.epsilon)}.`));
  if (own.chosen === "with sight of raw data") lines.push(h("p", { className: "hint" }, "Raw data was seen in this run: the certificate says that the choice is not covered."));
  return lines;
}

export function startPrice(store, { looked, rehearse }) {
  let following = null;
  const dialog = byId("pay-dialog");

  function show() {
    const state = store.get();
    const { server, rehearsing } = state;
    if (!server?.data || !server.offers) return;
    if (server.job?.state === "running" && !following) follow(server.job);
    byId("pay").hidden = !rehearsing;
    byId("publish").hidden = rehearsing;
    byId("rehearsal-card").hidden = !rehearsing;
    byId("several-slot").replaceChildren(...(rehearsing ? several(state) : again()));
    if (rehearsing && state.level !== null) {
      const { name, epsilon } = server.offers[state.level];
      byId("pay").textContent = `Pay ${inFull(epsilon)} for “${name}”…`;
    }
  }

  function introduce() {
    const { server, rows } = store.get();
    const size = h("input", { type: "number", id: "rows", min: "1", max: "1000000", value: String(rows), inputmode: "numeric",
      onchange: () => {
        store.set({ rows: Math.max(1, Math.min(1_000_000, Math.round(Number(size.value)) || store.get().rows)) });
        size.value = String(store.get().rows);
      } });
    byId("rehearsal-card").replaceChildren(
      h("h2", { className: "title", id: "rehearsal-title" }, "A rehearsal"),
      h("p", {}, server.rehearsal ? `Nothing of your data has been read. This is “${server.rehearsal}”, a public file. Find the level you want, then pay for it alone.`
        : "Nothing of your data has been read: these rows are made up, within the same bounds. Find the level you want, then pay for it alone."),
      !server.rehearsal && h("div", { className: "row" }, h("label", { for: "rows" }, "About how many rows (records: trips, visits, people) have you?"), size),
      !server.rehearsal && h("p", { className: "hint" }, "A round number will do. It stays here and is not published."));
  }

  /** The second way: look at several levels of the data first. */
  function several({ server, upTo }) {
    const own = server.offers[upTo];
    const choose = (index) => () => store.set({ upTo: index });
    return [
      h("details", { className: "fine", id: "several" , open: byId("several")?.open ?? false },
        h("summary", { id: "several-title" }, "See several levels of the real data instead"),
        h("div", { className: "items" },
          h("p", {}, "Who chooses by looking has seen every level shown: each of them is then published at the price of the last."),
          h("fieldset", { className: "segmented reach" }, h("legend", {}, "How far may the slider go?"),
            ...server.offers.map(({ name, epsilon }, i) => h("label", { title: name }, h("input", { type: "radio", name: "up-to", value: String(epsilon), checked: i === upTo, onchange: choose(i) }), h("span", {}, inFull(epsilon))))),
          h("p", { className: "number", id: "several-price" }, `${upTo === 0 ? "One level" : `${upTo + 1} levels`}, up to “${own.name}”: costs ${inFull(own.epsilon)}. The certificate then states a factor of ${own.looking.factor} at every level.`),
          h("button", { type: "button", id: "pay-several", onclick: () => ask(own, false) }, `Pay ${inFull(own.epsilon)} and look…`))),
    ];
  }

  const again = () => [h("h2", { id: "several-title" }, "Another level"),
    h("p", { className: "hint" }, "What was paid for stays. Another level, or more of them, is another look at the data: its price is added to this one."),
    h("button", { type: "button", className: "small", id: "rehearse-again", onclick: rehearse }, "Back to the rehearsal")];

  /** The last question before rows are read. */
  function ask({ name, epsilon, alone: one, looking }, alone) {
    const { price, zones, seeded, person } = store.get().server;
    const limited = price.remaining !== null && price.remaining !== undefined;
    const enough = !limited || price.remaining >= epsilon - 1e-9;
    const own = price.dataset ? `the data set “${price.dataset}”` : "this data set";
    const share = limited && price.remaining > 0 ? inWords(epsilon / price.remaining) : null;
    const stated = alone ? one : looking;
    const button = h("button", { type: "button", className: "primary", id: "confirm-look", disabled: !enough, onclick: () => confirm(button, epsilon, alone) }, "Confirm and look");
    const shapes = zones?.features?.length;
    dialog.replaceChildren(h("section", { className: "done", id: "price-card" },
      h("h2", { className: "title", id: "price-title" }, alone ? `Pay for “${name}” alone` : `See the levels up to “${name}”`),
      h("div", {},
        h("p", { className: "big number" }, `Costs ${inFull(epsilon)}`, " ", h("small", {}, limited ? `of the ${inFull(price.remaining)} that remain for ${own}` : "of privacy budget")),
        !limited && h("p", { className: "hint" }, `No limit is set for ${own}: without a ledger file (--ledger) nobody counts beyond this run.`),
        share && enough && h("p", { className: "hint" }, share === "all" ? "It uses up the privacy budget that is left." : `It uses ${share} of the privacy budget that is left.`)),
      limited && enough && h("div", { className: "bar", "aria-hidden": "true" }, bar(epsilon / price.remaining)),
      h("p", { id: "will-state" }, `The certificate will state: chosen ${stated.chosen}, ε = ${inFull(stated.epsilon)}, a factor of at most ${stated.factor}${stated.delta ? `, and beyond that at most ${inFull(stated.delta)}` : ""}${alone ? "" : ", whichever of the levels is published"}.`),
      h("ul", { className: "points" },
        h("li", {}, `It is ${limited ? "written to the ledger" : "counted"} before a row is read, and is never given back.`),
        h("li", {}, "Other numbers of centres and comparisons then cost nothing more."),
        person && h("li", {}, `The promise is to each person with all their rows (column “${person.column}”, at most ${count(person.rows)} of them count).`),
        !person && h("li", {}, shapes ? `${shapes === 1 ? "One zone takes" : `${shapes} zones take`} part, fixed from now on.` : "Zones with a stricter level must be drawn before, under Zones.")),
      seeded && h("p", { className: "hint" }, "The noise is seeded, for teaching: what you see is not private."),
      !enough && budgetRefusal(price, store.get().server.offers, (index) => instead(index, alone)),
      h("div", { className: "actions" }, h("button", { type: "button", onclick: () => dialog.close() }, "Not now"), button)));
    if (!dialog.open) dialog.showModal();
    (enough ? button : dialog.querySelector("button")).focus();
  }

  /** Another level than the one that the budget does not pay for. */
  function instead(index, alone) {
    if (alone) {
      byId("level").value = String(index);
      byId("level").dispatchEvent(new Event("input"));
    } else store.set({ upTo: index });
    ask(store.get().server.offers[index], alone);
  }

  function bar(part) {
    const filled = h("span");
    filled.style.width = `${Math.min(100, 100 * part)}%`;
    return filled;
  }

  async function confirm(button, epsilon, alone) {
    button.disabled = true;
    try {
      const answer = await api.look(epsilon, alone);
      dialog.close();
      await follow(answer);
    } catch (error) {
      dialog.close();
      const server = await behind(() => api.state()); // the price may have changed meanwhile
      if (server) store.set({ server });
      const offer = server?.price.remaining < epsilon && server.offers.find((each) => each.epsilon === epsilon);
      if (offer) ask(offer, alone);
      else problem(wordsOf(error));
    }
  }

  async function follow(job) {
    if (following === job.id) return;
    following = job.id;
    const progress = h("progress", { "aria-label": "Progress of the look", max: "1" });
    const words = h("p", { className: "hint", role: "status" }, "Starting");
    const cancel = h("button", { type: "button", id: "cancel-look", onclick: () => attempt(() => api.cancel(job.id)) }, "Cancel");
    byId("explore").hidden = true;
    byId("busy-slot").replaceChildren(h("section", { className: "card", "aria-labelledby": "busy-title" },
      h("h2", { className: "title", id: "busy-title" }, "Looking"), progress, words,
      h("div", { className: "row" }, h("p", { className: "hint" }, "What was charged stays charged."), cancel)));
    cancel.focus();
    let latest = job;
    while (latest && latest.state === "running") {
      if (latest.of) progress.value = latest.done / latest.of;
      words.textContent = latest.what || "Working";
      await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
      latest = await behind(() => api.job(job.id));
    }
    following = null;
    await finish(latest);
  }

  async function finish(job) {
    const server = await behind(() => api.state());
    if (!server) return;
    byId("busy-slot").replaceChildren();
    byId("explore").hidden = false;
    store.set({ server });
    if (server.looked && job?.state === "done") {
      looked();
      return;
    }
    const why = job?.state === "cancelled" ? "The look was cancelled. What was charged stays charged." : job?.error?.message ?? job?.error;
    if (why) problem(String(why));
  }

  byId("pay").addEventListener("click", () => {
    const { server, level } = store.get();
    ask(server.offers[level], true);
  });
  store.on(["server", "rehearsing", "level", "upTo"], () => { if (!following) show(); });
  return { introduce };
}
