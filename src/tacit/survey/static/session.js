// One respondent's visit: what the page was given, what was answered so far, and in which words it speaks.

import { allQuestions, dealsOf, holds, isAsked, modeIn, placesIn, readCode, wholeText } from "./questionnaire.js";
import { isAnswered } from "./fields.js";
import { definition, fingerprint, isSeries, status, surveyId } from "./given.js";
import { answerNamed } from "./lists.js";
import { personAt } from "./device.js";
import { standingOf } from "./ledger.js";
import { forgetDraft, keepDraft, remembered } from "./sealed.js";
import { answerText } from "./words.js";

export const link = new URLSearchParams(location.hash.slice(1));
export const isTest = link.has("test") || status.state === "draft";
export const needsCode = definition.access === "codes" && status.state !== "draft"; // tests too: whoever has no code sends nothing

// Numbers below 2^32 as chances: the questionnaires' own, which sum to one.
function dealt() {
  const chances = dealsOf(definition).map(({ probability }) => probability);
  let rest = (crypto.getRandomValues(new Uint32Array(1))[0] / 2 ** 32) * chances.reduce((all, one) => all + one, 0);
  return Math.max(0, chances.findIndex((chance) => (rest -= chance) < 0));
}

// A number that says which entries of the browser's history belong to this visit, and nothing else.
const freshRun = () => crypto.getRandomValues(new Uint32Array(1))[0];

const fresh = () => ({
  answers: {},
  harmless: {},
  texts: {}, // what was written into open texts
  typed: {}, // numbers and days as they were typed; their ranges are the answers
  explained: [], // comprehension checks that were answered wrongly, and explained
  order: {}, // places drawn on this device, for questions and answers that have no fixed order; never sent
  deal: dealt(), // which of several questionnaires this respondent is dealt: a public draw, made once for a person
  person: null, // whose entry of the device it is: a number, once it is known
  hasAnswered: false, // whether this person says to have answered here before
  standing: null, // what that person's sendings come to with this one
  isCounted: false, // whether they count this series already
  code: null,
  bearer: null, // what the code bought: {token, signature}
  keepAnswers: false, // for a second round
  hasConsented: false,
  at: 0, // 0 is the introduction, then the pages, then the last look
  run: freshRun(),
});

export const session = {
  ...fresh(),
  isShared: link.has("shared"),
  isSent: false,
  language: definition.languages[0],
  words: null,
  whole: null, // what everything that is sent tells; worked out before anything is shown
  kept: null, // the answers that this device keeps for a second round
};
session.code = link.get("code") ? readCode(link.get("code")) : null;

export const view = () => ({ words: session.words, language: session.language, textOf, said, ordered, modeNow, helpOf });

// How a question is answered, and what helps to, in the version that this respondent was dealt.
const modeNow = (question) => modeIn(question, definition, session.deal);
const helpOf = (question) => question.arms?.[dealsOf(definition)[session.deal].name]?.help ?? question.help;

// A text in the reader's language, with what was answered before in its places.
export function said(texts) {
  const text = texts[session.language];
  return placesIn(text).reduce((all, name) => all.replaceAll(`{${name}}`, repeated(name)), text);
}

function repeated(name) {
  const question = allQuestions(definition).find((one) => one.name === name);
  const answer = session.answers[name];
  return answer === undefined ? "…" : answerText(session.words, session.language, answerNamed(question, answer) ?? { name: answer });
}

// A place between 0 and 1, drawn once for each name.
export function place(name) {
  session.order[name] ??= crypto.getRandomValues(new Uint32Array(1))[0] / 2 ** 32;
  return session.order[name];
}

// A question's answers in the order in which they stand on this device.
function ordered({ name, answers, shuffle }) {
  if (!shuffle) return answers;
  return [...answers].sort((one, other) => place(`${name} ${one.name}`) - place(`${name} ${other.name}`));
}

// Why this respondent is asked no further, in words; null where nothing says so. Only public answers can.
export function ending() {
  const isMet = ({ when }) => holds(when, definition, session.answers, session.deal);
  const out = (definition.screen_out ?? []).find(isMet);
  if (out) return out.text ? said(out.text) : session.words.screenedOut;
  return (definition.quotas ?? []).some((quota, index) => status.full?.includes(index) && isMet(quota)) ? session.words.quotaFull : null;
}

const PATIENCE_MS = 5000;

// Asks the server once more whether the survey is open and which quotas are full; nothing goes with the question.
export async function askStatus() {
  try {
    const answer = await fetch(`/s/${fingerprint}/full`, { credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
    const { full, state } = await answer.json();
    if (answer.ok && Array.isArray(full)) status.full = full;
    if (answer.ok && state === "closed") status.state = state;
  } catch {
    // Offline, or no answer in time: a quota is met, not guaranteed.
  }
}

// Takes a person's entry of the device, with the version that was dealt to them and what their sendings come to.
export async function takePerson(person, hasAnswered) {
  const { sent, surveys } = isTest ? personAt(-1) : personAt(person);
  const { deal, sent: waves } = surveys[surveyId] ?? {};
  session.deal = deal ?? session.deal;
  session.isCounted = isSeries && waves !== undefined;
  session.kept = status.classifier ? await remembered(fingerprint, person) : null;
  session.standing = sent.length > 0 ? await standingOf(definition, session.whole, { sent }, session.isCounted) : null;
  Object.assign(session, { person, hasAnswered });
}

// An attribute's question, or one of its answers, in the reader's language.
export function textOf(attribute, answer) {
  const { words, language } = session;
  const asked = allQuestions(definition).find((one) => one.attributes.some((part) => part.attribute === attribute));
  if (!asked) return answer ?? attribute;
  const { option } = asked.attributes.find((part) => part.attribute === attribute);
  if (answer !== undefined) {
    const known = option === null && answerNamed(asked, answer);
    return answerText(words, language, known || { name: answer });
  }
  const text = said(Object.fromEntries([[language, wholeText(asked, language)]]));
  if (option === null) return text;
  return `${text} ${answerText(words, language, answerNamed(asked, option))}`;
}

export const isAskedNow = (question) => isAsked(question, definition, session.answers, session.deal);
export const openQuestions = (page) => page.questions.filter((one) => isAskedNow(one) && !isAnswered(one, session));

// What a draft holds: enough to go on where one was.
const DRAFTED = ["answers", "harmless", "texts", "typed", "explained", "order", "deal", "person", "hasAnswered", "code", "bearer", "keepAnswers", "hasConsented", "at", "run"];

export function saveDraft() {
  if (session.isShared || session.isSent || !session.hasConsented) return;
  keepDraft(fingerprint, Object.fromEntries(DRAFTED.map((name) => [name, session[name]])));
}

export function resumeDraft(draft) {
  for (const name of DRAFTED) if (name in draft) session[name] = draft[name];
}

// The answers are gone from this page's memory too, and with the draft's key from the device.
export async function forgetAnswers() {
  Object.assign(session, { answers: {}, harmless: {}, texts: {}, typed: {} });
  await forgetDraft(fingerprint, session.run);
}

export function beginAfresh() {
  Object.assign(session, fresh(), { isSent: false });
}

export const isUnderWay = () => session.hasConsented && !session.isSent && (Object.keys(session.answers).length > 0 || Object.keys(session.texts).length > 0);
