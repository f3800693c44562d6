import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import type { Submission } from "../../domain/ports/provider.ts";

/** Takes orders from the texts of a submission. One without any is returned as it is. */
export type BreakOrders = <Given extends Submission>(given: Given) => Given;

/**
 * Returns a function that takes from texts of a caller what an upstream would read as orders: each beginning of such an order gets
 * a space after its first character, whatever its case.
 *
 * @param beginnings such as `<lora:`
 */
export function breakingOrders(beginnings: readonly string[]): BreakOrders {
  if (beginnings.length === 0) return (given) => given;
  const pattern = beginnings.map((each) => RegExp.escape(each)).join("|");
  const [one, all] = [new RegExp(pattern, "i"), new RegExp(pattern, "gi")];
  const clean = (text: string) => text.replace(all, (order) => `${order.slice(0, 1)} ${order.slice(1)}`);
  const cleanAll = (value: Json): Json => {
    if (typeof value === "string") return clean(value);
    if (Array.isArray(value)) return value.map(cleanAll);
    return isJsonObject(value) ? cleanEach(value) : value;
  };
  const cleanEach = (values: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, value === undefined ? value : cleanAll(value)]),
    );
  const hasOrder = (value: Json | undefined): boolean => {
    if (typeof value === "string") return one.test(value);
    return typeof value === "object" && value !== null && Object.values(value).some(hasOrder);
  };
  return (given) => {
    const { request } = given;
    // Most have none, and copies take longer than the search.
    if (!hasOrder(request.prompt) && !hasOrder(request.parameters)) return given;
    return {
      ...given,
      request: {
        ...request,
        ...(request.prompt !== undefined && { prompt: clean(request.prompt) }),
        parameters: cleanEach(request.parameters),
      },
    };
  };
}
