// What the promise means for one person at one spot, in odds: for somebody who is half sure beforehand.
import { byId, h } from "../dom.js";
import { within } from "../projection.js";
import { levelsOf, statedOf } from "../store.js";
import { place } from "../words.js";
import { modeButton } from "./shapes.js";

const BEYOND = 10; // odds with a delta give up a tenth of the doubt, and hold but for ten deltas (PRIVACY.md)
const RARE = 1e12;

/** "at most 53 in 100", and with a delta how often that may fail; neither is rounded down. */
export function odds(epsilon, delta = 0) {
  const doubt = 1 / (1 + Math.exp(epsilon)); // that stays, at the least
  const chance = 1 - (delta ? doubt * (1 - 1 / BEYOND) : doubt);
  const digits = chance > 0.999 ? 4 : chance > 0.99 ? 1 : 0;
  const scale = 10 ** digits;
  const shown = Math.ceil(chance * 100 * scale - 1e-9) / scale;
  if (shown >= 100 || BEYOND * delta >= 1) return "almost certainty";
  return `${shown} in 100${delta ? `, but for a chance of at most 1 in ${Math.floor(Math.min(1 / (BEYOND * delta), RARE)).toLocaleString("en")}` : ""}`;
}

/** The two sentences for a spot: whether somebody is in the data, and whether they are here or elsewhere. */
export function aboutYou(position, state) {
  const { epsilon, delta } = statedOf(state, state.current.level);
  const zones = (state.server.zones?.features ?? []).filter(({ geometry }) => within(position, geometry));
  const paid = state.rehearsing ? state.server.offers[state.current.level].epsilon : state.server.price.epsilon;
  const others = Math.max(0, epsilon - paid); // other releases cost rows in zones at most what they cost all rows
  const own = Math.min(epsilon, ...zones.map(({ properties }) => (properties.epsilon ?? epsilon) + others));
  const unit = state.server.person ? `all rows of one person (column “${state.server.person.column}”, at most ${state.server.person.rows} count)` : "one row";
  const moved = (both) => odds(both, delta * (1 + Math.exp(epsilon))); // a row leaves here and enters there
  const here = own < epsilon ? `${moved(2 * own)} between two spots of this zone, ${moved(epsilon + own)} across its edge` : moved(2 * epsilon);
  return [
    `Whether you are in the data: who was half sure can become sure to at most ${odds(own, delta)}. “You” are ${unit}.`,
    `Whether you are here or elsewhere: to at most ${here}.`,
    zones.length ? "This spot lies in a zone with a stricter level." : "The answer is the same at every spot outside zones: the noise does not know where you are.",
  ];
}

export function startYou(store) {
  const words = h("div", { className: "items", id: "you-words", "aria-live": "polite" });
  byId("you-slot").replaceChildren(h("div", { className: "items" },
    h("p", { className: "hint" }, "Click a spot, such as your home: what could anybody learn about you from what is shown?"),
    h("div", { className: "buttons" }, modeButton(store, "you", "Choose a spot", { kind: "spot", what: "You", place: (position) => store.set({ you: position, mode: null }) })),
    words));

  function show(state) {
    const { you, current, server } = state;
    if (!you || !current || !levelsOf(state)?.[current.level]) {
      words.replaceChildren();
      return;
    }
    words.replaceChildren(h("p", { className: "hint" }, place(you, server.data)), ...aboutYou(you, state).map((sentence) => h("p", {}, sentence)));
  }

  store.on(["you", "current", "server", "rehearsing"], show);
}
