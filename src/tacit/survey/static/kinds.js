// The kinds of questions by name. Each script of kinds/ adds its own: {inputs, isAnswered, openText}, as far as it differs
// from a question with one answer. How a question is reported stands in its attributes, and nobody else tests its kind.

import { hasOneAnswer } from "./questionnaire.js";

const kinds = new Map();

const usual = {
  isAnswered: (question, { answers }) => !hasOneAnswer(question) || question.optional || answers[question.name] !== undefined,
  // What is said of a question that was left open.
  openText: (question, words) => words.needsAnswer,
  // Ids of what describes its field, beside its help and its errors.
  describedBy: () => [],
};

export const addKind = (name, kind) => kinds.set(name, { ...usual, ...kind });
export const isKind = (name) => kinds.has(name);
export const kindOf = ({ kind }) => kinds.get(kind);
