// The page's own code on one device through a whole series: every visit runs the joined scripts of the page afresh, as a browser
// does, and every draw of every visit is followed. Given is one script that returns the page's modules.
import { webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import { Path } from "./page_paths.mjs";

const MOST_VISITS = 2500;

const { script, cases, leak } = JSON.parse(readFileSync(0, "utf8"));
const modulesOf = new Function("document", "location", "localStorage", "crypto", "fetch", "pathDraws", "addEventListener", script);

// Tokens, receipts and pseudonyms come from a counter: what they are must depend on nothing that was answered.
function counter(from) {
  const numbers = { next: from };
  const getRandomValues = (array) => array.fill(0).map(() => (numbers.next = (numbers.next * 48271) % 2147483647));
  return { numbers, crypto: { subtle: webcrypto.subtle, getRandomValues } };
}

const copyOf = (device) => ({ ...device, stored: new Map(device.stored), sent: [...device.sent], reports: [...device.reports] });

const wholes = new Map();

// One visit with one person's answers, its draws along one path. Gives the device as it is afterwards.
async function visit(before, { definition, who, code, isShared, isLost, isWithdrawn }, person, draws) {
  const device = copyOf(before);
  const { numbers, crypto } = counter(device.numbers);
  const fingerprint = definition.hash.slice(0, 32);
  const answers = [];
  const fetch = async (path, { method = "GET", body = "" } = {}) => {
    device.sent.push([path, method, body]);
    if (isLost && answers.push(path) === 1) throw new TypeError("no connection");
    return { ok: true, status: 201, json: async () => ({}) };
  };
  const texts = { definition: JSON.stringify(definition), status: '{"state":"open"}', words: "{}" };
  const localStorage = {
    getItem: (name) => device.stored.get(name) ?? null,
    setItem: (name, value) => void device.stored.set(name, String(value)),
    removeItem: (name) => void device.stored.delete(name),
  };
  const document = { getElementById: (id) => ({ textContent: texts[id] }) };
  const page = modulesOf(document, { pathname: `/s/${fingerprint}`, hash: isShared ? "#shared" : "" }, localStorage, crypto, fetch, () => draws, () => {});
  const { session, takePerson } = page.session;
  // What the page works out of a definition follows from it alone.
  if (!wholes.has(definition)) {
    const { whole } = page.checks.examine(page.given.definition);
    wholes.set(definition, { whole, series: page.checks.overWaves(page.given.definition, whole.gamma * whole.second) });
  }
  session.whole = wholes.get(definition).whole;
  if (code !== null) session.bearer = { token: String(code).padStart(64, "0"), signature: `signed ${code}` };
  const number = who === "else" ? page.device.nextPerson(isShared) : 0;
  await takePerson(number, who === "me" && page.device.hasSent());
  const standing = session.standing ? { all: session.standing.all, isRefused: session.standing.isRefused } : null;
  // As page.js asks before it sends.
  const wasSent = (session.hasAnswered || !isShared) && page.sending.sentReport();
  const outcome = wasSent ? "known" : standing?.isRefused ? "refused" : "sent";
  if (outcome === "sent") {
    Object.assign(session, { answers: person.answers, harmless: person.harmless ?? {} });
    await page.sending.sendReport(() => {});
    const bodies = device.sent.map(([, , body]) => body);
    let { report } = JSON.parse(bodies.at(-1));
    // A mistake to be noticed: what was sent goes out again while nothing changed.
    if (leak === "memory" && device.last?.answers === JSON.stringify(person.answers)) device.sent.splice(-1, 1, [report = device.last.report]);
    device.last = { answers: JSON.stringify(person.answers), report };
    device.reports.push(report);
    if (isLost) await page.unsent.sendWaiting();
    if (isWithdrawn) device.sent.push(["withdrawn", (await page.withdrawing.keptReceipt(device.sent.at(-1)[0].split("/").at(-1))).shown]);
  }
  device.outcomes = [...(device.outcomes ?? []), outcome];
  device.standing = standing;
  device.numbers = numbers.next;
  return device;
}

// Every way through the visits, for everybody who could answer: {truths, outcome, chance}.
async function follow(visits) {
  let count = 0;
  let rows = [{ truths: [], chance: 1, device: { stored: new Map(), sent: [], reports: [], numbers: 1 } }];
  for (const one of visits) {
    const next = [];
    for (const { truths, chance, device } of rows) {
      for (const [index, person] of one.people.entries()) {
        for (let prefix = []; prefix !== null; ) {
          if ((count += 1) > MOST_VISITS) return null;
          const draws = new Path(prefix);
          next.push({ truths: [...truths, index], device: await visit(device, one, person, draws), chance: chance * draws.probability });
          prefix = draws.next();
        }
      }
    }
    rows = next;
  }
  return rows;
}

const stated = ({ definition }) => [finite(wholes.get(definition).whole.gamma), finite(wholes.get(definition).series)];
const finite = (number) => (Number.isFinite(number) ? number : null);
const found = [];
for (const { visits } of cases) {
  const rows = await follow(visits);
  if (rows === null) {
    found.push({ large: true });
    continue;
  }
  const places = new Map();
  const laws = new Map();
  for (const { truths, chance, device } of rows) {
    const outcome = JSON.stringify([device.sent, device.outcomes, device.standing, [...device.stored].sort()]);
    if (!places.has(outcome)) places.set(outcome, { place: places.size, reports: device.reports, outcomes: device.outcomes, all: finite(device.standing?.all), isKept: device.reports.some((report) => [...device.stored.values()].some((value) => value.includes(`"${report}"`))) });
    const law = laws.get(truths.join()) ?? { truths, chances: {} };
    law.chances[places.get(outcome).place] = (law.chances[places.get(outcome).place] ?? 0) + chance;
    laws.set(truths.join(), law);
  }
  found.push({ places: [...places.values()], laws: [...laws.values()], stated: visits.map(stated) });
}
console.log(JSON.stringify(found));
