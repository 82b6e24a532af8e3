// The disguise. True answers come in as codes and stay on this page; what is returned is the report that may be sent.
//
// disguise(group, truth, coins) -> digits. `group` is {sizes, channel}: the number of answers of each attribute and the
// channel as written in the scheme document. `truth` holds one code per attribute. A report is a list of small numbers
// ("digits"), always as many as `radices(group)`.

import { below, integerWeights, nearest } from "./coins.js";

const product = (sizes) => sizes.reduce((all, size) => all * size, 1);

export function jointCode(codes, sizes) {
  return codes.reduce((joint, code, index) => joint * sizes[index] + code, 0);
}

export function splitCode(joint, sizes) {
  const codes = new Array(sizes.length);
  for (let index = sizes.length - 1; index >= 0; index -= 1) {
    codes[index] = joint % sizes[index];
    joint = Math.floor(joint / sizes[index]);
  }
  return codes;
}

function otherThan(code, size, coins) {
  const drawn = coins.below(size - 1);
  return drawn >= code ? drawn + 1 : drawn;
}

function uniformRecord(sizes, coins) {
  return sizes.map((size) => coins.below(size));
}

function personalRecord(personal, sizes, coins) {
  if (personal === undefined || personal === "uniform") return uniformRecord(sizes, coins);
  if (!Array.isArray(personal[0])) return splitCode(coins.choose(integerWeights(personal)), sizes);
  if (personal.length === sizes.length) return personal.map((chances) => coins.choose(integerWeights(chances)));
  throw new RangeError("personal must be one distribution per attribute, or one over the joint answers");
}

function keepOr(numerator, truth, coins, otherwise) {
  return coins.chance(numerator) ? [...truth] : otherwise();
}

// Truth with the given chance, else a uniform other record.
function warner(numerator, spread, { sizes }, truth, coins) {
  if (coins.chance(numerator, spread)) return [...truth];
  return splitCode(otherThan(jointCode(truth, sizes), product(sizes), coins), sizes);
}

function matrixReport({ sizes, channel }, truth, coins) {
  const column = channel.matrix.map((row) => row[jointCode(truth, sizes)]);
  const report = coins.choose(integerWeights(column));
  return channel.reports ? [report] : splitCode(report, sizes);
}

function oneHot(truth, sizes) {
  return sizes.flatMap((size, index) => Array.from({ length: size }, (_, answer) => (answer === truth[index] ? 1 : 0)));
}

function mask({ sizes, channel }, truth, coins) {
  const keep = nearest(channel.p);
  return oneHot(truth, sizes).map((bit) => (coins.chance(keep) ? bit : 1 - bit));
}

// Which of `count` things are in an evenly drawn set of `wanted`, deciding one after the other.
function evenSet(count, wanted, coins) {
  const members = [];
  for (let index = 0; index < count; index += 1) {
    const missing = wanted - members.length;
    if (missing > 0 && (missing === count - index || coins.odds(missing, count - index))) members.push(index);
  }
  return members;
}

function cutAndPaste({ sizes, channel }, truth, coins) {
  const kept = new Set(evenSet(sizes.length, Math.min(coins.below(channel.K + 1), sizes.length), coins));
  const enter = nearest(channel.rho);
  return sizes.flatMap((size, index) =>
    Array.from({ length: size }, (_, answer) => {
      if (answer === truth[index] && kept.has(index)) return 1;
      return coins.chance(enter) ? 1 : 0;
    }),
  );
}

function subset({ sizes, channel: { size, gamma } }, truth, coins) {
  const n = product(sizes);
  const own = jointCode(truth, sizes);
  const holds = coins.chance(below((gamma * size) / (gamma * size + n - size)));
  const others = evenSet(n - 1, holds ? size - 1 : size, coins).map((index) => (index >= own ? index + 1 : index));
  return (holds ? [...others, own] : others).sort((a, b) => a - b);
}

const SAMPLERS = {
  warner: (group, truth, coins) => warner(nearest(group.channel.p), 0, group, truth, coins),
  "uniform-perturbation": (group, truth, coins) =>
    keepOr(nearest(group.channel.q), truth, coins, () => uniformRecord(group.sizes, coins)),
  mixture: (group, truth, coins) =>
    keepOr(nearest(group.channel.keep), truth, coins, () => personalRecord(group.channel.personal, group.sizes, coins)),
  "gamma-diagonal": (group, truth, coins) => {
    const { gamma } = group.channel;
    const keep = below((gamma - 1) / (gamma + product(group.sizes) - 1));
    return keepOr(keep, truth, coins, () => uniformRecord(group.sizes, coins));
  },
  flip: (group, truth, coins) =>
    keepOr(nearest(group.channel.theta), truth, coins, () => truth.map((code) => 1 - code)),
  "randomized-gamma-diagonal": (group, truth, coins) => {
    const { gamma, alpha } = group.channel;
    return warner(below(gamma / (gamma + product(group.sizes) - 1)), below(alpha), group, truth, coins);
  },
  matrix: matrixReport,
  mask,
  "cut-and-paste": cutAndPaste,
  subset,
};

export const KINDS = Object.keys(SAMPLERS);

function samplerOf(kind) {
  if (!Object.hasOwn(SAMPLERS, kind)) throw new RangeError(`This page cannot disguise with a channel of kind "${kind}".`);
  return SAMPLERS[kind];
}

export function disguise(group, truth, coins) {
  return samplerOf(group.channel.kind)(group, truth, coins);
}

// Unrelated question that was really asked: the coin chooses whose answer is sent, and nothing else is drawn.
export function disguiseWithHarmless(group, truth, harmless, coins) {
  return keepOr(nearest(group.channel.keep), truth, coins, () => [...harmless]);
}

// How many values each digit of a report can take: the fixed shape of what is sent.
export function radices({ sizes, channel }) {
  samplerOf(channel.kind);
  if (channel.kind === "mask" || channel.kind === "cut-and-paste") return new Array(sizes.reduce((a, b) => a + b)).fill(2);
  if (channel.kind === "subset") return new Array(channel.size).fill(product(sizes));
  if (channel.kind === "matrix" && channel.reports) return [channel.reports.length];
  return sizes;
}
