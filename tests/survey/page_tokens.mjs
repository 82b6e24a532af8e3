// Runs the page's blinding with given draws: the published test vector, and tokens for a server's key.

import { blinded, encoded, inverseOf, isSigned, unblinded } from "../../src/tacit/survey/static/tokens.js";

let text = "";
for await (const chunk of process.stdin) text += chunk;
const { task, ...given } = JSON.parse(text);
const number = (hex) => BigInt(`0x${hex}`);
const bytes = (hex) => Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));

async function vector({ modulus, message, salt, inverse, blind_signature, issuer }) {
  const n = number(modulus);
  const code = await encoded(bytes(message), bytes(salt), n.toString(2).length);
  const made = blinded(code, inverseOf(number(inverse), n), n);
  const signature = unblinded(number(blind_signature), made.inverse, n).toString(16);
  const padded = signature.padStart(modulus.length, "0");
  return {
    blinded: made.message.toString(16),
    inverse: made.inverse.toString(16),
    signature: padded,
    verified: await isSigned(issuer, bytes(message), bytes(padded)),
    altered: await isSigned(issuer, bytes(`00${message.slice(2)}`), bytes(padded)),
  };
}

process.stdout.write(JSON.stringify(await { vector }[task](given)));
