// The definition is hashed and examined while the rest of the page still arrives: on a slow phone both take a while.

import { documentHash, seriesHash } from "./canonical.js";
import { examine } from "./checks.js";
import { definition, fingerprint } from "./given.js";

async function judged() {
  if (!globalThis.crypto?.subtle) return { refusal: "insecure" };
  const hash = await documentHash(definition);
  if (!/^[0-9a-f]{32}$/.test(fingerprint) || !hash.startsWith(fingerprint)) return { refusal: "tampered" };
  if (definition.waves !== undefined && definition.series !== (await seriesHash(definition))) return { objections: [{ reason: "series" }], whole: null };
  return examine(definition);
}

// {refusal}, or what the checks say: {objections, whole}. Nothing is asked before it is known.
export const examined = judged();
// Whoever waits for it is told what went wrong; until then nobody does.
examined.catch(() => {});
