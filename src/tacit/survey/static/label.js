// The privacy label and the simulator, computed from the scheme by following the sampler's every branch.

import { Coins } from "./coins.js";
import { disguise, splitCode } from "./disguise.js";
import { element } from "./dom.js";
import { amplification, shownChance, worstPosterior } from "./law.js";
import { allQuestions, shown } from "./questionnaire.js";
import { times } from "./words.js";

const CROWD = 100;
// The simulator shows other people's chances, so its draws are not the respondent's own.
const simulatedCoins = () => new Coins(() => crypto.getRandomValues(new Uint32Array(1))[0]);

const looksLikeAnswers = ({ channel }) =>
  !["mask", "cut-and-paste", "subset"].includes(channel.kind) && !(channel.kind === "matrix" && channel.reports);

// A cautious whole number: never less than the truth.
export const percentAtMost = (share) => Math.ceil(share * 100 - 1e-6);

function question(definition, attribute) {
  return allQuestions(definition).find((one) => one.attributes.some((part) => part.attribute === attribute));
}

function titleOf(definition, names, language) {
  return [...new Set(names.map((name) => question(definition, name)))].map((one) => one.text[language]);
}

// What one sensitive group promises, as sentences.
export function sentences(definition, group, { words, language, textOf }) {
  const lines = [];
  if (group.names.length > 1) lines.push(words.together(group.names.map((name) => `“${textOf(name)}”`).join(", ")));
  const asked = question(definition, group.names[0]);
  if (asked.harmless) lines.push(words.harmlessLabel(times(words, group.channel.keep).own));
  else if (looksLikeAnswers(group)) lines.push(...chanceSentences(group, words, textOf));
  lines.push(words.atMost(percentAtMost(worstPosterior(group, group.prior))));
  if (amplification(group) === Infinity) lines.push(words.ruledOut);
  return lines;
}

function chanceSentences(group, words, textOf) {
  const [name] = group.names;
  const [answers] = group.answers;
  const own = answers.map((_, code) => shownChance(group, 0, code, code));
  const alike = own.every((chance) => Math.abs(chance - own[0]) < 1e-6);
  // One sentence stands for all answers where all are treated alike; "yes" is the one people worry about.
  const codes = alike ? [Math.min(1, answers.length - 1)] : answers.map((_, code) => code);
  const lines = codes.map((code) => {
    const text = textOf(name, answers[code]);
    const said = times(words, own[code]);
    return words.whatever(text, `${words.sentAs(text, said.own)}, ${words.otherwise(said.rest)}.`);
  });
  return [...lines, words.nobody];
}

export function privacyLabel(definition, groups, view) {
  const { words, language } = view;
  const hidden = new Set(groups.flatMap(({ names }) => names));
  const open = allQuestions(definition).filter((one) => !one.attributes.some(({ attribute }) => hidden.has(attribute)));
  const entry = (titles, lines) => [
    element("dt", {}, titles.join(" · ")),
    lines.map((line) => element("dd", {}, line)),
  ];
  return element(
    "dl",
    { class: "label" },
    alike(definition, groups, view).map(({ titles, lines }) => entry(titles, lines)),
    open.length > 0 && entry(open.map((one) => one.text[language]), [words.publicLabel]),
  );
}

// Questions that are promised the same thing share one entry, so that a long questionnaire keeps a short label.
function alike(definition, groups, view) {
  const entries = new Map();
  for (const group of groups) {
    const lines = sentences(definition, group, view);
    const key = lines.join("\n");
    if (!entries.has(key)) entries.set(key, { titles: new Set(), lines });
    for (const title of titleOf(definition, group.names, view.language)) entries.get(key).titles.add(title);
  }
  return [...entries.values()].map(({ titles, lines }) => ({ titles: [...titles], lines }));
}

// A crowd that all gives one answer, and what it would send.
export function simulator(groups, { words, textOf }) {
  const output = element("div", { role: "status", class: "crowd" });
  const answerChoice = element("select", { id: "simulated-answer", onchange: draw });
  const groupChoice = element(
    "select",
    { id: "simulated-question", onchange: fill },
    groups.map((group, index) => element("option", { value: index }, group.names.map((name) => textOf(name)).join(" + "))),
  );

  function fill() {
    const { answers, names } = groups[groupChoice.value];
    const size = answers.reduce((all, list) => all * list.length, 1);
    const options = Array.from({ length: size }, (_, joint) => {
      const codes = splitCode(joint, answers.map((list) => list.length));
      const text = codes.map((code, axis) => textOf(names[axis], answers[axis][code])).join(" + ");
      return element("option", { value: joint }, text);
    });
    answerChoice.replaceChildren(...options);
    draw();
  }

  function draw() {
    const group = groups[groupChoice.value];
    const truth = splitCode(Number(answerChoice.value), group.sizes);
    const counts = new Map();
    for (let person = 0; person < CROWD; person += 1) {
      const text = shown(group, disguise(group, truth, simulatedCoins()))
        .map(({ name, answers }) => answers.map((answer) => textOf(name, answer)).join(", ") || "–")
        .join(" + ");
      counts.set(text, (counts.get(text) ?? 0) + 1);
    }
    const rows = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 8);
    output.replaceChildren(
      ...rows.map(([text, count]) =>
        element("p", {}, element("meter", { min: 0, max: CROWD, value: count, "aria-label": text }), ` ${count} × ${text}`),
      ),
    );
  }

  // Nothing is drawn before somebody looks: the first question should not wait for it.
  return element(
    "details",
    { class: "simulator", ontoggle: (event) => event.target.open && output.childElementCount === 0 && fill() },
    element("summary", {}, words.tryIt),
    element("p", {}, words.tryHelp),
    element("p", {}, element("label", { for: "simulated-question" }, words.tryQuestion), groupChoice),
    element("p", {}, element("label", { for: "simulated-answer" }, words.tryAnswer), answerChoice),
    element("p", {}, element("button", { type: "button", class: "quiet", onclick: draw }, words.again)),
    output,
  );
}
