// Blind tokens (RFC 9474, RSABSSA-SHA384-PSS-Deterministic): an invitation code buys one signature on a token that the
// signer never sees. Everything the device uses is drawn here; the server's part is one exponentiation.

import { sha256 } from "./canonical.js";
import { storage } from "./device.js";

export const SUITE = "RSABSSA-SHA384-PSS-Deterministic";
const BITS = 2048;
const EXPONENT = 65537n;
const HASH_BYTES = 48;
const TOKENS = "tacit.token.";

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const random = (size) => crypto.getRandomValues(new Uint8Array(size));
const sha384 = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-384", bytes));

const toNumber = (bytes) => BigInt(`0x${hex(bytes) || "0"}`);
const toBytes = (number, size) => unhex(number.toString(16).padStart(2 * size, "0"));
const toBase64 = (bytes) => btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const fromBase64 = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (one) => one.charCodeAt(0));

function power(base, exponent, modulus) {
  let result = 1n;
  for (let square = base % modulus; exponent > 0n; exponent >>= 1n, square = (square * square) % modulus) {
    if (exponent & 1n) result = (result * square) % modulus;
  }
  return result;
}

// The inverse of a number, or null where it has none.
export function inverseOf(number, modulus) {
  let [a, b, x, y] = [number % modulus, modulus, 1n, 0n];
  while (b > 0n) [a, b, x, y] = [b, a % b, y, x - (a / b) * y];
  return a === 1n ? ((x % modulus) + modulus) % modulus : null;
}

function join(...parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

async function mask(seed, size) {
  const blocks = Array.from({ length: Math.ceil(size / HASH_BYTES) }, (_, n) => sha384(join(seed, new Uint8Array([0, 0, n >> 8, n & 255]))));
  return join(...(await Promise.all(blocks))).slice(0, size);
}

// EMSA-PSS (RFC 8017, 9.1.1) with SHA-384, its mask and a salt of 48 bytes, as a number below the modulus.
export async function encoded(message, salt, modulusBits) {
  const bits = modulusBits - 1;
  const size = Math.ceil(bits / 8);
  const digest = await sha384(join(new Uint8Array(8), await sha384(message), salt));
  const block = join(new Uint8Array(size - salt.length - digest.length - 2), new Uint8Array([1]), salt);
  const hidden = (await mask(digest, block.length)).map((byte, index) => byte ^ block[index]);
  hidden[0] &= 255 >> (8 * size - bits);
  return toNumber(join(hidden, digest, new Uint8Array([0xbc])));
}

// What is sent to be signed, and what takes the blinding off again.
export function blinded(number, factor, modulus) {
  return { message: (number * power(factor, EXPONENT, modulus)) % modulus, inverse: inverseOf(factor, modulus) };
}

export const unblinded = (signature, inverse, modulus) => (signature * inverse) % modulus;

export async function isSigned(issuer, message, signature) {
  const key = { kty: "RSA", n: issuer.n, e: issuer.e, alg: "PS384", ext: true };
  const algorithm = { name: "RSA-PSS", hash: "SHA-384" };
  const imported = await crypto.subtle.importKey("jwk", key, algorithm, false, ["verify"]);
  return crypto.subtle.verify({ name: "RSA-PSS", saltLength: HASH_BYTES }, imported, signature, message);
}

// Whether a definition's key is one this page knows how to use.
export function isUsable(issuer) {
  if (issuer?.suite !== SUITE || issuer.e !== "AQAB" || typeof issuer.n !== "string") return false;
  return toNumber(fromBase64(issuer.n)).toString(2).length === BITS;
}

// A fresh token with its blinding: nobody else ever knows either.
async function drawn(issuer) {
  const modulus = toNumber(fromBase64(issuer.n));
  const token = random(32);
  let factor = 0n;
  while (factor < 2n || factor >= modulus || inverseOf(factor, modulus) === null) factor = toNumber(random(BITS / 8));
  const { message, inverse } = blinded(await encoded(token, random(HASH_BYTES), BITS), factor, modulus);
  return { token: hex(token), blinded: toBase64(toBytes(message, BITS / 8)), inverse: toBase64(toBytes(inverse, BITS / 8)) };
}

// A second code on the same device, or the same one in another survey, has a token of its own.
const place = async (fingerprint, code) => TOKENS + (await sha256(`${fingerprint} token ${code}`)).slice(0, 32);

async function askedFor(fingerprint, code, blindedToken) {
  const answer = await fetch(`/s/${fingerprint}/tokens`, {
    method: "POST",
    body: JSON.stringify({ code: await sha256(`${fingerprint}:${code}`), blinded: blindedToken }),
    headers: { "Content-Type": "application/json" },
    credentials: "omit",
    referrerPolicy: "no-referrer",
  }).catch(() => null);
  if (answer === null || answer.status >= 500 || answer.status === 429 || answer.status === 408) return { problem: "codeLater" };
  if (answer.status === 403) return { problem: "codeUnknown" };
  if (answer.status === 409) return { problem: (await answer.json().catch(() => ({}))).reason === "closed" ? "closed" : "codeSpent" };
  if (!answer.ok) return { problem: "codeLater" };
  return { signature: (await answer.json()).signature };
}

// The code's token with its signature: {token, signature}, or {problem} with the name of the words that say it. Token and
// blinding are kept here before anything is asked, so that a reload asks with the same and gets the same.
export async function bought(definition, fingerprint, code) {
  const { issuer } = definition;
  if (!isUsable(issuer)) return { problem: "codeKey" };
  const name = await place(fingerprint, code);
  const kept = JSON.parse(storage.getItem(name) ?? "null");
  if (kept?.signature) return kept;
  const own = kept ?? (await drawn(issuer));
  storage.setItem(name, JSON.stringify(own));
  const { problem, signature } = await askedFor(fingerprint, code, own.blinded);
  if (problem) return { problem };
  const modulus = toNumber(fromBase64(issuer.n));
  const whole = unblinded(toNumber(fromBase64(signature)), toNumber(fromBase64(own.inverse)), modulus);
  const bytes = toBytes(whole, BITS / 8);
  if (!(await isSigned(issuer, unhex(own.token), bytes))) return { problem: "codeKey" };
  const paid = { token: own.token, signature: toBase64(bytes) };
  storage.setItem(name, JSON.stringify(paid));
  return paid;
}

// The token that a code has bought here; null where it has bought none.
export async function tokenOf(fingerprint, code) {
  return JSON.parse(storage.getItem(await place(fingerprint, code)) ?? "null")?.token ?? null;
}

// Forgets what a code has bought, as after somebody's visit to a shared device.
export async function forgetToken(fingerprint, code) {
  storage.removeItem(await place(fingerprint, code));
}
