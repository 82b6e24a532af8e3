// The privacy label and the simulator, computed from the programs that will run.

import { element } from "./dom.js";
import { boundedGamma, WHOLE_NOTICE } from "./checks.js";
import { evenHalf, everyDigits, heldChance, isListed, law, split, WordDraws } from "./program.js";
import { allQuestions, dealsOf, modeOf, NOT_ASKED, wholeText } from "./questionnaire.js";
import { told } from "./whole.js";
import { times, upTo } from "./words.js";

const CROWD = 100;
export const MOST_LISTED = 200; // answers in a choice of made-up ones

// Draws of the device's own generator: the simulator's, and those of a report that was never sent before.
export const freshDraws = () => new WordDraws(() => crypto.getRandomValues(new Uint32Array(1))[0]);

export const looksLikeAnswers = ({ node, sizes, records, labels }) => !records && !labels && node.shape.length === sizes.length && node.shape.every((radix, axis) => radix === sizes[axis]);

// A cautious whole number: never less than the truth.
export const percentAtMost = (share) => Math.ceil(share * 100 - 1e-6);

const titlesOf = (block, { language, said }) => block.questions.map((one) => said({ [language]: wholeText(one, language) }));

// What one block promises, as sentences.
export function sentences(block, { words, language, textOf }) {
  const lines = [];
  const names = block.groups.flatMap((group) => group.names);
  if (names.length > 1) lines.push(words.together({ names: names.map((name) => textOf(name)).join(" · ") }));
  const [group] = block.groups;
  if (block.questions[0].harmless) lines.push(words.harmlessLabel({ times: times(words, group.node.parts[0][0]).own }));
  else if (block.groups.length === 1 && group.names.length === 1 && sharedNumber(group.node)) lines.push(numberSentence(group.node, { words, language }));
  else if (block.groups.length === 1 && sentSet(group)) lines.push(setSentence(group, { words, language }));
  else if (block.groups.length === 1 && comparison(group.node)) lines.push(words.thresholdLabel?.(times(words, comparison(group.node))));
  else if (block.groups.length === 1 && looksLikeAnswers(group) && isListed(group.node)) lines.push(...chanceSentences(group, words, textOf));
  if (block.isOwnDevice) lines.push(words.selfLabel);
  lines.push(words.atMost({ percent: percentAtMost(Math.max(...Object.values(block.worst))) }));
  if (block.gamma === Infinity) lines.push(words.ruledOut, words.unboundedNotice);
  return lines.filter(Boolean);
}

// Where a number is sent that many answers share: the share of them, and how often it is one that the true answer has. Null
// for everything else, and where it depends on the answer.
export function sharedNumber(node) {
  const halves = node.radices.length === 1 && evenHalf(node);
  if (typeof halves === "number") return { share: 1 / 2, own: halves };
  if (node.name !== "hash" || !isListed(node.then) || node.then.shape.length !== 1) return null;
  const [buckets] = node.then.radices;
  const own = Array.from({ length: buckets }, (_, bucket) => node.then.chance([bucket], [bucket]));
  return node.then.shape[0] === buckets && own.every((one) => one === own[0]) ? { share: 1 / buckets, own: own[0] } : null;
}

function numberSentence(node, { words, language }) {
  const { share, own } = sharedNumber(node);
  const said = (number) => new Intl.NumberFormat(language, { maximumSignificantDigits: 2 }).format(number);
  const all = new Intl.NumberFormat(language).format(node.size);
  return words.numberLabel?.({ all, many: said(share * node.size), ...times(words, own) });
}

// Where a list of answers is sent: how many stand on it, and how often the true one does. Null for everything else.
export function sentSet({ node, records, names }) {
  const own = records || names.length > 1 ? null : heldChance(node);
  return own === null ? null : { members: node.shape.length, own };
}

export function setSentence(group, { words, language }) {
  const { members, own } = sentSet(group);
  const said = (number) => new Intl.NumberFormat(language).format(number);
  return words.setLabel?.({ members: said(members), all: said(group.node.size), ...times(words, own, [10, 8, 9, 6, 7, 3]) });
}

// Where a threshold is drawn and sent: how often what is said about it is true. Null for everything else.
function comparison(node) {
  const toss = node.name === "above" && node.then.name === "toss" ? node.then.parts : [];
  const [heads, tails] = toss;
  return heads?.[1].name === "same" && tails?.[1].name === "reverse" ? heads[0] : null;
}

// Chance that the first answer is shown as it is, for each true one, the group's others even.
function ownChances({ node, sizes }) {
  const truths = [...everyDigits(sizes)];
  const shown = new Float64Array(sizes[0]);
  const count = truths.length / sizes[0];
  for (const { digits, chances } of law(node, truths)) truths.forEach((truth, index) => truth[0] === digits[0] && (shown[truth[0]] += chances[index] / count));
  return [...shown];
}

function chanceSentences(group, words, textOf) {
  const [name] = group.names;
  const [answers] = group.answers;
  const own = ownChances(group);
  const alike = own.every((chance) => Math.abs(chance - own[0]) < 1e-6);
  // One sentence stands for all answers where all are treated alike; "yes" is the one people worry about.
  const codes = alike ? [Math.min(1, answers.length - 1)] : answers.map((_, code) => code);
  const lines = codes.map((code) => {
    const text = textOf(name, answers[code]);
    return words.whatever({ answer: text, ...times(words, own[code]) });
  });
  return [...lines, words.nobody];
}

// Blocks that may be dealt, each once.
export const blocksOfAll = ({ deals }) => deals.flatMap(({ blocks }) => blocks);

export function privacyLabel(definition, whole, view) {
  const { words, language } = view;
  const versions = dealsOf(definition).length;
  const isSome = allQuestions(definition).some(({ deals }) => deals);
  const inMode = (mode) => allQuestions(definition).filter((one) => modeOf(one) === mode).map((one) => view.said({ [language]: wholeText(one, language) }));
  const entry = (titles, lines) => [
    element("dt", {}, titles.join(" · ")),
    lines.map((line) => element("dd", {}, line)),
  ];
  return [
    element(
      "dl",
      { class: "label" },
      alike(whole, view).map(({ titles, lines }) => entry(titles, lines)),
      inMode("direct").length > 0 && entry(inMode("direct"), [isSome ? words.directSome : words.directLabel]),
      inMode("public").length > 0 && entry(inMode("public"), [words.publicLabel]),
    ),
    versions > 1 && element("p", { class: "versions" }, words.dealLabel({ n: versions })),
    ...wholeSentences(whole, view).map((line) => element("p", { class: "whole" }, line)),
  ];
}

// What all answers together tell, in words where it is much.
export function wholeSentences({ deals, second }, { words, language }) {
  const gamma = boundedGamma(deals) * second;
  const sure = Math.max(...deals.flatMap(({ blocks }) => blocks.flatMap(({ worst }) => Object.values(worst))));
  const lines = [...(second > 1 ? [words.secondSure({ percent: percentAtMost(told(sure, second)) })] : []), words.wholeLabel({ times: upTo(gamma, language) })];
  return gamma > WHOLE_NOTICE ? [...lines, words.wholeNotice] : lines;
}

// Questions that are promised the same thing share one entry, so that a long questionnaire keeps a short label.
function alike(whole, view) {
  const entries = new Map();
  for (const block of blocksOfAll(whole)) {
    const lines = sentences(block, view);
    const key = lines.join("\n");
    if (!entries.has(key)) entries.set(key, { titles: new Set(), lines });
    for (const title of titlesOf(block, view)) entries.get(key).titles.add(title);
  }
  return [...entries.values()].map(({ titles, lines }) => ({ titles: [...titles], lines }));
}

// What a report of a group looks like to whoever receives it.
export function shownText(group, digits, textOf) {
  const { names, answers, labels } = group;
  if (labels) return labels[digits[0]];
  if (sentSet(group)) return digits.map((digit) => textOf(names[0], answers[0][digit])).join(", ");
  if (looksLikeAnswers(group)) return digits.map((digit, axis) => textOf(names[axis], answers[axis][digit])).join(" + ");
  return digits.join(" ");
}

export const truthText = ({ names, answers, records, node }, number, textOf) => {
  const record = records ? records[number] : split(number, node.radices).map((digit, axis) => answers[axis][digit]);
  return record.map((answer, axis) => textOf(names[axis], answer ?? NOT_ASKED)).join(" + ");
};

// A crowd that all gives one answer, and what it would send.
export function simulator(whole, { words, textOf }) {
  const groups = blocksOfAll(whole).flatMap((block) => block.groups).filter(({ node }) => node.size <= MOST_LISTED);
  const output = element("div", { role: "status", class: "crowd" });
  const answerChoice = element("select", { id: "simulated-answer", onchange: draw });
  const groupChoice = element(
    "select",
    { id: "simulated-question", onchange: fill },
    groups.map((group, index) => element("option", { value: index }, group.names.map((name) => textOf(name)).join(" + "))),
  );

  function fill() {
    const group = groups[groupChoice.value];
    const options = Array.from({ length: group.node.size }, (_, number) => element("option", { value: number }, truthText(group, number, textOf)));
    answerChoice.replaceChildren(...options);
    draw();
  }

  function draw() {
    const group = groups[groupChoice.value];
    const truth = split(Number(answerChoice.value), group.node.radices);
    const counts = new Map();
    for (let person = 0; person < CROWD; person += 1) {
      const text = shownText(group, group.node.run(truth, freshDraws()), textOf);
      counts.set(text, (counts.get(text) ?? 0) + 1);
    }
    const rows = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 8);
    output.replaceChildren(
      ...rows.map(([text, count]) =>
        element("p", {}, element("meter", { min: 0, max: CROWD, value: count, "aria-label": text }), ` ${count} × ${text}`),
      ),
    );
  }

  if (groups.length === 0) return null;
  // Nothing is drawn before somebody looks: the first question should not wait for it.
  return element(
    "details",
    { class: "simulator", ontoggle: (event) => event.target.open && output.childElementCount === 0 && fill() },
    element("summary", {}, words.tryCrowd),
    element("p", {}, words.tryHelp),
    element("p", {}, element("label", { for: "simulated-question" }, words.tryQuestion), groupChoice),
    element("p", {}, element("label", { for: "simulated-answer" }, words.tryAnswer), answerChoice),
    element("p", {}, element("button", { type: "button", class: "quiet", onclick: draw }, words.again)),
    output,
  );
}
