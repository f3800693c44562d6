import { type EndpointContract, succeeds } from "../openapi/contract.ts";
import { type Schema, text } from "../wire/schema.ts";

/** What the published document says about an endpoint of the management API. */
export function contract(
  id: string,
  summary: string,
  answer: Schema,
  more: Partial<Omit<EndpointContract, "id" | "summary" | "tag" | "answers">> = {},
): EndpointContract {
  // The record that a path names may not exist.
  const errors = more.errors ?? (more.path === undefined ? [] : NOT_FOUND.errors);
  return { id, tag: "Management", summary, ...more, answers: succeeds("As it is now.", answer), errors };
}

/** The errors of an endpoint whose body or query names a record that may not exist. */
export const NOT_FOUND = { errors: ["not_found", "invalid_request"] } as const;

export const byIdOrName = (what: string) => ({ path: { id: text(`Id or name of the ${what}.`) } });
