// What stays on the device for a while, encrypted: a draft until it is sent or a day has passed, open texts of a report that
// waits to be sent and, only if the respondent asks for it, the answers for a second round. The keys lie in the browser's own store: this page can use them,
// nobody can read them out, and with its key gone what was encrypted is lost for good.

import { storage, storedNames } from "./device.js";

const DRAFT = "tacit.draft.";
const SECOND = "tacit.answers.";
const WAITING = "tacit.waiting.";
const CIPHER = "AES-GCM";
const DAY = 24 * 60 * 60 * 1000;

// One request to the store of keys: {key, until} under a name; `until` is null where nothing but its use ends it.
function keys(mode, ask) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("tacit", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("keys");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const asked = ask(opening.result.transaction("keys", mode).objectStore("keys"));
      asked.onsuccess = () => (opening.result.close(), resolve(asked.result));
      asked.onerror = () => reject(asked.error);
    };
  });
}

const toText = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
const fromText = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));

// Where something sealed lies, and under which name its key.
const draftAt = (draft) => ({ stored: DRAFT + draft, name: `draft ${draft}` });
const secondAt = (survey, person) => ({ stored: `${SECOND}${survey}.${person}`, name: `${survey}.${person}` });
const waitingAt = (path) => ({ stored: WAITING + path, name: `waiting ${path}` });

async function keyAt({ name }, lasts) {
  const known = await keys("readonly", (store) => store.get(name));
  if (known) return known.key ?? known;
  const key = await crypto.subtle.generateKey({ name: CIPHER, length: 256 }, false, ["encrypt", "decrypt"]);
  await keys("readwrite", (store) => store.put({ key, until: lasts === null ? null : Date.now() + lasts }, name));
  return key;
}

async function seal(place, value, lasts) {
  const key = await keyAt(place, lasts);
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const hidden = await crypto.subtle.encrypt({ name: CIPHER, iv }, key, new TextEncoder().encode(padded(JSON.stringify(value))));
  storage.setItem(place.stored, JSON.stringify([toText(iv), toText(new Uint8Array(hidden))]));
}

// Up to the next kilobyte: how long something sealed is says little about what was answered.
const padded = (text) => text + " ".repeat(1024 - (new TextEncoder().encode(text).length % 1024));

async function opened({ stored, name }) {
  const kept = storage.getItem(stored);
  if (kept === null) return null;
  try {
    const [iv, hidden] = JSON.parse(kept).map(fromText);
    const known = await keys("readonly", (store) => store.get(name));
    return JSON.parse(new TextDecoder().decode(await crypto.subtle.decrypt({ name: CIPHER, iv }, known.key ?? known, hidden)));
  } catch {
    return null; // its key is gone
  }
}

async function destroy({ stored, name }) {
  storage.removeItem(stored);
  if (globalThis.indexedDB) await keys("readwrite", (store) => store.delete(name)).catch(() => {});
}

// Answers for a second round, each person's apart.
export const remember = (survey, person, answers) => seal(secondAt(survey, person), answers, null);
export const remembered = (survey, person) => opened(secondAt(survey, person));
export const forget = (survey, person) => destroy(secondAt(survey, person));

// Open texts of a report that could not be sent yet.
export const keepWaiting = (path, texts) => seal(waitingAt(path), texts, null);
export const waitingTexts = (path) => opened(waitingAt(path));
export const forgetWaiting = (path) => destroy(waitingAt(path));

// The draft of a questionnaire that is being answered, one for each visit (`run`). Savings are made one after the other, and
// none after the draft was forgotten. Where a browser keeps nothing, nothing is kept.
let saving = Promise.resolve();
let isOver = false;

export function keepDraft(survey, draft) {
  isOver = false;
  const text = JSON.stringify(draft);
  saving = saving.then(() => (isOver ? null : seal(draftAt(`${survey}.${draft.run}`), JSON.parse(text), DAY))).catch(() => {});
}

export async function forgetDraft(survey, run) {
  isOver = true;
  await saving;
  await destroy(draftAt(`${survey}.${run}`));
}

const storedDrafts = (survey = "") => storedNames().filter((one) => one.startsWith(DRAFT + survey)).map((one) => one.slice(DRAFT.length));

// The drafts of a survey as they were left; those whose day has passed are destroyed before, whatever survey they belong to.
export async function draftsOf(survey) {
  const drafts = await Promise.all(storedDrafts(survey).map((one) => opened(draftAt(one))));
  return drafts.filter(Boolean);
}

export async function forgetDrafts(survey) {
  for (const draft of storedDrafts(survey)) await destroy(draftAt(draft));
}

// A key that would last longer than a day was made under a clock that has been set back since.
export async function dropExpired() {
  if (!globalThis.indexedDB) return;
  for (const draft of storedDrafts()) {
    const place = draftAt(draft);
    const known = await keys("readonly", (store) => store.get(place.name)).catch(() => null);
    const left = (known?.until ?? 0) - Date.now();
    if (!(left > 0 && left <= DAY)) await destroy(place);
  }
}
