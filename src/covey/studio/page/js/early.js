// Runs before the first paint, so that a chosen colour scheme never flashes.
try {
  const chosen = localStorage.getItem("covey-theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
} catch { /* storage is closed: follow the system */ }
