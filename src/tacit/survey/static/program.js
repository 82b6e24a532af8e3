// The disguise is data. A program is a small tree of whole numbers that comes with the questionnaire; this file runs it and
// works out its law, and knows nothing else. The truth is a list of digits with their radices (how many values each can
// take), a report is a list of digits, and chances are whole numbers over 2^32, so that what is drawn is exactly what is said.

export const ONE = 2 ** 32;
const DEEPEST = 32;
const SEED_WORD = 32;
// Up to this many chances a law is written out; beyond, its extremes follow from its nodes.
export const LISTED = 2 ** 16;

export class BadProgram extends Error {}

function expect(holds, rule) {
  if (!holds) throw new BadProgram(rule);
}

const isCount = (value, least, most) => Number.isInteger(value) && value >= least && value <= most;
const isChance = (value) => isCount(value, 0, ONE);
const isPower = (value) => isCount(value, 2, ONE) && Number.isInteger(Math.log2(value));
const isPair = (value) => Array.isArray(value) && value.length === 2;
const product = (numbers) => numbers.reduce((all, one) => all * one, 1);
const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
const replaced = (list, at, value) => list.map((one, index) => (index === at ? value : one));
const same = (a, b) => a.length === b.length && a.every((one, index) => one === b[index]);

export const joint = (digits, radices) => digits.reduce((number, digit, index) => number * radices[index] + digit, 0);

export function split(number, radices) {
  const digits = new Array(radices.length);
  for (let index = radices.length - 1; index >= 0; index -= 1) {
    digits[index] = number % radices[index];
    number = Math.floor(number / radices[index]);
  }
  return digits;
}

export function* everyDigits(radices) {
  const total = product(radices);
  for (let number = 0; number < total; number += 1) yield split(number, radices);
}

function* combinations(count, wanted, start = 0) {
  if (wanted === 0) yield [];
  else for (let first = start; first <= count - wanted; first += 1) for (const rest of combinations(count, wanted - 1, first + 1)) yield [first, ...rest];
}

export function choose(n, k) {
  let value = 1;
  for (let index = 1; index <= k; index += 1) value = (value * (n - k + index)) / index;
  return value;
}

// Draws made of 32-bit words.
export class WordDraws {
  constructor(nextWord) {
    this.nextWord = nextWord;
  }

  // Heads with a chance over 2^32 that is itself drawn evenly from low to high.
  coin(low, high) {
    const numerator = low + (high > low ? this.below(high - low + 1) : 0);
    return this.nextWord() < numerator;
  }

  // A number from 0 to bound - 1, each exactly as likely: words beyond the last full multiple are drawn again.
  below(bound) {
    if (bound === 1) return 0;
    const limit = ONE - (ONE % bound);
    let word = this.nextWord();
    while (word >= limit) word = this.nextWord();
    return word % bound;
  }

  // Index i with chance weights[i] / 2^32.
  choose(weights) {
    let rest = this.nextWord();
    return weights.findIndex((weight) => (rest -= weight) < 0);
  }
}

// An evenly drawn set of `wanted` of `count` things, ascending: each decided after the other.
function evenSet(count, wanted, draws) {
  const members = [];
  for (let index = 0; index < count; index += 1) {
    const missing = wanted - members.length;
    if (missing > 0 && (missing === count - index || draws.below(count - index) < missing)) members.push(index);
  }
  return members;
}

// Every node: {radices, size, shape (the radices of its reports), count (of possible reports), run, chance, reports}.
function plain(node) {
  return { count: product(node.shape), reports: () => everyDigits(node.shape), ...node };
}

const NODES = {
  same: (_, radices) => plain({ name: "same", shape: radices, run: (truth) => truth, chance: (truth, report) => (same(truth, report) ? 1 : 0) }),

  reverse: (_, radices) => {
    const run = (truth) => truth.map((digit, index) => radices[index] - 1 - digit);
    return plain({ name: "reverse", shape: radices, run, chance: (truth, report) => (same(run(truth), report) ? 1 : 0) });
  },

  even: ({ even }, radices) => {
    const size = product(radices);
    if (even === "any") return plain({ name: "any", shape: radices, run: (_, draws) => radices.map((radix) => draws.below(radix)), chance: () => 1 / size, least: 1 / size });
    expect(even === "other" && size > 1 && size <= ONE, "even");
    const run = (truth, draws) => {
      const drawn = draws.below(size - 1);
      return split(drawn >= joint(truth, radices) ? drawn + 1 : drawn, radices);
    };
    return plain({ name: "other", shape: radices, run, chance: (truth, report) => (same(truth, report) ? 0 : 1 / (size - 1)) });
  },

  toss: ({ toss, heads, tails }, radices, depth) => {
    const [low, high] = Array.isArray(toss) ? toss : [toss, toss];
    expect(isChance(low) && isChance(high) && low <= high && high - low < ONE && (!Array.isArray(toss) || toss.length === 2), "toss");
    const [one, other] = [heads, tails].map((part) => compile(part, radices, depth + 1));
    expect(same(one.shape, other.shape), "toss");
    const weight = (low + high) / (2 * ONE);
    return {
      name: "toss",
      shape: one.shape,
      count: Math.max(one.count, other.count),
      parts: [[weight, one], [1 - weight, other]],
      run: (truth, draws) => (draws.coin(low, high) ? one : other).run(truth, draws),
      chance: (truth, report) => weight * one.chance(truth, report) + (1 - weight) * other.chance(truth, report),
      reports: () => {
        const found = new Map();
        for (const part of [one, other]) for (const report of part.reports()) found.set(report.join(), report);
        return found.values();
      },
    };
  },

  weigh: ({ weigh, into, asked = 0 }, radices) => {
    checkRadices(into);
    const byTruth = Array.isArray(weigh?.[0]);
    const lists = byTruth ? weigh : [weigh];
    const total = product(into);
    expect(!byTruth || (weigh.length === product(radices) && asked === 0), "weigh");
    for (const list of lists) expect(Array.isArray(list) && list.length === total && list.every(isChance) && sum(list) === ONE, "weigh");
    expect(asked === 0 || asked === 1, "weigh");
    const weights = (truth) => (byTruth ? lists[joint(truth, radices)] : lists[0]);
    return plain({
      name: "weigh",
      shape: into,
      lists,
      byTruth,
      least: byTruth ? undefined : Math.min(...lists[0]) / ONE,
      // Where a harmless question was really asked, its answer stands in for the draw.
      run: (truth, draws, harmless) => (asked && harmless ? harmless : split(draws.choose(weights(truth)), into)),
      chance: (truth, report) => weights(truth)[joint(report, into)] / ONE,
    });
  },

  each: ({ each }, radices, depth) => {
    expect(Array.isArray(each) && each.length > 0 && each.every((part) => isPair(part) && Array.isArray(part[0]) && part[0].length > 0), "each");
    const positions = each.flatMap(([where]) => where).sort((a, b) => a - b);
    expect(same(positions, radices.map((_, index) => index)), "each");
    const parts = each.map(([where, part]) => ({ where, node: compile(part, where.map((at) => radices[at]), depth + 1) }));
    const ends = parts.map(({ node }) => node.shape.length);
    const slices = (report) => parts.map((_, index) => report.slice(sum(ends.slice(0, index)), sum(ends.slice(0, index + 1))));
    const leasts = parts.map(({ node }) => node.least);
    return {
      name: "each",
      shape: parts.flatMap(({ node }) => node.shape),
      count: product(parts.map(({ node }) => node.count)),
      parts,
      least: leasts.includes(undefined) ? undefined : product(leasts),
      run: (truth, draws) => parts.flatMap(({ where, node }) => node.run(where.map((at) => truth[at]), draws)),
      chance: (truth, report) => {
        const pieces = slices(report);
        return product(parts.map(({ where, node }, index) => node.chance(where.map((at) => truth[at]), pieces[index])));
      },
      reports: () => parts.reduce((all, { node }) => all.flatMap((head) => [...node.reports()].map((tail) => [...head, ...tail])), [[]]),
    };
  },

  bits: ({ bits }, radices) => {
    expect(isPair(bits) && bits.every(isChance), "bits");
    const [own, foreign] = bits;
    const numerators = (truth) => truth.flatMap((digit, index) => Array.from({ length: radices[index] }, (_, answer) => (answer === digit ? own : foreign)));
    return plain({
      name: "bits",
      own,
      foreign,
      shape: new Array(sum(radices)).fill(2),
      run: (truth, draws) => numerators(truth).map((numerator) => (draws.coin(numerator, numerator) ? 1 : 0)),
      chance: (truth, report) => product(numerators(truth).map((numerator, index) => (report[index] ? numerator : ONE - numerator) / ONE)),
    });
  },

  some: ({ some, kept, others }, radices, depth) => {
    expect(isCount(some, 1, ONE), "some");
    const [stay, leave] = [kept, others].map((part) => radices.map((radix) => compile(part, [radix], depth + 1)));
    expect(stay.every((node, index) => same(node.shape, leave[index].shape)), "some");
    const count = radices.length;
    const sizes = Array.from({ length: count + 1 }, (_, w) => (w < count ? (w < some ? 1 / some : 0) : Math.max(0, 1 - count / some)));
    return plain({
      name: "some",
      kept: stay[0],
      others: leave[0],
      sizes,
      shape: stay.flatMap((node) => node.shape),
      run: (truth, draws) => {
        const chosen = new Set(evenSet(count, Math.min(draws.below(some), count), draws));
        return truth.flatMap((digit, index) => (chosen.has(index) ? stay : leave)[index].run([digit], draws));
      },
      chance: (truth, report) => {
        let start = 0;
        const factors = truth.map((digit, index) => {
          const shown = report.slice(start, (start += stay[index].shape.length));
          return [leave[index].chance([digit], shown), stay[index].chance([digit], shown)];
        });
        return keptMean(sizes, factors);
      },
    });
  },

  subset: ({ subset }, radices) => {
    const size = product(radices);
    expect(isPair(subset) && isCount(subset[0], 1, size - 1) && isCount(subset[1], 0, 1), "subset");
    const [members, holds] = subset;
    const chance = 1 / choose(size - 1, members - holds);
    return {
      name: "subset",
      members,
      holds,
      shape: new Array(members).fill(size),
      count: choose(size, members),
      run: (truth, draws) => {
        const own = joint(truth, radices);
        const others = evenSet(size - 1, members - holds, draws).map((index) => (index >= own ? index + 1 : index));
        return (holds ? [...others, own] : others).sort((a, b) => a - b);
      },
      chance: (truth, report) => (report.includes(joint(truth, radices)) === (holds === 1) ? chance : 0),
      reports: () => combinations(size, members),
    };
  },

  half: ({ half }, radices) => {
    expect(isPair(half) && isPower(half[0]) && half[0] > product(radices) && isCount(half[1], 0, 1), "half");
    const [bound, parity] = half;
    return plain({
      name: "half",
      parity,
      shape: [bound],
      run: (truth, draws) => {
        const mask = joint(truth, radices) + 1;
        const drawn = draws.below(bound);
        // Turning one bit of the mask over carries one half onto the other, each number onto exactly one.
        return [parityOf(drawn & mask) === parity ? drawn : (drawn ^ (mask & -mask)) >>> 0];
      },
      chance: (truth, [report]) => (parityOf(report & (joint(truth, radices) + 1)) === parity ? 2 / bound : 0),
    });
  },

  hash: ({ hash, then }, radices, depth) => {
    const { width, buckets } = hash ?? {};
    expect(Object.keys(hash ?? {}).length === 2 && isCount(width, 1, 2 * SEED_WORD) && isPower(buckets), "hash");
    const bits = Math.log2(buckets);
    const least = Math.ceil(Math.log2(product(radices))) + bits - 1;
    expect(width >= Math.max(least, bits), "hash");
    const inner = compile(then, [buckets], depth + 1);
    const number = width > SEED_WORD ? [2 ** (width - SEED_WORD), ONE] : [2 ** width];
    const seeds = [...number, ...number];
    const whole = (digits) => digits.reduce((all, digit, index) => all * BigInt(number[index]) + BigInt(digit), 0n);
    // The top bits of a u + b modulo 2^width.
    const bucket = (truth, seed) => {
      const [factor, shift] = [seed.slice(0, number.length), seed.slice(number.length)].map(whole);
      return Number(BigInt.asUintN(width, factor * BigInt(joint(truth, radices)) + shift) >> BigInt(width - bits));
    };
    return {
      name: "hash",
      then: inner,
      shape: [...inner.shape, ...seeds],
      count: inner.count * product(seeds),
      run: (truth, draws) => {
        const seed = seeds.map((radix) => draws.below(radix));
        return [...inner.run([bucket(truth, seed)], draws), ...seed];
      },
      chance: (truth, report) => inner.chance([bucket(truth, report.slice(inner.shape.length))], report.slice(0, inner.shape.length)) / 2 ** (2 * width),
      *reports() {
        for (const seed of everyDigits(seeds)) for (const shown of inner.reports()) yield [...shown, ...seed];
      },
    };
  },

  above: ({ above: weights, then }, radices, depth) => {
    const gaps = radices[0] - 1;
    expect(radices.length === 1 && Array.isArray(weights) && weights.length === gaps && weights.every((weight) => isCount(weight, 1, ONE)), "above");
    expect(sum(weights) === ONE, "above");
    const inner = compile(then, [2], depth + 1);
    const exceeds = (truth, gap) => [truth[0] > gap ? 1 : 0];
    return {
      name: "above",
      then: inner,
      shape: [gaps, ...inner.shape],
      count: gaps * inner.count,
      run: (truth, draws) => {
        const gap = draws.choose(weights);
        return [gap, ...inner.run(exceeds(truth, gap), draws)];
      },
      chance: (truth, [gap, ...said]) => (weights[gap] / ONE) * inner.chance(exceeds(truth, gap), said),
      *reports() {
        for (let gap = 0; gap < gaps; gap += 1) for (const said of inner.reports()) yield [gap, ...said];
      },
    };
  },

  fill: ({ fill, then }, radices, depth) => {
    expect(Array.isArray(fill) && fill.length === 3 && isCount(fill[0], 0, radices.length - 1), "fill");
    const [position, code, answers] = fill;
    expect(isCount(code, 0, radices[position] - 1) && answers === radices[position] - 1 && answers >= 1, "fill");
    const inner = compile(then, replaced(radices, position, answers), depth + 1);
    const moved = (digit) => (digit > code ? digit - 1 : digit);
    return {
      name: "fill",
      then: inner,
      shape: inner.shape,
      count: inner.count,
      run: (truth, draws) => {
        const shown = truth[position];
        return inner.run(replaced(truth, position, shown === code ? draws.below(answers) : moved(shown)), draws);
      },
      chance: (truth, report) => {
        const shown = truth[position];
        if (shown !== code) return inner.chance(replaced(truth, position, moved(shown)), report);
        return sum(Array.from({ length: answers }, (_, drawn) => inner.chance(replaced(truth, position, drawn), report))) / answers;
      },
      reports: () => inner.reports(),
    };
  },
};

const FIELDS = {
  same: ["same"], reverse: ["reverse"], even: ["even"], toss: ["heads", "tails", "toss"], weigh: ["into", "weigh"], each: ["each"],
  bits: ["bits"], some: ["kept", "others", "some"], subset: ["subset"], half: ["half"], hash: ["hash", "then"],
  above: ["above", "then"], fill: ["fill", "then"],
};

function checkRadices(radices) {
  expect(Array.isArray(radices) && radices.length > 0 && radices.every((radix) => isCount(radix, 1, ONE)), "radices");
}

// A program read for truths of these radices; whatever is none is refused before anything runs.
export function compile(program, radices, depth = 0) {
  expect(program !== null && typeof program === "object" && !Array.isArray(program) && depth < DEEPEST, "node");
  checkRadices(radices);
  const fields = Object.keys(program).filter((name) => name !== "asked" || !("weigh" in program)).sort();
  const name = Object.keys(FIELDS).find((one) => same(FIELDS[one], fields));
  expect(name !== undefined, "node");
  if (name === "same" || name === "reverse") expect(program[name] === 1, name);
  return { radices, size: product(radices), ...NODES[name](program, radices, depth) };
}

function parityOf(number) {
  let bits = number >>> 0;
  for (let shift = 16; shift > 0; shift >>= 1) bits ^= bits >>> shift;
  return bits & 1;
}

// The mean over even sets of kept digits: [chance if another, chance if kept] for each digit.
function keptMean(sizes, factors) {
  let sums = [1];
  for (const [other, kept] of factors) sums = [...sums, 0].map((one, index) => other * one + kept * (sums[index - 1] ?? 0));
  return sum(sizes.map((chance, w) => (chance * sums[w]) / choose(factors.length, w)));
}

export const isListed = (node) => node.count * node.size <= LISTED;

// Every possible report with its chance under each of these truths (all of them, if none are given).
export function law(node, truths = [...everyDigits(node.radices)]) {
  const rows = [];
  for (const digits of node.reports()) {
    const chances = Float64Array.from(truths, (truth) => node.chance(truth, digits));
    if (chances.some((chance) => chance > 0)) rows.push({ digits, chances });
  }
  return rows;
}

export function ratio(chances) {
  let [low, high] = [Infinity, 0];
  for (const chance of chances) {
    if (chance < low) low = chance;
    if (chance > high) high = chance;
  }
  return high === low ? 1 : high / low;
}

// The largest ratio of two chances of one report: what it can do to anybody's odds, whatever they believed before.
export function amplification(node) {
  if (isListed(node)) return law(node).reduce((worst, { chances }) => Math.max(worst, ratio(chances)), 1);
  return closedAmplification(node);
}

function closedAmplification(node) {
  switch (node.name) {
    case "each":
      return product(node.parts.map((part) => closedAmplification(part.node)));
    case "hash":
    case "above":
    case "fill":
      return closedAmplification(node.then);
    case "bits":
      return (ratio([node.own, node.foreign]) * ratio([ONE - node.own, ONE - node.foreign])) ** node.radices.filter((radix) => radix > 1).length;
    case "some":
      return someRatio(node);
    case "weigh":
      return node.byTruth ? node.lists[0].reduce((worst, _, report) => Math.max(worst, ratio(node.lists.map((list) => list[report]))), 1) : 1;
    default:
      return Math.max(...levels(node).map(ratio));
  }
}

const leaves = (node, weight = 1) => (node.name === "toss" ? node.parts.flatMap(([share, part]) => leaves(part, weight * share)) : [[weight, node]]);
const weightOf = (list, wanted) => sum(list.filter(([, leaf]) => wanted(leaf)).map(([weight]) => weight));

// The chances that one report has under different truths; a list for each sort of report that may be worst.
function levels(node) {
  const list = leaves(node);
  const all = (name) => list.every(([, leaf]) => leaf.name === name);
  if (all("subset")) {
    const { members, size } = { ...list[0][1], size: node.size };
    return [[weightOf(list, (leaf) => leaf.holds === 1), (weightOf(list, (leaf) => leaf.holds === 0) * members) / (size - members)]];
  }
  if (all("half")) return [[0, 1].map((parity) => weightOf(list, (leaf) => leaf.parity === parity))];
  return recordLevels(node, list);
}

// The true record, its opposite, and the others.
function recordLevels(node, list) {
  const drawn = list.filter(([, leaf]) => leaf.least !== undefined);
  const uneven = drawn.filter(([, leaf]) => leaf.name !== "any");
  const known = list.filter(([, leaf]) => ["same", "reverse", "any", "other"].includes(leaf.name));
  const reverse = weightOf(list, (leaf) => leaf.name === "reverse");
  expect(known.length + uneven.length === list.length && uneven.length < 2 && !(uneven.length && reverse), "large");
  const other = weightOf(list, (leaf) => leaf.name === "other") / Math.max(node.size - 1, 1);
  const base = sum(drawn.map(([weight, leaf]) => weight * leaf.least)) + other;
  const own = base - other + weightOf(list, (leaf) => leaf.name === "same");
  if (node.size === 1) return [[own]];
  if (reverse === 0) return [[own, base]];
  const usual = node.size > 2 ? [own, base + reverse, base] : [own, base + reverse];
  return node.radices.every((radix) => radix % 2) ? [usual, [own + reverse, base]] : [usual];
}

function someRatio({ kept, others, sizes, radices }) {
  expect(kept.name === "bits" && others.name === "bits" && kept.foreign === others.foreign && radices.every((radix) => radix > 1), "large");
  const { foreign } = kept;
  // Where no digit is ever kept, what would be kept of one does not count.
  const owns = sizes[0] === 1 ? [others.own] : [kept.own, others.own];
  if (foreign === 0 || foreign === ONE) return owns.every((own) => own === foreign) ? 1 : Infinity;
  const ones = [others.own / foreign, kept.own / foreign];
  const zeros = [(ONE - others.own) / (ONE - foreign), (ONE - kept.own) / (ONE - foreign)];
  return ratio(Array.from({ length: radices.length + 1 }, (_, shown) => keptMean(sizes, radices.map((__, index) => (index < shown ? ones : zeros)))));
}

// For each digit: how sure a report can make someone of its value to whom every record was equally likely. Exact where the
// true record stands against all others or hides in a set; for other large programs a bound from the amplification.
export function worstAnswers(node) {
  if (isListed(node)) return listedWorst(node);
  if (node.name === "each") {
    const worst = new Array(node.radices.length);
    for (const { where, node: part } of node.parts) worstAnswers(part).forEach((sure, index) => (worst[where[index]] = sure));
    return worst;
  }
  const list = leaves(node);
  const names = list.map(([, leaf]) => leaf.name);
  if (node.radices.length === 1 && names.every((name) => name === "half")) return [halfSurest(evenHalf(node), node.size)];
  const hides = names.every((name) => name === "subset");
  if (hides || (names.some((name) => ["same", "any", "other"].includes(name)) && !names.includes("reverse"))) {
    const [[inside, outside]] = levels(node);
    return node.radices.map((radix) => surest(inside, outside, hides ? list[0][1].members : 1, node.size, radix));
  }
  const gamma = closedAmplification(node);
  return node.radices.map((radix) => (gamma === Infinity ? 1 : gamma / (gamma + radix - 1)));
}

// Amplification, and how sure of an answer, where one digit takes one of its first `asked` values, each as likely: known
// without writing the law out for numbers of the truth's half, buckets of a public hash and even sets; null for all else.
export function amongFirst(node, asked) {
  if (node.radices.length !== 1 || asked < 2 || asked > node.size) return null;
  if (node.name === "hash") {
    const gamma = amplification(node.then);
    return { gamma, sure: gamma === Infinity ? 1 : gamma / (gamma + asked - 1) };
  }
  const list = leaves(node);
  if (list.every(([, leaf]) => leaf.name === "subset")) {
    const [[inside, outside]] = levels(node);
    return { gamma: ratio([inside, outside]), sure: setSurest(inside, outside, list[0][1].members, node.size, asked) };
  }
  const even = evenHalf(node);
  return even === null ? null : { gamma: ratio([even, 1 - even]), sure: halfSurest(even, asked) };
}

// The surest of the first `asked` values, each as likely: of a set with the most or the fewest members among them.
function setSurest(inside, outside, members, size, asked) {
  const [least, most] = [Math.max(0, members - (size - asked)), Math.min(members, asked)];
  return [least, Math.max(1, least), most, Math.min(most, asked - 1)].reduce((surest, shared) => {
    const total = shared * inside + (asked - shared) * outside;
    const best = Math.max(shared > 0 ? inside : 0, shared < asked ? outside : 0);
    return Math.max(surest, total > 0 ? best / total : 0);
  }, 0);
}

// The chance that a set holds the true record; null where not only sets are sent.
export function heldChance(node) {
  const list = leaves(node);
  return list.every(([, leaf]) => leaf.name === "subset") ? weightOf(list, (leaf) => leaf.holds === 1) : null;
}

// The chance to send a number that shares an even number of bits with the truth; null where halves are not all.
export function evenHalf(node) {
  const list = leaves(node);
  return list.every(([, leaf]) => leaf.name === "half") ? weightOf(list, (leaf) => leaf.parity === 0) : null;
}

// The surest of so many even answers, numbered from 1: the report whose likelier half holds the fewest. Of a report whose
// lowest bit is 2^t, the signs of the numbers from 0 on cancel in every full run of 2^(t + 1); the sign of what is left
// follows from its higher bits wherever there is a full run.
function halfSurest(even, answers) {
  const sums = [answers + 1];
  for (let run = 2; run <= 2 * answers; run *= 2) {
    const rest = (answers + 1) % run;
    const left = Math.min(rest, run - rest);
    sums.push(...(answers + 1 >= run ? [left, -left] : [left]));
  }
  const sure = sums.map((one) => {
    const evens = Math.floor((answers + one - 1) / 2);
    const total = even * evens + (1 - even) * (answers - evens);
    return total > 0 ? Math.max(evens > 0 ? even : 0, evens < answers ? 1 - even : 0) / total : 0;
  });
  return Math.max(...sure);
}

function listedWorst(node) {
  const truths = [...everyDigits(node.radices)];
  const worst = node.radices.map(() => 0);
  for (const { chances } of law(node, truths)) {
    const total = sum(chances);
    node.radices.forEach((radix, axis) => {
      const shares = new Float64Array(radix);
      truths.forEach((truth, index) => (shares[truth[axis]] += chances[index]));
      worst[axis] = Math.max(worst[axis], Math.max(...shares) / total);
    });
  }
  return worst;
}

function surest(inside, outside, members, size, radix) {
  const alike = size / radix;
  if (inside === outside) return 1 / radix;
  const shared = inside >= outside ? Math.min(members, alike) : Math.max(0, members - (size - alike));
  return (shared * inside + (alike - shared) * outside) / (members * inside + (size - members) * outside);
}
