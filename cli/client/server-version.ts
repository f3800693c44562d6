import { isJsonObject } from "../../src/domain/json.ts";
import { VERSION } from "../../src/version.ts";
import { parseBody } from "./answer.ts";
import { type ClientOptions, fetchFile } from "./exchange.ts";

/** The version that a server says it has, without any credential; undefined where something else answers. */
export async function serverVersion(server: string, options: ClientOptions): Promise<string | undefined> {
  const answer = await fetchFile(`${server}/`, options);
  if (!answer.ok) return undefined;
  const root = parseBody(await answer.value.text());
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
