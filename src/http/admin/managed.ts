import { AppError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { type Micros, parseAmount } from "../../domain/money/money.ts";
import { parseMultiplier } from "../../domain/money/multiplier.ts";
import { readJsonBody } from "../body.ts";
import type { Endpoint, ManagedExchange } from "../exchange.ts";
import type { EndpointContract } from "../openapi/contract.ts";
import type { Reply } from "../reply.ts";
import { check } from "../wire/check.ts";

/** An endpoint of the management API. */
export function managed(
  method: Endpoint["method"],
  path: string,
  contract: EndpointContract,
  handle: (exchange: ManagedExchange) => Promise<Reply>,
): Endpoint {
  return { method, path, contract, access: "management", handle };
}

/** @param schema what `Body` says, for those who send one */
export async function read<Body>(request: Request, schema: JsonObject): Promise<Body> {
  const body = await readJsonBody(request);
  check(schema, body);
  // The schema is what the type stands for.
  return body as Body;
}

/** @throws AppError `invalid_request` for text that is no amount */
export function amountOf(field: string, text: string): Micros;
export function amountOf<Absent extends null | undefined>(
  field: string,
  text: string | Absent,
): Micros | Absent;
export function amountOf(field: string, text: string | null | undefined) {
  if (typeof text !== "string") return text;
  const amount = parseAmount(text);
  if (amount !== undefined) return amount;
  throw unusable(field, "an amount like 5.00", text);
}

/** @returns millionths @throws AppError `invalid_request` for text that is no multiplier */
export function multiplierOf<Absent extends null | undefined>(
  field: string,
  text: string | Absent,
): number | Absent {
  if (typeof text !== "string") return text;
  const millionths = parseMultiplier(text);
  if (millionths !== undefined) return millionths;
  throw unusable(field, "a number above 0 and at most 1000, such as 1.25", text);
}

function unusable(field: string, rule: string, text: string): AppError {
  return new AppError("invalid_request", `${field} must be ${rule}, got "${text.slice(0, 80)}".`, {
    param: field,
  });
}
