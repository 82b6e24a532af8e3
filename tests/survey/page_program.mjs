// Programs as the page runs and measures them.
import { readFileSync } from "node:fs";
import { WordDraws, amplification, compile, law, split, worstAnswers } from "../../src/tacit/survey/static/program.js";

const finite = (number) => (Number.isFinite(number) ? number : null);

// Reports drawn from given words, and how many of them were used.
function drawn(node, words) {
  let used = 0;
  const draws = new WordDraws(() => words[used++ % words.length]);
  return Array.from({ length: node.size }, (_, number) => ({ report: node.run(split(number, node.radices), draws), used }));
}

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

function sampled(node, draws, seed) {
  return Array.from({ length: node.size }, (_, truth) => {
    const source = new WordDraws(generator(seed + truth));
    const counts = {};
    const digits = split(truth, node.radices);
    for (let index = 0; index < draws; index += 1) {
      const key = node.run(digits, source).join(",");
      counts[key] = (counts[key] ?? 0) + 1;
    }
    return counts;
  });
}

const tasks = {
  sample: ({ cases, draws, seed }) => cases.map(({ program, radices }) => sampled(compile(program, radices), draws, seed)),
  law: ({ cases }) =>
    cases.map(({ program, radices }) => {
      const node = compile(program, radices);
      const rows = law(node).map(({ digits, chances }) => ({ digits, chances: [...chances] }));
      return { shape: node.shape, rows, amplification: finite(amplification(node)), worst: worstAnswers(node) };
    }),
  figures: ({ cases }) =>
    cases.map(({ program, radices }) => {
      const node = compile(program, radices);
      return { amplification: finite(amplification(node)), worst: worstAnswers(node) };
    }),
  run: ({ cases, words }) => cases.map(({ program, radices }) => drawn(compile(program, radices), words)),
  refusals: ({ cases }) =>
    cases.map(({ program, radices }) => {
      try {
        amplification(compile(program, radices));
        return null;
      } catch (error) {
        return error.constructor.name;
      }
    }),
};
const { task, ...given } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(tasks[task](given)));
