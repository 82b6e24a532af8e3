// The second round: a frozen classifier is tried on the answers that its person keeps on this device.

import { sha256 } from "./canonical.js";
import { element } from "./dom.js";
import { definition, fingerprint, status } from "./given.js";
import { freshDraws } from "./label.js";
import { compile } from "./program.js";
import { classified } from "./questionnaire.js";
import { forget } from "./sealed.js";
import { session } from "./session.js";
import { send } from "./unsent.js";

// Answers drawn by lot and afresh. What was drawn for the report would tell, together with it, whether that was the truth.
function madeUp(personal) {
  const drawn = ([attribute, { answers, program }]) => [attribute, answers[compile(program, [answers.length]).run([0], freshDraws())[0]]];
  return Object.fromEntries(Object.entries(personal).map(drawn));
}

// A frozen classifier is tried on the answers kept here; one bit is sent.
export function secondRound() {
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
    await forget(fingerprint, session.person);
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
