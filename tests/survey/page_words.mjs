// The page's words for a fingerprint.

import { spoken } from "../../src/tacit/survey/static/canonical.js";

let text = "";
for await (const chunk of process.stdin) text += chunk;
process.stdout.write(JSON.stringify(spoken(JSON.parse(text).fingerprint)));
