// The page: introduction and consent, the questions, a last look, what was sent. Nothing leaves it but the finished report.

import { documentHash, sha256, spoken } from "./canonical.js";
import { boundedGamma, examine, WHOLE_CAP } from "./checks.js";
import * as device from "./device.js";
import { element, paragraphs } from "./dom.js";
import { field, isAnswered } from "./fields.js";
import { freshDraws, percentAtMost, privacyLabel, simulator } from "./label.js";
import { compile, isListed, ratio, split } from "./program.js";
import { allQuestions, dealsOf, groupsOf, isAsked, isHidden, NO_ANSWER, predicted, publicAttributes, readCode, truths } from "./questionnaire.js";
import { disguised } from "./report.js";
import { bought, forgetTokens } from "./tokens.js";
import { forgetReceipts, receiptFor, withdrawing } from "./withdrawing.js";
import { answerText, upTo, wordsOf } from "./words.js";

const root = document.getElementById("survey");
const definition = JSON.parse(document.getElementById("definition").textContent);
const status = JSON.parse(document.getElementById("status").textContent);
const fingerprint = location.pathname.split("/")[2];
const link = new URLSearchParams(location.hash.slice(1));
const isTest = link.has("test") || status.state === "draft";

const answers = {};
const harmless = {};
let language = definition.languages.find((one) => navigator.languages.some((wish) => wish.split("-")[0] === one));
language ??= definition.languages[0];
let words = wordsOf(language);
let code = link.get("code") ? readCode(link.get("code")) : null;
// What the code bought: {token, signature}.
let bearer = null;
let keepAnswers = false;
let isShared = false;
// What everything that is sent tells; worked out before anything is shown.
let whole = null;
// Which of several questionnaires this respondent is dealt: a public draw, made once.
let deal = 0;
// The answers that this device keeps for a second round.
let kept = null;
let redraw = () => {};

const view = () => ({ words, language, textOf });

// An attribute's question, or one of its answers, in the reader's language.
function textOf(attribute, answer) {
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

// Puts a screen on the page and the reader's focus at its beginning.
function show(draw, { focus = true } = {}) {
  redraw = () => show(draw, { focus: false });
  document.documentElement.lang = language;
  document.documentElement.dir = words.direction;
  document.title = definition.title[language];
  root.replaceChildren(...[languageChoice(), isTest && element("p", { class: "test" }, words.test), draw()].flat().filter(Boolean));
  window.scrollTo(0, 0);
  if (focus) root.querySelector("h1")?.focus({ preventScroll: true });
}

function languageChoice() {
  if (definition.languages.length < 2) return null;
  const choice = element(
    "select",
    { id: "language", onchange: (event) => changeLanguage(event.target.value) },
    definition.languages.map((one) =>
      element("option", { value: one, lang: one, selected: one === language }, wordsOf(one).language),
    ),
  );
  return element("p", { class: "language" }, element("label", { for: "language" }, words.choose), choice);
}

function changeLanguage(chosen) {
  language = chosen;
  words = wordsOf(chosen);
  redraw();
  document.getElementById("language").focus();
}

const heading = (text) => element("h1", { tabindex: -1 }, text);

function refusal(...reasons) {
  return show(() => [heading(words.cannot), ...reasons.map((reason) => element("p", { role: "alert" }, reason))]);
}

function introduction() {
  const needsCode = definition.access === "codes" && !isTest;
  const consent = element("input", { type: "checkbox", id: "consent" });
  const codeField = element("input", { id: "code", autocomplete: "off", spellcheck: "false", "aria-describedby": "code-help" });
  codeField.value = code ?? link.get("code") ?? "";
  const problem = element("p", { role: "alert", class: "problem" });
  const shared = element("input", { type: "checkbox", id: "shared", onchange: (event) => (isShared = event.target.checked) });
  shared.checked = isShared;

  async function start(event) {
    event.preventDefault();
    if (needsCode) {
      code = readCode(codeField.value);
      if (code === null) return complain(words.codeWrong, codeField);
    }
    if (!consent.checked) return complain(words.consentMissing, consent);
    if (needsCode) {
      // Only now, by a press of the button: programs that merely open links spend no code.
      const { problem: refused, ...paid } = await bought(definition, fingerprint, code);
      if (refused) return complain(words[refused], codeField);
      bearer = paid;
    }
    return show(() => questions(0));
  }

  function complain(text, field) {
    problem.textContent = text;
    field.setAttribute("aria-invalid", "true");
    field.focus();
  }

  return [
    heading(definition.title[language]),
    paragraphs(definition.introduction[language]),
    element("h2", {}, words.asks),
    paragraphs(definition.contact[language]),
    definition.retention && element("p", { class: "retention" }, words.retention(new Date(definition.retention).toLocaleDateString(language, { dateStyle: "long", timeZone: "UTC" }))),
    secondRound(),
    element("h2", {}, words.protection),
    element("p", {}, words.promise),
    privacyLabel(definition, whole, view()),
    simulator(whole, view()),
    ledgerLines(),
    element("p", {}, words.limits),
    element("p", {}, `${words.fingerprint}: `, element("output", { class: "fingerprint", dir: "ltr" }, spoken(fingerprint))),
    element(
      "form",
      { onsubmit: start, novalidate: true },
      needsCode && [
        element("p", {}, element("label", { for: "code" }, words.code), codeField),
        element("p", { id: "code-help", class: "help" }, words.codeHelp),
        element("p", { class: "help" }, words.codeOnce),
      ],
      element("p", { class: "check" }, shared, element("label", { for: "shared" }, words.shared)),
      element("p", { class: "help" }, words.kept),
      element("p", { class: "check" }, consent, element("label", { for: "consent" }, words.consent)),
      problem,
      element("p", { class: "buttons" }, element("button", { type: "submit" }, words.start)),
    ),
    status.state === "open" && withdrawing(fingerprint, words),
  ].flat();
}

// What this device has sent before, and what it comes to with this survey.
function ledgerLines() {
  const entries = Object.values(device.ledger());
  if (entries.length === 0) return [];
  const gamma = entries.reduce((all, one) => all * (one.gamma ?? 1), 1) * boundedGamma(whole.deals);
  return [words.ledger(entries.length, upTo(gamma, language)), gamma > WHOLE_CAP && words.ledgerNotice].filter(Boolean).map((line) => element("p", { class: "ledger" }, line));
}

// One page of questions. Skip logic may leave a page empty: it is then passed over.
function questions(index) {
  const page = definition.pages[index];
  const isLast = index === definition.pages.length - 1;
  const problem = element("div", { role: "alert", class: "problem", tabindex: -1 });
  const form = element("form", { onsubmit: go, novalidate: true });
  const keep = element("input", { type: "checkbox", id: "keep", onchange: (event) => (keepAnswers = event.target.checked) });
  keep.checked = keepAnswers;

  function draw() {
    const asked = page.questions.filter((one) => isAsked(one, definition, answers, deal));
    const focused = document.activeElement?.id;
    form.replaceChildren(
      ...asked.map((one) => field(one, { answers, harmless }, view(), draw)),
      ...(isLast && definition.second_round
        ? [element("p", { class: "check" }, keep, element("label", { for: "keep" }, words.remember))]
        : []),
      problem,
      element(
        "p",
        { class: "buttons" },
        element("button", { type: "button", class: "quiet", onclick: back }, words.back),
        element("button", { type: "submit" }, isLast ? words.check : words.next),
      ),
    );
    if (focused) document.getElementById(focused)?.focus();
  }

  function back() {
    const before = lastAskedPage(index - 1);
    return before < 0 ? show(introduction) : show(() => questions(before));
  }

  function go(event) {
    event.preventDefault();
    const open = page.questions.filter((one) => isAsked(one, definition, answers, deal) && !isAnswered(one, { answers, harmless }));
    for (const one of page.questions) {
      document.getElementById(`error-${one.name}`)?.replaceChildren(open.includes(one) ? words.needsAnswer : "");
    }
    if (open.length > 0) {
      const links = open.map((one) => element("li", {}, element("a", { href: `#${one.name}-0`, onclick: jump }, one.text[language])));
      problem.replaceChildren(element("p", {}, words.missing(open.length)), element("ul", {}, links));
      return problem.focus();
    }
    const next = nextAskedPage(index + 1);
    return next < 0 ? show(() => review(index)) : show(() => questions(next));
  }

  draw();
  return [
    element("p", { class: "progress" }, words.page(index + 1, definition.pages.length)),
    heading(page.title?.[language] ?? definition.title[language]),
    form,
  ];
}

function jump(event) {
  event.preventDefault();
  document.getElementById(event.target.getAttribute("href").slice(1))?.focus();
}

const hasQuestions = (page) => page.questions.some((one) => isAsked(one, definition, answers, deal));
const nextAskedPage = (from) => definition.pages.findIndex((page, index) => index >= from && hasQuestions(page));
const lastAskedPage = (from) => definition.pages.findLastIndex((page, index) => index <= from && hasQuestions(page));

// A last look: what goes out as it is, and the odds of the rest. Nothing has been drawn yet: people would change or give up
// what looks like a yes.
function review(last) {
  const open = allQuestions(definition).filter((one) => !isHidden(one) && isAsked(one, definition, answers, deal));
  const blocks = whole.deals[deal].blocks;
  const given = (one) => (Array.isArray(answers[one.name]) ? answers[one.name] : [answers[one.name] ?? NO_ANSWER]);
  const texts = (one) => given(one).map((name) => answerText(words, language, one.answers.find((own) => own.name === name) ?? { name }));
  const asked = (block) => block.questions.filter((one) => isAsked(one, definition, answers, deal));
  return [
    heading(words.review),
    open.length > 0 && [
      element("h2", {}, words.reviewOpen),
      element("dl", { class: "open" }, open.map((one) => [element("dt", {}, one.text[language]), element("dd", {}, texts(one).join(", ") || "–")])),
    ],
    element("h2", {}, words.reviewHidden),
    element(
      "dl",
      { class: "odds" },
      blocks.filter((block) => asked(block).length > 0).map((block) => [
        asked(block).map((one) => element("dt", {}, one.text[language])),
        element("dd", {}, words.reviewSure(percentAtMost(Math.max(...Object.values(block.worst))))),
      ]),
    ),
    element(
      "form",
      { id: "review", onsubmit: (event) => (event.preventDefault(), finish()), novalidate: true },
      element(
        "p",
        { class: "buttons" },
        element("button", { type: "button", class: "quiet", onclick: () => show(() => questions(last)) }, words.back),
        element("button", { type: "submit" }, words.send),
      ),
    ),
  ].flat(2).filter(Boolean);
}

async function finish() {
  show(() => [heading(words.sending)]);
  const made = await disguised(definition, { answers, harmless, deal }, { blocks: whole.deals[deal].blocks, draws: freshDraws(), isKept: !isShared && !isTest });
  const ticket = fingerprint + (isTest ? " test" : "");
  const token = bearer?.token ?? (isShared ? device.randomToken() : device.deviceToken(ticket));
  const receipt = await receiptFor(token);
  const submission = {
    path: `/s/${fingerprint}/${isTest ? "tests" : "reports"}/${token}`,
    body: JSON.stringify({ report: made.text, receipt: receipt.hash, signature: bearer?.signature }),
  };
  device.keepUnsent(submission);
  if (keepAnswers) await device.remember(fingerprint, { truth: truths(definition, answers, deal), token });
  show(() => done({ state: "sending" }, made, receipt));
  const outcome = await device.send(submission);
  if (isShared && outcome.state !== "later") [forgetTokens, forgetReceipts].forEach((forget) => forget());
  show(() => done(outcome, made, receipt));
  if (outcome.state === "later") retry(submission, made, receipt);
}

// The wait doubles, so that a server in trouble is left in peace.
async function retry(submission, made, receipt) {
  for (let wait = 5; wait <= 320; wait *= 2) {
    await new Promise((resolve) => {
      setTimeout(resolve, wait * 1000);
      addEventListener("online", resolve, { once: true });
    });
    const outcome = await device.send(submission);
    if (outcome.state !== "later") return show(() => done(outcome, made, receipt));
  }
  return null;
}

function done(outcome, made, receipt) {
  root.dataset.state = outcome.state;
  const lines = { stored: words.stored, known: words.known, later: words.later, sending: words.sending };
  const listed = sentRows(made);
  return [
    heading(outcome.state === "refused" ? words.refused : lines[outcome.state]),
    outcome.state === "refused" && element("p", { role: "alert" }, words.reasons[outcome.word] ?? outcome.reason),
    outcome.state !== "refused" && element("h2", {}, words.sentWords),
    outcome.state !== "refused" && element("p", {}, words.sentHelp),
    outcome.state !== "refused" && element("dl", { class: "sent" }, listed),
    element("p", {}, `${words.receipt}: `, element("output", { class: "receipt" }, receipt.shown), ` ${words.receiptHelp}`),
    element("p", { class: "buttons" }, element("button", { type: "button", class: "quiet", onclick: someoneElse }, words.someoneElse)),
  ];
}

// What went out: the public answers, and for the rest the codes with their odds, never as an answer to a question.
function sentRows(made) {
  const hidden = groupsOf(definition, made.deal).map(({ node, records, sizes }, index) => {
    const digits = made.groups[index];
    const worst = isListed(node) && (records || sizes) ? reportRatio(node, digits) : null;
    return [
      element("dt", {}, words.codeSent, " ", element("bdi", { dir: "ltr" }, digits.join("·"))),
      element("dd", {}, worst === Infinity || worst === null ? words.codeOpen : words.codeOdds(upTo(worst, language))),
    ];
  });
  const open = publicAttributes(definition).map(({ name, answers: names }, index) => [
    element("dt", {}, textOf(name)),
    element("dd", {}, textOf(name, names[made.open[index]])),
  ]);
  return [...hidden, ...open];
}

function reportRatio(node, digits) {
  const chances = Array.from({ length: node.size }, (_, number) => node.chance(split(number, node.radices), digits));
  return ratio(chances);
}

function someoneElse() {
  device.startAfresh();
  forgetTokens();
  forgetReceipts();
  // The next person must not be offered this one's code.
  link.delete("code");
  history.replaceState(null, "", location.pathname + (isTest && link.has("test") ? "#test" : ""));
  for (const store of [answers, harmless]) for (const name of Object.keys(store)) delete store[name];
  code = null;
  bearer = null;
  keepAnswers = false;
  isShared = false;
  deal = dealt();
  delete root.dataset.state;
  show(introduction);
  root.prepend(element("p", { role: "status" }, words.fresh));
}

// A frozen classifier is tried on the answers kept here; one bit is sent.
function secondRound() {
  if (!status.classifier || !kept) return [];
  const result = element("p", { role: "status" });
  const answer = async (event) => {
    event.target.disabled = true;
    const right = predicted(status.classifier.tree, kept.truth) === kept.truth[status.classifier.target];
    const [bit] = compile(definition.second_program, [2]).run([right ? 1 : 0], freshDraws());
    const token = await sha256(`second ${kept.token}`);
    const body = JSON.stringify({ report: `0${bit}` });
    const outcome = await device.send({ path: `/s/${fingerprint}/second/${token}`, body });
    // One bit and no more: another classifier must not be able to ask these answers a second question.
    await device.forget(fingerprint);
    kept = null;
    result.textContent = outcome.state === "refused" ? outcome.reason : words.secondSent;
  };
  return [
    element("h2", {}, words.secondRound),
    element("p", {}, words.secondHelp),
    element("p", {}, element("button", { type: "button", onclick: answer }, words.secondSend)),
    result,
  ];
}

function reasonText({ reason, ...figures }) {
  const said = Object.entries(figures).map(([name, value]) => [name, name === "gamma" || name === "cap" ? upTo(value, language) : value]);
  return words[reason](Object.fromEntries(said));
}

// Numbers below 2^32 as chances: the questionnaires' own, which sum to one.
function dealt() {
  const chances = dealsOf(definition).map(({ probability }) => probability);
  let rest = (crypto.getRandomValues(new Uint32Array(1))[0] / 2 ** 32) * chances.reduce((all, one) => all + one, 0);
  return Math.max(0, chances.findIndex((chance) => (rest -= chance) < 0));
}

async function begin() {
  if (!globalThis.crypto?.subtle) return refusal(words.insecure);
  const hash = await documentHash(definition);
  if (!/^[0-9a-f]{32}$/.test(fingerprint) || !hash.startsWith(fingerprint)) return refusal(words.tampered);
  const found = examine(definition);
  if (found.objections.length > 0) return refusal(...found.objections.map(reasonText));
  whole = found.whole;
  kept = status.classifier ? await device.remembered(fingerprint) : null;
  deal = dealt();
  // What waits from an earlier visit goes out first, so that answering and sending stay one request each.
  await device.sendWaiting();
  if (status.state === "closed" && !status.classifier) return refusal(words.closed);
  return show(introduction, { focus: false });
}

// Whatever goes wrong, the reader is told, and nothing is sent.
begin().catch((error) => refusal(error.message));
