// No or yes.

import { radios } from "../fields.js";
import { addKind } from "../kinds.js";

addKind("yes-no", { inputs: radios });
