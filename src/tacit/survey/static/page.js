// The page: introduction and consent, the questions, a last look, what was sent. Nothing leaves it but the finished report.

import { asking } from "./asking.js";
import { WHOLE_CAP } from "./checks.js";
import * as device from "./device.js";
import { afterPaint, element } from "./dom.js";
import { examined } from "./examined.js";
import { definition, fingerprint, pageWords, status } from "./given.js";
import { askPerson, introduction } from "./introduction.js";
import { isKind } from "./kinds.js";
import { loadLists, missingLists } from "./lists.js";
import { wholeText } from "./questionnaire.js";
import { draftsOf, dropExpired, forgetDrafts } from "./sealed.js";
import { done, forgetCode, keepDeal, receiptOf, review, sendReport, sentReport, sentToken } from "./sending.js";
import { askStatus, beginAfresh, ending, forgetAnswers, isAskedNow, isTest, isUnderWay, link, openQuestions, resumeDraft, said, saveDraft, session, takePerson } from "./session.js";
import { isWaiting, sendWaiting } from "./unsent.js";
import { nameOf, upTo, wordsFor } from "./words.js";

const root = document.getElementById("survey");
const pages = definition.pages;
const questions = pages.flatMap((page) => page.questions);
const LAST_LOOK = pages.length + 1;
let redraw = () => {};

// Puts a screen on the page and the reader's focus at its beginning. The first screen is painted before it gets the focus:
// to ask for either position or focus has everything laid out at once.
function show(draw, { focus = true } = {}) {
  const isFirst = !root.querySelector("h1");
  redraw = () => show(draw, { focus: false });
  document.documentElement.lang = session.language;
  document.documentElement.dir = session.words.direction;
  document.title = definition.title[session.language];
  root.replaceChildren(...[languageChoice(), isTest && element("p", { class: "test" }, session.words.test), draw()].flat().filter(Boolean));
  if (isFirst) return afterPaint(() => document.activeElement === document.body && begins());
  window.scrollTo(0, 0);
  if (focus) begins();
}

const begins = () => root.querySelector("h1")?.focus({ preventScroll: true });

function languageChoice() {
  if (definition.languages.length < 2) return null;
  const choice = element(
    "select",
    { id: "language", onchange: (event) => changeLanguage(event.target.value) },
    definition.languages.map((one) => element("option", { value: one, lang: one, selected: one === session.language }, nameOf(one))),
  );
  return element("p", { class: "language" }, element("label", { for: "language" }, session.words.choose), choice);
}

async function changeLanguage(chosen) {
  const words = await wordsFor(chosen, definition, pageWords, `/s/${fingerprint}`);
  if (words) Object.assign(session, { language: chosen, words });
  redraw();
  if (!words) root.prepend(element("p", { role: "alert", class: "problem" }, session.words.wordsMissing({ language: nameOf(chosen) })));
  document.getElementById("language").focus();
}

const heading = (text, attributes = {}) => element("h1", { tabindex: -1, ...attributes }, text);

function refusal(...reasons) {
  return show(() => [heading(session.words.cannot), ...reasons.map((reason) => element("p", { role: "alert" }, reason))]);
}

// The ways through the questionnaire. Each position has its entry in the browser's history, also a page that was passed
// over: how many there are, and what they hold, is the same whatever was answered.

const isPassedOver = (position) => position >= 1 && position < LAST_LOOK && !pages[position - 1].questions.some(isAskedNow);

function positionFrom(position, step) {
  while (isPassedOver(position)) position += step;
  return position;
}

// No position can be reached over a page on which an answer is missing.
function reachable(position) {
  if (!session.hasConsented) return 0;
  const open = pages.findIndex((page) => openQuestions(page).length > 0);
  return open < 0 ? position : Math.min(position, open + 1);
}

function draw(position) {
  session.at = position;
  saveDraft();
  if (position === 0 && session.person === null) return show(() => askPerson({ heading, choose }));
  if (position === 0) return show(() => introduction({ heading, start, goOn: () => goOn(session.draft), tellUsed, tellClosed: () => refusal(session.words.closed) }));
  if (missingLists(questions).length > 0) return loadFirst(position);
  if (position === LAST_LOOK) {
    looked = lookAgain();
    return show(() => review({ heading, back, send }));
  }
  return show(() => asking(position - 1, { heading, back, next: () => onward(position + 1), someoneElse }));
}

// Long lists of answers come while the introduction is read, and before anything is asked; without them nothing is.
async function loadFirst(position) {
  const { words } = session;
  show(() => [heading(words.listLoading)]);
  await lists();
  if (session.at !== position) return null;
  if (missingLists(questions).length === 0) return draw(position);
  return show(() => [
    heading(words.listMissing),
    element("p", { class: "buttons" }, element("button", { type: "button", onclick: () => loadFirst(position) }, words.listRetry)),
  ]);
}

let loading = null;
const lists = () => (loading ??= loadLists(questions, definition, `/s/${fingerprint}`).catch(() => false).finally(() => (loading = null)));

async function onward(position) {
  const reason = ending();
  return reason === null ? arrive(positionFrom(position, 1)) : ended(reason);
}

let looked = Promise.resolve();

// A quota may have filled up while somebody answered. Everybody who comes to the last look asks which ones are full, whatever
// was answered, and the device compares; without an answer it goes by what it knew.
async function lookAgain() {
  if (definition.quotas) await askStatus();
  const reason = ending();
  if (reason !== null && session.at === LAST_LOOK && !session.isSent) await ended(reason);
}

// Whoever is asked no further is told so here; nothing is sent, and nothing of the answers is kept.
async function ended(reason) {
  session.isSent = true;
  await forgetAnswers();
  root.dataset.state = "ended";
  const { words } = session;
  const isOwnText = reason !== words.screenedOut && reason !== words.quotaFull; // the survey's, which need not say that nothing was sent
  return show(() => [heading(reason), isOwnText && element("p", {}, words.screenedOut), someoneElseButton()]);
}

// From here on the code stands in no address: the next person is not offered it.
function start() {
  keepDeal();
  const position = positionFrom(1, 1);
  draw(position);
  history.replaceState({ at: 0, run: session.run }, "", addressWithoutCode());
  enterHistory(position);
}

// Goes forward. What is asked is drawn first: the browser lays out the old screen once more for its history.
function arrive(position) {
  draw(position);
  enterHistory(position);
}

// One entry for each position on the way.
function enterHistory(position) {
  for (let at = historyPosition() + 1; at <= position; at += 1) history.pushState({ at, run: session.run }, "");
}

const historyPosition = () => (history.state?.run === session.run ? history.state.at : 0);

function back() {
  history.go(positionFrom(session.at - 1, -1) - historyPosition());
}

function moved() {
  if (session.isSent || isSending) return; // what was looked at and sent is not changed any more
  const wanted = historyPosition();
  const step = wanted < session.at ? -1 : 1;
  const position = reachable(positionFrom(wanted, step));
  if (position !== wanted) return history.go(position - wanted);
  draw(position);
}

let isSending = false;

async function send() {
  if (isSending) return;
  isSending = true;
  show(() => [heading(session.words.sending)]);
  try {
    await looked;
    await takePerson(session.person, session.hasAnswered); // another tab may have sent meanwhile
    if ((session.hasAnswered || !session.isShared) && sentReport()) return await tellSent(sentReport().token);
    if (session.standing?.isRefused) return tellTooOften();
    if (!session.isSent) await sendReport(tell);
  } catch (error) {
    if (session.isSent) throw error;
    // Such as a device whose storage is full: nothing was sent, and nothing is lost.
    draw(LAST_LOOK);
    root.querySelector("form").append(element("p", { role: "alert", class: "problem" }, session.words.withdrawLater));
  } finally {
    isSending = false;
  }
}

function tell(outcome, made, receipt) {
  if (outcome.state === "sending") otherTabs?.postMessage("over");
  root.dataset.state = outcome.state;
  show(() => done(outcome, made, receipt, { heading, someoneElse }));
}

// Once one tab has sent, or somebody else answers, another one of the same survey holds and seals no answers either.
let otherTabs = null;

async function overElsewhere() {
  if (!session.hasConsented || session.isSent || isSending) return;
  await forgetAnswers();
  await begunAfresh();
}

// Whoever comes first to this device is not asked who they are, nor is whoever follows its only person.
function identify({ isElse = false } = {}) {
  if (isTest || !device.hasSent()) return choose(isElse ? device.nextPerson() : 0, false);
  if (isElse && device.people().length === 1) return choose(device.nextPerson(), false);
  return draw(0);
}

async function choose(person, hasAnswered) {
  await takePerson(person, hasAnswered);
  const report = sentReport();
  if (report) return tellSent(report.token);
  if (session.standing?.isRefused) return tellTooOften();
  const drafts = await draftsOf(fingerprint);
  session.draft = drafts.find((draft) => draft.person === person && (!session.code || draft.code === session.code)) ?? null;
  return draw(0);
}

// Whose report has gone out before is told so at once, with the receipt where the device keeps it.
async function tellSent(token) {
  session.isSent = true;
  const receipt = token ? await receiptOf(token) : null;
  tell({ state: token && isWaiting(token) ? "later" : "known" }, null, receipt);
}

async function tellUsed(code) {
  const token = await sentToken(code);
  if (token) await tellSent(token);
  return token !== null;
}

// All that one person sent is too much with this survey: it is not asked.
function tellTooOften() {
  const { words, language, standing } = session;
  const { beyond, gamma, cap, all } = standing;
  const names = [...beyond].map((one) => said({ [language]: wholeText(one, language) })).join(" · ");
  const figures = beyond.size > 0 ? { reason: "tooOften", names, gamma, cap } : { reason: "exceeds", gamma: all, cap: WHOLE_CAP };
  show(() => [heading(words.cannot), element("p", { role: "alert" }, reasonText(figures)), someoneElseButton()]);
}

const someoneElseButton = () => element("p", { class: "buttons" }, element("button", { type: "button", class: "quiet", onclick: someoneElse }, session.words.someoneElse));

// The next person is offered nothing of the one before: no answer, no draft, no code, also not in the page's address.
async function someoneElse() {
  await forgetAnswers();
  if (session.isShared) await forgetCode();
  otherTabs?.postMessage("over");
  await begunAfresh({ isElse: true });
}

async function begunAfresh({ isElse = false } = {}) {
  beginAfresh();
  link.delete("code");
  history.replaceState({ at: 0, run: session.run }, "", addressWithoutCode());
  delete root.dataset.state;
  await identify({ isElse });
  root.prepend(element("p", { role: "status" }, session.words.fresh));
}

// A device that was called shared stays so when the page is opened again.
function addressWithoutCode() {
  const kept = [link.has("test") && "test", session.isShared && "shared"].filter(Boolean);
  return location.pathname + (kept.length > 0 ? `#${kept.join("&")}` : "");
}

function reasonText({ reason, ...figures }) {
  const said = Object.entries(figures).map(([name, value]) => [name, name === "gamma" || name === "cap" ? upTo(value, session.language) : value]);
  const text = session.words[reason];
  return typeof text === "function" ? text(Object.fromEntries(said)) : text;
}

// The reader's language if the survey has it and its words can be had; else its first.
async function chooseLanguage() {
  const wished = definition.languages.find((one) => navigator.languages.some((wish) => wish.split("-")[0] === one.split("-")[0]));
  for (const language of [wished, definition.languages[0]].filter(Boolean)) {
    const words = await wordsFor(language, definition, pageWords, `/s/${fingerprint}`);
    if (words) return Object.assign(session, { language, words });
  }
  throw new Error("The words of this page could not be loaded. Please open it again.");
}

// A draft of this visit goes on where it was; one of an earlier visit is offered, without showing any of it.
async function resume() {
  const draft = (await draftsOf(fingerprint)).find(({ run }) => run === history.state?.run);
  if (draft) return goOn(draft);
  return (await tellUsed(session.code)) ? null : identify();
}

async function goOn(draft) {
  resumeDraft(draft);
  session.draft = null;
  await takePerson(draft.person, draft.hasAnswered);
  const position = reachable(positionFrom(draft.at, -1));
  if (history.state?.run !== draft.run) history.replaceState({ at: 0, run: draft.run }, "", addressWithoutCode());
  if (position < historyPosition()) history.go(position - historyPosition());
  else arrive(position);
}

async function begin() {
  await chooseLanguage();
  await dropExpired();
  const { words } = session;
  const { refusal: reason, objections, whole } = await examined;
  if (reason) return refusal(words[reason]);
  const unknown = questions.filter(({ kind }) => !isKind(kind)).map(({ name }) => ({ reason: "attribute", names: name }));
  if (unknown.length > 0) return refusal(...unknown.map(reasonText));
  if (objections.length > 0) return refusal(...objections.map(reasonText));
  session.whole = whole;
  // What waits from an earlier visit goes out first, so that answering and sending stay one request each.
  await sendWaiting();
  if (status.state === "closed") await forgetDrafts(fingerprint); // they can be sent no more
  if (status.state === "closed" && !status.classifier) return refusal(words.closed);
  if (missingLists(questions).length > 0) afterPaint(lists);
  otherTabs = globalThis.BroadcastChannel ? new BroadcastChannel(`tacit ${fingerprint}`) : null;
  otherTabs?.addEventListener("message", overElsewhere);
  addEventListener("popstate", moved);
  addEventListener("beforeunload", (event) => isUnderWay() && event.preventDefault());
  return resume();
}

// Whatever goes wrong, the reader is told, and nothing is sent.
begin().catch((error) => (session.words ? refusal(error.message) : root.replaceChildren(element("p", { role: "alert" }, error.message))));
