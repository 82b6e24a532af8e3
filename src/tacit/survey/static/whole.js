// What everything that is sent tells, worked out from the programs that will run. Questions that routing connects, the
// options of one question that can be declined, and the members of one group are judged together, on the records that can
// occur; the rest is independent.

import { keyOf } from "./canonical.js";
import { countOf, IN_DEFINITION } from "./lists.js";
import { amongFirst, amplification, compile, isListed, law, ratio, split, worstAnswers } from "./program.js";
import { allQuestions, alternativesOf, attributeOf, conditionsOf, dealsOf, groupsOf, hasOneAnswer, isDealt, isHidden, isOwnDevice, NOT_ASKED, specialOf, truthDigits } from "./questionnaire.js";

// Beyond so many chances a block is judged by the product of its groups, which is never less than the truth.
const WRITTEN = 2 ** 18;

// Groups that must be judged together, with the questions they report.
export function blocksOf(definition, deal = 0) {
  const groups = groupsOf(definition, deal);
  const home = new Map(groups.flatMap(({ names }, index) => names.map((name) => [name, index])));
  const block = groups.map((_, index) => index);
  const unite = (one, other) => {
    const [from, to] = [block[one], block[other]];
    block.forEach((value, index) => value === from && (block[index] = to));
  };
  const byName = new Map(allQuestions(definition).map((one) => [one.name, one]));
  const homes = (question) => question.attributes.map(({ attribute }) => home.get(attribute)).filter((one) => one !== undefined);
  for (const question of byName.values()) {
    const own = homes(question);
    if (own.length === 0) continue;
    if (specialOf(question).length > 0 || question.when.length > 0) own.forEach((one) => unite(one, own[0]));
    for (const condition of conditionsOf(question)) {
      const before = home.get(attributeOf(definition, condition));
      if (before !== undefined) unite(own[0], before);
    }
  }
  return [...new Set(block)].map((head) => {
    const members = groups.filter((_, index) => block[index] === head);
    const names = new Set(members.flatMap((group) => group.names));
    const questions = allQuestions(definition).filter(({ attributes }) => attributes.some(({ attribute }) => names.has(attribute)));
    return { groups: members, questions, absent: absentPublic(definition, deal) };
  });
}

// The public questions that a version does not ask. What depends on them knows that they were not asked.
const absentPublic = (definition, deal) => allQuestions(definition).filter((one) => !isHidden(one) && !isDealt(one, definition, deal)).map(({ name }) => name);

// Every way to answer a question, as one answer for each of these attributes.
function waysOf(question, names) {
  const declined = specialOf(question).map((special) => names.map(() => special));
  if (countOf(question) > IN_DEFINITION) throw new RangeError(`${question.name}: more records than can be listed`);
  if (hasOneAnswer(question)) return [...question.answers.map(({ name }) => [name]), ...declined];
  if (2 ** names.length > WRITTEN) throw new RangeError("more records than can be listed");
  const chosen = names.reduce((all) => all.flatMap((way) => [[...way, "no"], [...way, "yes"]]), [[]]);
  return [...chosen, ...declined];
}

const namesOf = (question) => question.attributes.map(({ attribute }) => attribute);

// The attributes of a block in the order of its questions; options that other blocks disguise are left out.
function attributesOf({ groups, questions }) {
  const own = new Set(groups.flatMap(({ names }) => names));
  return questions.flatMap(namesOf).filter((name) => own.has(name));
}

// Whether a question is asked of whoever gave these answers, by attribute; a question without an answer was not asked.
function isAskedAfter({ when }, record, definition) {
  const meets = (condition) => condition.answers.includes(record[attributeOf(definition, condition)] ?? NOT_ASKED);
  const alternatives = alternativesOf(when);
  return alternatives.length === 0 || alternatives.some((all) => all.every(meets));
}

// Every way through these questions, given what is known before: answers by attribute. Absent questions are never asked.
function walk(questions, known, definition, { isWanted = () => true, absent = [] } = {}) {
  let partial = [known];
  for (const question of questions) {
    partial = partial.flatMap((record) => {
      const names = namesOf(question).filter(isWanted);
      const isAsked = !absent.includes(question.name) && isAskedAfter(question, record, definition);
      const ways = isAsked ? waysOf(question, names) : [names.map(() => NOT_ASKED)];
      return ways.map((way) => ({ ...record, ...Object.fromEntries(names.map((name, index) => [name, way[index]])) }));
    });
    if (partial.length > WRITTEN) throw new RangeError("more records than can be listed");
  }
  return partial;
}

// The records that a block can have, one list for each situation that the public answers make, with those answers.
function situations(definition, block) {
  const { questions } = block;
  const found = new Map();
  const names = attributesOf(block);
  for (const one of publicSituations(definition, block)) {
    const records = walk(questions, one, definition, { isWanted: (name) => names.includes(name) });
    const key = keyOf(records.map((record) => names.map((name) => record[name])));
    if (!found.has(key)) found.set(key, { records, publics: [] });
    found.get(key).publics.push(one);
  }
  return [...found.values()];
}

// Every combination of the public answers that decide what is asked of these questions.
function publicSituations(definition, { questions, absent }) {
  const byName = new Map(allQuestions(definition).map((one) => [one.name, one]));
  const needed = new Set();
  const look = (question) => {
    for (const { question: earlier } of conditionsOf(question)) {
      const before = byName.get(earlier);
      if (before && !isHidden(before) && !needed.has(before)) {
        needed.add(before);
        look(before);
      }
    }
  };
  questions.forEach(look);
  return walk(allQuestions(definition).filter((one) => needed.has(one)), {}, definition, { absent });
}

// The even prior: attribute by attribute, every answer that is then possible equally likely.
function evenWeights(records, names) {
  let prefixes = records.map(() => 0); // the answers so far, each list of them as a number
  const weights = records.map(() => 1);
  for (const name of names) {
    const numbers = new Map();
    const children = new Map();
    const after = records.map((record, index) => {
      const key = keyOf(prefixes[index], record[name]);
      if (!numbers.has(key)) {
        numbers.set(key, numbers.size);
        children.set(prefixes[index], (children.get(prefixes[index]) ?? 0) + 1);
      }
      return numbers.get(key);
    });
    prefixes.forEach((prefix, index) => (weights[index] /= children.get(prefix)));
    prefixes = after;
  }
  return weights;
}

// The prior that the scheme states for a group, as a weight for each list of digits; null where it states none.
function statedPrior(definition, group) {
  const stated = definition.scheme.prior ?? {};
  const whole = stated[group.names.join("+")];
  if (whole) return (digits) => whole[digits.reduce((number, digit, axis) => number * group.node.radices[axis] + digit, 0)] ?? 0;
  if (group.records || !group.names.some((name) => stated[name])) return null;
  return (digits) => digits.reduce((all, digit, axis) => all * (stated[group.names[axis]]?.[digit] ?? 1 / group.sizes[axis]), 1);
}

// {gamma, parts: its amplification after the public answers that decide what it asks, worst: {attribute: how sure the least
// lucky report makes someone of an answer}} of one block.
export function figuresOf(definition, block) {
  const simple = block.groups.length === 1 && !block.groups[0].records && block.questions.every((one) => one.when.length === 0 && !(specialOf(one).length > 0 && one.attributes.length > 1));
  if (simple && !isListed(block.groups[0].node)) {
    const { gamma, worst } = largeFigures(definition, block.groups[0]);
    return { gamma, worst, parts: [{ known: {}, gamma }] };
  }
  const routed = routedByPublic(definition, block);
  if (routed) return routed;
  const lists = situations(definition, block);
  const reports = block.groups.reduce((all, { node }) => all * node.count, 1);
  const isWritten = lists.every(({ records }) => reports * records.length <= WRITTEN);
  const worst = Object.fromEntries(attributesOf(block).map((name) => [name, 0]));
  const parts = lists.flatMap(({ records, publics }) => {
    const gamma = isWritten ? collect(worst, definition, block, records) : bound(worst, definition, block, records);
    return publics.map((known) => ({ known, gamma }));
  });
  return { gamma: parts.reduce((most, { gamma }) => Math.max(most, gamma), 1), parts, worst };
}

// One large question that public answers decide about: whoever is asked has one of all answers but the last, which is not to
// be asked; whoever is not has no other. Under a stated prior a bound from the amplification. Null where its records must be
// written out.
function routedByPublic(definition, block) {
  const { groups: [group, ...others], questions: [question] } = block;
  if (others.length > 0 || group.names.length > 1 || group.records || isListed(group.node) || question.when.length === 0) return null;
  const asked = countOf(question) + specialOf(question).length;
  const figures = amongFirst(group.node, asked);
  if (!figures) return null;
  const stated = (definition.scheme.prior?.[group.names[0]] ?? []).slice(0, asked);
  const given = stated.reduce((all, one) => all + one, 0);
  const sure = given > 0 ? Math.max(figures.sure, told(Math.max(...stated) / given, figures.gamma)) : figures.sure;
  const parts = publicSituations(definition, block).map((known) => ({ known, gamma: isAskedAfter(question, known, definition) ? figures.gamma : 1 }));
  return { gamma: parts.reduce((most, { gamma }) => Math.max(most, gamma), 1), parts, worst: { [group.names[0]]: sure } };
}

// A group whose law is not written out; under a stated prior its figures are bounds from the amplification.
function largeFigures(definition, { node, names, sizes }) {
  const gamma = amplification(node);
  const worst = worstAnswers(node);
  const stated = definition.scheme.prior ?? {};
  const whole = stated[names.join("+")];
  sizes.forEach((size, axis) => {
    const shares = new Float64Array(size);
    if (whole) whole.forEach((chance, number) => (shares[split(number, sizes)[axis]] += chance));
    const own = whole ? [...shares] : stated[names[axis]] ?? [];
    if (own.length > 0) worst[axis] = Math.max(worst[axis], told(Math.max(...own), gamma));
  });
  return { gamma, worst: Object.fromEntries(names.map((name, axis) => [name, worst[axis]])) };
}

// How sure an amplification can make someone of what had this share before.
export const told = (share, gamma) => (gamma === Infinity ? 1 : (share * gamma) / (share * gamma + 1 - share));

function bound(worst, definition, block, records) {
  const gamma = records.length > 1 ? block.groups.reduce((all, { node }) => all * amplification(node), 1) : 1;
  const names = attributesOf(block);
  for (const weights of priorsOf(definition, block, records, evenWeights(records, names))) {
    const total = weights.reduce((all, one) => all + one, 0);
    if (total === 0) continue;
    for (const name of names) {
      for (const share of answerShares(records, weights, name)) worst[name] = Math.max(worst[name], told(share / total, gamma));
    }
  }
  return gamma;
}

function answerShares(records, weights, name) {
  const shares = new Map();
  records.forEach((record, index) => record[name] !== NOT_ASKED && shares.set(record[name], (shares.get(record[name]) ?? 0) + weights[index]));
  return shares.values();
}

// The chances of every whole report of a block, under each of its records.
export function* blockLaw({ groups }, records) {
  const parts = groups.map((group) => {
    const digits = records.map((record) => truthDigits(group, record));
    return law(group.node, digits);
  });
  const rows = parts.reduce((all, part) => all.flatMap((row) => part.map(({ digits, chances }) => ({ digits: [...row.digits, digits], chances: row.chances.map((one, index) => one * chances[index]) }))), [
    { digits: [], chances: new Float64Array(records.length).fill(1) },
  ]);
  yield* rows;
}

// The even prior, and the one that the scheme states for some groups while the rest stays even.
function priorsOf(definition, { groups }, records, even) {
  let stated = null;
  for (const group of groups) {
    const prior = statedPrior(definition, group);
    if (!prior) continue;
    const digits = records.map((record) => truthDigits(group, record));
    const share = new Map();
    digits.forEach((one, index) => share.set(one.join(), (share.get(one.join()) ?? 0) + even[index]));
    stated = (stated ?? even).map((weight, index) => (weight * prior(digits[index])) / share.get(digits[index].join()));
  }
  return stated ? [even, stated] : [even];
}

function collect(worst, definition, block, records) {
  let gamma = 1;
  const names = attributesOf(block);
  const priors = priorsOf(definition, block, records, evenWeights(records, names));
  for (const { chances } of blockLaw(block, records)) {
    if (!chances.some((chance) => chance > 0)) continue;
    gamma = Math.max(gamma, ratio(chances));
    for (const prior of priors) {
      const weights = prior.map((weight, index) => weight * chances[index]);
      const total = weights.reduce((all, one) => all + one, 0);
      if (total === 0) continue;
      for (const name of names) {
        for (const share of answerShares(records, weights, name)) worst[name] = Math.max(worst[name], share / total);
      }
    }
  }
  return gamma;
}

// Beyond so many public situations a block counts with its worst, which is never less than the truth.
const SITUATIONS = 2 ** 14;

// The largest amplification of blocks together, over the public situations that can occur: blocks that no public answer
// connects multiply, worst cases that exclude each other never meet.
export function together(blocks) {
  const last = new Map(blocks.flatMap(({ parts }, index) => Object.keys(parts[0].known).map((name) => [name, index])));
  let rows = [{ known: {}, gamma: 1 }];
  blocks.forEach(({ parts }, index) => {
    const [before, own] = [rows[0], parts[0]].map(({ known }) => Object.keys(known));
    const shared = own.filter((name) => before.includes(name));
    let added = own.filter((name) => !before.includes(name) && last.get(name) > index);
    let table = byAnswers(worstOf(parts, [...shared, ...added]), shared);
    if (rows.length * [...table.values()].reduce((most, { length }) => Math.max(most, length), 0) > SITUATIONS) {
      added = [];
      table = byAnswers(worstOf(parts, shared), shared);
    }
    const joined = rows.flatMap(({ known, gamma }) => table.get(answersKey(known, shared)).map((more) => ({ known: { ...known, ...more.known }, gamma: gamma * more.gamma })));
    rows = worstOf(joined, [...before, ...added].filter((name) => last.get(name) > index));
  });
  return rows.reduce((most, { gamma }) => Math.max(most, gamma), 1);
}

const answersKey = (known, names) => keyOf(...names.map((name) => known[name]));

// The same where only these public answers are told apart.
function worstOf(rows, names) {
  const worst = new Map();
  for (const { known, gamma } of rows) {
    const key = answersKey(known, names);
    if (!(worst.get(key)?.gamma >= gamma)) worst.set(key, { known: Object.fromEntries(names.map((name) => [name, known[name]])), gamma });
  }
  return [...worst.values()];
}

function byAnswers(rows, names) {
  const table = new Map();
  for (const row of rows) {
    const key = answersKey(row.known, names);
    if (!table.has(key)) table.set(key, []);
    table.get(key).push(row);
  }
  return table;
}

// All blocks of all questionnaires that can be dealt, with their figures; `gamma` is that of all answers together.
export function wholeReport(definition) {
  // Versions share the figures of a block that they disguise alike. Its questions and the public ones before it stand in the
  // definition, under names; a version decides which attribute stands on which axis of which program, and what is not asked.
  const shared = new Map();
  const deals = dealsOf(definition).map((_, deal) => {
    const blocks = blocksOf(definition, deal).map((block) => {
      const key = keyOf(block.absent, block.groups.map(({ names, records, program }) => ({ names, records, program })));
      if (!shared.has(key)) shared.set(key, figuresOf(definition, block));
      const figures = shared.get(key);
      return { ...block, ...figures, isOwnDevice: block.groups.some((group) => isOwnDevice(definition, group, deal)) };
    });
    return { blocks, gamma: together(blocks) };
  });
  // A second round sends one bit more, about whatever its classifier asks: at worst it speaks of the same answer.
  const second = definition.second_round ? amplification(compile(definition.second_program, [2])) : 1;
  return { deals, second, gamma: Math.max(...deals.map(({ gamma }) => gamma)) };
}
