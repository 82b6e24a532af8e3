// The last look, the sending, and what is said afterwards.

import * as device from "./device.js";
import { element, paragraphs } from "./dom.js";
import { definition, fingerprint } from "./given.js";
import { freshDraws, percentAtMost } from "./label.js";
import { answerNamed } from "./lists.js";
import { amplification, isListed, ratio, split } from "./program.js";
import { allQuestions, groupsOf, isDealt, isHidden, NO_ANSWER, publicAttributes, truths, wholeText } from "./questionnaire.js";
import { disguised } from "./report.js";
import { remember } from "./sealed.js";
import { forgetAnswers, isAskedNow, isTest, said, session, textOf, view } from "./session.js";
import { forgetTokens } from "./tokens.js";
import { keepUnsent, send } from "./unsent.js";
import { forgetReceipts, receiptFor } from "./withdrawing.js";
import { answerText, upTo } from "./words.js";

// What goes out as it is, and the odds of the rest. Nothing has been drawn yet: people would change or give up what looks
// like a yes.
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
      element("dl", { class: "open" }, open.map((one) => [element("dt", {}, title(one)), element("dd", { dir: one.kind === "text" ? "auto" : null }, (one.kind === "text" ? openText(one) : texts(one).join(", ")) || "–")])),
    ],
    element("h2", {}, words.reviewHidden),
    element("dl", { class: "odds" }, [...bySureness(blocks, asked)].map(([percent, questions]) => [
      questions.map((one) => [element("dt", {}, title(one)), view().modeNow(one) === "self" && element("dd", {}, words.selfLabel)]),
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

// Disguises, forgets the answers and sends. `told` is called with each state: {state, made, receipt}.
export async function sendReport(told) {
  const { deal, isShared, whole } = session;
  const made = await disguised(definition, session, { blocks: whole.deals[deal].blocks, draws: freshDraws(), isKept: !isShared && !isTest });
  const ticket = fingerprint + (isTest ? " test" : "");
  const token = session.bearer?.token ?? (isShared ? device.randomToken() : device.deviceToken(ticket));
  const receipt = await receiptFor(token, !isShared);
  const submission = {
    path: `/s/${fingerprint}/${isTest ? "tests" : "reports"}/${token}`,
    body: JSON.stringify({ report: made.text, receipt: receipt.hash, signature: session.bearer?.signature }),
    texts: openTexts(receipt.texts),
  };
  made.texts = Object.entries(submission.texts?.answers ?? {}).map(([name, text]) => [allQuestions(definition).find((one) => one.name === name), text]);
  await keepUnsent(submission);
  if (session.keepAnswers && !isShared) await remember(fingerprint, { truth: truths(definition, session.answers, deal), token, signature: session.bearer?.signature });
  session.isSent = true;
  await forgetAnswers();
  told({ state: "sending" }, made, receipt);
  const outcome = await send(submission);
  if (isShared && outcome.state !== "later") forgetPerson();
  told(outcome, made, receipt);
  if (outcome.state === "later") retry(submission, (later) => told(later, made, receipt));
}

// Open texts go beside the report, under a key of their own that only the receipt leads to: nothing that is kept joins the two.
function openTexts(key) {
  const written = allQuestions(definition).filter((one) => one.kind === "text" && isAskedNow(one) && session.texts[one.name]?.trim());
  if (written.length === 0) return undefined;
  return { key, answers: Object.fromEntries(written.map(({ name }) => [name, session.texts[name].trim()])) };
}

// Codes, tokens and receipts: whatever would speak of the one before to the next.
export function forgetPerson() {
  forgetTokens();
  forgetReceipts();
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

export function done(outcome, made, receipt, { heading, someoneElse }) {
  const { words } = session;
  const lines = { stored: words.stored, known: words.known, later: words.later, sending: words.sending };
  const isRefused = outcome.state === "refused";
  return [
    heading(isRefused ? words.refused : lines[outcome.state]),
    isRefused && element("p", { role: "alert" }, words.reasons[outcome.word] ?? outcome.reason),
    !isRefused && element("p", {}, `${words.receipt}: `, element("output", { class: "receipt" }, receipt.shown), ` ${words.receiptHelp}`),
    !isRefused && definition.incentive && [element("h2", {}, words.incentive), paragraphs(definition.incentive[session.language])],
    definition.help && [element("h2", {}, words.help), paragraphs(definition.help[session.language])],
    !isRefused && [element("h2", {}, words.sentWords), element("p", {}, words.sentHelp), element("dl", { class: "sent" }, sentRows(made))],
    element("p", { class: "buttons" }, element("button", { type: "button", class: "quiet", onclick: someoneElse }, words.someoneElse)),
  ].flat(2).filter(Boolean);
}

// What went out: the public answers to what this version asks, and for the rest the codes with their odds, never as an
// answer to a question.
function sentRows(made) {
  const { words, language } = session;
  const hidden = groupsOf(definition, made.deal).map(({ node }, index) => {
    const digits = made.groups[index];
    const worst = isListed(node) ? reportRatio(node, digits) : amplification(node);
    return { code: digits.join("·"), odds: worst === Infinity ? words.codeOpen : words.codeOdds({ times: upTo(worst, language) }) };
  });
  const codes = [...grouped(hidden, ({ odds }) => odds)].map(([odds, alike]) => [
    element("dt", {}, words.codeSent, " ", alike.map(({ code }, index) => [index > 0 && ", ", element("bdi", { dir: "ltr" }, code)])),
    element("dd", {}, odds),
  ]);
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
