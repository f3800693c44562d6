import { displayOf } from "../../src/domain/access/credential.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { createAdminCalls } from "./admin.ts";
import { createClient } from "./client.ts";
import type { ClientOptions } from "./exchange.ts";

/** Whom a management token belongs to. */
export interface TokenIdentity {
  readonly id: string;
  readonly name: string;
  readonly display: string;
  readonly scopes: readonly string[];
}

/** What the server says of an API key, its account, its limits and its money. @throws Failure when it refuses the key */
export function identifyKey(server: string, key: string, options: ClientOptions): Promise<JsonObject> {
  return createClient({ server, key }, options).accountStatus();
}

/** The token as the server knows it. @throws Failure when it refuses the token */
export async function identifyToken(
  server: string,
  token: string,
  options: ClientOptions,
): Promise<TokenIdentity> {
  const { id, name, scopes } = await createAdminCalls({ server, key: token }, options).get("/token");
  return {
    id: String(id ?? ""),
    name: String(name ?? ""),
    display: displayOf(token),
    scopes: Array.isArray(scopes) ? scopes.map(String) : [],
  };
}
