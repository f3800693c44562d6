import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { reasonOf } from "../../src/toolkit/system-error.ts";
import type { Context } from "../context.ts";
import { usage } from "../failure.ts";

/** The secrets that commands take, by the name of their flag. */
const SECRETS = ["key", "token"] as const;
type Secret = (typeof SECRETS)[number];
type SecretFlags = Partial<Record<Secret | `${Secret}File`, string>>;

/** Longer than any secret. A person who names a film by mistake should not have to wait for it. */
const MOST_BYTES = 4_096;

/** The flags of an API key. */
export function withKeyFlags(command: Command, more = ""): Command {
  return command
    .option("-k, --key <key>", `API key${more} (SVC_API_KEY)`)
    .addOption(fileOption("key", "file that holds the API key, which --key would show to other users"));
}

/** The flags of a management token. */
export function withTokenFlags(command: Command, more = ""): Command {
  return command
    .option("--token <token>", `management token${more} (SVC_MANAGEMENT_TOKEN)`)
    .addOption(fileOption("token", "file that holds the token, which --token would show to other users"));
}

const fileOption = (secret: Secret, about: string) =>
  new Option(`--${secret}-file <file>`, `${about}; - is standard input`).conflicts(secret);

/**
 * Reads the secrets that are in files, so that a command finds them where the flags themselves would have put them.
 *
 * @throws Failure (exit 2) for a file that cannot be read, or holds nothing
 */
export async function readSecretFiles<Options extends object>(
  options: Options,
  context: Pick<Context, "stdin" | "cwd">,
): Promise<Options> {
  const read: SecretFlags = {};
  for (const secret of SECRETS) {
    const file = (options as SecretFlags)[`${secret}File`];
    if (file !== undefined) read[secret] = await readSecret(`--${secret}-file`, file, context);
  }
  return { ...options, ...read };
}

async function readSecret(
  flag: string,
  file: string,
  { stdin, cwd }: Pick<Context, "stdin" | "cwd">,
): Promise<string> {
  if (file === "-" && stdin.isTerminal)
    throw usage(`${flag} - reads a pipe or a file, and standard input is a terminal.`, "`svc login` asks.");
  const path = resolve(cwd, file);
  let text: string;
  try {
    text = await (file === "-" ? stdin.readText() : Bun.file(path).slice(0, MOST_BYTES).text());
  } catch (error) {
    throw usage(`${flag}: ${path} cannot be read: ${reasonOf(error)}`);
  }
  const secret = text.trim();
  if (secret !== "") return secret;
  throw usage(`${flag}: ${file === "-" ? "standard input" : path} holds nothing.`);
}
