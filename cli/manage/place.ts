import { existsSync } from "node:fs";
import type { Command } from "commander";
import type { Context } from "../context.ts";
import type { OperatorFlags } from "../environment.ts";
import { Failure, usage } from "../failure.ts";
import { withTokenFlags } from "../flags/credentials.ts";
import { withExits } from "../help/manual.ts";
import { type LocalFlags, readLocalConfig, showPath, withLocalFlags } from "../local.ts";
import { chosenProfile } from "../profiles/chosen.ts";

/** Where an administration command works. */
export interface PlaceFlags extends LocalFlags, OperatorFlags {
  readonly local?: boolean;
  readonly verbose?: boolean;
}

/** The flags of every administration command. */
export function withPlaceFlags(command: Command): Command {
  const placed = withLocalFlags(command)
    .option("--local", "work on the data folder, although a server is named elsewhere")
    .option("-s, --server <url>", "work on this server, with a management token (SVC_SERVER)");
  withTokenFlags(placed)
    .option(
      "--profile <name>",
      "profile of `svc login` that names the server and holds the token (SVC_PROFILE)",
    )
    .option("-v, --verbose", "print requests and answers on stderr");
  return withExits(command, "auth", "overloaded", "stillRunning", "unreachable", "interrupted");
}

/**
 * Flags decide. Without flags, a server is meant if a variable or a profile contains a management token, and otherwise the data
 * folder. If both exist, a flag must choose, because a guess could change the wrong place.
 *
 * @throws Failure (exit 2) when it is not clear
 */
export function choosePlace(flags: PlaceFlags, context: Context): "folder" | "server" {
  const folderFlag = folderFlagOf(flags);
  const serverFlag = (["server", "token", "profile"] as const).find((name) => flags[name] !== undefined);
  if (folderFlag !== undefined && serverFlag !== undefined) {
    throw usage(`${folderFlag} is for the data folder and --${serverFlag} for a server; give one of them.`);
  }
  if (folderFlag !== undefined) return "folder";
  if (serverFlag !== undefined) return "server";
  const server = serverAtHand(context);
  if (server === undefined) return "folder";
  const folder = folderAtHand(context);
  if (folder === undefined) return "server";
  throw usage(
    `There is a management token for a server (${server}), and a data folder here (${folder}).`,
    "Say which is meant: --local for the folder, --server URL or --profile NAME for the server.",
  );
}

/** The flag that asks for the data folder, if one does. */
export function folderFlagOf({ local, dataDir, database, config }: PlaceFlags): string | undefined {
  if (local === true) return "--local";
  if (dataDir !== undefined) return "--data-dir";
  if (database !== undefined) return "--database";
  return config === undefined ? undefined : "--config";
}

function serverAtHand(context: Context): string | undefined {
  if (context.env.SVC_MANAGEMENT_TOKEN) return "SVC_MANAGEMENT_TOKEN";
  try {
    const profile = chosenProfile({}, context);
    return profile?.token === undefined ? undefined : `profile "${profile.name}"`;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // A user who means the folder needs no profile.
    throw error.withHint([error.hint, "For the data folder alone, give --local."].join(" ").trim());
  }
}

/** The data folder that is here, if one is. */
export function folderAtHand(context: Context): string | undefined {
  const variable = (["SVC_DATA_DIR", "SVC_DATABASE", "SVC_CONFIG"] as const).find(
    (name) => context.env[name],
  );
  if (variable !== undefined) return variable;
  const { dataDir } = readLocalConfig({}, context);
  return existsSync(dataDir) ? showPath(dataDir, context.cwd) : undefined;
}
