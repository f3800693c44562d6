import { setPriority } from "node:os";
import { type FormText, readForms } from "../providers/declared/read-form.ts";

declare const self: Worker;

const PRIORITY = 10;
if (process.platform === "linux") setPriority(0, PRIORITY);

// Entry point of a thread that reads forms: a large one takes longer than requests can wait.
self.onmessage = ({ data }: MessageEvent<readonly FormText[]>): void => {
  self.postMessage(readForms(data));
};
