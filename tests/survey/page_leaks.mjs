// The page's own code from the answers to what is sent and kept, followed through every draw it could make.
import { webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";

globalThis.crypto ??= webcrypto;
const stored = new Map();
globalThis.localStorage = {
  getItem: (name) => stored.get(name) ?? null,
  setItem: (name, value) => void stored.set(name, String(value)),
  removeItem: (name) => void stored.delete(name),
};
const { examine } = await import("../../src/tacit/survey/static/checks.js");
const { addSending, sendingOf } = await import("../../src/tacit/survey/static/ledger.js");
const { drawReport } = await import("../../src/tacit/survey/static/report.js");

const ONE = 2 ** 32;
const MOST_PATHS = 600;

// Draws that replay one path and note the choices along it.
class Path {
  constructor(prefix) {
    this.prefix = prefix;
    this.steps = [];
  }

  take(chances) {
    const chosen = this.prefix[this.steps.length] ?? chances.findIndex((chance) => chance > 0);
    this.steps.push({ chosen, chances });
    return chosen;
  }

  coin(low, high) {
    const heads = (low + high) / (2 * ONE);
    return this.take([heads, 1 - heads]) === 0;
  }

  below(bound) {
    return this.take(new Array(bound).fill(1 / bound));
  }

  choose(weights) {
    return this.take(weights.map((weight) => weight / ONE));
  }

  get probability() {
    return this.steps.reduce((product, { chosen, chances }) => product * chances[chosen], 1);
  }

  // The choices that lead to the next unvisited branch, or null after the last.
  next() {
    for (let depth = this.steps.length - 1; depth >= 0; depth -= 1) {
      const { chosen, chances } = this.steps[depth];
      const after = chances.findIndex((chance, index) => index > chosen && chance > 0);
      if (after >= 0) return [...this.steps.slice(0, depth).map((step) => step.chosen), after];
    }
    return null;
  }
}

// The chance of everything that one person's device could send and keep; `leak` is a mistake to be noticed.
async function lawOf(definition, whole, person, leak) {
  const law = {};
  let prefix = [];
  let paths = 0;
  while (prefix !== null) {
    if ((paths += 1) > MOST_PATHS) return null;
    stored.clear();
    const draws = new Path(prefix);
    const deal = person.deal ?? 0;
    const made = drawReport(definition, { ...person, deal }, draws);
    const kept = addSending([], await sendingOf(definition, whole, deal));
    const sent = JSON.stringify([made.text, kept, [...stored].sort(), leak === "length" ? JSON.stringify(person.answers).length : 0]);
    law[sent] = (law[sent] ?? 0) + draws.probability;
    prefix = draws.next();
  }
  return law;
}

const finite = (number) => (Number.isFinite(number) ? number : null);
const { cases, leak } = JSON.parse(readFileSync(0, "utf8"));
const found = [];
for (const { definition, people } of cases) {
  const { objections, whole } = examine(definition);
  if (objections.length > 0) {
    found.push({ objections });
    continue;
  }
  const laws = [];
  for (const person of people) laws.push(await lawOf(definition, whole, person, leak));
  const worst = Object.assign({}, ...whole.deals.flatMap(({ blocks }) => blocks.map((block) => block.worst)));
  found.push(laws.includes(null) ? { large: true } : { laws, worst, gamma: finite(whole.gamma) });
}
console.log(JSON.stringify(found));
