// The last look, the sending, and what is said afterwards.

import * as device from "./device.js";
import { element, paragraphs } from "./dom.js";
import { definition, fingerprint, isSeries, status, surveyId, wave } from "./given.js";
import { freshDraws, percentAtMost } from "./label.js";
import { answerNamed } from "./lists.js";
import { amplification, isListed, ratio, split } from "./program.js";
import { allQuestions, dealsOf, groupsOf, isDealt, isHidden, NO_ANSWER, publicAttributes, truths, wholeText } from "./questionnaire.js";
import { addSending, sendingOf } from "./ledger.js";
import { drawReport } from "./report.js";
import { remember } from "./sealed.js";
import { secondRound } from "./second.js";
import { forgetAnswers, isAskedNow, isTest, needsCode, said, session, textOf, view } from "./session.js";
import { forgetToken, tokenOf } from "./tokens.js";
import { keepUnsent, send } from "./unsent.js";
import { drawReceipt, keptReceipt, withdrawing } from "./withdrawing.js";
import { answerText, upTo } from "./words.js";

// What goes out as it is, and the odds of the rest, beside one's own answers, which stay here. Nothing has been drawn yet: people
// would change or give up what looks like a yes.
export function review({ heading, back, send }) {
  const { words, language, answers, whole, deal } = session;
  const open = allQuestions(definition).filter((one) => !isHidden(one) && isAskedNow(one));
  const { blocks } = whole.deals[deal];
  const openText = (one) => session.texts[one.name]?.trim();
  const given = (one) => (Array.isArray(answers[one.name]) ? answers[one.name] : [answers[one.name] ?? NO_ANSWER]);
  const texts = (one) => given(one).map((name) => answerText(words, language, answerNamed(one, name) ?? { name }));
  const title = (one) => said({ [language]: wholeText(one, language) });
  const asked = (block) => block.questions.filter(isAskedNow);
  return [
    heading(words.review),
    open.length > 0 && [
      element("h2", {}, words.reviewOpen),
      element("dl", { class: "open" }, open.map((one) => [element("dt", {}, title(one)), element("dd", { dir: one.attributes.length === 0 ? "auto" : null }, (one.attributes.length === 0 ? openText(one) : texts(one).join(", ")) || "–")])),
    ],
    element("h2", {}, words.reviewHidden),
    element("p", {}, words.reviewOwn),
    element("dl", { class: "odds" }, [...bySureness(blocks, asked)].map(([percent, questions]) => [
      questions.map((one) => [element("dt", {}, title(one)), element("dd", { class: "own" }, texts(one).join(", ") || "–"), view().modeNow(one) === "self" && element("dd", {}, words.selfLabel)]),
      element("dd", {}, words.atMost({ percent })),
    ])),
    element(
      "form",
      { id: "review", onsubmit: (event) => (event.preventDefault(), send()), novalidate: true },
      element(
        "p",
        { class: "buttons" },
        element("button", { type: "button", class: "quiet back", onclick: back }, words.back),
        element("button", { type: "submit" }, words.send),
      ),
    ),
  ].flat(2).filter(Boolean);
}

// The questions of which somebody can be equally sure; each once, also where its options are disguised one by one.
function bySureness(blocks, asked) {
  const sure = new Map();
  for (const block of blocks) {
    const percent = percentAtMost(Math.max(...Object.values(block.worst)));
    for (const one of asked(block)) sure.set(one, Math.max(percent, sure.get(one) ?? 0));
  }
  return grouped([...sure.keys()], (one) => sure.get(one));
}

function grouped(all, keyOf) {
  const groups = new Map();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

// Under what a receipt is kept: a code is good for one report and for one test.
const ticketOf = (token) => (isTest ? `${token} test` : token);

export const receiptOf = (token) => keptReceipt(ticketOf(token));

// The token of what went out here under a code; null where nothing did.
export async function sentToken(code) {
  const token = code && (await tokenOf(fingerprint, code));
  return token && (await receiptOf(token)) ? token : null;
}

// What this person has sent to this survey or wave: once under an open link and, whatever the code, in a series.
export const sentReport = () => (isTest || (needsCode && !isSeries) ? null : device.personAt(session.person).surveys[surveyId]?.sent?.[wave]);

// Counts a report in its person's entry, before it goes out; gives back what undoes it. On a shared device whoever does not say
// to have answered before has one entry with all the others.
async function countReport(token, panel) {
  const { isShared, hasAnswered, deal, whole, bearer } = session;
  const isCommon = isShared && !hasAnswered;
  const sending = await sendingOf(definition, whole, deal, session.isCounted && !isCommon);
  const index = isCommon ? device.nextPerson(true) : session.person;
  const before = device.personAt(index);
  const entry = before.surveys[surveyId];
  const sent = { ...entry?.sent, [wave]: { survey: fingerprint, ...(!isShared && { token }) } };
  const surveys = { ...before.surveys, [surveyId]: { ...entry, ...((isSeries || !bearer) && { sent }), ...(!isShared && { panel }) } };
  device.keepPerson(index, { ...before, ...(isCommon && { isShared }), sent: addSending(before.sent, sending, isCommon ? Math.max : undefined), surveys });
  return () => device.keepPerson(index, before);
}

const PSEUDONYM_BYTES = 16;

// What a panel knows this person by in every wave. It comes from neither code nor token; tests and shared devices have a new one
// each time.
const keptPseudonym = () => (isTest || session.isShared ? null : device.personAt(session.person).surveys[surveyId]?.panel);

// The reports of all waves that this person has sent, as far as their receipts are kept.
function sentReports() {
  const { sent = {} } = device.personAt(session.person ?? -1).surveys[surveyId] ?? {};
  return Object.values(sent).filter(({ token }) => token);
}

// Keeps the version that was dealt, for whoever begins again.
export function keepDeal() {
  if (session.isShared || isTest || dealsOf(definition).length === 1) return;
  const entry = device.personAt(session.person);
  const survey = { ...entry.surveys[surveyId], deal: session.deal };
  device.keepPerson(session.person, { ...entry, surveys: { ...entry.surveys, [surveyId]: survey } });
}

// Disguises, counts, forgets the answers and sends. `told` is called with each state: {state, made, receipt}.
export async function sendReport(told) {
  const { deal, isShared, bearer } = session;
  const made = drawReport(definition, session, freshDraws());
  const token = bearer?.token ?? device.randomToken();
  const panel = definition.panel && (keptPseudonym() ?? device.randomToken(PSEUDONYM_BYTES));
  const receipt = await drawReceipt(ticketOf(token), !isShared && (!isTest || bearer));
  const submission = {
    path: `/s/${fingerprint}/${isTest ? "tests" : "reports"}/${token}`,
    body: JSON.stringify({ report: made.text, panel, receipt: receipt.hash, signature: bearer?.signature }),
    texts: openTexts(receipt.texts),
  };
  made.texts = Object.entries(submission.texts?.answers ?? {}).map(([name, text]) => [allQuestions(definition).find((one) => one.name === name), text]);
  const undo = isTest ? () => {} : await countReport(token, panel);
  try {
    await keepUnsent(submission);
    if (session.keepAnswers && !isShared) await remember(fingerprint, session.person, { truth: truths(definition, session.answers, deal), token, signature: bearer?.signature });
  } catch (error) {
    undo();
    throw error;
  }
  session.isSent = true;
  await forgetAnswers();
  told({ state: "sending" }, made, receipt);
  const outcome = await send(submission);
  if (isShared && outcome.state !== "later") await forgetCode();
  told(outcome, made, receipt);
  if (outcome.state === "later") retry(submission, (later) => told(later, made, receipt));
}

// Open texts go beside the report, under a key of their own that only the receipt leads to: nothing that is kept joins the two.
function openTexts(key) {
  const written = allQuestions(definition).filter((one) => one.attributes.length === 0 && isAskedNow(one) && session.texts[one.name]?.trim());
  if (written.length === 0) return undefined;
  return { key, answers: Object.fromEntries(written.map(({ name }) => [name, session.texts[name].trim()])) };
}

// The code of this visit and what it bought: they would speak of this person to the next.
export async function forgetCode() {
  if (session.code) await forgetToken(fingerprint, session.code);
  Object.assign(session, { code: null, bearer: null });
}

// The wait doubles, so that a server in trouble is left in peace.
async function retry(submission, told) {
  for (let wait = 5; wait <= 320; wait *= 2) {
    await new Promise((resolve) => {
      setTimeout(resolve, wait * 1000);
      addEventListener("online", resolve, { once: true });
    });
    const outcome = await send(submission);
    if (outcome.state !== "later") return told(outcome);
  }
  return null;
}

// What became of a report. Of one that went out in an earlier visit only the receipt is left (`made` is null).
export function done(outcome, made, receipt, { heading, someoneElse }) {
  const { words } = session;
  const lines = { stored: words.stored, known: words.known, later: words.later, sending: words.sending };
  const isRefused = outcome.state === "refused";
  return [
    heading(isRefused ? words.refused : lines[outcome.state]),
    isRefused && element("p", { role: "alert" }, words.reasons[outcome.word] ?? outcome.reason),
    !isRefused && receipt && element("p", {}, `${words.receipt}: `, element("output", { class: "receipt" }, receipt.shown), ` ${words.receiptHelp}`),
    !isRefused && definition.incentive && [element("h2", {}, words.incentive), paragraphs(definition.incentive[session.language])],
    definition.help && [element("h2", {}, words.help), paragraphs(definition.help[session.language])],
    !made && secondRound(),
    !isRefused && made && [element("h2", {}, words.sentWords), element("p", {}, words.sentHelp), element("dl", { class: "sent" }, sentRows(made))],
    !made && status.state === "open" && withdrawing(fingerprint, words, sentReports()),
    element("p", { class: "buttons" }, element("button", { type: "button", class: "quiet", onclick: someoneElse }, words.someoneElse)),
  ].flat(2).filter(Boolean);
}

// What went out: the public answers to what this version asks; of the disguised ones how many, with their odds, and never as an
// answer to a question.
function sentRows(made) {
  const { words, language } = session;
  const hidden = groupsOf(definition, made.deal).map(({ node }, index) => {
    const digits = made.groups[index];
    const worst = isListed(node) ? reportRatio(node, digits) : amplification(node);
    return worst === Infinity ? words.codeOpen : words.codeOdds({ times: upTo(worst, language) });
  });
  const codes = [...grouped(hidden, (odds) => odds)].map(([odds, alike]) => [element("dt", {}, words.codeSent({ n: alike.length })), element("dd", {}, odds)]);
  const elsewhere = allQuestions(definition).filter((one) => !isDealt(one, definition, made.deal)).flatMap((one) => one.attributes);
  const open = publicAttributes(definition).map(({ name, answers: names }, index) => !elsewhere.some(({ attribute }) => attribute === name) && [
    element("dt", {}, textOf(name)),
    element("dd", {}, textOf(name, names.at(made.open[index]))),
  ]);
  const written = made.texts.map(([one, text]) => [element("dt", {}, said({ [language]: wholeText(one, language) })), element("dd", { dir: "auto" }, text)]);
  return [...codes, ...open.filter(Boolean), ...written];
}

function reportRatio(node, digits) {
  const chances = Array.from({ length: node.size }, (_, number) => node.chance(split(number, node.radices), digits));
  return ratio(chances);
}
