// The way from the answers on this page to what is sent: what is returned here is all that leaves the device.

import { allQuestions, codeOf, groupsOf, isOwnDevice, publicAttributes, truthDigits, truths } from "./questionnaire.js";

// At least two characters to the digit, and as many as its largest value needs: the length of a report says nothing.
const DIGIT = 2;

// The disguised report, every group drawn now: a list of digits for each group, the public answers' codes, and all as text.
export function drawReport(definition, { answers, harmless, deal = 0 }, draws) {
  const truth = truths(definition, answers, deal);
  const groups = groupsOf(definition, deal);
  const digits = groups.map((group) => {
    const codes = truthDigits(group, truth);
    // What a respondent's own device has shown is disguised already; its program only states the law.
    return isOwnDevice(definition, group, deal) ? codes : group.node.run(codes, draws, harmlessDigits(definition, group, harmless));
  });
  const open = publicAttributes(definition).map(({ name, answers: names }) => codeOf(truth[name], names, name));
  return { groups: digits, open, deal, text: reportText(definition, groups, { digits, open, deal }) };
}

function reportText(definition, groups, { digits, open, deal }) {
  const dealt = definition.scheme.questionnaires ? [spelled(deal, definition.scheme.questionnaires.length)] : [];
  const hidden = groups.flatMap(({ node }, index) => digits[index].map((digit, at) => spelled(digit, node.shape[at])));
  const shown = publicAttributes(definition).map(({ answers }, index) => spelled(open[index], answers.length));
  return [...dealt, ...hidden, ...shown].join("");
}

function spelled(digit, radix) {
  return digit.toString(36).padStart(Math.max(DIGIT, (radix - 1).toString(36).length), "0");
}

// Digits of the harmless question's answer where it is really asked; else the program draws them.
function harmlessDigits(definition, group, harmless) {
  const question = allQuestions(definition).find((one) => one.harmless && one.name === group.names[0]);
  if (!question || harmless[question.name] === undefined) return null;
  return [codeOf(harmless[question.name], group.answers[0], question.name)];
}
