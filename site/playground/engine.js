// The library, asked from the page: each question is a promise.

/** The library in its worker. */
export class Engine {
  constructor(module, code) {
    this.module = module;
    this.code = code;
    this.next = 1;
    this.waiting = new Map();
    this.start();
  }

  start() {
    const address = URL.createObjectURL(new Blob([this.code], { type: "text/javascript" }));
    this.worker = new Worker(address);
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.onerror = event => this.waiting.forEach(({ fail }) => fail(new Error(event.message)));
    this.isReady = false;
    this.ready = this.send({ module: this.module }).then(() => { this.isReady = true; });
  }

  send(message, onProgress) {
    const id = this.next++;
    return new Promise((done, fail) => {
      this.waiting.set(id, { done, fail, onProgress });
      this.worker.postMessage({ id, ...message });
    });
  }

  hear({ id, progress, json, bytes, broken }) {
    const waiting = this.waiting.get(id);
    if (!waiting) return;
    if (progress) {
      waiting.onProgress?.(progress);
      return;
    }
    this.waiting.delete(id);
    if (json.error) {
      // A library that cannot even start is not started again.
      if (broken && this.isReady) this.restart();
      waiting.fail(new Error(json.error));
    } else waiting.done({ json, bytes });
  }

  /** Asks the library. */
  async ask(request, bytes, onProgress) {
    await this.ready;
    return this.send({ request, bytes }, onProgress);
  }

  /** Ends what the library is doing; what it holds is lost. */
  restart() {
    this.worker.terminate();
    this.waiting.forEach(({ fail }) => fail(new Error("stopped")));
    this.waiting.clear();
    this.start();
  }
}

/** The bytes of a text in Base64. */
export function decoded(text) {
  return Uint8Array.from(atob(text.trim()), letter => letter.charCodeAt(0));
}
