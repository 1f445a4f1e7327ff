// The words beside the pointer. Every number here is noisy, and says so.
import { byId, h } from "./dom.js";
import { amount, between, count, metres, place, reach, toNearest } from "./words.js";

const tip = () => byId("tooltip");

function words({ kind, index, set }, state) {
  const data = state.server.data;
  const level = state.current;
  if (kind === "point") {
    const weight = level.weights[index];
    const box = state.mosaic?.boxes.find((each) => each.index === index);
    const per = box ? `${amount(box.density)} ${state.mosaic.unit}; ` : "";
    const off = level.noise?.[level.side[index]];
    const noisy = off === undefined ? "noisy, how far off is not known" : `noisy: in a box of this size noise is within ± ${count(off)} rows, 9 times in 10`;
    return [`about ${count(Math.max(weight, 0))} rows`, `${per}${noisy}; at ${place(level.points[index], data)}`];
  }
  if (kind === "centre") {
    return [`Centre ${level.numbers[index]}`, aboutCentre(level, state.places, index, data)];
  }
  if (kind === "owner") return ["Not private", `centre of the raw rows at ${place(state.owner[index], data)}${data.geographic ? `, ${metres(toNearest(state.owner[index], level?.centres ?? []))} from the nearest private centre` : ""}`];
  if (kind === "site") return [state.sets[set].name, `site ${index + 1} at ${place(state.sets[set].sites[index], data)}`];
  if (kind === "forbidden") return [state.forbidden[index].name, "forbidden region"];
  const { name, epsilon } = state.server.zones.features[index].properties;
  const strict = state.server.offers.find((each) => each.epsilon === epsilon);
  return [name || "Zone", `stricter level${strict ? `: ${strict.name}` : ""}`];
}

function aboutCentre(level, places, index, data) {
  const size = level.sizes?.[index];
  const radius = places?.radii?.[index];
  return [
    size !== null && size !== undefined && `about ${between(size, level.errors?.sizes?.[index])} rows (noisy)`,
    level.errors?.doubtful?.[index] && "may be only noise",
    place(level.centres[index], data),
    radius !== undefined && reach(radius, level.centres[index], data),
  ].filter(Boolean).join("; ");
}

export function showTip(found, [x, y], state, stage) {
  const [title, text] = words(found, state);
  const element = tip();
  element.replaceChildren(h("strong", {}, title), h("span", {}, text));
  element.hidden = false;
  const left = Math.min(x + 16, stage.clientWidth - element.offsetWidth - 8);
  const top = y + 18 + element.offsetHeight > stage.clientHeight ? y - element.offsetHeight - 12 : y + 18;
  element.style.transform = `translate(${Math.max(8, left)}px, ${Math.max(8, top)}px)`;
}

export function hideTip() {
  tip().hidden = true;
}
