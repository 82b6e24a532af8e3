// Reads groups as JSON from standard input and prints what the page's own modules make of them.
import { readFileSync } from "node:fs";
import { Coins, everyOutcome, integerWeights } from "../../src/tacit/survey/static/coins.js";
import { disguise, radices, splitCode } from "../../src/tacit/survey/static/disguise.js";
import { amplification, law, worstPosterior } from "../../src/tacit/survey/static/law.js";

// A fixed generator (SplitMix32), so that a failure can be looked at again.
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let word = state;
    word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
    word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
    return (word ^ (word >>> 15)) >>> 0;
  };
}

function sampled(group, draws, seed) {
  const truths = group.sizes.reduce((all, size) => all * size, 1);
  return Array.from({ length: truths }, (_, truth) => {
    const coins = new Coins(generator(seed + truth));
    const counts = {};
    const codes = splitCode(truth, group.sizes);
    for (let index = 0; index < draws; index += 1) {
      const key = disguise(group, codes, coins).join(",");
      counts[key] = (counts[key] ?? 0) + 1;
    }
    return counts;
  });
}

// Every sequence of words of a small alphabet, to see the coins themselves: only words of `bits` bits, scaled up.
function smallWords(bits, length, use) {
  const results = [];
  for (let index = 0; index < 2 ** (bits * length); index += 1) {
    let rest = index;
    const words = Array.from({ length }, () => {
      const word = rest % 2 ** bits;
      rest = Math.floor(rest / 2 ** bits);
      return word * 2 ** (32 - bits);
    });
    results.push(use(new Coins(() => words.shift())));
  }
  return results;
}

const { task, ...given } = JSON.parse(readFileSync(0, "utf8"));
const tasks = {
  law: ({ groups }) =>
    groups.map((group) => ({
      radices: radices(group),
      rows: law(group).map(({ digits, chances }) => ({ digits, chances: [...chances] })),
      amplification: Number.isFinite(amplification(group)) ? amplification(group) : null,
      worst: worstPosterior(group, group.prior ?? null),
    })),
  sample: ({ groups, draws, seed }) => groups.map((group) => sampled(group, draws, seed)),
  chance: ({ bits, numerator }) => smallWords(bits, 1, (coins) => coins.chance(numerator)).filter(Boolean).length,
  below: ({ n, words }) => {
    const left = [...words];
    return { value: new Coins(() => left.shift()).below(n), used: words.length - left.length };
  },
  choose: ({ weights, words }) => words.map((word) => new Coins(() => word).choose(weights)),
  weights: ({ chances }) => chances.map(integerWeights),
  spread: ({ numerator, spread }) => {
    const heads = everyOutcome((coins) => coins.chance(numerator, spread));
    return [...heads].map(({ outcome, probability }) => [outcome, probability]);
  },
};
console.log(JSON.stringify(tasks[task](given)));
