// One page of questions. Skip logic may leave a page empty: it is then passed over.

import { element } from "./dom.js";
import { field } from "./fields.js";
import { definition, isAskedNow, openQuestions, saveDraft, session, view } from "./session.js";

const jump = (event) => {
  event.preventDefault();
  document.getElementById(event.target.getAttribute("href").slice(1))?.focus();
};

export function asking(index, { heading, back, next, someoneElse }) {
  const { words, language } = session;
  const page = definition.pages[index];
  const isLast = index === definition.pages.length - 1;
  const problem = element("div", { role: "alert", class: "problem", tabindex: -1 });
  const form = element("form", { onsubmit: go, novalidate: true, autocomplete: "off" });
  const keep = element("input", { type: "checkbox", id: "keep", onchange: (event) => ((session.keepAnswers = event.target.checked), saveDraft()) });
  keep.checked = session.keepAnswers;

  function changed() {
    saveDraft();
    draw();
  }

  function draw() {
    const focused = document.activeElement?.id;
    form.replaceChildren(
      ...page.questions.filter(isAskedNow).map((one) => field(one, session, view(), changed)),
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
  }

  function go(event) {
    event.preventDefault();
    const open = openQuestions(page);
    for (const one of page.questions) {
      document.getElementById(`error-${one.name}`)?.replaceChildren(open.includes(one) ? words.needsAnswer : "");
    }
    if (open.length === 0) return next();
    const links = open.map((one) => element("li", {}, element("a", { href: `#${one.name}-0`, onclick: jump }, one.text[language])));
    problem.replaceChildren(element("p", {}, words.missing({ n: open.length })), element("ul", {}, links));
    return problem.focus();
  }

  draw();
  return [
    element("p", { class: "progress" }, words.page({ n: index + 1, of: definition.pages.length })),
    heading(page.title?.[language] ?? definition.title[language]),
    form,
  ];
}
