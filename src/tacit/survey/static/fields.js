// Questions as form fields. What is chosen or typed goes into `given`, which never leaves the page.

import { element } from "./dom.js";
import { DECLINED, isHidden, specialOf } from "./questionnaire.js";
import { isSearched, searchField } from "./search.js";
import { answerText } from "./words.js";

export function isAnswered(question, { answers, harmless, texts }) {
  if (question.kind === "text") return question.optional || Boolean(texts[question.name]?.trim());
  if (question.kind !== "several" && !question.optional && answers[question.name] === undefined) return false;
  return !question.harmless || harmless[question.name] !== undefined;
}

// What is said of a question that was left open.
export function openText({ kind, edges }, words) {
  if (edges) return kind === "date" ? words.needsDate : words.needsNumber;
  return words.needsAnswer;
}

// A question as a fieldset; `changed` is called after each choice, because it may show or hide another question.
export function field(question, given, view, changed) {
  const { words, said } = view;
  const { name, harmless } = question;
  const help = view.helpOf(question);
  const described = [help && `help-${name}`, question.kind === "text" && `warning-${name}`, question.kind === "several" && `several-${name}`, `error-${name}`].filter(Boolean);
  return element(
    "fieldset",
    { id: `field-${name}`, class: question.grid ? "row" : null, "aria-describedby": described.join(" ") },
    element("legend", { id: `legend-${name}` }, said(question.text), " ", element("span", { class: "mark" }, markOf(question, view))),
    help && element("p", { id: `help-${name}`, class: "help" }, said(help)),
    inputs(question, given, view, changed),
    harmless && harmlessQuestion(question, given, view, changed),
    given.explained.includes(name) && element("p", { class: "explained", role: "alert" }, `${words.explained} `, said(question.explain)),
    element("p", { id: `error-${name}`, class: "error" }),
  );
}

// Several scales of one grid, under their common text.
export function gridOf(questions, given, view, changed) {
  const [{ grid }] = questions;
  return element(
    "div",
    { role: "group", class: "grid", "aria-labelledby": `grid-${grid.name}` },
    element("p", { id: `grid-${grid.name}`, class: "common" }, view.said(grid.text)),
    questions.map((one) => field(one, given, view, changed)),
  );
}

function markOf(question, { words, modeNow }) {
  if (modeNow(question) === "self") return words.selfMark;
  return isHidden(question) ? words.sensitive : words.public;
}

function inputs(question, given, view, changed) {
  if (question.kind === "text") return openField(question, given, view, changed);
  if (question.edges) return typedField(question, given, view, changed);
  if (isSearched(question, view.words)) return [searchField(question, given, view, changed), declineField(question, given, view, changed)];
  return question.kind === "several" ? boxes(question, given, view, changed) : radios(question, given, view, changed);
}

function openField({ name, longest }, { texts }, { words }, changed) {
  const write = (event) => {
    texts[name] = event.target.value;
    changed();
  };
  const area = element("textarea", { id: `${name}-0`, rows: 4, dir: "auto", maxlength: longest, autocomplete: "off", "aria-labelledby": `field-${name}`, "aria-describedby": `warning-${name} error-${name}`, oninput: write });
  area.value = texts[name] ?? "";
  return [element("p", { id: `warning-${name}`, class: "warning" }, words.textWarning), area];
}

// A number or a day is typed, and only the range that it falls into is an answer.
function typedField(question, given, view, changed) {
  const { name, kind, edges } = question;
  const { words, language } = view;
  const range = element("p", { class: "help", role: "status" });
  const input = element("input", { id: `${name}-0`, type: kind === "date" ? "date" : "text", inputmode: kind === "date" ? null : "decimal", autocomplete: "off", "aria-labelledby": `field-${name}`, "aria-describedby": `error-${name}`, oninput: type });
  input.value = given.typed[name] ?? "";

  function type(event) {
    given.typed[name] = event.target.value;
    const value = valueOf(event.target.value, kind);
    if (value === null) delete given.answers[name];
    else given.answers[name] = question.answers[edges.filter((edge) => edge <= value).length].name;
    tell();
    changed();
  }

  function tell() {
    const own = question.answers.find((one) => one.name === given.answers[name]);
    range.replaceChildren(...(own ? [words.rangeOnly({ range: "" }), element("bdi", {}, answerText(words, language, own))] : []));
  }

  tell();
  return [element("p", {}, input), range, declineField(question, given, view, changed)];
}

// Beside what is typed: not to say, which takes it back.
function declineField(question, given, view, changed) {
  return question.declines && radioList(question, question.name, given, [{ name: DECLINED }], view, () => (delete given.typed[question.name], changed({ isDrawn: true })), 1);
}

// Digits, also full-width, Arabic and Persian ones, with a point or a comma; a day as the browser's own field gives it.
function valueOf(typed, kind) {
  if (kind === "date") return /^\d{4}-\d{2}-\d{2}$/.test(typed) ? typed : null;
  const plain = typed.normalize("NFKC").replace(/[٠-٩۰-۹]/g, (digit) => digit.charCodeAt(0) & 15).trim().replace(/[,٫]/, ".");
  return /^[-+]?\d+(\.\d*)?$/.test(plain) ? Number(plain) : null;
}

function radios(question, given, view, changed) {
  const choices = view.ordered(question);
  return radioList(question, question.name, given, question.declines ? [...choices, { name: DECLINED }] : choices, view, changed);
}

function harmlessQuestion(question, { harmless }, view, changed) {
  const text = question.harmless[view.language];
  return [
    element("p", { class: "harmless" }, view.words.harmless),
    element(
      "div",
      { role: "radiogroup", "aria-label": text },
      element("p", {}, text),
      radioList(question, `${question.name}-harmless`, { answers: harmless }, question.answers, view, changed),
    ),
  ];
}

// Ids follow the answers' own order, whatever the order in which they stand.
function radioList(question, group, { answers, explained = [] }, choices, view, changed, from = 0) {
  return choices.map((choice) => {
    const choose = () => {
      answers[question.name] = choice.name;
      changed();
    };
    const own = from > 0 ? -1 : question.answers.findIndex(({ name }) => name === choice.name);
    const index = own < 0 ? (from || question.answers.length) : own;
    const disabled = explained.includes(question.name);
    const input = { type: "radio", name: group, id: `${group}-${index}`, checked: answers[question.name] === choice.name, disabled, onchange: choose };
    return labelled(input, choiceText(question, choice, view), question.grid && own >= 0 ? "check step" : "check");
  });
}

// Ranges read from left to right in every language.
function choiceText(question, choice, { words, language }) {
  const text = answerText(words, language, choice);
  const isRange = question.kind === "number" || question.kind === "date";
  return isRange && choice.name !== DECLINED ? element("bdi", { dir: "ltr" }, text) : text;
}

function labelled(input, text, kind = "check") {
  return element("p", { class: kind }, element("input", input), element("label", { for: input.id }, text));
}

function boxes(question, { answers }, view, changed) {
  const { words, language } = view;
  const { name } = question;
  answers[name] ??= [];
  const chosen = () => (Array.isArray(answers[name]) ? answers[name] : []);
  const set = (value) => {
    const isDrawn = !Array.isArray(answers[name]) || !Array.isArray(value); // what stands in place of all options goes with none
    answers[name] = value;
    changed({ isDrawn });
  };
  const rows = view.ordered(question).map((choice) => {
    const toggle = (event) => {
      const others = chosen().filter((one) => one !== choice.name);
      set(event.target.checked ? [...others, choice.name] : others);
    };
    const index = question.answers.indexOf(choice);
    const input = { type: "checkbox", id: `${name}-${index}`, checked: chosen().includes(choice.name), onchange: toggle };
    return labelled(input, answerText(words, language, choice));
  });
  const instead = specialOf(question).map((special) => {
    const toggle = (event) => set(event.target.checked ? special : []);
    const input = { type: "checkbox", id: `${name}-${special === DECLINED ? "declined" : "none"}`, checked: answers[name] === special, onchange: toggle };
    return labelled(input, words.answers[special]);
  });
  return [element("p", { id: `several-${name}`, class: "help" }, words.several), ...rows, ...instead];
}
