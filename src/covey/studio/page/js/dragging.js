// Dragging with mouse, pen or finger. What can be grabbed is grabbed before the view below hears of the pointer; a press
// that does not travel is a click, as it would have been.

const TRAVEL = 4; // pixels that make a drag of a press
const REACH = { mouse: 10, pen: 14, touch: 22 }; // pixels around a handle that grab it

/**
 * place : of an event, {at, position} on the stage. grab : what lies within so many pixels of `at`, or null.
 * moved : hears (held, position) while it travels, and `dropped` after it did. click : hears of a press that did not.
 */
export function createDragging(stage, { place, grab, moved, dropped, click }) {
  let held = null;
  let swallow = false; // the events that browsers send after those of the pointer

  function down(event) {
    swallow = false;
    const found = event.isPrimary && event.button === 0 ? grab(place(event), REACH[event.pointerType] ?? REACH.mouse) : null;
    if (!found) return;
    held = { found, from: [event.clientX, event.clientY], travels: false };
    swallow = true;
    event.stopPropagation();
  }

  function move(event) {
    if (!held) return;
    event.stopPropagation();
    const [x, y] = held.from;
    held.travels ||= Math.hypot(event.clientX - x, event.clientY - y) >= TRAVEL;
    if (held.travels) moved(held.found, place(event).position);
  }

  function up(event) {
    if (!held) return;
    event.stopPropagation();
    const { travels } = held;
    held = null;
    if (travels) dropped();
    else if (event.type === "pointerup") click(place(event));
  }

  function quiet(event) {
    if (!swallow) return;
    event.stopPropagation();
    if (event.cancelable && event.type !== "click") event.preventDefault();
  }

  const inside = { capture: true, passive: false };
  stage.addEventListener("pointerdown", (event) => event.target.closest(".base, .overlay") && down(event), inside);
  for (const name of ["mousedown", "touchstart", "touchmove", "click"]) stage.addEventListener(name, (event) => event.target.closest(".base, .overlay") && quiet(event), inside);
  window.addEventListener("pointermove", move, inside);
  for (const name of ["pointerup", "pointercancel"]) window.addEventListener(name, up, inside);
}
