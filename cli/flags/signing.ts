import type { Command } from "commander";
import type { Context } from "../context.ts";
import { usage } from "../failure.ts";
import type { Manage } from "../manage/port.ts";
import { readDuration } from "./values.ts";

/** The flags that change a key's callback secret. */
export interface SigningFlags {
  readonly callbackSecret?: string;
  readonly callbackSecretGrace?: string;
}

type SigningTerms = Pick<Parameters<Manage["updateKey"]>[1], "callbackSecret" | "callbackSecretGraceMs">;

/** The flags by the fields of the management API. */
export const SIGNING_FLAGS = {
  callback_secret: "--callback-secret",
  callback_secret_grace_seconds: "--callback-secret-grace",
};

export function withSigningFlag(command: Command): Command {
  return command.option(
    "--callback-secret <how>",
    "sign its callbacks: new makes a secret, - reads one from standard input, none ends it",
  );
}

/**
 * Reads a secret from standard input only: other users can see a command line in the list of processes, and the shell keeps it in
 * its history.
 *
 * @throws Failure (exit 2) that names the flag and never repeats its value
 */
export async function readSigning(
  { callbackSecret: how, callbackSecretGrace: grace }: SigningFlags,
  { stdin }: Pick<Context, "stdin">,
): Promise<SigningTerms> {
  const callbackSecretGraceMs =
    grace === undefined ? undefined : readDuration(SIGNING_FLAGS.callback_secret_grace_seconds, grace);
  if (how === undefined || how === "new") return { callbackSecret: how, callbackSecretGraceMs };
  if (how === "none") return { callbackSecret: null, callbackSecretGraceMs };
  if (how === "-") return { callbackSecret: (await stdin.readText()).trim(), callbackSecretGraceMs };
  throw usage(
    "--callback-secret must be new, none, or - to read a secret from standard input; what was given is not shown.",
    "A secret on a command line can be seen by others: make another one.",
  );
}
