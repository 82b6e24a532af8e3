// What one person has sent from this device, question by question, and what it comes to with this survey (FORMULAS 17). Every
// sending is drawn anew and counted; nothing that was sent is kept.

import { keyOf, sha256 } from "./canonical.js";
import { boundedGamma, GAMMA_CAP, overWaves, ROUNDING, seriesCap, WHOLE_CAP } from "./checks.js";
import { plainText, wholeText } from "./questionnaire.js";

const KEY_DIGITS = 32;

const hashOf = async (...parts) => (await sha256(keyOf(...parts))).slice(0, KEY_DIGITS);

// The keys of what a block asks, one for each language: a question, or an option of one. Whoever asks the same under another
// name, in another survey, with other answers or another disguise asks it again: none of these is in the key.
export async function questionKeys({ languages }, { questions, groups }) {
  const own = new Set(groups.flatMap(({ names }) => names));
  const asked = questions.flatMap((one) => one.attributes.filter(({ attribute }) => own.has(attribute)).map(({ option }) => [one, option]));
  const keys = asked.flatMap(([one, option]) => languages.map((language) => questionKey(one, option, language)));
  return [...new Set(await Promise.all(keys))].sort();
}

async function questionKey(question, option, language) {
  const key = await hashOf("question", plainText(wholeText(question, language)));
  if (option === null) return key;
  return `${key}.${await hashOf("option", plainText(question.answers.find(({ name }) => name === option).text[language]))}`;
}

// A question is asked again with any of its options, and an option with its question.
const isSameKey = (one, other) => one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);

// What a report of one version adds to its person's entry: [{asked, gamma}], a block each. The first wave of a series counts
// for all of them, so that the later ones add nothing.
export function sendingOf(definition, { deals, second }, deal, isCounted = false) {
  const gammaOf = ({ gamma }) => (isCounted ? 1 : overWaves(definition, gamma * second));
  return Promise.all(deals[deal].blocks.map(async (block) => ({ asked: await questionKeys(definition, block), gamma: gammaOf(block) })));
}

const product = (one, other) => one * other;
const boundOf = ({ gamma }) => gamma ?? Infinity;

// An entry with one sending more. Amplifications of one person multiply; `join` is Math.max where the entry is that of many,
// of whom nobody sent both.
export function addSending(sent, sending, join = product) {
  const all = sent.map((one) => ({ ...one }));
  for (const { asked, gamma } of sending) {
    let entry = all.find((one) => keyOf(one.asked) === keyOf(asked));
    if (!entry) all.push((entry = { asked, gamma: 1, times: 0 }));
    const together = join(boundOf(entry), gamma);
    Object.assign(entry, { gamma: Number.isFinite(together) ? together : null, times: join === product ? entry.times + 1 : Math.max(entry.times, 1) });
  }
  return all;
}

// What this survey would bring a person's sendings to: how many of its questions were answered before, the most that all
// answers to one of them tell together, with the questions that would pass the cap, and everything that was sent from here.
export async function standingOf(definition, whole, { sent }, isCounted = false) {
  const own = (gamma) => (isCounted ? 1 : overWaves(definition, gamma * whole.second));
  const standing = { repeated: new Set(), gamma: 1, beyond: new Set(), cap: Math.max(GAMMA_CAP, seriesCap(definition)), n: sent.reduce((all, { times }) => all + times, 0) };
  for (const block of whole.deals.flatMap(({ blocks }) => blocks)) {
    const asked = await questionKeys(definition, block);
    const earlier = sent.filter((one) => one.asked.some((key) => asked.some((other) => isSameKey(key, other))));
    if (earlier.length === 0) continue;
    const gamma = earlier.map(boundOf).reduce(product, own(block.gamma));
    block.questions.forEach((one) => standing.repeated.add(one));
    standing.gamma = Math.max(standing.gamma, gamma);
    if (gamma > standing.cap * (1 + ROUNDING)) block.questions.forEach((one) => standing.beyond.add(one));
  }
  const all = sent.map(boundOf).filter(Number.isFinite).reduce(product, own(boundedGamma(whole.deals)));
  return { ...standing, all, isRefused: standing.beyond.size > 0 || all > WHOLE_CAP * (1 + ROUNDING) };
}
