// Questions as form fields. What is chosen or typed goes into `given`, which never leaves the page.

import { element } from "./dom.js";
import { kindOf } from "./kinds.js";
import { DECLINED, isHidden } from "./questionnaire.js";
import { answerText } from "./words.js";

export const isAnswered = (question, given) => kindOf(question).isAnswered(question, given) && (!question.harmless || given.harmless[question.name] !== undefined);

// A question as a fieldset; `changed` is called after each choice, because it may show or hide another question.
export function field(question, given, view, changed) {
  const { words, said } = view;
  const { name, harmless } = question;
  const help = view.helpOf(question);
  const described = [...(help ? [`help-${name}`] : []), ...kindOf(question).describedBy(question), `error-${name}`];
  return element(
    "fieldset",
    { id: `field-${name}`, "aria-describedby": described.join(" ") },
    element("legend", { id: `legend-${name}` }, said(question.text), " ", element("span", { class: "marks" }, marksOf(question, view))),
    help && element("p", { id: `help-${name}`, class: "help" }, said(help)),
    kindOf(question).inputs(question, given, view, changed),
    harmless && harmlessQuestion(question, given, view, changed),
    question.optional && takeBack(question, given, words, changed),
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

// How an answer is sent, and whether the question may be left out.
function marksOf(question, { words, modeNow }) {
  const mode = modeNow(question) === "self" ? words.selfMark : isHidden(question) ? words.sensitive : words.public;
  return [mode, question.optional && words.optional].filter(Boolean).map((mark) => [element("span", { class: "mark" }, mark), " "]);
}

// An answer to an optional question can be taken back as a whole.
function takeBack({ name }, given, words, changed) {
  if (given.answers[name] === undefined || given.answers[name].length === 0) return null;
  const clear = () => {
    delete given.answers[name];
    delete given.typed[name];
    changed({ isDrawn: true });
  };
  return element("p", {}, element("button", { type: "button", class: "link", id: `${name}-back`, onclick: clear }, words.takeBack));
}

// Something is typed, of which `valueOf` gives the value or null, and only the range that it falls into is an answer.
export function typedField(question, attributes, valueOf, given, view, changed) {
  const { name, edges } = question;
  const { words, language } = view;
  const range = element("p", { class: "help", role: "status" });
  const input = element("input", { id: `${name}-0`, ...attributes, autocomplete: "off", "aria-labelledby": `field-${name}`, "aria-describedby": `error-${name}`, oninput: type });
  input.value = given.typed[name] ?? "";

  function type(event) {
    given.typed[name] = event.target.value;
    const value = valueOf(event.target.value);
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
export function declineField(question, given, view, changed) {
  return question.declines && radioList(question, question.name, given, [{ name: DECLINED }], (choice) => choiceText(choice, view), () => (delete given.typed[question.name], changed({ isDrawn: true })), 1);
}

export const radios = (question, given, view, changed) => choices(question, given, view, changed, (choice) => choiceText(choice, view));

// Ranges read from left to right in every language.
export const ranges = (question, given, view, changed) => choices(question, given, view, changed, (choice) => (choice.name === DECLINED ? choiceText(choice, view) : element("bdi", { dir: "ltr" }, choiceText(choice, view))));

export function choices(question, given, view, changed, textOf) {
  const own = view.ordered(question);
  return radioList(question, question.name, given, question.declines ? [...own, { name: DECLINED }] : own, textOf, changed);
}

function harmlessQuestion(question, { harmless }, view, changed) {
  const text = question.harmless[view.language];
  return [
    element("p", { class: "harmless" }, view.words.harmless),
    element(
      "div",
      { role: "radiogroup", "aria-label": text },
      element("p", {}, text),
      radioList(question, `${question.name}-harmless`, { answers: harmless }, question.answers, (choice) => choiceText(choice, view), changed),
    ),
  ];
}

// Ids follow the answers' own order, whatever the order in which they stand.
function radioList(question, group, { answers, explained = [] }, listed, textOf, changed, from = 0) {
  return listed.map((choice) => {
    const choose = () => {
      const isFirst = answers[question.name] === undefined;
      answers[question.name] = choice.name;
      changed({ isDrawn: isFirst && question.optional }); // from now on it can be taken back
    };
    const own = from > 0 ? -1 : question.answers.findIndex(({ name }) => name === choice.name);
    const index = own < 0 ? (from || question.answers.length) : own;
    const disabled = explained.includes(question.name);
    const input = { type: "radio", name: group, id: `${group}-${index}`, checked: answers[question.name] === choice.name, disabled, onchange: choose };
    return labelled(input, textOf(choice));
  });
}

const choiceText = (choice, { words, language }) => answerText(words, language, choice);

export const labelled = (input, text) => element("p", { class: "check" }, element("input", input), element("label", { for: input.id }, text));
