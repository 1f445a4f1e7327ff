// What a link leads to first: it leaves the key where pages of this origin alone, its port included, can read it.
const { key, room } = document.currentScript.dataset;
try {
  localStorage.setItem("covey-studio", key);
} catch { /* storage is closed: the page will say that it is not let in */ }
location.replace(room);
