// The way from the answers on this page to what is sent. What is returned here is all that leaves the device, and what is kept
// here is all that stays on it.

import { canonical, sha256 } from "./canonical.js";
import * as device from "./device.js";
import { isLong } from "./lists.js";
import { allQuestions, codeOf, groupsOf, isOwnDevice, plainText, publicAttributes, truthDigits, truths } from "./questionnaire.js";

// At least two characters to the digit, and as many as its largest value needs: the length of a report says nothing.
const DIGIT = 2;

const contents = new WeakMap();

// What a group asks, in all its words, and the program that will disguise it: whoever asks the same under another name or
// in another survey meets the report that was sent before, because fresh ones could be averaged away.
async function contentOf(definition, group) {
  if (!contents.has(group)) contents.set(group, await contentHash(definition, group));
  return contents.get(group);
}

function contentHash(definition, group) {
  const asked = allQuestions(definition).filter(({ attributes }) => attributes.some(({ attribute }) => group.names.includes(attribute)));
  const plain = (text) => text && Object.fromEntries(Object.entries(text).map(([language, one]) => [language, plainText(one)]));
  const texts = asked.map(({ text, grid, answers, harmless = null }) => ({ text: plain(text), ...(grid && { grid: plain(grid.text) }), harmless: plain(harmless), answers: isLong({ answers }) ? answers : answers.map(({ text: own }) => plain(own)) }));
  const options = group.names.map((name) => asked.flatMap(({ attributes }) => attributes).find(({ attribute }) => attribute === name).option);
  return sha256(canonical({ texts, options, answers: group.answers, records: group.records, program: group.program }));
}

// The disguised report: a list of digits for each group, the public answers' codes, and all as text. A group that this device
// has answered before is sent as it was sent then; the others are drawn now. With `isKept` the device keeps what it sends.
export async function disguised(definition, { answers, harmless, deal = 0 }, { blocks, draws, isKept }) {
  const truth = truths(definition, answers, deal);
  const groups = groupsOf(definition, deal);
  const known = isKept ? device.ledger() : {};
  const kept = {};
  const digits = [];
  for (const group of groups) {
    const content = await contentOf(definition, group);
    const codes = truthDigits(group, truth);
    // What a respondent's own device has shown is disguised already; its program only states the law.
    const run = () => (isOwnDevice(definition, group, deal) ? codes : group.node.run(codes, draws, harmlessDigits(definition, group, harmless)));
    const drawn = known[content]?.digits ?? run();
    const { gamma } = blocks.find((block) => block.groups.includes(group));
    if (!known[content]) kept[content] = { digits: drawn, gamma: Number.isFinite(gamma) ? gamma : null };
    digits.push(drawn);
  }
  if (isKept) device.keepSent(kept);
  const open = publicAttributes(definition).map(({ name, answers: names }) => codeOf(truth[name], names, name));
  return { groups: digits, open, deal, text: reportText(definition, groups, { digits, open, deal }) };
}

function reportText(definition, groups, { digits, open, deal }) {
  const dealt = definition.scheme.questionnaires ? [spelled(deal, definition.scheme.questionnaires.length)] : [];
  const hidden = groups.flatMap(({ node }, index) => digits[index].map((digit, at) => spelled(digit, node.shape[at])));
  const shown = publicAttributes(definition).map(({ answers }, index) => spelled(open[index], answers.length));
  return [...dealt, ...hidden, ...shown].join("");
}

function spelled(digit, radix) {
  return digit.toString(36).padStart(Math.max(DIGIT, (radix - 1).toString(36).length), "0");
}

// Digits of the harmless question's answer where it is really asked; else the program draws them.
function harmlessDigits(definition, group, harmless) {
  const question = allQuestions(definition).find((one) => one.harmless && one.name === group.names[0]);
  if (!question || harmless[question.name] === undefined) return null;
  return [codeOf(harmless[question.name], group.answers[0], question.name)];
}
