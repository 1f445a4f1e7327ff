// Publish: a last word about what will be written, then the files and the certificate.
import { api } from "../api.js";
import { byId, h, terms, wordsOf } from "../dom.js";
import { doubt, grade, inFull, outsideWords } from "../words.js";
import { ofPeople } from "./facts.js";

const KINDS = { page: "a page to send", release: "for programs", geojson: "for maps" };

export function startPublish(store) {
  const dialog = byId("publish-dialog");
  const close = () => dialog.close();

  function open() {
    const state = store.get();
    const { server, current } = state;
    const { level, objective, edges } = current; // what is on the screen, whatever the controls were asked for since
    const k = current.centres.length;
    const own = server.levels[level].certified;
    const name = h("input", { type: "text", id: "publish-name", required: true, maxlength: "100", value: `${server.data.name}, ${server.levels[level].name}` });
    const trouble = h("p", { className: "hint", role: "alert" });
    const go = h("button", { type: "submit", className: "primary", id: "publish-confirm" }, "Publish");
    const form = h("form", {},
      h("h2", { className: "title", id: "publish-title" }, "Publish this level"),
      h("p", {}, `Three files are written: a page to send, the same for programs, and a layer for maps${server.zones ? ". The page shows your zones" : ""}. The look has paid for them: publishing costs nothing more.`),
      h("label", { className: "field" }, "Name", name),
      h("dl", { className: "rows" }, ...terms([
        ["Level", server.levels[level].name], ["Centres", String(k)],
        ["Made small", objective === "k-means" ? "squared distances" : "distances"],
        ["How the level was chosen", own.chosen],
        ["The certificate states", `ε = ${inFull(own.epsilon)}, a factor of ${own.factor}`]])),
      ...warnings(current, server),
      own.chosen === "with sight of raw data" && h("p", { className: "card warn" }, "The non-private centres were on. The certificate will say: level chosen with sight of raw data, the choice is not covered."),
      own.chosen === "on the slider" && h("p", { className: "hint" }, "You chose by looking, so the certificate states the privacy of the most detailed level that the slider showed."),
      own.chosen === "after other releases" && h("p", { className: "hint" }, "Other releases of this data set were seen before, so the certificate states the sum of all of them."),
      trouble,
      h("div", { className: "actions" }, h("button", { type: "button", onclick: close }, "Not now"), go));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      go.disabled = true;
      try {
        done(await api.publish({ level, k, objective, edges, name: name.value }));
      } catch (error) {
        trouble.textContent = wordsOf(error);
        go.disabled = false;
      }
    });
    dialog.replaceChildren(form);
    dialog.showModal();
    name.select();
  }

  function done({ files, certificate }) {
    const title = h("h2", { className: "title", id: "publish-title", tabindex: "-1" }, "Published");
    dialog.replaceChildren(h("div", { className: "done" }, title,
      h("nav", { className: "links", "aria-label": "Files" }, ...files.toReversed().map((file) => h("a", { href: file.url, target: "_blank", rel: "noopener" }, file.name, h("span", {}, KINDS[file.kind] ?? file.kind)))),
      h("h3", {}, "Certificate"),
      h("pre", { className: "certificate", id: "certificate", tabindex: "0" }, statement(certificate)),
      h("div", { className: "actions" }, h("button", { type: "button", className: "primary", onclick: close }, "Done"))));
    title.focus();
  }

  byId("publish").addEventListener("click", open);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) close();
  });
}

/** What a reader of the files should not overlook, once more before they are written. */
function warnings({ errors, sizes, outside, numbers }, { person }) {
  const off = (errors?.sizes ?? []).map((interval, i) => doubt(sizes[i], interval));
  const which = (keep) => [...numbers.keys()].filter(keep).map((i) => numbers[i]).sort((a, b) => a - b).join(", ");
  const noise = which((i) => errors?.doubtful?.[i]);
  const [red, amber] = [which((i) => grade(off[i]) === "red"), which((i) => grade(off[i]) === "amber")];
  const lines = [
    sizes && !errors?.sizes && ["amber", "How far off the sizes are cannot be told: rows in zones were counted up again."],
    noise && ["red", `May be only noise: centre ${noise}.`],
    red && ["red", `Size off by more than half of itself: centre ${red}.`],
    amber && ["amber", `Size off by more than a tenth of itself: centre ${amber}.`],
    outside && ["amber", `${outsideWords(outside)}. Those outside were moved to the edge.`],
    person && ["", ofPeople(person)],
  ].filter(Boolean);
  return lines.length ? [h("ul", { className: "points", id: "publish-warnings" }, ...lines.map(([kind, words]) => h("li", { className: kind }, words)))] : [];
}

function statement(certificate) {
  if (typeof certificate === "string") return certificate;
  const known = !certificate.chosen || certificate.statement.toLowerCase().includes(`chosen ${certificate.chosen}`);
  const chosen = known ? "" : `\n\nHow the level was chosen: ${certificate.chosen}.`;
  return `${certificate.statement}${chosen}`;
}
