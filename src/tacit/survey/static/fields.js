// Questions as form fields. What is chosen goes into `given`, which never leaves the page.

import { element } from "./dom.js";
import { DECLINED, specialOf } from "./questionnaire.js";
import { answerText } from "./words.js";

export function isAnswered(question, { answers, harmless }) {
  if (question.kind !== "several" && !question.optional && answers[question.name] === undefined) return false;
  return !question.harmless || harmless[question.name] !== undefined;
}

// A question as a fieldset; `changed` is called after each choice, because it may show or hide another question.
export function field(question, given, view, changed) {
  const { words, language } = view;
  const { name, help, harmless } = question;
  const choices = question.kind === "several" ? boxes : radios;
  return element(
    "fieldset",
    { "aria-describedby": `${help ? `help-${name} ` : ""}error-${name}` },
    element("legend", {}, question.text[language], " ", mark(question.sensitive ? words.sensitive : words.public)),
    help && element("p", { id: `help-${name}`, class: "help" }, help[language]),
    choices(question, given, view, changed),
    harmless && harmlessQuestion(question, given, view, changed),
    element("p", { id: `error-${name}`, class: "error" }),
  );
}

const mark = (text) => element("span", { class: "mark" }, text);

function radios(question, { answers }, view, changed) {
  const choices = question.declines ? [...question.answers, { name: DECLINED }] : question.answers;
  return radioList(question, question.name, answers, choices, view, changed);
}

function harmlessQuestion(question, { harmless }, view, changed) {
  const text = question.harmless[view.language];
  return [
    element("p", { class: "harmless" }, view.words.harmless),
    element(
      "div",
      { role: "radiogroup", "aria-label": text },
      element("p", {}, text),
      radioList(question, `${question.name}-harmless`, harmless, question.answers, view, changed),
    ),
  ];
}

function radioList(question, group, chosen, choices, view, changed) {
  return choices.map((choice, index) => {
    const choose = () => {
      chosen[question.name] = choice.name;
      changed();
    };
    const checked = chosen[question.name] === choice.name;
    const input = { type: "radio", name: group, id: `${group}-${index}`, checked, onchange: choose };
    return labelled(input, choiceText(question, choice, view));
  });
}

// Ranges read from left to right in every language.
function choiceText(question, choice, { words, language }) {
  const text = answerText(words, language, choice);
  return question.kind === "number" && choice.name !== DECLINED ? element("bdi", { dir: "ltr" }, text) : text;
}

function labelled(input, text) {
  return element("p", { class: "check" }, element("input", input), element("label", { for: input.id }, text));
}

function boxes(question, { answers }, { words, language }, changed) {
  const { name } = question;
  answers[name] ??= [];
  const chosen = Array.isArray(answers[name]) ? answers[name] : [];
  const set = (value) => {
    answers[name] = value;
    changed();
  };
  const rows = question.answers.map((choice, index) => {
    const others = chosen.filter((one) => one !== choice.name);
    const toggle = (event) => set(event.target.checked ? [...others, choice.name] : others);
    const checked = chosen.includes(choice.name);
    const input = { type: "checkbox", id: `${name}-${index}`, checked, onchange: toggle };
    return labelled(input, answerText(words, language, choice));
  });
  const instead = specialOf(question).map((special) => {
    const toggle = (event) => set(event.target.checked ? special : []);
    const input = { type: "checkbox", id: `${name}-${special === DECLINED ? "declined" : "none"}`, checked: answers[name] === special, onchange: toggle };
    return labelled(input, words.answers[special]);
  });
  return [element("p", { class: "help" }, words.several), ...rows, ...instead];
}
