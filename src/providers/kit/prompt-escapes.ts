import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import type { Submission } from "../../domain/ports/provider.ts";

/**
 * Takes from texts of a caller what an upstream would read as orders: each beginning of such an order gets a space after its first
 * character, whatever its case. Texts without one stay as they are.
 *
 * @param beginnings such as `<lora:`
 */
export function withoutOrders<Given extends Submission>(given: Given, beginnings: readonly string[]): Given {
  if (beginnings.length === 0) return given;
  const pattern = new RegExp(beginnings.map((each) => RegExp.escape(each)).join("|"), "gi");
  const clean = (text: string) => text.replace(pattern, (order) => `${order.slice(0, 1)} ${order.slice(1)}`);
  const cleanAll = (value: Json): Json => {
    if (typeof value === "string") return clean(value);
    if (Array.isArray(value)) return value.map(cleanAll);
    return isJsonObject(value) ? cleanEach(value) : value;
  };
  const cleanEach = (values: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, value === undefined ? value : cleanAll(value)]),
    );
  const { request } = given;
  return {
    ...given,
    request: {
      ...request,
      ...(request.prompt !== undefined && { prompt: clean(request.prompt) }),
      parameters: cleanEach(request.parameters),
    },
  };
}
