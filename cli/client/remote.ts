import type { Command } from "commander";
import { VERSION } from "../../src/version.ts";
import { addCommand, withCommonFlags } from "../command.ts";
import type { Context } from "../context.ts";
import { type ClientFlags, readClientSettings } from "../environment.ts";
import { withKeyFlags } from "../flags/credentials.ts";
import type { Output } from "../format/output.ts";
import { printable } from "../format/printable.ts";
import { formatDuration } from "../format/units.ts";
import { withExits } from "../help/manual.ts";
import { type Client, createClient } from "./client.ts";
import type { ClientOptions } from "./exchange.ts";
import { systemTiming, type Timing } from "./retry.ts";
import { serverVersion, versionWarning } from "./server-version.ts";

export interface RemoteFlags extends ClientFlags {
  readonly verbose?: boolean;
}

/** A command on a running server. */
export function addRemoteCommand(parent: Command, usage: string, description: string): Command {
  return withRemoteFlags(addCommand(parent, usage, description));
}

/** The flags and exit codes of a command on a running server. */
export function withRemoteFlags(command: Command): Command {
  withCommonFlags(command).option(
    "-s, --server <url>",
    "address of the server (SVC_SERVER; default http://127.0.0.1:8787)",
  );
  withKeyFlags(command)
    .option(
      "--profile <name>",
      "profile of `svc login` that names the server and holds the key (SVC_PROFILE)",
    )
    .option("-v, --verbose", "print requests and answers on stderr");
  return withExits(
    command,
    ...(["auth", "notFound", "conflict", "overloaded", "stillRunning"] as const),
    ...(["unreachable", "rejected", "interrupted"] as const),
  );
}

/** A connection to the server that flags and environment name. Ctrl-C ends everything under way on it. */
export interface Remote {
  readonly client: Client;
  readonly timing: Timing;
  readonly signal: AbortSignal;
}

export function connect(flags: RemoteFlags, context: Context, output: Output): Remote {
  const settings = readClientSettings(flags, context);
  const options = clientOptions(flags, context, output);
  const { timing, signal } = options;
  return { client: createClient(settings, options), timing, signal };
}

/** A delay that is told to a script's log, too, where there is no line of progress. */
const LONG_DELAY_MS = 5_000;

/** How requests are made: Ctrl-C ends them, and retries are announced. */
export function clientOptions(
  { verbose }: Pick<RemoteFlags, "verbose">,
  context: Context,
  output: Output,
): ClientOptions {
  let hasAsked = false;
  /** Once: a command may ask for many things that an older server does not know. */
  const warnOfVersion = async (server: string) => {
    if (hasAsked) return;
    hasAsked = true;
    const warning = versionWarning(server, await serverVersion(server, options));
    if (warning !== undefined) output.warn(warning);
  };
  const options: ClientOptions = {
    timing: systemTiming,
    signal: context.interruptible(),
    userAgent: `svc/${VERSION}`,
    onRetry: ({ failure }, delayMs) => {
      const what = printable(failure.message);
      // The time first: a terminal cuts the end of a long line.
      const line = `Again in ${formatDuration(delayMs)}: ${what}`;
      output.progress(line);
      const isSilent = output.isTalkative && !context.stderr.isTerminal && delayMs >= LONG_DELAY_MS;
      if (verbose === true || isSilent) context.stderr.write(`${line}\n`);
    },
    onUnknown: warnOfVersion,
    onExchange: verbose === true ? (line) => context.stderr.write(`${printable(line)}\n`) : undefined,
  };
  return options;
}
