// A text of one's own words, which nothing disguises.

import { element } from "../dom.js";
import { addKind } from "../kinds.js";

function inputs({ name, longest }, { texts }, { words }, changed) {
  const write = (event) => {
    texts[name] = event.target.value;
    changed();
  };
  const area = element("textarea", { id: `${name}-0`, rows: 4, dir: "auto", maxlength: longest, autocomplete: "off", "aria-labelledby": `field-${name}`, "aria-describedby": `warning-${name} error-${name}`, oninput: write });
  area.value = texts[name] ?? "";
  return [element("p", { id: `warning-${name}`, class: "warning" }, words.textWarning), area];
}

addKind("text", {
  inputs,
  isAnswered: ({ name, optional }, { texts }) => optional || Boolean(texts[name]?.trim()),
  describedBy: ({ name }) => [`warning-${name}`],
});
