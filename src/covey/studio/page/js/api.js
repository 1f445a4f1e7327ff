// Requests to the studio's server. Every address is relative: the page lives below a path of this run.
import { Told } from "./dom.js";

const GONE = "The studio does not know this window any more: it was started again, or closed here. Open the link that it shows in its terminal.";

export class Refused extends Told {
  constructor(status, body) {
    const { parameter, message } = body?.error ?? {};
    super(status === 403 && message?.includes("token") ? GONE : !message ? `The studio answered ${status}.` : parameter ? `${parameter}: ${message}` : message);
    this.status = status;
    this.parameter = body?.error?.parameter ?? null;
  }
}

/** What the link left here; another port of this machine has the cookie, and not this. */
function key() {
  try {
    return localStorage.getItem("covey-studio") ?? "";
  } catch {
    return "";
  }
}

async function ask(path, { headers, ...options } = {}) {
  let answer;
  try {
    answer = await fetch(path, { credentials: "same-origin", headers: { ...headers, "X-Covey-Studio": key() }, ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Told("The studio does not answer. Is `covey studio` still running?");
  }
  const body = await answer.json().catch(() => null);
  if (!answer.ok) throw new Refused(answer.status, body);
  return body;
}

function change(method, path, body) {
  const headers = body === undefined ? {} : { "Content-Type": "application/json" };
  return ask(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
}

const query = (values) => new URLSearchParams(values).toString();

export const api = {
  state: () => ask("api/state"),
  look: (epsilon, alone) => change("POST", "api/look", { confirm: true, epsilon, alone }),
  job: (id) => ask(`api/job/${encodeURIComponent(id)}`),
  cancel: (id) => change("DELETE", `api/job/${encodeURIComponent(id)}`),
  /** rows : how many made-up ones to rehearse on; null for the data. */
  level: (rows, level, k, objective, edges) => ask(rows === null ? `api/levels/${level}?${query({ k, objective, edges })}` : `api/rehearsal/${level}?${query({ k, objective, edges, rows })}`),
  places: (rows, level, k, objective, edges) => ask(rows === null ? `api/places/${level}?${query({ k, objective, edges })}` : `api/rehearsal/${level}/places?${query({ k, objective, edges, rows })}`),
  howMany: (rows, level, objective) => ask(rows === null ? `api/how-many/${level}?${query({ objective })}` : `api/rehearsal/${level}/how-many?${query({ objective, rows })}`),
  owner: (on) => change("POST", "api/owner", { on }),
  ownerCentres: (k) => ask(`api/owner/centres?${query({ k })}`),
  setZones: (zones, revision) => change("PUT", `api/zones?${query({ revision })}`, zones),
  clearZones: (revision) => change("DELETE", `api/zones?${query({ revision })}`),
  sites: (body) => change("POST", "api/sites", body),
  alternatives: (body) => change("POST", "api/alternatives", body),
  profile: (body) => change("POST", "api/profile", { confirm: true, ...body }),
  publish: (body) => change("POST", "api/publish", body),
  publications: () => ask("api/publications"),
  ledger: () => ask("api/ledger"),
  gazetteer: (name) => ask(`api/gazetteer?${query({ name })}`),
  open: (body) => change("POST", "api/open", body),
  upload: (file, how) =>
    ask(`api/uploads?${query({ name: file.name, ...how })}`, {
      method: "POST",
      headers: { "Content-Type": "application/octet-stream" },
      body: file,
    }),
};
