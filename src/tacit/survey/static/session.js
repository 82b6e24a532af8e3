// One respondent's visit: what the page was given, what was answered so far, and in which words it speaks.

import { allQuestions, dealsOf, isAsked, readCode } from "./questionnaire.js";
import { isAnswered } from "./fields.js";
import { forgetDraft, keepDraft } from "./sealed.js";
import { answerText } from "./words.js";

const read = (id) => JSON.parse(document.getElementById(id).textContent);

// What does not change: the definition under its link, and what the server says of the survey.
export const definition = read("definition");
export const status = read("status");
export const pageWords = read("words");
export const fingerprint = location.pathname.split("/")[2];
export const link = new URLSearchParams(location.hash.slice(1));
export const isTest = link.has("test") || status.state === "draft";
export const needsCode = definition.access === "codes" && !isTest;

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
  deal: dealt(), // which of several questionnaires this respondent is dealt: a public draw, made once
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

export const view = () => ({ words: session.words, language: session.language, textOf });

// An attribute's question, or one of its answers, in the reader's language.
export function textOf(attribute, answer) {
  const { words, language } = session;
  const asked = allQuestions(definition).find((one) => one.attributes.some((part) => part.attribute === attribute));
  if (!asked) return answer ?? attribute;
  const { option } = asked.attributes.find((part) => part.attribute === attribute);
  if (answer !== undefined) {
    const known = option === null && asked.answers.find(({ name }) => name === answer);
    return answerText(words, language, known || { name: answer });
  }
  if (option === null) return asked.text[language];
  return `${asked.text[language]} ${answerText(words, language, asked.answers.find(({ name }) => name === option))}`;
}

export const isAskedNow = (question) => isAsked(question, definition, session.answers, session.deal);
export const openQuestions = (page) => page.questions.filter((one) => isAskedNow(one) && !isAnswered(one, session));

// What a draft holds: enough to go on where one was.
const DRAFTED = ["answers", "harmless", "deal", "code", "bearer", "keepAnswers", "hasConsented", "at", "run"];

export function saveDraft() {
  if (session.isShared || session.isSent || !session.hasConsented) return;
  keepDraft(fingerprint, Object.fromEntries(DRAFTED.map((name) => [name, session[name]])));
}

export function resumeDraft(draft) {
  for (const name of DRAFTED) if (name in draft) session[name] = draft[name];
}

// The answers are gone from this page's memory too, and with the draft's key from the device.
export async function forgetAnswers() {
  Object.assign(session, { answers: {}, harmless: {} });
  await forgetDraft(fingerprint);
}

export function beginAfresh() {
  Object.assign(session, fresh(), { isSent: false });
}

export const isUnderWay = () => session.hasConsented && !session.isSent && Object.keys(session.answers).length > 0;
