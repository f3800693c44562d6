import { interrupted } from "./client/retry.ts";
import type { Context } from "./context.ts";
import { usage } from "./failure.ts";

const ENTER = /[\r\n]/;
const BACKSPACES = ["\u007f", "\b"];
const CTRL_D = "\u0004";
/** Clears what was typed, as on any terminal. */
const CTRL_U = "\u0015";

/**
 * Asks for a secret on the terminal and shows nothing of what is typed.
 *
 * @throws Failure (exit 2) where nobody can be asked; Failure (exit 130) after Ctrl-C
 */
export async function askSecret(
  { keyboard, stderr, interruptible }: Pick<Context, "keyboard" | "stderr" | "interruptible">,
  question: string,
  otherwise: string,
): Promise<string> {
  const signal = interruptible();
  const typed = Promise.withResolvers<string>();
  const input = createLine(typed.resolve);
  const release = stderr.isTerminal ? keyboard?.capture(input) : undefined;
  if (release === undefined) throw usage("Nobody can be asked here.", otherwise);
  const stop = () => typed.reject(interrupted());
  signal.addEventListener("abort", stop, { once: true });
  stderr.write(`${question} `);
  try {
    return (await typed.promise).trim();
  } finally {
    signal.removeEventListener("abort", stop);
    release();
    stderr.write("\n");
  }
}

/** Gathers what is typed, until Enter. */
function createLine(onEnd: (text: string) => void): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder();
  let line = "";
  return (bytes) => {
    for (const character of decoder.decode(bytes, { stream: true })) {
      if (ENTER.test(character) || character === CTRL_D) return onEnd(line);
      if (character === CTRL_U) line = "";
      else if (BACKSPACES.includes(character)) line = line.slice(0, -1);
      else if (character >= " ") line += character;
    }
  };
}
