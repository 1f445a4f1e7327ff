// A centre keeps its number from level to level: it is the number of the centre that stood nearest before.

/** The answer of the server with a number for each centre, and its sentences with those numbers. */
export function numbered(answer, before) {
  const numbers = matched(answer.centres, before?.centres ?? [], before?.numbers ?? []);
  const words = (answer.words ?? []).map((sentence) => sentence.replace(/\{(\d+)\}/g, (_, i) => String(numbers[i])));
  return { ...answer, numbers, words };
}

/** Pairs of old and new centres, the nearest first; what is left takes the free numbers in order. */
export function matched(centres, old, oldNumbers) {
  const pairs = centres.flatMap(([x, y], i) => old.map(([u, v], j) => [Math.hypot(x - u, (y ?? 0) - (v ?? 0)), i, j]));
  pairs.sort((a, b) => a[0] - b[0]);
  const numbers = new Array(centres.length).fill(0);
  const taken = new Set();
  for (const [, i, j] of pairs) {
    if (numbers[i] || taken.has(oldNumbers[j]) || oldNumbers[j] > centres.length) continue;
    numbers[i] = oldNumbers[j];
    taken.add(oldNumbers[j]);
  }
  let next = 1;
  return numbers.map((number) => {
    if (number) return number;
    while (taken.has(next)) next += 1;
    taken.add(next);
    return next;
  });
}
