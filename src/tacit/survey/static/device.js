// What stays on the device in the clear: the reports it sent, under what was asked. Whoever finds the device learns what was
// sent, no more. (Reports that wait are in unsent.js; what is kept of answers is sealed: sealed.js.)

const SENT = "tacit.sent";
const TICKET = "tacit.ticket.";

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
  for (const name of storedNames()) if (name === SENT || name.startsWith(TICKET)) storage.removeItem(name);
}

// Under an open link the device is its own ticket: sending twice is recognised, yet says nothing about the report.
export function deviceToken(survey) {
  if (storage.getItem(TICKET + survey) === null) storage.setItem(TICKET + survey, randomToken());
  return storage.getItem(TICKET + survey);
}
