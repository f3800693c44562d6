import { isJsonObject } from "../../src/domain/json.ts";
import { VERSION } from "../../src/version.ts";
import { parseBody } from "./answer.ts";
import { type ClientOptions, fetchFile } from "./exchange.ts";

/** Time for an answer that nobody waits for: what matters comes after it. */
const PATIENCE_MS = 10_000;

/** The version that a server says it has, without any credential; undefined where something else answers, or nobody in time. */
export async function serverVersion(
  server: string,
  options: ClientOptions,
  patienceMs = PATIENCE_MS,
): Promise<string | undefined> {
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(patienceMs)]);
  const answer = await fetchFile(`${server}/`, { ...options, signal });
  if (!answer.ok) return undefined;
  const root = parseBody(await answer.value.text().catch(() => ""));
  return isJsonObject(root) && root.name === "svc" && typeof root.version === "string"
    ? root.version
    : undefined;
}

/** What to tell a user whose server and program may not understand each other; undefined where they do. */
export function versionWarning(server: string, version: string | undefined): string | undefined {
  if (version === undefined || majorOf(version) === majorOf(VERSION)) return undefined;
  return `${server} is svc ${version}, and this is svc ${VERSION}: commands may fail or do less.`;
}

/** Before 1.0.0 every minor version may change the API. */
function majorOf(version: string): string {
  const [major, minor] = version.split(".");
  return major === "0" ? `0.${minor}` : `${major}`;
}
