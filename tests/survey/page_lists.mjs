// Long lists of answers as the page takes and searches them.
import { readFileSync } from "node:fs";
import { webcrypto } from "node:crypto";
import { answerNamed, loadLists, LongNames, takeList } from "../../src/tacit/survey/static/lists.js";
import { folded, found } from "../../src/tacit/survey/static/search.js";

globalThis.crypto ??= webcrypto;

const tasks = {
  take: ({ lists, count, languages }) => lists.map((list) => takeList("some hash", list, [count], languages)),
  fetched: async ({ text, questions, languages }) => {
    globalThis.fetch = async () => ({ ok: true, text: async () => text });
    const isTaken = await loadLists(questions, { languages }, "/s/x");
    return [isTaken, answerNamed(questions[0], "b") ?? null];
  },
  codes: ({ list, names, attribute, asked }) => {
    takeList(list, { names, texts: {} }, [names.length], []);
    const known = new LongNames(attribute);
    return [known.length, asked.map((name) => known.indexOf(name)), asked.map((_, code) => known.at(code) ?? null)];
  },
  search: ({ texts, typed, most }) => typed.map((one) => found(texts.map((text) => `${folded(text)}\n${folded(text.split(" ")[0])}`), one, most)),
};
const { task, ...given } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(await tasks[task](given)));
