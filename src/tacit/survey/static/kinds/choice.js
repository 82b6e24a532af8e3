// One of several answers; among many it is searched for.

import { declineField, radios } from "../fields.js";
import { addKind } from "../kinds.js";
import { isSearched, searchField } from "../search.js";

function inputs(question, given, view, changed) {
  if (!isSearched(question, view.words)) return radios(question, given, view, changed);
  return [searchField(question, given, view, changed), declineField(question, given, view, changed)];
}

addKind("choice", { inputs });
