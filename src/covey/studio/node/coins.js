// Chances that are never above what is promised, in whole numbers, and the words that are drawn once for every row.

const BITS = 256n;
const ALWAYS = 1n << 64n; // of 2^64 words, all keep a row

/** The exact decimal number that a text stands for, as [above, below]; null where that is no epsilon. */
export function decimal(text) {
  const found = /^\s*\+?(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,3}))?\s*$/.exec(text);
  const value = Number(text);
  if (!found || !(value >= 1e-6 && value <= 1e4)) return null;
  const [, whole, rest, power] = found;
  const shift = Number(power ?? 0) - rest.length;
  return shift < 0 ? [BigInt(whole + rest), 10n ** BigInt(-shift)] : [BigInt(whole + rest) * 10n ** BigInt(shift), 1n];
}

/** Two whole numbers around 2^256(e^x - 1): the series of e^x, every term rounded down in one and up in the other. */
function growth([above, below]) {
  const one = 1n << BITS;
  const x = [(above * one) / below, (above * one) / below + 1n];
  const sums = [0n, 0n];
  const terms = [one, one];
  for (let n = 1n; ; n += 1n) {
    terms[0] = (terms[0] * x[0]) / (n * one);
    terms[1] = (terms[1] * x[1]) / (n * one) + 1n;
    sums[0] += terms[0];
    sums[1] += terms[1];
    // From here on every term is less than half of the one before, up to the last digit: the rest is below two of this one.
    if (n * one > 4n * x[1] && terms[0] === 0n) return [sums[0], sums[1] + 2n * terms[1]];
  }
}

/** How many of 2^64 words keep a row: at most 2^64(e^zone - 1)/(e^whole - 1). Zone and whole as `decimal` gives them. */
export function keeping(zone, whole) {
  if (zone[0] * whole[1] >= whole[0] * zone[1]) throw new RangeError("a zone is stricter than the releases");
  return (growth(zone)[0] * ALWAYS) / growth(whole)[1];
}

/** One word of 64 bits for each row, from the generator that keys are made with. */
export function drawWords(count) {
  const words = new BigUint64Array(count);
  for (let start = 0; start < count; start += 8192) crypto.getRandomValues(words.subarray(start, start + 8192)); // 2^16 bytes at most
  return words;
}

/** The epsilon of a row that so many words keep, if that of all releases together is `total`. */
export function promised(words, total) {
  const rate = Number(words) / 2 ** 64;
  return total < 700 ? Math.log1p(rate * Math.expm1(total)) : total + Math.log(rate);
}
