// The page's own code on one device after the other: what is drawn, and what the device counts.
import { readFileSync } from "node:fs";

globalThis.localStorage = { getItem: () => null, setItem: () => {}, removeItem: () => {} };
const { examine } = await import("../../src/tacit/survey/static/checks.js");
const { addSending, questionKeys, sendingOf, standingOf } = await import("../../src/tacit/survey/static/ledger.js");
const { WordDraws } = await import("../../src/tacit/survey/static/program.js");
const { drawReport } = await import("../../src/tacit/survey/static/report.js");

// A generator with a seed (a counter, mixed), so that a failure can be seen again.
function words(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
}

const finite = (number) => (Number.isFinite(number) ? number : null);

const tasks = {
  // Reports of devices that answer one survey after the other, each with the answers of then.
  reports({ waves, devices, seed }) {
    const draws = new WordDraws(words(seed));
    return Array.from({ length: devices }, () => waves.map(({ definition, answers }) => drawReport(definition, { answers, harmless: {} }, draws).text));
  },
  keys: ({ definitions }) =>
    Promise.all(definitions.map(async (definition) => Promise.all(examine(definition).whole.deals[0].blocks.map((block) => questionKeys(definition, block))))),
  // What a person's sendings come to, one definition after the other.
  async standings({ definitions, join }) {
    let sent = [];
    const found = [];
    const counted = new Set();
    for (const definition of definitions) {
      const { whole } = examine(definition);
      const isCounted = counted.has(definition.series);
      const { repeated, beyond, gamma, all, n, isRefused } = await standingOf(definition, whole, { sent }, isCounted);
      found.push({ repeated: [...repeated].map(({ name }) => name), beyond: [...beyond].map(({ name }) => name), gamma: finite(gamma), all: finite(all), n, isRefused });
      sent = addSending(sent, await sendingOf(definition, whole, 0, isCounted), join === "max" ? Math.max : undefined);
      if (definition.series) counted.add(definition.series);
    }
    return found;
  },
};

const { task, ...given } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(await tasks[task](given)));
