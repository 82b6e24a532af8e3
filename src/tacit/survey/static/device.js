// What stays on the device: the reports it sent, under what was asked; reports that could not be sent yet; and, only if the
// respondent asks for it, the answers for a second round. No key: whoever finds the device learns what was sent, no more.

const SENT = "tacit.sent";
const TICKET = "tacit.ticket.";
const UNSENT = "tacit.unsent";
const ANSWERS = "tacit.answers.";

// Where storage is forbidden the page still works; it then forgets everything when it is closed.
const inMemory = new Map();
const memory = {
  getItem: (name) => inMemory.get(name) ?? null,
  setItem: (name, value) => void inMemory.set(name, value),
  removeItem: (name) => void inMemory.delete(name),
};

function findStorage() {
  try {
    localStorage.setItem("tacit.probe", "1");
    localStorage.removeItem("tacit.probe");
    return localStorage;
  } catch {
    return memory;
  }
}
export const storage = findStorage();
export const storedNames = () => (storage === memory ? [...inMemory.keys()] : Object.keys(storage));

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

export const randomToken = () => hex(crypto.getRandomValues(new Uint8Array(32)));

// Every group that was answered here: {content: {digits, gamma}}, the content being a hash of the texts, the answers and the
// program. It is memory, so that the same question is never disguised afresh, and ledger of what was promised; it holds no
// title, no name and no answer.
export const ledger = () => JSON.parse(storage.getItem(SENT) ?? "{}");

export function keepSent(entries) {
  storage.setItem(SENT, JSON.stringify({ ...ledger(), ...entries }));
}

// "Someone else answers": nothing of the one before is left, but reports that still wait to be sent.
export function startAfresh() {
  if (globalThis.indexedDB) keys("readwrite", (store) => store.clear()).catch(() => {});
  for (const name of storedNames()) if (name === SENT || name.startsWith(TICKET) || name.startsWith(ANSWERS)) storage.removeItem(name);
}

// Under an open link the device is its own ticket: sending twice is recognised, yet says nothing about the report.
export function deviceToken(survey) {
  if (storage.getItem(TICKET + survey) === null) storage.setItem(TICKET + survey, randomToken());
  return storage.getItem(TICKET + survey);
}

// One request to the browser's own store of keys: those in it can be used by this page and read out by nobody.
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

const CIPHER = "AES-GCM";
const toText = (bytes) => btoa(String.fromCharCode(...bytes));
const fromText = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));

// Answers for a second round, encrypted; without the key, which is deleted with them, nobody reads them again.
export async function remember(survey, answers) {
  const key = await crypto.subtle.generateKey({ name: CIPHER, length: 256 }, false, ["encrypt", "decrypt"]);
  await keys("readwrite", (store) => store.put(key, survey));
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const hidden = await crypto.subtle.encrypt({ name: CIPHER, iv }, key, new TextEncoder().encode(JSON.stringify(answers)));
  storage.setItem(ANSWERS + survey, JSON.stringify([toText(iv), toText(new Uint8Array(hidden))]));
}

export async function remembered(survey) {
  try {
    const [iv, hidden] = JSON.parse(storage.getItem(ANSWERS + survey) ?? "null").map(fromText);
    const key = await keys("readonly", (store) => store.get(survey));
    return JSON.parse(new TextDecoder().decode(await crypto.subtle.decrypt({ name: CIPHER, iv }, key, hidden)));
  } catch {
    return null; // nothing was kept, or its key is gone
  }
}

export async function forget(survey) {
  storage.removeItem(ANSWERS + survey);
  await keys("readwrite", (store) => store.delete(survey));
}

const unsent = () => JSON.parse(storage.getItem(UNSENT) ?? "[]");

export function keepUnsent(submission) {
  const others = unsent().filter(({ path }) => path !== submission.path);
  storage.setItem(UNSENT, JSON.stringify([...others, submission]));
}

function dropUnsent(path) {
  storage.setItem(UNSENT, JSON.stringify(unsent().filter((one) => one.path !== path)));
}

// Sends one report: "stored", "known" (it had arrived before), "later" (still waiting here), or the server's refusal.
export async function send({ path, body }) {
  let answer;
  try {
    answer = await fetch(path, {
      method: "PUT",
      body,
      headers: { "Content-Type": "application/json" },
      credentials: "omit",
      referrerPolicy: "no-referrer",
    });
  } catch {
    return { state: "later" };
  }
  if (answer.status >= 500 || answer.status === 429 || answer.status === 408) return { state: "later" };
  dropUnsent(path);
  if (answer.ok) return { state: answer.status === 201 ? "stored" : "known" };
  const { error, reason } = await answer.json().catch(() => ({ error: String(answer.status) }));
  return { state: "refused", reason: error, word: reason };
}

// Reports of earlier visits that are still waiting here.
export async function sendWaiting(except) {
  for (const submission of unsent()) if (submission.path !== except) await send(submission);
}
