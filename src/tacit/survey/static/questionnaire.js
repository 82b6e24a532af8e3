// From what was answered on this page to what is sent: skip logic, codes, the report. All of it happens here.

import { canonical } from "./canonical.js";
import { Coins } from "./coins.js";
import { memoized } from "./device.js";
import { disguise, disguiseWithHarmless, radices } from "./disguise.js";

export const DECLINED = "prefer not to say";
export const NOT_ASKED = "not asked";
// Two characters to the digit, whatever its value: the length of a report says nothing.
const DIGIT = 2;

export const allQuestions = (definition) => definition.pages.flatMap((page) => page.questions);

function answerNames(definition) {
  return new Map(definition.scheme.attributes.map(({ name, answers }) => [name, answers]));
}

// The groups of the scheme as the sampler wants them, with the names for the label.
export function groupsOf(definition) {
  const names = answerNames(definition);
  return definition.scheme.groups.map(({ attributes, channel }) => ({
    names: attributes,
    sizes: attributes.map((name) => names.get(name).length),
    answers: attributes.map((name) => names.get(name)),
    channel,
    prior: priorOf(definition.scheme.prior ?? {}, attributes, names),
  }));
}

// The prior the scheme states for a group's joint answers, or the product of those it states for each; null is even.
function priorOf(stated, attributes, names) {
  const joint = attributes.join("+");
  if (stated[joint]) return stated[joint];
  if (!attributes.some((name) => stated[name])) return null;
  const even = (name) => names.get(name).map((_, __, all) => 1 / all.length);
  return attributes.reduce((cells, name) => cells.flatMap((cell) => (stated[name] ?? even(name)).map((one) => cell * one)), [1]);
}

function publicAttributes(definition) {
  const hidden = new Set(definition.scheme.groups.flatMap(({ attributes }) => attributes));
  return definition.scheme.attributes.filter(({ name }) => !hidden.has(name));
}

// Whether a question is asked, given the answers so far.
export function isAsked(question, definition, answers) {
  const byName = new Map(allQuestions(definition).map((one) => [one.name, one]));
  return question.when.every(({ question: earlier, answers: wanted }) => {
    const asked = isAsked(byName.get(earlier), definition, answers);
    return wanted.includes(asked ? answers[earlier] : NOT_ASKED);
  });
}

// The true answer of every attribute, by name.
export function truths(definition, answers) {
  const truth = {};
  for (const question of allQuestions(definition)) {
    const asked = isAsked(question, definition, answers);
    for (const { attribute, option } of question.attributes) {
      truth[attribute] = asked ? attributeAnswer(answers[question.name], option) : NOT_ASKED;
    }
  }
  return truth;
}

function attributeAnswer(answer, option) {
  if (option === null || answer === DECLINED) return answer;
  return answer.includes(option) ? "yes" : "no";
}

// The disguised report: {digits, groups} with one list of digits per group, and the public answers' codes.
export async function report(definition, answers, harmless) {
  const truth = truths(definition, answers);
  const groups = groupsOf(definition);
  const digits = [];
  for (const group of groups) digits.push(await disguised(definition, group, truth, harmless));
  const open = publicAttributes(definition).map(({ name, answers: names }) => codeOf(truth[name], names, name));
  return { groups: digits, open, text: [...digits.flat(), ...open].map(digitText).join("") };
}

function codeOf(answer, names, attribute) {
  const code = names.indexOf(answer);
  if (code < 0) throw new RangeError(`${attribute} has no such answer`);
  return code;
}

const digitText = (digit) => digit.toString(36).padStart(DIGIT, "0");

function disguised(definition, group, truth, harmless) {
  const codes = group.names.map((name, axis) => codeOf(truth[name], group.answers[axis], name));
  const asked = harmlessCodes(definition, group, harmless);
  const { names, answers, channel } = group;
  // By survey, question, answer and scheme: in a later wave the same group under the same channel finds itself again.
  const context = canonical({ survey: definition.name, names, answers, channel, codes, harmless: asked });
  return memoized(context, (nextWord) => {
    const coins = new Coins(nextWord);
    return asked ? disguiseWithHarmless(group, codes, asked, coins) : disguise(group, codes, coins);
  });
}

// Codes of the harmless question's answer where it is really asked; a page that does not ask the question draws them.
function harmlessCodes(definition, group, harmless) {
  const question = allQuestions(definition).find((one) => one.harmless && one.name === group.names[0]);
  if (!question || harmless[question.name] === undefined) return null;
  return [codeOf(harmless[question.name], group.answers[0], question.name)];
}

// What a group's report shows, as texts, one for each attribute where reports look like answers.
export function shown(group, digits) {
  const { kind, reports } = group.channel;
  if (kind === "mask" || kind === "cut-and-paste") {
    const labels = group.names.flatMap((name, axis) => group.answers[axis].map((answer) => [name, answer]));
    return group.names.map((name) => ({
      name,
      answers: labels.filter(([of], index) => of === name && digits[index] === 1).map(([, answer]) => answer),
    }));
  }
  const name = group.names.join(" + ");
  if (kind === "subset") return [{ name, answers: digits.map((joint) => jointLabel(group, joint)) }];
  if (kind === "matrix" && reports) return [{ name, answers: [reports[digits[0]]] }];
  return group.names.map((one, axis) => ({ name: one, answers: [group.answers[axis][digits[axis]]] }));
}

function jointLabel({ answers }, joint) {
  const parts = [];
  for (const names of [...answers].reverse()) {
    parts.unshift(names[joint % names.length]);
    joint = Math.floor(joint / names.length);
  }
  return parts.join(" + ");
}

export function reportLength(definition) {
  const digits = groupsOf(definition).reduce((sum, group) => sum + radices(group).length, 0);
  return DIGIT * (digits + publicAttributes(definition).length);
}

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

// An invitation code as typed, in its one spelling, or null if a character was mistyped (Luhn's check, base 32).
export function readCode(typed) {
  const code = typed.toUpperCase().replace(/[\s-]/g, "").replace(/O/g, "0").replace(/[IL]/g, "1");
  if (code.length !== 16 || [...code].some((letter) => !ALPHABET.includes(letter))) return null;
  let sum = 0;
  [...code].reverse().forEach((letter, index) => {
    const value = ALPHABET.indexOf(letter) * (index % 2 ? 2 : 1);
    sum += Math.floor(value / 32) + (value % 32);
  });
  return sum % 32 === 0 ? code : null;
}

// What a frozen classifier says of these answers: {answer} at a leaf, {attribute, branches, answer} at a test.
export function predicted(node, truth) {
  while (node.attribute !== undefined) node = node.branches[truth[node.attribute]] ?? { answer: node.answer };
  return node.answer;
}
