import { type FormText, readForms } from "../providers/declared/read-form.ts";
import { giveWay } from "../toolkit/low-priority.ts";

declare const self: Worker;

const NICENESS = 10;
giveWay(NICENESS);

// Entry point of a thread that reads forms, because a large form takes longer than requests can wait.
self.onmessage = ({ data }: MessageEvent<readonly FormText[]>): void => {
  self.postMessage(readForms(data));
};
