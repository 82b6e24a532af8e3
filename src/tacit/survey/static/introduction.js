// The first screen: what it is about, how answers are protected, the code, consent. The rest is one tap away.

import { spoken, sha256 } from "./canonical.js";
import { boundedGamma, WHOLE_CAP } from "./checks.js";
import * as device from "./device.js";
import { afterPaint, element, paragraphs } from "./dom.js";
import { definition, fingerprint, status } from "./given.js";
import { freshDraws, privacyLabel, simulator } from "./label.js";
import { picture } from "./picture.js";
import { compile } from "./program.js";
import { classified, readCode } from "./questionnaire.js";
import { forget, forgetDraft } from "./sealed.js";
import { link, needsCode, session, view } from "./session.js";
import { bought } from "./tokens.js";
import { send } from "./unsent.js";
import { withdrawing } from "./withdrawing.js";
import { upTo } from "./words.js";

export function introduction({ heading, start, goOn }) {
  const { words, language, whole } = session;
  const [first] = definition.introduction[language].split(/\n\s*\n/);
  return [
    heading(definition.title[language]),
    element("p", { class: "lead" }, first.trim()),
    session.draft && resumption(goOn),
    secondRound(),
    picture(whole, view()),
    details(first),
    entrance(start),
    status.state === "open" && withdrawing(fingerprint, words),
  ].flat().filter(Boolean);
}

// Answers of an earlier visit are offered, and none of them is shown before somebody says that they are theirs.
function resumption(goOn) {
  const { words } = session;
  const drop = async (event) => {
    event.target.closest("section").remove();
    session.draft = null;
    await forgetDraft(fingerprint);
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
function details(first) {
  let isFilled = false;
  const fill = () => {
    if (isFilled || !folded.isConnected) return;
    isFilled = true;
    folded.append(...inDetail(first));
  };
  // The beginning of the introduction is cut to a few lines until more is wanted.
  const toggled = () => (fill(), document.querySelector(".lead")?.classList.toggle("unfolded", folded.open));
  const folded = element("details", { class: "more", ontoggle: toggled }, element("summary", { onclick: fill }, session.words.more));
  afterPaint(fill);
  return folded;
}

function inDetail(first) {
  const { words, language, whole } = session;
  const rest = definition.introduction[language].slice(first.length).trim();
  return [
    rest && paragraphs(rest),
    element("h2", {}, words.asks),
    paragraphs(definition.contact[language]),
    responsible(),
    definition.retention && element("p", { class: "retention" }, words.retention({ day: new Date(definition.retention).toLocaleDateString(language, { dateStyle: "long", timeZone: "UTC" }) })),
    element("h2", {}, words.protection),
    element("p", {}, words.promise),
    privacyLabel(definition, whole, view()),
    simulator(whole, view()),
    ledgerLines(),
    element("p", {}, words.kept),
    element("p", {}, words.limits),
    element("p", {}, `${words.fingerprint}: `, element("output", { class: "fingerprint", dir: "ltr" }, spoken(fingerprint))),
  ].flat(Infinity).filter(Boolean);
}

// The code, if one is needed, is checked here, before the first question: it buys the token under which the report goes out.
function entrance(start) {
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
    if (session.isShared) forgetDraft(fingerprint);
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
    if (asksCode) {
      // Only now, by a press of the button: programs that merely open links spend no code.
      const { problem: refused, ...paid } = await bought(definition, fingerprint, session.code);
      if (refused) return complain(words[refused], codeField);
      session.bearer = paid;
    }
    if (session.draft || session.isShared) await forgetDraft(fingerprint);
    session.draft = null;
    session.hasConsented = true;
    return start();
  }

  return element(
    "form",
    { class: "entrance", onsubmit: enter, novalidate: true, autocomplete: "off" },
    asksCode && [
      element("p", { class: "code" }, element("label", { for: "code" }, words.code), codeField),
      element("p", { id: "code-help", class: "help" }, words.codeHelp, " ", words.codeOnce),
    ],
    element("p", { class: "check" }, shared, element("label", { for: "shared" }, words.shared)),
    definition.consent && consentText(),
    element("p", { class: "check" }, consent, element("label", { for: "consent" }, words.consent)),
    problem,
    element("p", { class: "buttons" }, element("button", { type: "submit" }, words.start)),
  );
}

// Who answers for the data, who judged the study, where to turn and what one gets; as far as the questionnaire says.
function responsible() {
  const { words, language } = session;
  const titles = { controller: words.controller, ethics: words.ethics, help: words.help, incentive: words.incentive };
  const given = Object.entries(titles).filter(([name]) => definition[name]);
  return given.map(([name, title]) => [element("h2", {}, title), paragraphs(definition[name][language])]);
}

// What is agreed to, in the version of this very definition: another text would have another fingerprint.
function consentText() {
  const { words, language } = session;
  return element(
    "details",
    { class: "consent" },
    element("summary", {}, words.consentText),
    paragraphs(definition.consent[language]),
    element("p", { class: "help" }, words.consentVersion({ version: fingerprint })),
  );
}

// What this device has sent before, and what it comes to with this survey.
function ledgerLines() {
  const { words, language, whole } = session;
  const entries = Object.values(device.ledger());
  if (entries.length === 0) return [];
  const gamma = entries.reduce((all, one) => all * (one.gamma ?? 1), 1) * boundedGamma(whole.deals);
  return [words.ledger({ n: entries.length, times: upTo(gamma, language) }), gamma > WHOLE_CAP && words.ledgerNotice].filter(Boolean).map((line) => element("p", { class: "ledger" }, line));
}

// Answers drawn by lot and afresh. What was drawn for the report would tell, together with it, whether that was the truth.
function madeUp(personal) {
  const drawn = ([attribute, { answers, program }]) => [attribute, answers[compile(program, [answers.length]).run([0], freshDraws())[0]]];
  return Object.fromEntries(Object.entries(personal).map(drawn));
}

// A frozen classifier is tried on the answers kept here; one bit is sent.
function secondRound() {
  const { words, kept } = session;
  if (!status.classifier || !kept) return [];
  const result = element("p", { role: "status" });
  const answer = async (event) => {
    event.target.disabled = true;
    const { target, personal } = status.classifier;
    const tried = personal ? madeUp(personal) : kept.truth;
    const right = classified(status.classifier, tried) === tried[target] ? 1 : 0;
    const [bit] = personal ? [right] : compile(definition.second_program, [2]).run([right], freshDraws());
    const token = await sha256(`second ${kept.token}`);
    // Where reports need a code, the token it bought shows that this device sent one.
    const bought = kept.signature ? { bearer: kept.token, signature: kept.signature } : {};
    const body = JSON.stringify({ report: `0${bit}`, ...bought });
    const outcome = await send({ path: `/s/${fingerprint}/second/${token}`, body });
    // One bit and no more: another classifier must not be able to ask these answers a second question.
    await forget(fingerprint);
    session.kept = null;
    result.textContent = outcome.state === "refused" ? outcome.reason : personal ? words.secondPersonalSent : words.secondSent;
  };
  return [
    element("h2", {}, words.secondRound),
    element("p", {}, status.classifier.personal ? words.secondPersonal : words.secondHelp),
    element("p", {}, element("button", { type: "button", onclick: answer }, words.secondSend)),
    result,
  ];
}
