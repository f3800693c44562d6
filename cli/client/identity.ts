import { displayOf } from "../../src/domain/access/credential.ts";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { VERSION } from "../../src/version.ts";
import { createAdminCalls } from "./admin.ts";
import { parseBody } from "./answer.ts";
import { createClient } from "./client.ts";
import { type ClientOptions, fetchFile } from "./exchange.ts";

/** Whom a management token belongs to. */
export interface TokenIdentity {
  readonly id: string;
  readonly name: string;
  readonly display: string;
}

/** What the server says of an API key, its account, its limits and its money. @throws Failure when it refuses the key */
export function identifyKey(server: string, key: string, options: ClientOptions): Promise<JsonObject> {
  return createClient({ server, key }, options).accountStatus();
}

/** The token as the server lists it. @throws Failure when it refuses the token */
export async function identifyToken(
  server: string,
  token: string,
  options: ClientOptions,
): Promise<TokenIdentity> {
  const { tokens } = await createAdminCalls({ server, key: token }, options).get("/tokens");
  const display = displayOf(token);
  const listed = Array.isArray(tokens) ? tokens.filter(isJsonObject) : [];
  const own = listed.find((each) => each.display === display && each.status === "active");
  return { id: String(own?.id ?? ""), name: String(own?.name ?? ""), display };
}

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
