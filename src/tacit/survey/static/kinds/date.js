// A day in a range: typed, or chosen.

import { ranges, typedField } from "../fields.js";
import { addKind } from "../kinds.js";

// A day as the browser's own field gives it.
const valueOf = (typed) => (/^\d{4}-\d{2}-\d{2}$/.test(typed) ? typed : null);

addKind("date", {
  inputs: (question, ...rest) => (question.edges ? typedField(question, { type: "date" }, valueOf, ...rest) : ranges(question, ...rest)),
  openText: ({ edges }, words) => (edges ? words.needsDate : words.needsAnswer),
});
