// Reports that could not be sent yet wait on the device, disguised. What people wrote into open texts waits beside them, sealed:
// nothing disguises it, and it says who they are.

import { storage } from "./device.js";
import { forgetWaiting, keepWaiting, waitingTexts } from "./sealed.js";

const UNSENT = "tacit.unsent";

const unsent = () => JSON.parse(storage.getItem(UNSENT) ?? "[]");

export async function keepUnsent({ path, body, texts }) {
  // Where nothing can be sealed the texts go out now or not at all.
  const sealed = texts ? await keepWaiting(path, texts).then(() => true, () => false) : false;
  const others = unsent().filter((one) => one.path !== path);
  storage.setItem(UNSENT, JSON.stringify([...others, { path, body, ...(sealed && { sealed }) }]));
}

async function dropUnsent({ path, sealed, texts }) {
  storage.setItem(UNSENT, JSON.stringify(unsent().filter((one) => one.path !== path)));
  if (sealed || texts) await forgetWaiting(path);
}

async function wholeBody({ path, body, sealed, texts }) {
  const written = texts ?? (sealed ? await waitingTexts(path) : null);
  return written ? JSON.stringify({ ...JSON.parse(body), texts: written }) : body;
}

// Sends one report: "stored", "known" (it had arrived before), "later" (still waiting here), or the server's refusal.
export async function send(submission) {
  let answer;
  try {
    answer = await fetch(submission.path, {
      method: "PUT",
      body: await wholeBody(submission),
      headers: { "Content-Type": "application/json" },
      credentials: "omit",
      referrerPolicy: "no-referrer",
    });
  } catch {
    return { state: "later" };
  }
  if (answer.status >= 500 || answer.status === 429 || answer.status === 408) return { state: "later" };
  await dropUnsent(submission);
  if (answer.ok) return { state: answer.status === 201 ? "stored" : "known" };
  const { error, reason } = await answer.json().catch(() => ({ error: String(answer.status) }));
  return { state: "refused", reason: error, word: reason };
}

// Whether the report under a token still waits here.
export const isWaiting = (token) => unsent().some(({ path }) => path.endsWith(`/${token}`));

// Reports of earlier visits that are still waiting here.
export async function sendWaiting() {
  for (const submission of unsent()) await send(submission);
}
