import type { Keyboard } from "../context.ts";
import { type Answer, QUESTION, readAnswer } from "./detect.ts";

export interface Asking {
  readonly keyboard: Keyboard;
  /** Writes to the terminal. */
  readonly write: (text: string) => void;
  /** Calls a function after a while, unless the returned one is called before. */
  readonly after: (ms: number, call: () => void) => () => void;
}

/** Time that a command waits for the answer. */
const ANSWER_WITHIN_MS = 100;
/** An answer that comes later is thrown away, so that the shell does not take it for typed text. */
const LATE_WITHIN_MS = 1_000;
/** A longer text is no answer. */
const LONGEST_ANSWER = 256;

/** Asks a terminal what it can do. @returns undefined when it does not answer in time */
export function askTerminal({ keyboard, write, after }: Asking): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    let text = "";
    let endings: (() => void)[] = [];
    const end = (answer: Answer | undefined) => {
      for (const each of endings.splice(0)) each();
      resolve(answer);
    };
    const release = keyboard.capture((bytes) => {
      text = (text + Buffer.from(bytes).toString("latin1")).slice(-LONGEST_ANSWER);
      const answer = readAnswer(text);
      if (answer !== undefined) end(answer);
    });
    if (release === undefined) return resolve(undefined);
    endings = [
      release,
      after(ANSWER_WITHIN_MS, () => resolve(undefined)),
      after(LATE_WITHIN_MS, () => end(undefined)),
    ];
    write(QUESTION);
  });
}
