// A step of a scale.

import { radios } from "../fields.js";
import { addKind } from "../kinds.js";

addKind("scale", { inputs: radios });
