// What stays on the device: the key of its disguises, reports that could not be sent yet, and, only if the respondent
// asks for it, the answers for a second round.

const KEY = "tacit.key";
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
const unhex = (text) => Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));

// Drawn once by the device's generator; "someone else answers" draws it anew.
export function renewKey() {
  storage.setItem(KEY, hex(crypto.getRandomValues(new Uint8Array(32))));
}

async function mac(text) {
  if (!/^[0-9a-f]{64}$/.test(storage.getItem(KEY) ?? "")) renewKey();
  const bytes = unhex(storage.getItem(KEY));
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text)));
}

// The words a sampler draws from, fixed by the device's key and the context: the same answer to the same question under
// the same channel is disguised the same way for ever, because fresh disguises could be averaged away. Nothing about the
// answers is stored for it.
export async function memoized(context, sampler) {
  for (let blocks = 4; ; blocks *= 2) {
    const words = (await Promise.all(Array.from({ length: blocks }, (_, n) => mac(`words ${n} ${context}`)))).flatMap(
      (block) => Array.from(new Uint32Array(block.buffer)),
    );
    let used = 0;
    const nextWord = () => {
      if (used === words.length) throw OUT_OF_WORDS;
      return words[used++];
    };
    try {
      return sampler(nextWord);
    } catch (error) {
      if (error !== OUT_OF_WORDS) throw error;
    }
  }
}
const OUT_OF_WORDS = new Error("more words are needed");

// Under an open link the device is its own ticket: sending twice is recognised, yet says nothing about the report.
export async function deviceToken(survey) {
  return hex(await mac(`token ${survey}`));
}

export function remember(survey, answers) {
  storage.setItem(ANSWERS + survey, JSON.stringify(answers));
}

export function remembered(survey) {
  return JSON.parse(storage.getItem(ANSWERS + survey) ?? "null");
}

export function forget(survey) {
  storage.removeItem(ANSWERS + survey);
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
