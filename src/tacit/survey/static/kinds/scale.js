// A step of a scale: a row of buttons with numbers, and the words of its ends below.

import { element } from "../dom.js";
import { choices } from "../fields.js";
import { addKind } from "../kinds.js";
import { DECLINED } from "../questionnaire.js";
import { answerText } from "../words.js";

// "5 (always)" is the number 5 and what it means.
const meaningOf = (text, name) => (text.startsWith(`${name} (`) ? text.slice(name.length + 2, -1) : "");

function inputs(question, given, view, changed) {
  const { words, language } = view;
  const steps = question.answers.map((answer) => meaningOf(answerText(words, language, answer), answer.name));
  const isLabelled = steps.filter(Boolean).length > 2;
  const textOf = (choice) => {
    if (choice.name === DECLINED) return answerText(words, language, choice);
    const meaning = steps[question.answers.indexOf(choice)];
    return [element("b", {}, choice.name), meaning && element("span", { class: isLabelled ? null : "unseen" }, " ", meaning)];
  };
  const rows = choices(question, given, view, changed, textOf);
  const ends = [steps[0], steps.at(-1)];
  return [
    element("div", { class: isLabelled ? "scale labelled" : "scale" }, rows.slice(0, steps.length)),
    !isLabelled && ends.some(Boolean) && element("p", { class: "ends", "aria-hidden": "true" }, ends.map((text) => element("span", {}, text))),
    rows.slice(steps.length),
  ];
}

addKind("scale", { inputs });
