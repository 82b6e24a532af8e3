// Documents, languages and codes as the page reads them.
import { webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import { documentHash } from "../../src/tacit/survey/static/canonical.js";
import { predicted, readCode } from "../../src/tacit/survey/static/questionnaire.js";
import { LANGUAGES, wordsOf } from "../../src/tacit/survey/static/words.js";

globalThis.crypto ??= webcrypto; // older versions of node have it only in the module

const { task, ...given } = JSON.parse(readFileSync(0, "utf8"));
const tasks = {
  hash: ({ document }) => documentHash(document),
  languages: () => ({ languages: LANGUAGES, keys: LANGUAGES.map((one) => Object.keys(wordsOf(one)).sort()) }),
  predicted: ({ tree, people }) => people.map((truth) => predicted(tree, truth)),
  codes: ({ codes }) => codes.map(readCode),
};
console.log(JSON.stringify(await tasks[task](given)));
