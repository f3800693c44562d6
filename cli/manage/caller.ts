import type { Command } from "commander";
import { parseCredential } from "../../src/domain/access/credential.ts";
import { addRemoteCommand, type RemoteFlags } from "../client/remote.ts";
import type { Context } from "../context.ts";
import { type ClientSettings, readClientSettings, readOperatorSettings } from "../environment.ts";
import { Failure, usage } from "../failure.ts";
import { withTokenFlags } from "../flags/credentials.ts";
import { withLocalFlags } from "../local.ts";
import { chosenProfile, isProfileFlagged } from "../profiles/chosen.ts";
import { folderFlagOf, type PlaceFlags } from "./place.ts";

/** Flags of a command for callers with an API key that can do more for operators. */
export interface CallerFlags extends RemoteFlags, PlaceFlags {}

/** Who runs a command, and where. */
export type Caller =
  | { readonly kind: "key" | "operator"; readonly settings: ClientSettings }
  /** The operator of a data folder of this machine. */
  | { readonly kind: "folder" };

export function addCallerCommand(parent: Command, usage: string, description: string): Command {
  const command = withTokenFlags(addRemoteCommand(parent, usage, description), ", for operators");
  return withLocalFlags(command).option("--local", "work on the data folder, and ask no server");
}

/** Flags of a command on a server for callers with an API key, and for operators, who mean the tasks of all accounts. */
export interface OperatorsToo extends RemoteFlags {
  readonly token?: string;
  readonly allAccounts?: boolean;
}

export function addOperatorsToo(parent: Command, usage: string, description: string): Command {
  return withTokenFlags(addRemoteCommand(parent, usage, description), ", for operators").option(
    "--all-accounts",
    "of every account, with a management token; beside an API key this says so",
  );
}

/** @param isForOperators whether a flag was given that operators alone can use @throws Failure as `findCaller` does */
export function whoAsks(
  flags: OperatorsToo,
  context: Context,
  isForOperators = false,
): { readonly settings: ClientSettings; readonly isOperator: boolean } {
  const caller = findCaller(flags, context, isForOperators || flags.allAccounts === true);
  if (caller.kind === "folder") throw usage("This takes a server.");
  return { settings: caller.settings, isOperator: caller.kind === "operator" };
}

/**
 * An API key goes before a management token, unless a flag says otherwise, so that these commands stay as they are for whoever has
 * a key. A data folder must be asked for by a flag.
 *
 * @param isForOperators whether a flag was given that operators alone can use
 * @throws Failure (exit 2) for flags that exclude each other; (exit 4) where there is no credential
 */
export function findCaller(flags: CallerFlags, context: Context, isForOperators = false): Caller {
  const folder = folderFlagOf(flags);
  const remote = (["server", "key", "token", "profile"] as const).find((name) => flags[name] !== undefined);
  if (folder !== undefined && remote !== undefined)
    throw usage(`${folder} is for the data folder and --${remote} for a server; give one of them.`);
  if (folder !== undefined) return { kind: "folder" };
  if (flags.key !== undefined && flags.token !== undefined)
    throw usage("--key and --token both say who asks; give one of them.");
  if (flags.token !== undefined || isOperatorProfile(flags, context)) return operator(flags, context);
  const key = heldIn("no_api_key", () => readClientSettings(flags, context));
  // A token has always been accepted in place of a key.
  if (!(key instanceof Failure) && parseCredential(key.key)?.kind === "management_token")
    return { kind: "operator", settings: key };
  if (isForOperators) return operator(flags, context);
  if (!(key instanceof Failure)) return { kind: "key", settings: key };
  const token = heldIn("no_management_token", () => readOperatorSettings(flags, context));
  if (token instanceof Failure) throw key;
  return { kind: "operator", settings: token };
}

const operator = (flags: CallerFlags, context: Context): Caller => ({
  kind: "operator",
  settings: readOperatorSettings(flags, context),
});

/** Whether a flag names a profile that holds a token and no key. */
function isOperatorProfile(flags: CallerFlags, context: Context): boolean {
  if (!isProfileFlagged(flags) || flags.key !== undefined) return false;
  const profile = chosenProfile(flags, context);
  return profile?.token !== undefined && profile.key === undefined;
}

/** What is read, or the failure of this code that says that there is none. */
function heldIn(code: string, read: () => ClientSettings): ClientSettings | Failure {
  try {
    return read();
  } catch (error) {
    if (error instanceof Failure && error.code === code) return error;
    throw error;
  }
}
