import type { Command } from "commander";
import { interrupted } from "./client/retry.ts";
import type { Invocation } from "./command.ts";
import { EXIT } from "./exit-codes.ts";
import { Failure, usage } from "./failure.ts";
import { printable } from "./format/printable.ts";
import { pathOf } from "./help/layout.ts";

/** Marks a command that cannot be undone, or that affects many things at once: it asks first. */
export function asksFirst(command: Command): Command {
  const yes = command.options.find(({ long }) => long === "--yes");
  if (yes === undefined) throw new Error(`${pathOf(command)} has no --yes.`);
  yes.hideHelp(false).description = "do not ask for confirmation; needed where nobody can be asked";
  return command;
}

/**
 * Asks before something that cannot be undone.
 *
 * @param question that yes or no answers, ending with a question mark
 * @throws Failure (exit 2) where nobody can be asked and --yes is not given; Failure (exit 1) at any other answer than yes, and (exit
 *   130) after Ctrl-C
 */
export async function confirm(
  { context, output, options }: Pick<Invocation<unknown>, "context" | "output" | "options">,
  question: string,
): Promise<void> {
  if (options.yes === true) return;
  const { stdin, stderr } = context;
  if (options.noInput === true || !stdin.isTerminal || !stderr.isTerminal)
    throw usage("This needs a confirmation, and nobody can be asked here.", "Repeat it with --yes.");
  output.clear();
  // A command that talks to a server catches Ctrl-C, so that the signal no longer ends the process by itself.
  const signal = context.interruptible();
  stderr.write(`${printable(question)} [y/N] `);
  const answer = await stdin.readLine(signal);
  if (answer === undefined) stderr.write("\n");
  if (signal.aborted) throw interrupted();
  if (/^\s*y(es)?\s*$/i.test(answer ?? "")) return;
  throw new Failure(EXIT.error, "not_confirmed", "Nothing was changed.");
}
