// What stays on the device in the clear: which questions its people were asked, as hashes, with what was promised them; no
// answer, no report, no title. (Reports that wait are in unsent.js; what is kept of answers is sealed: sealed.js.)

const PEOPLE = "tacit.people";

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

export const randomToken = (bytes = 32) => hex(crypto.getRandomValues(new Uint8Array(bytes)));

// The people who answered here, in the order in which they came. No link, code or server removes an entry.
//   sent      what went out: [{asked, gamma, times}], `asked` being hashes of the questions; gamma is null without a bound
//   surveys   for each survey or series: {deal, panel, sent}, the version that was dealt, the pseudonym of a panel, and what went
//             out: {wave: {survey, token}}, under an open link or in a series; a shared device keeps no token
//   isShared  the one entry of everybody who answered while the device was called shared
export const people = () => JSON.parse(storage.getItem(PEOPLE) ?? "[]");
export const personAt = (index) => people()[index] ?? { sent: [], surveys: {} };
export const hasSent = () => people().some(({ sent }) => sent.length > 0);

export function keepPerson(index, person) {
  const all = people();
  all[index] = person;
  storage.setItem(PEOPLE, JSON.stringify(all));
}

// Where the next person's entry begins; on a shared device all of them have one.
export function nextPerson(isShared) {
  const shared = isShared ? people().findIndex((one) => one.isShared) : -1;
  return shared < 0 ? people().length : shared;
}
