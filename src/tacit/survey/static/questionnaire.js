// What the definition asks, and the way from the answers on this page to what is sent. All of it happens here.

import { canonical, sha256 } from "./canonical.js";
import { compile } from "./program.js";

export const DECLINED = "prefer not to say";
export const NO_ANSWER = "no answer";
export const NOT_ASKED = "not asked";
// At least two characters to the digit, and as many as its largest value needs: the length of a report says nothing.
const DIGIT = 2;

export const allQuestions = (definition) => definition.pages.flatMap((page) => page.questions);
export const modeOf = (question) => question.mode ?? (question.sensitive ? "disguised" : "public");
export const isHidden = (question) => modeOf(question) === "disguised" || modeOf(question) === "self";

export const answersOf = (definition) => new Map(definition.scheme.attributes.map(({ name, answers }) => [name, answers]));

// What can be said in place of an answer, of all options at once.
export const specialOf = ({ declines, optional }) => [...(declines ? [DECLINED] : []), ...(optional ? [NO_ANSWER] : [])];

// The questionnaires of which each respondent is dealt one; a scheme without a deal has one.
export function dealsOf({ scheme }) {
  return scheme.questionnaires ?? [{ name: null, probability: 1, groups: scheme.groups }];
}

// The groups of a questionnaire, each with its program ready to run.
export function groupsOf(definition, deal = 0) {
  const names = answersOf(definition);
  return dealsOf(definition)[deal].groups.map(({ attributes, records = null, channel }, index) => {
    const answers = attributes.map((name) => names.get(name));
    const sizes = answers.map((list) => list.length);
    const program = definition.programs[deal][index];
    const node = compile(program, records ? [records.length] : sizes);
    return { names: attributes, answers, sizes, records, program, node, labels: channel?.reports ?? null };
  });
}

// The digits of a group's true answers: one for each attribute, or the number of its legal record.
export function truthDigits(group, truth) {
  const given = group.names.map((name) => truth[name]);
  if (!group.records) return given.map((answer, axis) => codeOf(answer, group.answers[axis], group.names[axis]));
  const number = group.records.findIndex((record) => record.every((answer, axis) => (answer ?? NOT_ASKED) === given[axis]));
  if (number < 0) throw new RangeError(`${group.names.join(", ")}: no such record`);
  return [number];
}

function codeOf(answer, names, attribute) {
  const code = names.indexOf(answer);
  if (code < 0) throw new RangeError(`${attribute} has no such answer`);
  return code;
}

export function publicAttributes(definition) {
  const hidden = new Set(dealsOf(definition).flatMap(({ groups }) => groups.flatMap(({ attributes }) => attributes)));
  return definition.scheme.attributes.filter(({ name }) => !hidden.has(name));
}

// A question whose attributes are in some questionnaire's groups, but not in the one that was dealt, is left out.
function isDealt(question, definition, deal) {
  if (!definition.scheme.questionnaires || !isHidden(question)) return true;
  return dealsOf(definition)[deal].groups.some(({ attributes }) => question.attributes.some(({ attribute }) => attributes.includes(attribute)));
}

// Whether a question is asked, given the answers so far.
export function isAsked(question, definition, answers, deal = 0) {
  if (!isDealt(question, definition, deal)) return false;
  return question.when.every(({ question: earlier, answers: wanted }) => {
    const before = allQuestions(definition).find(({ name }) => name === earlier);
    return wanted.includes(isAsked(before, definition, answers, deal) ? answers[earlier] : NOT_ASKED);
  });
}

// The true answer of every attribute, by name.
export function truths(definition, answers, deal = 0) {
  const truth = {};
  for (const question of allQuestions(definition)) {
    const asked = isAsked(question, definition, answers, deal);
    for (const { attribute, option } of question.attributes) {
      truth[attribute] = asked ? attributeAnswer(answers[question.name], option) : NOT_ASKED;
    }
  }
  return truth;
}

function attributeAnswer(answer, option) {
  if (option === null || !Array.isArray(answer)) return answer ?? NO_ANSWER;
  return answer.includes(option) ? "yes" : "no";
}

// What a group asks, in all its words, and the program that will disguise it: whoever asks the same under another name or
// in another survey meets the report that was sent before, because fresh ones could be averaged away.
export function contentOf(definition, group) {
  const asked = allQuestions(definition).filter(({ attributes }) => attributes.some(({ attribute }) => group.names.includes(attribute)));
  const texts = asked.map(({ text, answers, harmless = null }) => ({ text, harmless, answers: answers.map(({ name, text: own }) => own ?? name) }));
  const options = group.names.map((name) => asked.flatMap(({ attributes }) => attributes).find(({ attribute }) => attribute === name).option);
  return sha256(canonical({ texts, options, answers: group.answers, records: group.records, program: group.program }));
}

// The disguised report of one questionnaire: a list of digits for each group, the public answers' codes, and all as text.
// `sampled(group, run)` decides where the draws come from, and may find that the group was answered before.
export async function report(definition, { answers, harmless, deal = 0 }, sampled) {
  const truth = truths(definition, answers, deal);
  const groups = groupsOf(definition, deal);
  const digits = [];
  for (const group of groups) {
    const codes = truthDigits(group, truth);
    const instead = harmlessDigits(definition, group, harmless);
    digits.push(await sampled(group, (draws) => group.node.run(codes, draws, instead)));
  }
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
