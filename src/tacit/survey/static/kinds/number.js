// A number in a range: chosen, or typed.

import { ranges, typedField } from "../fields.js";
import { addKind } from "../kinds.js";

// Digits, also full-width, Arabic and Persian ones, with a point or a comma.
function valueOf(typed) {
  const plain = typed.normalize("NFKC").replace(/[٠-٩۰-۹]/g, (digit) => digit.charCodeAt(0) & 15).trim().replace(/[,٫]/, ".");
  return /^[-+]?\d+(\.\d*)?$/.test(plain) ? Number(plain) : null;
}

addKind("number", {
  inputs: (question, ...rest) => (question.edges ? typedField(question, { type: "text", inputmode: "decimal" }, valueOf, ...rest) : ranges(question, ...rest)),
  openText: ({ edges }, words) => (edges ? words.needsNumber : words.needsAnswer),
});
