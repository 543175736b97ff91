// The library in WebAssembly, in a thread of its own: takes messages of JSON and bytes, and answers them.

let library = null;
let asked = 0;
let told = 0;

/** Writes a message into the library's memory, has it answered, and reads the answer. */
function ask(request, bytes) {
  const text = new TextEncoder().encode(JSON.stringify(request));
  const length = 4 + text.length + bytes.length;
  const at = library.room(length);
  const room = new Uint8Array(library.memory.buffer, at, length);
  new DataView(room.buffer, at).setUint32(0, text.length, true);
  room.set(text, 4);
  room.set(bytes, 4 + text.length);
  const long = library.ask();
  // Memory may have grown: the old view of it is gone.
  const answer = new Uint8Array(library.memory.buffer, library.answer(), long);
  const size = new DataView(answer.buffer, answer.byteOffset).getUint32(0, true);
  return { json: JSON.parse(new TextDecoder().decode(answer.subarray(4, 4 + size))), bytes: answer.slice(4 + size) };
}

const page = {
  now: () => performance.now(),
  progress: (done, total) => {
    const now = performance.now();
    if (now - told < 40 && done < total) return;
    told = now;
    postMessage({ id: asked, progress: { done, total } });
  },
};

onmessage = async ({ data: { id, module, request, bytes } }) => {
  asked = id;
  try {
    if (module) {
      library = (await WebAssembly.instantiate(module, { page })).exports;
      postMessage({ id, json: {} });
      return;
    }
    const started = performance.now();
    const answer = ask(request, bytes ?? new Uint8Array());
    answer.json.milliseconds = performance.now() - started;
    postMessage({ id, ...answer }, [answer.bytes.buffer]);
  } catch (error) {
    postMessage({ id, json: { error: `the library stopped: ${error.message}` }, broken: true });
  }
};
