// What the definition asks: questions, attributes, groups with their programs, and skip logic, which all happens here.

import { LongNames } from "./lists.js";
import { compile } from "./program.js";

export const DECLINED = "prefer not to say";
export const NO_ANSWER = "no answer";
export const NOT_ASKED = "not asked";

export const allQuestions = (definition) => definition.pages.flatMap((page) => page.questions);
export const modeOf = (question) => question.mode ?? (question.sensitive ? "disguised" : "public");
export const isHidden = (question) => modeOf(question) === "disguised" || modeOf(question) === "self";

export const answersOf = (definition) => new Map(definition.scheme.attributes.map(({ name, answers }) => [name, Array.isArray(answers) ? answers : new LongNames(answers)]));

// A text without what does not make it another one: case, spaces, punctuation.
export const plainText = (text) => text.normalize("NFKC").toLowerCase().replace(/[\s\p{P}]+/gu, " ").trim();

// What can be said in place of an answer, of all options at once.
export const specialOf = ({ declines, optional }) => [...(declines ? [DECLINED] : []), ...(optional ? [NO_ANSWER] : [])];

// Whether one attribute reports a question, instead of one for each of its options, or none.
export const hasOneAnswer = ({ attributes }) => attributes.length === 1 && attributes[0].option === null;

// A question's text, behind what it has in common with the others of its grid.
export const wholeText = ({ text, grid }, language) => (grid ? `${grid.text[language]} ${text[language]}` : text[language]);

// The lists of conditions of which one must hold whole; none where something always holds.
export const alternativesOf = (when) => (when.length === 1 && when[0].any ? when[0].any : when.length > 0 ? [when] : []);
export const conditionsOf = ({ when }) => alternativesOf(when).flat();

// The attribute that a condition speaks of: a question's, or that of one of its options.
export function attributeOf(definition, { question, option = null }) {
  const asked = allQuestions(definition).find(({ name }) => name === question);
  return asked?.attributes.find((part) => part.option === option)?.attribute;
}

// Names of earlier questions whose answers a text repeats.
export const placesIn = (text) => [...text.matchAll(/\{([a-z][a-z0-9_]*)\}/g)].map(([, name]) => name);

// The questionnaires of which each respondent is dealt one; a scheme without a deal has one.
export function dealsOf({ scheme }) {
  return scheme.questionnaires ?? [{ name: null, probability: 1, groups: scheme.groups }];
}

const compiled = new WeakMap();

// The groups of a questionnaire, each with its program ready to run.
export function groupsOf(definition, deal = 0) {
  if (!compiled.has(definition)) compiled.set(definition, []);
  const known = compiled.get(definition);
  known[deal] ??= readGroups(definition, deal);
  return known[deal];
}

function readGroups(definition, deal) {
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

export function codeOf(answer, names, attribute) {
  const code = names.indexOf(answer);
  if (code < 0) throw new RangeError(`${attribute} has no such answer`);
  return code;
}

export function publicAttributes(definition) {
  const hidden = new Set(dealsOf(definition).flatMap(({ groups }) => groups.flatMap(({ attributes }) => attributes)));
  const names = answersOf(definition);
  return definition.scheme.attributes.filter(({ name }) => !hidden.has(name)).map(({ name }) => ({ name, answers: names.get(name) }));
}

// How a question is answered in one of the versions that may be dealt.
export const modeIn = (question, definition, deal) => question.arms?.[dealsOf(definition)[deal].name]?.mode ?? modeOf(question);

// Whether a group is one question that the respondent disguises before entering it.
export function isOwnDevice(definition, { names }, deal = 0) {
  return allQuestions(definition).some((one) => modeIn(one, definition, deal) === "self" && one.attributes.some(({ attribute }) => names.includes(attribute)));
}

// A question whose attributes are in some questionnaire's groups, but not in the one that was dealt, is left out.
export function isDealt(question, definition, deal) {
  if (question.deals) return question.deals.includes(dealsOf(definition)[deal].name);
  if (!definition.scheme.questionnaires || !isHidden(question)) return true;
  return dealsOf(definition)[deal].groups.some(({ attributes }) => question.attributes.some(({ attribute }) => attributes.includes(attribute)));
}

// Whether a question is asked, given the answers so far.
export function isAsked(question, definition, answers, deal = 0) {
  if (!isDealt(question, definition, deal)) return false;
  return holds(question.when, definition, answers, deal);
}

// Whether conditions hold, given the answers so far.
export function holds(when, definition, answers, deal = 0) {
  const alternatives = alternativesOf(when);
  return alternatives.length === 0 || alternatives.some((all) => all.every((one) => isMet(one, definition, answers, deal)));
}

function isMet({ question, option = null, answers: wanted }, definition, answers, deal) {
  const before = allQuestions(definition).find(({ name }) => name === question);
  return wanted.includes(isAsked(before, definition, answers, deal) ? attributeAnswer(answers[question], option) : NOT_ASKED);
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

// What a frozen classifier says of these answers: by its tree, or by scores, whole numbers that are added up.
export function classified({ tree, scores }, truth) {
  if (tree) return predicted(tree, truth);
  const sums = [...scores.start];
  for (const [attribute, answers] of Object.entries(scores.answers)) {
    (answers[truth[attribute]] ?? []).forEach((more, place) => (sums[place] += more));
  }
  return scores.classes[sums.indexOf(Math.max(...sums))];
}

// A tree: {answer} at a leaf, {attribute, branches, answer} at a test.
export function predicted(node, truth) {
  while (node.attribute !== undefined) node = node.branches[truth[node.attribute]] ?? { answer: node.answer };
  return node.answer;
}
