import type { Form } from "../providers/declared/form.ts";
import { FormFileError } from "../providers/declared/read-form.ts";
import type { ReadingOrder, ReadingResult } from "./own-form-worker.ts";

/** Reads forms in a thread of its own, which ends when it has nothing to do. */
export interface FormReading {
  /** @throws FormFileError */
  read(file: string, text: string): Promise<Form>;
  stop(): void;
}

interface Waiting {
  readonly file: string;
  readonly resolve: (form: Form) => void;
  readonly reject: (error: Error) => void;
}

export function createFormReading(): FormReading {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let last = 0;

  function end(): void {
    worker?.terminate();
    worker = undefined;
  }

  function start(): Worker {
    const started = new Worker(workerEntry(), { name: "forms" });
    started.addEventListener("message", ({ data }: MessageEvent<ReadingResult>) => {
      const one = waiting.get(data.id);
      waiting.delete(data.id);
      if ("form" in data) one?.resolve(data.form);
      else one?.reject(new FormFileError(one.file, data.findings));
      if (waiting.size === 0) end();
    });
    started.addEventListener("error", (event) => {
      event.preventDefault();
      const all = [...waiting.values()];
      waiting.clear();
      end();
      const finding = { line: 1, column: 1, message: `cannot be read: ${event.message}` };
      for (const { file, reject } of all) reject(new FormFileError(file, [finding]));
    });
    return started;
  }

  return {
    read(file, text) {
      const { promise, resolve, reject } = Promise.withResolvers<Form>();
      const order: ReadingOrder = { id: ++last, file, text };
      waiting.set(order.id, { file, resolve, reject });
      worker ??= start();
      worker.postMessage(order);
      return promise;
    },
    stop: end,
  };
}

function workerEntry(): string {
  return Bun.isStandaloneExecutable
    ? "./src/app/own-form-worker.ts"
    : new URL("./own-form-worker.ts", import.meta.url).href;
}
