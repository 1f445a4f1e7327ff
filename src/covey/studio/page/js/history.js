// What was changed in a panel is taken back step by step: with its button, or Ctrl+Z while the panel is open.
import { h } from "./dom.js";

const MOST = 100;

/** restore : puts back what `remember` was given, the last first. */
export function createHistory(panel, restore) {
  let past = [];
  const button = h("button", { type: "button", id: `${panel.id}-undo`, disabled: true, onclick: undo }, "Undo");

  function keep(steps) {
    past = steps.slice(-MOST);
    button.disabled = past.length === 0;
  }

  function undo() {
    const last = past.at(-1);
    if (last === undefined) return;
    keep(past.slice(0, -1));
    restore(last);
  }

  document.addEventListener("keydown", (event) => {
    const wanted = event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey;
    if (!wanted || panel.hidden || event.target.matches?.("input, select, textarea") || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    undo();
  });

  return { button, remember: (before) => keep([...past, before]), forget: () => keep([]) };
}
