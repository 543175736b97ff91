// Starts the page: the model is in it, as JSON.

import { explore } from "./explorer.js";

globalThis.explorer = explore(document.getElementById("explorer"), JSON.parse(document.getElementById("data").textContent));
