// A question with many answers: some letters of a name or a code are typed, and the answers that hold them are offered. An
// editable combobox with a list (WAI-ARIA 1.2): the focus stays in the field, arrows walk through the list, Enter chooses,
// Escape closes. Nothing of what is typed leaves the page.

import { element } from "./dom.js";
import { answerNamed, countOf, listed } from "./lists.js";
import { answerText } from "./words.js";

// More answers than this are searched for instead of being shown all at once.
const SHOWN_AT_ONCE = 30;
const MOST_HITS = 50;

export const isSearched = (question, words) => countOf(question) > SHOWN_AT_ONCE && words.search !== undefined;

// Letters without case and accents, so that whoever types "zurich" finds Zürich.
export const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/ß/g, "ss").replace(/\s+/g, " ").trim();

// Places of the answers that hold every typed word, those that begin so first; {hits, more}.
export function found(keys, typed, most = MOST_HITS) {
  const wanted = folded(typed);
  const parts = wanted.split(" ");
  const [first, rest] = [[], []];
  let count = 0;
  keys.forEach((key, at) => {
    if (!parts.every((part) => key.includes(part))) return;
    count += 1;
    const isFirst = key.startsWith(wanted) || key.includes(`\n${wanted}`);
    if ((isFirst ? first : rest).length < most) (isFirst ? first : rest).push(at);
  });
  const hits = [...first, ...rest].slice(0, most);
  return { hits, more: count - hits.length };
}

export function searchField(question, given, { words, language }, changed) {
  const { name } = question;
  const { names, texts } = listed(question, language, (one) => answerText(words, language, one));
  let keys = null; // made when something is typed: a list may be long
  let [hits, active] = [[], -1];
  const chosenText = () => {
    const own = answerNamed(question, given.answers[name] ?? "");
    return own ? answerText(words, language, own) : null;
  };
  const list = element("ul", { id: `${name}-list`, role: "listbox", "aria-labelledby": `legend-${name}`, hidden: true, onmousedown: (event) => event.preventDefault(), onclick: pick });
  const told = element("p", { class: "help", role: "status" });
  const input = element("input", {
    id: `${name}-0`, type: "text", role: "combobox", dir: "auto", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    "aria-labelledby": `legend-${name}`, "aria-describedby": `search-${name}`, "aria-autocomplete": "list", "aria-controls": `${name}-list`, "aria-expanded": "false",
    oninput: type, onkeydown: press, onclick: () => list.hidden && open(), onblur: leave,
  });
  input.value = chosenText() ?? given.typed[name] ?? "";

  // What is no longer the text of the chosen answer is no answer.
  function type() {
    given.typed[name] = input.value;
    delete given.answers[name];
    undecline();
    open();
    changed();
  }

  function open() {
    keys ??= texts.map((text, at) => `${folded(text)}\n${folded(names[at])}`);
    const looked = found(keys, chosenText() === input.value ? "" : input.value);
    hits = looked.hits;
    list.replaceChildren(...hits.map((at, place) => element("li", { id: `${name}-hit-${place}`, role: "option", "aria-selected": "false", dir: "auto" }, texts[at])));
    list.hidden = hits.length === 0;
    input.setAttribute("aria-expanded", String(!list.hidden));
    told.replaceChildren(hits.length === 0 ? words.searchNone : looked.more > 0 ? words.searchMore({ n: looked.more }) : words.searchHits({ n: hits.length }));
    walk(-1);
  }

  function close() {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    told.replaceChildren();
    walk(-1);
  }

  function walk(to) {
    list.children[active]?.setAttribute("aria-selected", "false");
    active = to;
    const option = list.hidden ? null : list.children[active];
    if (!option) return input.removeAttribute("aria-activedescendant");
    option.setAttribute("aria-selected", "true");
    input.setAttribute("aria-activedescendant", option.id);
    return option.scrollIntoView({ block: "nearest" });
  }

  function choose(at) {
    given.answers[name] = names[at];
    input.value = texts[at];
    given.typed[name] = texts[at];
    undecline();
    close();
    changed();
  }

  // An answer takes back that one would rather not say.
  function undecline() {
    const beside = document.getElementById(`${name}-1`);
    if (beside) beside.checked = false;
  }

  function pick(event) {
    const option = event.target.closest("li");
    if (option) choose(hits[[...list.children].indexOf(option)]);
  }

  const step = (by) => (list.hidden ? open() : walk((active + by + (active < 0 && by < 0 ? 1 : 0) + hits.length) % hits.length));
  const keysPressed = {
    ArrowDown: () => (list.hidden ? (open(), walk(0)) : step(1)),
    ArrowUp: () => step(-1),
    Enter: () => choose(hits[Math.max(active, 0)]),
    Escape: close,
  };

  function press(event) {
    const isOpen = !list.hidden;
    // Enter takes what is marked, or the only answer that fits; else it belongs to the form.
    if (event.key === "Enter" && !(isOpen && (active >= 0 || hits.length === 1))) return;
    if (event.key === "Escape" && !isOpen) return;
    if (!(event.key in keysPressed) || event.isComposing) return;
    event.preventDefault();
    keysPressed[event.key]();
  }

  // Whoever typed an answer out need not choose it as well.
  function leave() {
    if (!input.isConnected) return;
    const wanted = folded(input.value);
    const at = given.answers[name] === undefined && wanted !== "" ? texts.findIndex((text, place) => folded(text) === wanted || folded(names[place]) === wanted) : -1;
    if (at >= 0) choose(at);
    else close();
  }

  return [element("p", { id: `search-${name}`, class: "help" }, words.search({ count: new Intl.NumberFormat(language).format(names.length) })), element("div", { class: "search" }, input, list), told];
}
