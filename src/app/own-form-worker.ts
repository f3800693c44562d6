import { setPriority } from "node:os";
import type { Form } from "../providers/declared/form.ts";
import { type Finding, FormFileError, readForm } from "../providers/declared/read-form.ts";

declare const self: Worker;

/** What the thread is asked: to read a form and check all of it. */
export interface ReadingOrder {
  readonly id: number;
  readonly file: string;
  readonly text: string;
}

export type ReadingResult =
  | { readonly id: number; readonly form: Form }
  | { readonly id: number; readonly findings: readonly Finding[] };

const PRIORITY = 10;
if (process.platform === "linux") setPriority(0, PRIORITY);

// Entry point of a thread that reads forms: a large one takes longer than requests can wait.
self.onmessage = ({ data }: MessageEvent<ReadingOrder>): void => {
  self.postMessage(read(data));
};

function read({ id, file, text }: ReadingOrder): ReadingResult {
  try {
    return { id, form: readForm(file, text) };
  } catch (error) {
    if (error instanceof FormFileError) return { id, findings: error.findings };
    const reason = error instanceof Error ? error.message : String(error);
    return { id, findings: [{ line: 1, column: 1, message: `cannot be read: ${reason}` }] };
  }
}
