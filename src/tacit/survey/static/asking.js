// One page of questions. Skip logic may leave a page empty: it is then passed over.

import { element } from "./dom.js";
import { field, gridOf } from "./fields.js";
import { definition } from "./given.js";
import { kindOf } from "./kinds.js";
import { conditionsOf } from "./questionnaire.js";
import { isAskedNow, openQuestions, place, said, saveDraft, session, view } from "./session.js";

const jump = (event) => {
  event.preventDefault();
  document.getElementById(event.target.getAttribute("href").slice(1))?.focus();
};

// Questions that stand together: one, or the lines of a grid.
function units(questions) {
  const made = [];
  for (const one of questions) {
    if (one.grid && made.at(-1)?.[0].grid?.name === one.grid.name) made.at(-1).push(one);
    else made.push([one]);
  }
  return made;
}

// In the order that was drawn on this device; what depends on another question of the page stays behind it.
function inOrder(page) {
  const all = units(page.questions);
  if (!page.shuffle) return all;
  const rank = new Map();
  all.forEach((unit) => {
    const before = unit.flatMap(conditionsOf).map(({ question }) => rank.get(question) ?? -1);
    const own = Math.max(place(`page ${unit[0].name}`), ...before.map((one) => one + 1e-9));
    unit.forEach(({ name }) => rank.set(name, own));
  });
  return [...all].sort((one, other) => rank.get(one[0].name) - rank.get(other[0].name));
}

// Comprehension checks of a page that were answered wrongly and not explained yet.
function misunderstood(page) {
  const wrong = page.questions.filter((one) => one.correct && isAskedNow(one) && session.answers[one.name] !== one.correct);
  return wrong.filter(({ name }) => !session.explained.includes(name));
}

export function asking(index, { heading, back, next, someoneElse }) {
  const { words, language } = session;
  const page = definition.pages[index];
  const isLast = index === definition.pages.length - 1;
  const problem = element("div", { role: "alert", class: "problem", tabindex: -1 });
  const form = element("form", { onsubmit: go, novalidate: true, autocomplete: "off" });
  const keep = element("input", { type: "checkbox", id: "keep", onchange: (event) => ((session.keepAnswers = event.target.checked), saveDraft()) });
  keep.checked = session.keepAnswers;
  const askedNames = () => page.questions.filter(isAskedNow).map(({ name }) => name).join();
  let shown = "";
  let told = null; // what was still open when it was last said: from the first try to go on it is kept up

  // Drawn again only where other questions are asked now, or a choice takes back another: nobody loses the place in a text.
  function changed({ isDrawn = false } = {}) {
    saveDraft();
    const isAnew = isDrawn || askedNames() !== shown;
    if (isAnew) draw();
    if (told !== null) tellOpen(isAnew);
  }

  function draw() {
    const { id: focused, selectionEnd } = document.activeElement ?? {};
    shown = askedNames();
    const fields = inOrder(page).map((unit) => unit.filter(isAskedNow)).filter((unit) => unit.length > 0);
    form.replaceChildren(
      ...fields.map((unit) => (unit[0].grid ? gridOf(unit, session, view(), changed) : field(unit[0], session, view(), changed))),
      ...(isLast && definition.second_round && !session.isShared ? [element("p", { class: "check" }, keep, element("label", { for: "keep" }, words.remember))] : []),
      problem,
      element(
        "p",
        { class: "buttons" },
        element("button", { type: "button", class: "quiet back", onclick: back }, words.back),
        element("button", { type: "submit" }, isLast ? words.check : words.next),
        session.isShared && element("button", { type: "button", class: "quiet", onclick: someoneElse }, words.someoneElse),
      ),
    );
    if (focused) document.getElementById(focused)?.focus();
    // Whoever is typing goes on where the cursor was.
    if (focused && document.activeElement.type === "text") document.activeElement.setSelectionRange(selectionEnd, selectionEnd);
  }

  function tellOpen(isAnew = true) {
    const open = openQuestions(page);
    const names = open.map(({ name }) => name).join();
    if (names === told && !isAnew) return;
    told = names;
    for (const one of page.questions) {
      document.getElementById(`error-${one.name}`)?.replaceChildren(open.includes(one) ? kindOf(one).openText(one, words) : "");
      document.querySelector(`#field-${one.name} :is(textarea, input[type=text], input[type=date])`)?.setAttribute("aria-invalid", open.includes(one));
    }
    const links = open.map((one) => element("li", {}, element("a", { href: `#${one.name}-0`, onclick: jump }, said(one.text))));
    problem.replaceChildren(...(open.length > 0 ? [element("p", {}, words.missing({ n: open.length })), element("ul", {}, links)] : []));
  }

  function go(event) {
    event.preventDefault();
    tellOpen();
    if (told !== "") return problem.focus();
    const wrong = misunderstood(page);
    if (wrong.length === 0) return next();
    // The first answer is the one that counts; what is right is said once, and then it goes on.
    session.explained.push(...wrong.map(({ name }) => name));
    changed({ isDrawn: true });
    return document.getElementById(`field-${wrong[0].name}`).scrollIntoView();
  }

  draw();
  return [
    element("progress", { class: "bar", max: definition.pages.length + 1, value: index + 1, "aria-hidden": "true" }),
    element("p", { id: "progress", class: "progress" }, words.page({ n: index + 1, of: definition.pages.length })),
    heading(page.title ? said(page.title) : definition.title[language], { "aria-describedby": "progress" }),
    form,
  ];
}
