import type { JsonObject } from "../../domain/json.ts";
import type { Endpoint } from "../exchange.ts";

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
  managementToken: {
    type: "http",
    scheme: "bearer",
    description: "A management token, `Authorization: Bearer mt-svc-…`. Opens `/admin/v1` and nothing else.",
  },
};

/** Alternatives of an endpoint, the recommended one first. */
export function securityOf({ access, path }: Endpoint): JsonObject[] {
  if (access === "public") return [];
  if (access === "management") return [{ managementToken: [] }];
  const names = ["bearer", "apiKeyHeader", "vendorHeader", "queryKey"];
  if (path.startsWith("/compat/")) names.push("plainHeader");
  return names.map((name) => ({ [name]: [] }));
}
