// The page's own words: texts with places for values, read in the reader's language, and the sentences made of them.

import { sha256 } from "./canonical.js";

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);

// Texts as the page speaks them: a text with places becomes a function of their values, and one that has a form for each
// number ("one", "other", ...) takes the form of the value called n.
export function spokenWords(texts, language) {
  const forms = new Intl.PluralRules(language);
  const speak = (entry) => {
    if (typeof entry === "string") return entry.includes("{") ? (values) => fill(entry, values) : entry;
    if ("other" in entry) return (values) => fill(entry[forms.select(values.n)] ?? entry.other, values);
    return Object.fromEntries(Object.entries(entry).map(([name, one]) => [name, speak(one)]));
  };
  return speak(texts);
}

// What a language calls itself.
export const nameOf = (language) => new Intl.DisplayNames([language], { type: "language" }).of(language);

// Words are in the page for its first language, in the definition for those the page does not know, and else fetched when
// they are chosen; those are taken only with the hash that the page holds.
export async function wordsFor(language, definition, { words, hashes }, path) {
  const own = definition.words?.[language] ?? words[language];
  if (own) return spokenWords(own, language);
  if (!globalThis.crypto?.subtle) return null;
  const answer = await fetch(`${path}/words/${language}`, { credentials: "omit", referrerPolicy: "no-referrer" }).catch(() => null);
  const text = answer?.ok ? await answer.text() : "";
  if ((await sha256(text)) !== hashes[language]) return null;
  return spokenWords(JSON.parse(text), language);
}

// A chance as "7 times out of 10", and the rest of the cases as what is missing from it; in hundredths where none of the
// wanted parts would be exact.
export function times(words, chance, wanted = [10]) {
  const of = wanted.find((parts) => Math.abs(chance - Math.round(chance * parts) / parts) <= 0.0005) ?? 100;
  const n = Math.round(chance * of);
  return { own: words.times({ n, of }), rest: words.times({ n: of - n, of }) };
}

// A number to read, rounded upwards to two digits that count.
export function upTo(number, language) {
  if (number === Infinity) return "∞";
  const step = 10 ** (Math.floor(Math.log10(number)) - 1);
  return new Intl.NumberFormat(language, { maximumFractionDigits: 1 }).format(Math.ceil(number / step - 1e-6) * step);
}

// A range of numbers reads from left to right in every script, also amid words that do not.
const isolated = (text, { direction }) => (direction === "rtl" && /^[\d<≥][\d<≥–.,٫\s-]*$/.test(text) ? `\u2066${text}\u2069` : text);

// A day, or a range of days, as the reader's language writes it.
function daysIn(text, language) {
  if (!/^([<≥] )?\d{4}-\d\d-\d\d( – \d{4}-\d\d-\d\d)?$/.test(text)) return text;
  const days = new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: "UTC" });
  return text.replace(/[\d-]{10}/g, (day) => (Number.isNaN(Date.parse(day)) ? day : days.format(Date.parse(day))));
}

// A number with a fraction, in a range or alone, with the sign that the reader's language puts before the fraction.
function fractionsIn(text, language) {
  if (!/^[<≥\s–.\d-]*$/.test(text)) return text;
  const numbers = new Intl.NumberFormat(language, { useGrouping: false, maximumFractionDigits: 20 });
  return text.replace(/\d+\.\d+/g, (number) => numbers.format(Number(number)));
}

export const answerText = (words, language, answer) => isolated(fractionsIn(daysIn(answer.text?.[language] ?? words.answers[answer.name] ?? answer.name, language), language), words);
