import { resolve } from "node:path";
import type { Context } from "../context.ts";
import { DEFAULT_SERVER, readServerSetting, type ServerFlags } from "../environment.ts";
import { Failure } from "../failure.ts";

/** What fails where a command asks another server than the one that was meant, or none. */
const AT_ANOTHER_ADDRESS: readonly string[] = ["server_unreachable", "invalid_api_key"];

/**
 * Adds to a failure at the default address where the server of this folder is. It is not asked by itself: the address stands in a
 * file that whoever made the folder may have written, and a key goes with the request.
 */
export async function namingLocalServer(
  error: unknown,
  { env, cwd }: Context,
  flags: ServerFlags,
): Promise<unknown> {
  if (!(error instanceof Failure) || !AT_ANOTHER_ADDRESS.includes(error.code)) return error;
  const isNamed = flags.server !== undefined || (env.SVC_SERVER ?? "") !== "";
  if (isNamed || readServerSetting(flags, { env }) !== DEFAULT_SERVER) return error;
  const origin = await originIn(resolve(cwd, env.SVC_DATA_DIR || "svc-data"));
  if (origin === undefined || origin === DEFAULT_SERVER) return error;
  return error.withHint(
    `The server of ${env.SVC_DATA_DIR || "./svc-data"} is at another address: export SVC_SERVER=${origin}`,
  );
}

async function originIn(dataDir: string): Promise<string | undefined> {
  // Loaded late: it opens databases.
  const { servingAt } = await import("../../src/app/serving.ts");
  try {
    return servingAt(dataDir);
  } catch {
    // A hint less: what is told is the failure itself.
    return undefined;
  }
}
