// The first screen: who asks, what it is about, how long it takes, how answers are protected. Start leads to the code and the
// consent, whose text stands there in full; the rest is one tap away, in layers.

import { spoken } from "./canonical.js";
import { boundedGamma, overWaves, WHOLE_NOTICE } from "./checks.js";
import * as device from "./device.js";
import { afterPaint, element, paragraphs } from "./dom.js";
import { definition, fingerprint, isSeries, status, wave } from "./given.js";
import { blocksOfAll, privacyLabel, simulator } from "./label.js";
import { protection, trial } from "./picture.js";
import { allQuestions, readCode } from "./questionnaire.js";
import { forgetDraft } from "./sealed.js";
import { secondRound } from "./second.js";
import { askStatus, isTest, link, needsCode, session, view } from "./session.js";
import { bought } from "./tokens.js";
import { withdrawing } from "./withdrawing.js";
import { upTo } from "./words.js";

export function introduction({ heading, start, goOn, tellUsed, tellClosed }) {
  const { words, language, whole } = session;
  const [first, rest] = twoSentences(definition.introduction[language], language);
  const isClosed = status.state === "closed";
  return [
    whoAsks(),
    heading(definition.title[language]),
    element("p", { class: "lead" }, first),
    element("p", { class: "facts" }, words.minutes({ n: definition.minutes ?? usualMinutes() }), " · ", words.voluntary),
    notes(),
    session.draft && resumption(goOn),
    secondRound(),
    protection(whole, view()),
    isClosed ? element("p", { role: "status" }, words.closed) : entrance({ start, tellUsed, tellClosed }),
    layer("how", words.how, () => [element("p", {}, words.promise), trial(whole, view()), simulator(whole, view())]),
    layer("tells", words.tells, () => [privacyLabel(definition, whole, view()), element("p", {}, words.kept)]),
    layer("asks", words.asks, () => [rest && paragraphs(rest), paragraphs(definition.contact[language]), responsible(), retention()]),
    layer("record", words.record, () => [
      element("p", {}, words.limits),
      element("p", {}, `${words.fingerprint}: `, element("output", { class: "fingerprint", dir: "ltr" }, spoken(fingerprint))),
    ]),
    status.state === "open" && withdrawing(fingerprint, words),
  ].flat().filter(Boolean);
}

// The first two sentences of the first paragraph, which are never cut, and what follows them.
function twoSentences(text, language) {
  const [first] = text.split(/\n\s*\n/);
  const parts = [...new Intl.Segmenter(language, { granularity: "sentence" }).segment(first)].map(({ segment }) => segment);
  const shown = parts.slice(0, 2).join("");
  return [shown.trim(), text.slice(shown.length).trim()];
}

// Ten seconds for a question, where the questionnaire states no time.
const usualMinutes = () => Math.max(1, Math.ceil(allQuestions(definition).length / 6));

const LOGO = /^data:image\/(png|svg\+xml);base64,[A-Za-z0-9+/=]+$/;

// The institution with its logo; as an image a logo runs nothing and fetches nothing.
function whoAsks() {
  const { language } = session;
  const name = definition.institution?.[language] ?? definition.contact[language].split("\n")[0];
  const logo = LOGO.test(definition.logo ?? "") && element("img", { src: definition.logo, alt: "" });
  return element("p", { class: "who" }, logo, name);
}

function retention() {
  const { words, language } = session;
  return definition.retention && element("p", { class: "retention" }, words.retention({ day: new Date(definition.retention).toLocaleDateString(language, { dateStyle: "long", timeZone: "UTC" }) }));
}

// Answers of an earlier visit are offered, and none of them is shown before somebody says that they are theirs.
function resumption(goOn) {
  const { words } = session;
  const drop = async (event) => {
    event.target.closest("section").remove();
    const { run } = session.draft;
    session.draft = null;
    await forgetDraft(fingerprint, run);
  };
  return element(
    "section",
    { class: "resume", "aria-labelledby": "resume-title" },
    element("p", { id: "resume-title" }, words.resume),
    element(
      "p",
      { class: "buttons" },
      element("button", { type: "button", id: "resume", onclick: goOn }, words.resumeGo),
      element("button", { type: "button", class: "quiet", id: "drop", onclick: drop }, words.resumeDrop),
    ),
  );
}

// What is one tap away is made when the first screen has been painted, or with the tap: numbers and days in the reader's
// language take a slow phone a fifth of a second.
function layer(name, title, make) {
  let isFilled = false;
  const fill = () => {
    if (isFilled || !folded.isConnected) return;
    isFilled = true;
    folded.append(...make().flat(Infinity).filter(Boolean));
  };
  const folded = element("details", { class: `more ${name}`, ontoggle: fill }, element("summary", { onclick: fill }, title));
  afterPaint(fill);
  return folded;
}

// The code, if one is needed, is checked here, before the first question: it buys the token under which the report goes out.
function entrance({ start, tellUsed, tellClosed }) {
  const { words } = session;
  const consent = element("input", { type: "checkbox", id: "consent" });
  consent.checked = session.hasConsented;
  const codeField = element("input", { id: "code", autocomplete: "off", spellcheck: "false", "aria-describedby": "code-help" });
  codeField.value = session.code ?? link.get("code") ?? "";
  const problem = element("p", { id: "entrance-problem", role: "alert", class: "problem" });
  const shared = element("input", { type: "checkbox", id: "shared", onchange: share });
  shared.checked = session.isShared;
  const asksCode = needsCode && !session.bearer;

  // From the tick on nothing is kept, also nothing of what was answered before it.
  function share(event) {
    session.isShared = event.target.checked;
    if (session.isShared) forgetDraft(fingerprint, session.run);
  }

  function complain(text, field) {
    problem.textContent = text;
    for (const [one, help] of [[codeField, "code-help"], [consent, ""]]) {
      one.setAttribute("aria-invalid", one === field);
      one.setAttribute("aria-describedby", one === field ? `entrance-problem ${help}` : help);
    }
    field.focus();
  }

  async function enter(event) {
    event.preventDefault();
    if (asksCode) {
      session.code = readCode(codeField.value);
      if (session.code === null) return complain(words.codeWrong, codeField);
    }
    if (!consent.checked) return complain(words.consentMissing, consent);
    if (asksCode && (await tellUsed(session.code))) return null;
    await askStatus();
    if (status.state === "closed") return tellClosed();
    if (asksCode) {
      // Only now, by a press of the button: programs that merely open links spend no code.
      const { problem: refused, ...paid } = await bought(definition, fingerprint, session.code);
      if (refused) return complain(words[refused], codeField);
      session.bearer = paid;
    }
    if (session.draft) await forgetDraft(fingerprint, session.draft.run);
    session.draft = null;
    session.hasConsented = true;
    return start();
  }

  const title = element("h2", { tabindex: -1 }, words.before);
  const open = () => {
    form.hidden = false;
    begin.remove();
    form.scrollIntoView();
    title.focus({ preventScroll: true });
  };
  const begin = element("p", { class: "buttons" }, element("button", { type: "button", id: "begin", onclick: open }, words.start));
  const form = element(
    "form",
    { class: "entrance", onsubmit: enter, novalidate: true, autocomplete: "off", hidden: !session.hasConsented },
    title,
    asksCode && [
      element("p", { class: "code" }, element("label", { for: "code" }, words.code), codeField),
      element("p", { id: "code-help", class: "help" }, words.codeHelp, " ", words.codeOnce),
    ],
    definition.consent && consentText(),
    element("p", { class: "check" }, shared, element("label", { for: "shared" }, words.shared)),
    element("p", { class: "check" }, consent, element("label", { for: "consent" }, words.consent)),
    problem,
    element("p", { class: "buttons" }, element("button", { type: "submit" }, words.agree)),
  );
  return [!session.hasConsented && begin, form];
}

// Who answers for the data, who judged the study, where to turn and what one gets; as far as the questionnaire says.
function responsible() {
  const { words, language } = session;
  const titles = { controller: words.controller, ethics: words.ethics, help: words.help, incentive: words.incentive };
  const given = Object.entries(titles).filter(([name]) => definition[name]);
  return given.map(([name, title]) => [element("h2", {}, title), paragraphs(definition[name][language])]);
}

// What is agreed to stands here in full, in the version of this very definition: another text has another fingerprint.
function consentText() {
  const { words, language } = session;
  return element("section", { class: "consent" }, paragraphs(definition.consent[language]), element("p", { class: "help" }, words.consentVersion({ version: fingerprint })));
}

// Whether the one who answers is somebody who answered here before: asked before anything else, and of others nothing is shown.
export function askPerson({ heading, choose }) {
  const { words, language } = session;
  const { length } = device.people();
  const me = (_, index) => element("button", { type: "button", onclick: () => choose(index, true) }, length === 1 ? words.itWasMe : words.iAmPerson({ n: index + 1 }));
  return [
    element("p", { class: "progress" }, definition.title[language]),
    heading(words.wasItYou),
    element("p", {}, words.wasItYouHelp),
    element(
      "p",
      { id: "who", class: "buttons" },
      Array.from({ length }, me),
      element("button", { type: "button", class: "quiet", onclick: () => choose(device.nextPerson(), false) }, words.notMe),
    ),
  ];
}

// What is said before the disguise is shown: of the series, and of what this person has sent.
function notes() {
  const lines = [...seriesLines(), ...personLines()];
  return lines.length > 0 && element("section", { class: "notes" }, lines);
}

// How often one is asked, what all waves together tell, and that a panel's reports can be put together: before the first.
function seriesLines() {
  const { words, language } = session;
  if (!isSeries) return [];
  const { one, all } = seriesFigures();
  const lines = [
    words.seriesLabel({ wave, waves: definition.waves, one: upTo(one, language), times: upTo(all, language) }),
    all > WHOLE_NOTICE && words.wholeNotice,
    definition.panel && words.panelLabel,
  ];
  return lines.filter(Boolean).map((line) => element("p", { class: "series" }, line));
}

// What all waves tell of one answer and of all of them.
function seriesFigures() {
  const { whole } = session;
  const over = (gamma) => overWaves(definition, gamma * whole.second);
  return { one: over(Math.max(...blocksOfAll(whole).map(({ gamma }) => gamma))), all: over(boundedGamma(whole.deals)) };
}

// What this person has sent before, and what it comes to with this survey; to somebody else, what that would mean. Of earlier
// waves nothing more is to be said than of the series.
function personLines() {
  const { words, language, standing, person, hasAnswered, isShared, isCounted } = session;
  if (isTest || !device.hasSent()) return [];
  const times = (gamma) => upTo(gamma, language);
  const said = isCounted ? seriesFigures() : { one: 1, all: 1 };
  const lines = [
    standing?.gamma > said.one && words.again({ n: standing.repeated.size, times: times(standing.gamma), cap: times(standing.cap) }),
    standing?.all > said.all && words.ledger({ n: standing.n, times: times(standing.all) }),
    standing?.all > Math.max(said.all, WHOLE_NOTICE) && words.wholeNotice,
    !hasAnswered && words.ifItWasMe,
    !isShared && (person > 0 || device.people().length > 1) && words.youAre({ n: person + 1 }),
  ];
  return lines.filter(Boolean).map((line) => element("p", { class: "ledger" }, line));
}
