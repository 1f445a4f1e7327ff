// The words beside the pointer. Every number here is noisy, and says so.
import { byId, h } from "./dom.js";
import { count, place } from "./words.js";

const tip = () => byId("tooltip");

function words({ kind, index, set }, state) {
  const data = state.server.data;
  const level = state.current;
  if (kind === "point") {
    const weight = level.weights[index];
    return [`about ${count(Math.max(weight, 0))} rows`, `noisy weight ${weight.toFixed(1)} at ${place(level.points[index], data)}`];
  }
  if (kind === "centre") {
    const size = level.sizes?.[index];
    return [`Centre ${index + 1}`, `${size === null || size === undefined ? "" : `about ${count(size)} rows (noisy); `}${place(level.centres[index], data)}`];
  }
  if (kind === "owner") return ["Not private", `centre of the raw rows at ${place(state.owner[index], data)}`];
  if (kind === "site") return [state.sets[set].name, `site ${index + 1} at ${place(state.sets[set].sites[index], data)}`];
  if (kind === "forbidden") return [state.forbidden[index].name, "forbidden region"];
  const { name, epsilon } = state.server.zones.features[index].properties;
  const strict = state.server.levels.find((each) => each.epsilon === epsilon);
  return [name || "Zone", `stricter level${strict ? `: ${strict.name}` : ""}`];
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
