// One text for one document (RFC 8785), so that the page and the server hash the same bytes.

// Sorting compares UTF-16 units and JSON.stringify writes numbers as ECMAScript does: both are what RFC 8785 asks for.
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
  return `{${members.join(",")}}`;
}

// The key under which something is remembered, shared or compared: everything that its value depends on, in order. A list is
// another key than its members joined, and a part that is forgotten is another key than one that is left out.
export const keyOf = (...parts) => canonical(parts);

export async function sha256(text) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// The hash of a document is that of everything in it but the hash itself.
export async function documentHash(document) {
  const { hash, ...rest } = document;
  return sha256(canonical(rest));
}

// The hash of a series: that of everything that its waves have in common. The key that signs tokens is of one wave.
export async function seriesHash({ wave, series, issuer, hash, ...rest }) {
  return sha256(canonical(rest));
}

// Half of the link's fingerprint as four words that can be read aloud, 16 bits each.
export function spoken(digits) {
  const word = (bits) => [12, 10, 6, 4, 0].map((shift, at) => (at % 2 ? "aiou"[(bits >> shift) & 3] : "bdfghjklmnprstvz"[(bits >> shift) & 15])).join("");
  return digits.slice(0, 16).match(/..../g).map((part) => word(parseInt(part, 16))).join("-");
}
