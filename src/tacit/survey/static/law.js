// What a group's channel does, found by following every branch of the very sampler that will disguise: the label and the
// refusal below can therefore not disagree with what is sent.

import { everyOutcome } from "./coins.js";
import { disguise, splitCode } from "./disguise.js";

// Written here and not in any scheme: the page refuses whatever would let someone be surer than this of an answer.
export const POSTERIOR_CAP = 0.95;
const ROUNDING = 1e-9;

const known = new Map();

// {digits, chances} for every possible report, chances[u] being the chance of it when joint answer u is true.
export function law(group) {
  const name = JSON.stringify([group.sizes, group.channel]);
  if (!known.has(name)) known.set(name, enumerate(group));
  return known.get(name);
}

function enumerate(group) {
  const truths = group.sizes.reduce((all, size) => all * size, 1);
  const rows = new Map();
  for (let truth = 0; truth < truths; truth += 1) {
    const codes = splitCode(truth, group.sizes);
    for (const { outcome, probability } of everyOutcome((coins) => disguise(group, codes, coins))) {
      const key = outcome.join(",");
      if (!rows.has(key)) rows.set(key, { digits: outcome, chances: new Float64Array(truths) });
      rows.get(key).chances[truth] += probability;
    }
  }
  return [...rows.values()];
}

// Largest ratio of two chances of one report: what it can do to anybody's odds, whatever they believed before.
export function amplification(group) {
  let worst = 1;
  for (const { chances } of law(group)) {
    const high = Math.max(...chances);
    const low = Math.min(...chances);
    worst = Math.max(worst, low > 0 ? high / low : high > 0 ? Infinity : 1);
  }
  return worst;
}

// How sure the best guesser can become of a single answer, from the least lucky report.
export function worstPosterior(group, prior) {
  let worst = 0;
  for (const { chances } of law(group)) {
    const joint = Array.from(chances, (chance, truth) => chance * (prior ? prior[truth] : 1));
    const total = joint.reduce((sum, weight) => sum + weight, 0);
    if (total > 0) worst = Math.max(worst, Math.max(...answerWeights(joint, group.sizes)) / total);
  }
  return worst;
}

function answerWeights(joint, sizes) {
  const weights = sizes.map((size) => new Float64Array(size));
  joint.forEach((weight, truth) => splitCode(truth, sizes).forEach((code, axis) => (weights[axis][code] += weight)));
  return weights.flatMap((axis) => [...axis]);
}

// Why the page will not ask under this scheme; an empty list when it may.
export function objections(groups, allowUnbounded) {
  const reasons = [];
  for (const group of groups) {
    const sure = worstPosterior(group, group.prior);
    const names = group.names.join(", ");
    if (sure > POSTERIOR_CAP + ROUNDING) reasons.push({ reason: "unprotected", names, percent: Math.ceil(sure * 1000) / 10 });
    if (!allowUnbounded && amplification(group) === Infinity) reasons.push({ reason: "unbounded", names });
  }
  return reasons;
}

// Chance that answer `sent` of attribute `axis` is shown when its true answer is `truth`, the group's others even.
export function shownChance(group, axis, truth, sent) {
  let chance = 0;
  let truths = 0;
  const total = group.sizes.reduce((all, size) => all * size, 1);
  for (let joint = 0; joint < total; joint += 1) {
    if (splitCode(joint, group.sizes)[axis] !== truth) continue;
    truths += 1;
    for (const { digits, chances } of law(group)) if (digits[axis] === sent) chance += chances[joint];
  }
  return chance / truths;
}
