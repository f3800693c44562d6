import type { JsonObject } from "../../domain/json.ts";
import type { CompatRequest } from "../../service/compat-request.ts";
import { decoded } from "../recent-paths.ts";

/* Paths of clients for Azure, which put `openai` behind the base URL, and the model, as a deployment, before the method. */

const AZURE =
  /^(\/compat\/v1)(?:\/openai(?:\/v1)?)?(?:\/deployments\/([^/]+)(?=\/images\/(?:generations|edits)$))?(\/.+)$/;

/** The path that one of such a client stands for; undefined where it stands for itself. */
export function pathOfAzure(path: string): string | undefined {
  const [, base, , rest] = AZURE.exec(path) ?? [];
  return base === undefined || rest === undefined || base + rest === path ? undefined : base + rest;
}

/** A call as its path has it: a deployment is the model, whatever the body says. */
export function atDeployment<C extends { readonly request: CompatRequest; readonly identity: JsonObject }>(
  path: string,
  call: C,
): C {
  const [, , name] = AZURE.exec(path) ?? [];
  if (name === undefined) return call;
  const model = decoded(name);
  const request = { ...call.request, fields: { ...call.request.fields, model } };
  return { ...call, request, identity: { ...call.identity, model } };
}
