import { ROUTE_POLICIES } from "../domain/model/route-policy.ts";
import type { AskedRouting } from "../service/routing-wish.ts";
import { type Properties, text } from "./wire/schema.ts";

const POLICY = "X-Route-Policy";
const ROUTE = "X-Route";

/** How a request chooses its way (docs/routing.md 5); undefined if it does not. */
export function routingOf({ headers }: Request): AskedRouting | undefined {
  const policy = headers.get(POLICY) ?? undefined;
  const route = headers.get(ROUTE) ?? undefined;
  return policy === undefined && route === undefined ? undefined : { policy, route };
}

/** The headers of a create that choose its way. */
export const ROUTING_HEADERS: Properties = {
  [POLICY]: text("How one of the model's routes is chosen, in place of what the key and the model say.", {
    enum: ROUTE_POLICIES,
  }),
  [ROUTE]: text(
    "The one way to take, for keys that may name it: an account's lane, `fal` or `fal/second`, and after a colon the provider's name for the model, if need be.",
    { maxLength: 300 },
  ),
};
