// Placing things on the stage: corners of a polygon or single sites, with the pointer or with the keyboard alone
// (arrows move the view under a cross in its middle, Space places, Enter closes, Backspace takes back, Escape leaves).
import { byId, h } from "./dom.js";

const TOUCH = 14; // pixels around the first corner that close a polygon

const HINTS = {
  polygon: "Click the corners, or press Space under the cross. The first corner, Enter or a double click closes, Esc leaves.",
  spot: "Click a spot, or press Space under the cross. Esc leaves.",
  site: "Click to drop a site, or press Space under the cross. Esc ends.",
};

export function createDrawing(store, { view, changed }) {
  let corners = [];
  let pointer = null;
  const mode = () => store.get().mode;

  function place(position) {
    if (mode().kind !== "polygon") mode().place(position);
    else if (corners.length > 2 && same(corners[0], position, TOUCH)) close();
    else corners = same(corners.at(-1), position) ? corners : [...corners, position];
    changed();
  }

  function moveCorner(index, position) {
    corners = corners.map((each, i) => (i === index ? position : each));
    pointer = null;
    changed();
  }

  function undo() {
    corners = corners.slice(0, -1);
    changed();
  }

  function same(a, b, near = 4) {
    if (!a) return false;
    const { sx, sy } = view().transform();
    const [pa, pb] = [a, b].map((each) => view().projection.forward(each));
    return Math.hypot((pa[0] - pb[0]) * sx, (pa[1] - pb[1]) * sy) < near;
  }

  function close() {
    const { kind, done } = mode();
    const ring = corners;
    if (kind === "polygon" && ring.length < 3) return;
    store.set({ mode: null });
    if (kind === "polygon") done([...ring, ring[0]]);
  }

  function key(event) {
    if (!mode()) return;
    if (event.key === " ") place(view().middle());
    else if (event.key === "Enter") close();
    else if (event.key === "Backspace" || (event.key === "z" && (event.ctrlKey || event.metaKey))) undo();
    else return;
    event.preventDefault();
    event.stopPropagation();
    changed();
  }

  function cross() {
    byId("cross").hidden = !(mode() && view()?.focusable.matches(":focus-visible"));
  }

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && mode()) store.set({ mode: null });
  });

  return {
    corners: () => (mode()?.kind === "polygon" ? corners : []),
    moveCorner,
    draft: () => (pointer && corners.length && mode()?.kind === "polygon" ? [...corners, pointer] : corners),
    /** A rubber band from the last corner to the pointer. */
    over(position) {
      if (mode()?.kind !== "polygon") return;
      pointer = position;
      if (corners.length) changed();
    },
    click(position) {
      if (!mode()) return false;
      place(position);
      return true;
    },
    double() {
      if (!mode()) return false;
      if (mode().kind === "polygon") close();
      return true;
    },
    listen(focusable) {
      focusable.addEventListener("keydown", key, true);
      focusable.addEventListener("focus", cross);
      focusable.addEventListener("blur", cross);
    },
    modeChanged() {
      const now = mode();
      [corners, pointer] = [[], null];
      const hint = byId("mode-hint");
      hint.hidden = !now;
      const act = (id, words, action) => h("button", { type: "button", className: "small", id, onclick: action }, words);
      hint.replaceChildren(...(now ? [h("span", {}, `${now.what}: ${HINTS[now.kind].charAt(0).toLowerCase()}${HINTS[now.kind].slice(1)}`),
        h("span", { className: "buttons" }, now.kind === "polygon" && act("draw-finish", "Finish", close), now.kind === "polygon" && act("draw-undo", "Undo", undo), act("draw-cancel", now.kind === "site" ? "Done" : "Cancel", () => store.set({ mode: null })))] : []));
      if (now) {
        byId("stage").dataset.mode = now.kind;
        view()?.focusable.focus();
      } else {
        delete byId("stage").dataset.mode;
      }
      cross();
      changed();
    },
  };
}
