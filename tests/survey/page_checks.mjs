// Definitions as the page examines them before it asks.
import { webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import { examine } from "../../src/tacit/survey/static/checks.js";

globalThis.crypto ??= webcrypto;

const finite = (number) => (Number.isFinite(number) ? number : null);
const tasks = {
  examine: ({ documents }) =>
    documents.map((document) => {
      const { objections, whole } = examine(document);
      const deals = (whole?.deals ?? []).map(({ blocks }) => blocks.map(({ groups, gamma, worst }) => ({ names: groups.flatMap(({ names }) => names), gamma: finite(gamma), worst })));
      return { reasons: objections.map(({ reason, names }) => [reason, names]), deals };
    }),
};
const { task, ...given } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(tasks[task](given)));
