// Small helpers for elements. Text is always set as text, never as markup.

export const byId = (id) => document.getElementById(id);

/** An element with properties, attributes ("aria-label", "data-…"), listeners ("onclick") and children. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name === "className" ? "class" : name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Replaces what an element holds; what had the focus and is there again, by its name, keeps it. */
export function redraw(element, ...children) {
  const before = element.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
  element.replaceChildren(...children);
  if (before) [...element.querySelectorAll("[aria-label]")].find((each) => each.getAttribute("aria-label") === before)?.focus();
}

/** Rows of a definition list, each in a div of its own. */
export function terms(pairs) {
  return pairs.filter(Boolean).map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value)));
}

/** Runs `action` once after `milliseconds` without another call. */
export function later(action, milliseconds) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), milliseconds);
  };
}

/** Shows a message under the panel, or hides it when there is none. */
export function problem(message) {
  const element = byId("problem");
  element.textContent = message ? message[0].toUpperCase() + message.slice(1) : "";
  element.hidden = !message;
}

/** An error whose words are for the reader; those of a browser or a library are not, and may hold addresses. */
export const Told = class extends Error {};

/** What to tell the reader of an error. */
export const wordsOf = (error) => (error instanceof Told ? error.message : "Something went wrong in this page; please reload it.");

/** Runs an asynchronous action; what goes wrong is told to the reader and `undefined` comes back. */
export async function behind(action) {
  try {
    return await action();
  } catch (error) {
    if (error.name !== "AbortError") problem(wordsOf(error));
    return undefined;
  }
}

/** The same for what a person asked for: what was said before is answered. What the page does by itself takes no message away. */
export function attempt(action) {
  problem(null);
  return behind(action);
}
