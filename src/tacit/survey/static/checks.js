// What the page does not take on trust. Everything here is checked before the first question; one objection and nothing is
// asked. `tacit survey verify` makes the same checks from outside.

import { IN_DEFINITION, isList, isLong } from "./lists.js";
import { BadProgram } from "./program.js";
import { allQuestions, answersOf, conditionsOf, dealsOf, groupsOf, hasOneAnswer, isDealt, isHidden, modeIn, modeOf, NOT_ASKED, placesIn, plainText, specialOf, wholeText } from "./questionnaire.js";
import { together, told, wholeReport } from "./whole.js";

// Written here and not in any scheme: what no questionnaire may exceed.
export const POSTERIOR_CAP = 0.95;
export const GAMMA_CAP = 19;
export const WHOLE_CAP = 1e12;
export const WHOLE_NOTICE = 1e6;
export const ROUNDING = 1e-9;
const MODES = ["disguised", "public", "self", "direct"];

const objection = (reason, names, more = {}) => ({ reason, names: names.join(", "), ...more });

// What a figure of one wave comes to over all waves that are declared, and the most that a series allows for one block.
export const overWaves = ({ waves = 1 }, gamma) => gamma ** waves;
export const seriesCap = ({ series_gamma = GAMMA_CAP }) => series_gamma;

// Why the page will not ask, and what everything that is sent tells: {objections, whole}.
export function examine(definition) {
  const shape = [...seriesObjections(definition), ...shapeObjections(definition)];
  if (shape.length > 0) return { objections: shape, whole: null };
  let whole;
  try {
    whole = wholeReport(definition);
  } catch (error) {
    if (error instanceof BadProgram || error instanceof RangeError) return { objections: [objection("program", [error.message])], whole: null };
    throw error;
  }
  return { objections: [...askedObjections(definition), ...labelObjections(definition, whole), ...capObjections(definition, whole)], whole };
}

// A definition may state its label; it is then the one that follows from its programs.
function labelObjections({ label }, { deals, gamma }) {
  if (label === undefined) return [];
  const sure = new Map();
  for (const { worst } of deals.flatMap(({ blocks }) => blocks)) {
    for (const [name, one] of Object.entries(worst)) sure.set(name, Math.max(sure.get(name) ?? 0, one));
  }
  const alike = (stated, found) => (found === Infinity ? stated === null : typeof stated === "number" && Math.abs(stated - found) <= ROUNDING * found);
  const stated = Object.entries(label.answers ?? {});
  const fits = stated.length === sure.size && stated.every(([name, one]) => sure.has(name) && alike(one, sure.get(name)));
  return fits && alike(label.gamma, gamma) ? [] : [objection("label", [])];
}

// Which wave of how many, and what the series states; that its hash fits is checked where the definition's is.
function seriesObjections({ wave, waves, series, series_gamma: stated, panel }) {
  const isOneOf = Number.isInteger(waves) && Number.isInteger(wave) && wave >= 1 && wave <= waves;
  const isStated = (stated === undefined || (Number.isFinite(stated) && stated >= 1)) && (panel === undefined || panel === true);
  const isAlone = waves === undefined && [series, stated, panel].every((one) => one === undefined);
  return isAlone || (isOneOf && isStated) ? [] : [objection("series", [])];
}

function capObjections(definition, { deals, gamma, second }) {
  const reasons = [];
  const { waves = 1 } = definition;
  const cap = seriesCap(definition);
  for (const { names, gamma: alone, sure: first } of deals.flatMap(({ blocks }) => blocks).map(worstOf)) {
    const [own, sure] = [alone * second, told(first, second)];
    if (sure > POSTERIOR_CAP + ROUNDING) reasons.push(objection("unprotected", names, { percent: Math.ceil(sure * 1000 - 1e-6) / 10 }));
    if (own === Infinity && !definition.allow_unbounded) reasons.push(objection("unbounded", names));
    if (own === Infinity || definition.allow_unbounded) continue;
    const over = overWaves(definition, own);
    if (own > GAMMA_CAP * (1 + ROUNDING)) reasons.push(objection("amplified", names, { gamma: own, cap: GAMMA_CAP }));
    else if (over > cap * (1 + waves * ROUNDING)) reasons.push(objection("amplified", names, { gamma: over, cap }));
  }
  const bounded = overWaves(definition, second * (gamma === Infinity ? boundedGamma(deals) : gamma));
  if (bounded > WHOLE_CAP * (1 + ROUNDING)) reasons.push(objection("exceeds", [], { gamma: bounded, cap: WHOLE_CAP }));
  const seen = new Set();
  return reasons.filter((one) => !seen.has(JSON.stringify(one)) && seen.add(JSON.stringify(one)));
}

function worstOf({ questions, groups, gamma, worst }) {
  const names = groups.flatMap((group) => group.names);
  return { names: questions.length > 1 || groups.length > 1 ? names : groups[0].names, gamma, sure: Math.max(...Object.values(worst)) };
}

// The amplification of all answers whose own is bounded; the others are said by themselves.
export function boundedGamma(deals) {
  return Math.max(...deals.map(({ blocks }) => together(blocks.filter(({ gamma }) => gamma !== Infinity))));
}

// What must hold before any figure means something.
function shapeObjections(definition) {
  const { languages, scheme, programs } = definition;
  const reasons = [];
  const dealt = dealsOf(definition);
  const matched = Array.isArray(programs) && programs.length === dealt.length && dealt.every(({ groups }, deal) => Array.isArray(groups) && programs[deal]?.length === groups.length);
  if (!matched) return [objection("program", [])];
  const answers = answersOf(definition);
  if (answers.size !== scheme.attributes.length) reasons.push(objection("attribute", []));
  const questions = allQuestions(definition);
  const reported = questions.flatMap(({ attributes }) => attributes.map(({ attribute }) => attribute));
  for (const name of new Set([...reported, ...answers.keys()])) {
    if (!answers.has(name) || reported.filter((one) => one === name).length !== 1) reasons.push(objection("attribute", [name]));
  }
  // Under a name that every object has, or that two questions have, one value would stand for another.
  const names = questions.map(({ name }) => name);
  for (const name of new Set([...names, ...answers.keys()])) {
    if (!/^[a-z][a-z0-9_]*$/.test(name) || name in {} || names.indexOf(name) !== names.lastIndexOf(name)) reasons.push(objection("attribute", [name]));
  }
  if (reasons.length > 0) return reasons;
  for (const { groups } of dealt) {
    const grouped = groups.flatMap(({ attributes }) => attributes);
    const isHalved = ({ attributes: parts }) => new Set(parts.map(({ attribute }) => grouped.includes(attribute))).size > 1;
    const isWrong = new Set(grouped).size !== grouped.length || grouped.some((name) => !answers.has(name)) || questions.some(isHalved);
    if (isWrong) reasons.push(objection("attribute", grouped));
  }
  const versions = dealt.map(({ name }) => name);
  for (const question of questions) reasons.push(...questionObjections(question, answers, languages, questions), ...versionObjections(question, versions));
  for (const text of ["title", "introduction", "contact"]) if (!saysIn(definition[text], languages)) reasons.push(objection("languages", [text]));
  for (const text of ["institution", "consent", "controller", "ethics", "help", "incentive"]) if (definition[text] && !saysIn(definition[text], languages)) reasons.push(objection("languages", [text]));
  return reasons;
}

const saysIn = (text, languages) => languages.every((language) => typeof text?.[language] === "string" && text[language].trim() !== "");

function questionObjections(question, answers, languages, questions) {
  const { name, attributes, when } = question;
  const reasons = [];
  if (isLong(question)) return [...listObjections(question, answers), ...sayingObjections(question, languages), ...routingObjections(question, answers, questions)];
  const isOne = hasOneAnswer(question);
  const options = isOne ? [null] : question.answers.map((one) => one.name);
  if (attributes.length === 0 && modeOf(question) !== "public") reasons.push(objection("open", [name]));
  const own = attributes.map(({ option }) => option);
  if (own.length !== options.length || own.some((option, index) => option !== options[index])) reasons.push(objection("attribute", [name]));
  if (question.edges && !areRanges(question)) reasons.push(objection("answers_differ", [name]));
  const special = [...specialOf(question), ...(when.length > 0 || question.deals ? [NOT_ASKED] : [])];
  const wanted = [...(isOne ? question.answers.map((one) => one.name) : ["no", "yes"]), ...special];
  for (const { attribute } of attributes) {
    const listed = answers.get(attribute) ?? [];
    if (!Array.isArray(listed) || listed.length !== wanted.length || listed.some((answer, index) => answer !== wanted[index])) reasons.push(objection("answers_differ", [attribute]));
  }
  // The page has words of its own for no and yes.
  const isPlain = ({ name: own, text }) => ["no", "yes"].includes(own) && Object.keys(text ?? {}).length === 0;
  const texts = languages.map((language) => question.answers.map((one) => (isPlain(one) ? one.name : one.text?.[language])));
  const differ = texts.some((list) => list.some((text) => typeof text !== "string" || text.trim() === "") || new Set(list).size !== list.length);
  if (differ) reasons.push(objection("languages", [name]));
  else reasons.push(...sayingObjections(question, languages));
  return [...reasons, ...routingObjections(question, answers, questions)];
}

function sayingObjections(question, languages) {
  const isSaid = saysIn(question.text, languages) && (!question.grid || saysIn(question.grid.text, languages));
  return isSaid ? [] : [objection("languages", [question.name])];
}

function routingObjections(question, answers, questions) {
  const before = questions.slice(0, questions.indexOf(question));
  const reasons = conditionsOf(question).filter((one) => !isKnown(one, before, answers)).map(() => objection("routing", [question.name]));
  return MODES.includes(modeOf(question)) ? reasons : [...reasons, objection("mode", [question.name])];
}

// A long list is one question's, and its attribute reports that very list with what can be said in place of an answer. What
// the list holds is checked when it is loaded, before anything is asked.
function listObjections(question, answers) {
  const { name, attributes, when } = question;
  const isOne = !question.edges && hasOneAnswer(question);
  const listed = answers.get(attributes[0]?.attribute);
  const special = [...specialOf(question), ...(when.length > 0 || question.deals ? [NOT_ASKED] : [])];
  const isSame = isList(question.answers) && listed?.list === question.answers.list && listed.count === question.answers.count && JSON.stringify(listed.more) === JSON.stringify(special);
  return [...(isOne ? [] : [objection("attribute", [name])]), ...(isSame ? [] : [objection("answers_differ", [name])])];
}

// Whether these are the places where all answers but the first begin.
function areRanges({ edges, answers }) {
  const alike = edges.every((edge) => typeof edge === typeof edges[0]);
  return alike && edges.length + 1 === answers.length && edges.every((edge, index) => index === 0 || edges[index - 1] < edge);
}

// Whether a condition speaks of answers that one of these questions can have. Beside its own answers there are at most three:
// not to say, none, not asked. Nothing may depend on one of thousands: the page does not know them when it checks.
function isKnown({ question, option = null, answers: wanted }, questions, answers) {
  const asked = questions.find(({ name }) => name === question);
  const known = answers.get(asked?.attributes.find((part) => part.option === option)?.attribute) ?? [];
  return known.length <= IN_DEFINITION + 3 && Array.isArray(wanted) && wanted.length > 0 && wanted.every((answer) => known.includes(answer));
}

// Who is asked no further is told by who sends nothing, and what a text repeats is shown: both may speak of public answers only.
function openObjections(definition, questions) {
  const reasons = [];
  const answers = answersOf(definition);
  const byName = new Map(questions.map((one) => [one.name, one]));
  for (const kind of ["screen_out", "quotas"]) {
    for (const condition of (definition[kind] ?? []).flatMap(conditionsOf)) {
      if (!isKnown(condition, questions, answers)) reasons.push(objection("routing", [kind]));
      else if (isHidden(byName.get(condition.question))) reasons.push(objection("telling", [kind]));
    }
  }
  const before = new Set();
  for (const question of questions) {
    const texts = [question.text, question.help ?? {}, question.grid?.text ?? {}].flatMap(Object.values);
    for (const name of texts.flatMap(placesIn)) {
      const repeated = before.has(name) ? byName.get(name) : null;
      if (!repeated || !hasOneAnswer(repeated)) reasons.push(objection("routing", [question.name]));
      else if (isHidden(repeated)) reasons.push(objection("telling", [question.name]));
    }
    before.add(question.name);
  }
  return reasons;
}

// What only some versions ask is sent in the clear, and arms are versions that exist.
function versionObjections(question, versions) {
  const isOpen = !question.deals || (!isHidden(question) && question.deals.every((name) => versions.includes(name)));
  const areArms = Object.entries(question.arms ?? {}).every(([name, { mode }]) => mode === "self" && versions.includes(name));
  return isOpen && areArms ? [] : [objection("mode", [question.name])];
}

// What a respondent's own device shows is sent as it is: its group is that question alone, and nothing depends on it.
function ownDeviceObjections(definition, questions, dealt) {
  const isAlone = ({ attributes: [{ attribute }] }, deal) =>
    groupsOf(definition, deal).filter(({ names }) => names.includes(attribute)).every(({ names, records, node, sizes }) => names.length === 1 && !records && node.shape.length === 1 && node.shape[0] === sizes[0]);
  const isFree = (one) => hasOneAnswer(one) && one.when.length === 0 && specialOf(one).length === 0 && !questions.some((other) => conditionsOf(other).some(({ question }) => question === one.name));
  const isWrong = (one) => dealt.some((_, deal) => modeIn(one, definition, deal) === "self" && !(isFree(one) && isAlone(one, deal)));
  return questions.filter(isWrong).map((one) => objection("mode", [one.name]));
}

// What is asked, and how it is called: modes, texts, routing, harmless questions.
function askedObjections(definition) {
  const reasons = [];
  const questions = allQuestions(definition);
  const dealt = dealsOf(definition);
  const grouped = new Set(dealt.flatMap(({ groups }) => groups.flatMap(({ attributes }) => attributes)));
  const byName = new Map(questions.map((one) => [one.name, one]));
  for (const question of questions) {
    if (question.attributes.some(({ attribute }) => grouped.has(attribute) !== isHidden(question))) reasons.push(objection("mode", [question.name]));
    if (!isHidden(question) && conditionsOf(question).some(({ question: earlier }) => isHidden(byName.get(earlier)))) reasons.push(objection("telling", [question.name]));
  }
  reasons.push(...ownDeviceObjections(definition, questions, dealt), ...openObjections(definition, questions));
  for (const language of definition.languages) {
    const byText = new Map();
    for (const question of questions) {
      const plain = plainText(wholeText(question, language));
      const alike = byText.get(plain) ?? [];
      // Versions that ask one thing in two ways ask nobody twice.
      const earlier = alike.find((one) => dealt.some((_, deal) => isDealt(one, definition, deal) && isDealt(question, definition, deal)));
      if (earlier) reasons.push(objection("twice", [earlier.name, question.name]));
      byText.set(plain, [...alike, question]);
    }
  }
  dealt.forEach(({ groups }, deal) =>
    groups.forEach(({ attributes }, index) => {
      const asked = questions.filter(({ harmless, attributes: parts }) => harmless && parts.some(({ attribute }) => attributes.includes(attribute)));
      const stands = JSON.stringify(definition.programs[deal][index]).includes('"asked":1');
      if (stands !== asked.length > 0 || (stands && attributes.length > 1)) reasons.push(objection("program", attributes));
    }),
  );
  return reasons;
}
