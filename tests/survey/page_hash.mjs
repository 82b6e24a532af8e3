// Documents, languages and codes as the page reads them.
import { webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import { documentHash } from "../../src/tacit/survey/static/canonical.js";
import { classified, readCode } from "../../src/tacit/survey/static/questionnaire.js";
import { spokenWords } from "../../src/tacit/survey/static/words.js";

globalThis.crypto ??= webcrypto; // older versions of node have it only in the module

const { task, ...given } = JSON.parse(readFileSync(0, "utf8"));
const tasks = {
  hash: ({ document }) => documentHash(document),
  spoken: ({ texts, language, values }) => Object.fromEntries(Object.entries(spokenWords(texts, language)).map(([name, word]) => [name, typeof word === "function" ? word(values) : word])),
  classified: ({ classifier, people }) => people.map((truth) => classified(classifier, truth)),
  codes: ({ codes }) => codes.map(readCode),
};
console.log(JSON.stringify(await tasks[task](given)));
