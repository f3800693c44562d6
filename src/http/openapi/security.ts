import { SCOPES } from "../../domain/access/token-terms.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Endpoint } from "../exchange.ts";
import { mannersOf } from "../facades/spoken.ts";

const SCOPE_LIST = Object.entries(SCOPES)
  .map(([scope, about]) => `\`${scope}\` (${about})`)
  .join(", ");

/** The forms a credential may come in (docs/api.md 2.1). */
export const SECURITY_SCHEMES: JsonObject = {
  bearer: {
    type: "http",
    scheme: "bearer",
    description: "An API key, `Authorization: Bearer sk-svc-…`. The recommended form.",
  },
  apiKeyHeader: { type: "apiKey", in: "header", name: "x-api-key", description: "An API key." },
  vendorHeader: {
    type: "apiKey",
    in: "header",
    name: "x-goog-api-key",
    description: "An API key in any header of the form `x-<vendor>-api-key`.",
  },
  queryKey: {
    type: "apiKey",
    in: "query",
    name: "key",
    description: "An API key, for clients that can send it in no header. URLs end up in logs: avoid it.",
  },
  plainHeader: {
    type: "apiKey",
    in: "header",
    name: "api-key",
    description: "An API key, on the paths of the synchronous images API.",
  },
  basic: {
    type: "http",
    scheme: "basic",
    description:
      "An API key as the password, with any name, or as the name without a password, on the paths of APIs whose clients send it so.",
  },
  ...Object.fromEntries(
    ["key", "token"].map((scheme) => [
      `${scheme}Scheme`,
      {
        ...{ type: "apiKey", in: "header", name: "Authorization" },
        description: `An API key behind another word, \`Authorization: ${scheme === "key" ? "Key" : "Token"} sk-svc-…\`, on the paths of APIs whose clients send it so.`,
      },
    ]),
  ),
  managementToken: {
    type: "http",
    scheme: "bearer",
    description: `A management token, \`Authorization: Bearer mt-svc-…\`. Opens \`/admin/v1\` and \`/metrics\`, and nothing else. Each endpoint names the scope that the token must have: ${SCOPE_LIST}.`,
  },
};

/** The alternatives of an endpoint, with the recommended one first. */
export function securityOf(endpoint: Endpoint): JsonObject[] {
  const { access, path } = endpoint;
  if (access === "public") return [];
  // The roles of OpenAPI 3.1.
  if (access === "management")
    return [{ managementToken: endpoint.scope === undefined ? [] : [endpoint.scope] }];
  const names = ["bearer", "apiKeyHeader", "vendorHeader", "queryKey"];
  if (path.startsWith("/compat/")) names.push("plainHeader");
  for (const scheme of mannersOf(path)?.schemes ?? [])
    names.push(scheme === "basic" ? scheme : `${scheme}Scheme`);
  return names.map((name) => ({ [name]: [] }));
}
