// Taking a report back: a receipt, drawn on the device from neither code nor token, deletes the one report it was sent with.

import { sha256 } from "./canonical.js";
import { storage } from "./device.js";
import { element } from "./dom.js";

const RECEIPTS = "tacit.receipt.";
const DIGITS = 20;

const place = async (token) => RECEIPTS + (await sha256(`receipt of ${token}`)).slice(0, 32);
const spelled = (receipt) => receipt.match(/.{4}/g).join("-");
const readReceipt = (typed) => typed.toLowerCase().replace(/[^0-9a-f]/g, "");

// A receipt for the report that goes out under a token. A device that several people use keeps none.
export async function drawReceipt(token, isKept) {
  const bytes = crypto.getRandomValues(new Uint8Array(DIGITS / 2));
  const receipt = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (isKept) storage.setItem(await place(token), receipt);
  return { shown: spelled(receipt), hash: await sha256(`receipt ${receipt}`), texts: await sha256(`texts ${receipt}`) };
}

// The receipt of the report that went out under a token, as it was shown; null where none is kept.
export async function keptReceipt(token) {
  const receipt = storage.getItem(await place(token));
  return receipt && { shown: spelled(receipt) };
}

async function withdrawn(fingerprint, receipt) {
  const answer = await fetch(`/s/${fingerprint}/withdrawals`, {
    method: "POST",
    body: JSON.stringify({ receipt }),
    headers: { "Content-Type": "application/json" },
    credentials: "omit",
    referrerPolicy: "no-referrer",
  }).catch(() => null);
  if (answer?.ok) return "withdrawDone";
  return { 404: "withdrawUnknown", 409: "withdrawClosed" }[answer?.status] ?? "withdrawLater";
}

// A folded part of the page, with a field for the receipt; who has sent several waves of a series can take all of them back.
export function withdrawing(fingerprint, words, reports = []) {
  const field = element("input", { id: "withdraw-receipt", autocomplete: "off", spellcheck: "false", "aria-describedby": "withdraw-help" });
  const result = element("p", { role: "status", class: "withdrawn" });
  async function withdraw(event) {
    event.preventDefault();
    const receipt = readReceipt(field.value);
    result.textContent = words[receipt.length === DIGITS ? await withdrawn(fingerprint, receipt) : "withdrawUnknown"];
  }
  async function withdrawAll() {
    const answers = [];
    for (const { survey, token } of reports) answers.push(await withdrawn(survey, readReceipt((await keptReceipt(token))?.shown ?? "")));
    result.textContent = words.withdrawnAll({ n: answers.filter((one) => one === "withdrawDone").length, of: reports.length });
  }
  return element(
    "details",
    { class: "withdraw" },
    element("summary", {}, words.withdraw),
    element(
      "form",
      { onsubmit: withdraw, novalidate: true },
      element("p", { id: "withdraw-help", class: "help" }, words.withdrawHelp),
      element("p", {}, element("label", { for: "withdraw-receipt" }, words.receipt), field),
      element(
        "p",
        { class: "buttons" },
        element("button", { type: "submit", class: "quiet" }, words.withdrawSend),
        reports.length > 1 && element("button", { type: "button", class: "quiet", id: "withdraw-all", onclick: withdrawAll }, words.withdrawAll),
      ),
    ),
    result,
  );
}
