// Long lists of answers. The definition names one by its hash and says how many answers it has; the list itself is fetched
// when its question is near, and taken only with that hash. Which answer is looked for never leaves the page.

import { sha256 } from "./canonical.js";

// More answers than this do not stand in a definition, and nothing can depend on which of them was given.
export const IN_DEFINITION = 500;
export const MOST_ANSWERS = 100000;

const loaded = new Map(); // by hash: {names, texts}

export const isLong = ({ answers }) => !Array.isArray(answers);
export const countOf = ({ answers }) => (Array.isArray(answers) ? answers.length : answers.count);
export const isList = (given) => /^[0-9a-f]{64}$/.test(given?.list) && Number.isInteger(given.count) && given.count > 1 && given.count <= MOST_ANSWERS;

// The names of an attribute's answers: those of a list, and what can be said in their place.
export class LongNames {
  constructor({ list, count, more = [] }) {
    Object.assign(this, { list, count, more });
  }

  get length() {
    return this.count + this.more.length;
  }

  indexOf(name) {
    const own = (loaded.get(this.list)?.names ?? []).indexOf(name);
    const other = this.more.indexOf(name);
    return own >= 0 ? own : other >= 0 ? this.count + other : -1;
  }

  includes(name) {
    return this.indexOf(name) >= 0;
  }

  at(code) {
    return code < this.count ? loaded.get(this.list)?.names[code] : this.more[code - this.count];
  }
}

// The lists that these questions need and that are not here yet.
export const missingLists = (questions) => [...new Set(questions.filter(isLong).map(({ answers }) => answers.list))].filter((list) => !loaded.has(list));

// Whether every one of these lists is here now; one that is not what the definition names is not taken.
export async function loadLists(questions, { languages }, path) {
  for (const list of missingLists(questions)) {
    const answer = await fetch(`${path}/answers/${list}`, { credentials: "omit", referrerPolicy: "no-referrer" }).catch(() => null);
    const text = answer?.ok ? await answer.text() : "";
    const counts = questions.filter(({ answers }) => answers.list === list).map(countOf);
    if ((await sha256(text)) !== list || !takeList(list, JSON.parse(text), counts, languages)) return false;
  }
  return true;
}

// A list with a name and a text in every language for each answer, none of them twice.
export function takeList(list, { names, texts }, counts, languages) {
  const areGood = (all) => Array.isArray(all) && counts.every((count) => all.length === count) && new Set(all).size === all.length && all.every((one) => typeof one === "string" && one.trim() !== "");
  if (!areGood(names) || !languages.every((language) => areGood(texts?.[language]))) return false;
  loaded.set(list, { names, texts });
  return true;
}

// One of a question's answers by its name, as {name, text}.
export function answerNamed({ answers }, name) {
  if (Array.isArray(answers)) return answers.find((one) => one.name === name);
  const { names, texts } = loaded.get(answers.list) ?? { names: [] };
  const at = names.indexOf(name);
  if (at < 0) return undefined;
  return { name, text: Object.fromEntries(Object.entries(texts).map(([language, all]) => [language, all[at]])) };
}

// Names and texts of a question's answers in one language, in their order.
export function listed({ answers }, language, textOf) {
  if (Array.isArray(answers)) return { names: answers.map(({ name }) => name), texts: answers.map(textOf) };
  const { names, texts } = loaded.get(answers.list);
  return { names, texts: texts[language] };
}
