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
const { Path } = await import("./page_paths.mjs");
const { examine } = await import("../../src/tacit/survey/static/checks.js");
const { addSending, sendingOf } = await import("../../src/tacit/survey/static/ledger.js");
const { drawReport } = await import("../../src/tacit/survey/static/report.js");

const MOST_PATHS = 600;

// The chance of everything that one person's device could send and keep; `leak` is a mistake to be noticed.
async function lawOf(definition, whole, person, leak) {
  const law = {};
  let prefix = [];
  let paths = 0;
  const deal = person.deal ?? 0;
  const sending = await sendingOf(definition, whole, deal);  // takes neither answers nor draws
  while (prefix !== null) {
    if ((paths += 1) > MOST_PATHS) return null;
    stored.clear();
    const draws = new Path(prefix);
    const made = drawReport(definition, { ...person, deal }, draws);
    const kept = addSending([], sending);
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
