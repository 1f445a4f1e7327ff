// Tabs as the ARIA practices describe them: one stop in the tab order, arrows move between them.

export function startTabs(shown) {
  const tabs = [...document.querySelectorAll('[role="tab"]')];
  const body = (tab) => document.getElementById(tab.getAttribute("aria-controls"));

  function choose(tab, focus) {
    for (const each of tabs) {
      const on = each === tab;
      each.setAttribute("aria-selected", String(on));
      each.tabIndex = on ? 0 : -1;
      body(each).hidden = !on;
    }
    if (focus) tab.focus();
    shown(tab.id.replace("tab-", ""));
  }

  tabs.forEach((tab, i) => {
    tab.addEventListener("click", () => choose(tab, false));
    tab.addEventListener("keydown", (event) => {
      const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      choose(tabs[(to + tabs.length) % tabs.length], true);
    });
  });
  return { choose: (name) => choose(tabs.find((tab) => tab.id === `tab-${name}`), false) };
}
