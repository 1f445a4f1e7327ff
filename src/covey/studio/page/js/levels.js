// Levels are fetched once and kept; while nobody waits, the neighbours of what is shown are fetched ahead.
import { api } from "./api.js";

const MOST_KEPT = 60;
const PAUSE = 500; // milliseconds between two questions about what is still being computed

export function createLevels() {
  const kept = new Map();
  const found = new Map();
  let round = 0;

  function get(...asked) {
    const key = asked.join("|");
    if (!kept.has(key)) {
      const answer = api.level(...asked);
      kept.set(key, answer);
      answer.catch(() => kept.delete(key));
      if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value);
    }
    return kept.get(key);
  }

  /** How far the centres of a level may be off, which the server computes in the background; null if nobody waits. */
  async function places(wanted, ...asked) {
    const key = asked.join("|");
    while (!found.has(key)) {
      if (!wanted()) return null;
      const answer = await api.places(...asked);
      if (answer.state !== "running") found.set(key, answer);
      else await new Promise((done) => { setTimeout(done, PAUSE); });
    }
    return found.get(key);
  }

  /** One after another, nearest first; a later call, or a server that asks for a pause, ends this one. */
  async function ahead(rows, level, k, objective, edges, { levels, mostK }) {
    const mine = ++round;
    const near = [level + 1, level - 1, level + 2, level - 2].filter((other) => other >= 0 && other < levels);
    const wanted = near.map((other) => [rows, other, k, objective, edges]);
    for (const other of [k + 1, k - 1]) if (other >= 1 && other <= mostK) wanted.push([rows, level, other, objective, edges]);
    for (const each of wanted) {
      if (mine !== round) return;
      try {
        await get(...each);
      } catch {
        return;
      }
    }
  }

  function forget() {
    kept.clear();
    found.clear();
  }

  return { get, places, ahead, stop: () => { round += 1; }, forget };
}
