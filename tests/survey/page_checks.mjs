// Definitions as the page examines them before it asks.
import { webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import { keyOf, seriesHash } from "../../src/tacit/survey/static/canonical.js";
import { examine } from "../../src/tacit/survey/static/checks.js";
import { blocksOfAll, sentences } from "../../src/tacit/survey/static/label.js";
import { spokenWords } from "../../src/tacit/survey/static/words.js";
import { together } from "../../src/tacit/survey/static/whole.js";

globalThis.crypto ??= webcrypto;

const finite = (number) => (Number.isFinite(number) ? number : null);
const tasks = {
  examine: ({ documents }) =>
    documents.map((document) => {
      const { objections, whole } = examine(document);
      const deals = (whole?.deals ?? []).map(({ blocks }) => blocks.map(({ groups, gamma, worst }) => ({ names: groups.flatMap(({ names }) => names), gamma: finite(gamma), worst })));
      return { reasons: objections.map(({ reason, names }) => [reason, names]), deals, gamma: finite(whole?.gamma) };
    }),
  sentences: ({ document, texts, language }) => blocksOfAll(examine(document).whole).map((block) => sentences(block, { words: spokenWords(texts, language), language, textOf: (name, answer) => answer ?? name })),
  series: ({ documents }) => Promise.all(documents.map(seriesHash)),
  keys: ({ parts }) => parts.map((one) => keyOf(...one)),
  together: ({ cases }) => cases.map((parts) => together(parts.map((part) => ({ parts: part.map(([known, gamma]) => ({ known, gamma })) })))),
};
const { task, ...given } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(await tasks[task](given)));
