// Light and dark: the system's wish until the reader chooses; the choice is kept in this browser.
import { byId } from "./dom.js";

const system = matchMedia("(prefers-color-scheme: dark)");

export const isDark = () => (document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";

export function startTheme(changed) {
  const button = byId("theme-switch");
  const tell = () => {
    button.setAttribute("aria-label", isDark() ? "Switch to light colours" : "Switch to dark colours");
    changed(isDark());
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("covey-theme", document.documentElement.dataset.theme);
    } catch { /* storage is closed: the choice lasts until the page is closed */ }
    tell();
  });
  system.addEventListener("change", tell);
  tell();
}
