// Any number of options, and what stands in place of all of them.

import { element } from "../dom.js";
import { labelled } from "../fields.js";
import { addKind } from "../kinds.js";
import { DECLINED, specialOf } from "../questionnaire.js";
import { answerText } from "../words.js";

function inputs(question, { answers }, view, changed) {
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

addKind("several", { inputs, describedBy: ({ name }) => [`several-${name}`] });
