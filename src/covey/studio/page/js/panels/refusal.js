// A refusal with a way on: what is in the way, in words, and a button for each thing that would work instead.
import { h } from "../dom.js";

/** choices : pairs of words and what they do. */
export function refusal(words, choices = []) {
  return h("div", { className: "card warn refusal", role: "alert" }, h("p", {}, words),
    choices.length > 0 && h("div", { className: "buttons" }, ...choices.map(([label, act]) => h("button", { type: "button", className: "small", onclick: act }, label))));
}

/** What is left of a budget, and the levels that it pays for. */
export function budgetRefusal(price, offers, choose) {
  const left = price.remaining;
  const paid = offers.map((offer, i) => ({ ...offer, i })).filter(({ epsilon }) => epsilon <= left + 1e-9);
  const words = `${Number(Math.max(0, left).toPrecision(4))} of the privacy budget of “${price.dataset}” is left.`;
  if (paid.length === 0) return refusal(`${words} That pays for no level. Who keeps the ledger can raise the total; what was published stays published.`);
  return refusal(`${words} It pays for:`, paid.map(({ i, name, epsilon }) => [`“${name}”, for ${epsilon}`, () => choose(i)]));
}
