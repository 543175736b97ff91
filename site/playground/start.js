// Starts the page.

import { start } from "./playground.js";

start().then(shown => { globalThis.playground = shown; }, error => { document.getElementById("playground").textContent = `This page cannot start: ${error.message}`; });
