import { AppError } from "../domain/errors.ts";
import type { Handling } from "./exchange.ts";
import { createRouter, type RouterDeps } from "./router.ts";

/** Where a node that only works is looked at: by probes, by what collects metrics, and by operators. */
const LOOKED_AT = /^\/(?:healthz|readyz|metrics|admin\/v1\/.+)$/;

/** Answers the requests to a node that works for others: of the endpoints, those by which it is looked at. */
export function createWorkerRouter(
  deps: RouterDeps,
  endpoints: readonly Handling[],
): ReturnType<typeof createRouter> {
  const seen = endpoints.filter(({ path }) => LOOKED_AT.test(path));
  return createRouter(deps, seen, ONLY_WORKS);
}

/**
 * What it answers on all other paths. It is no 404, which would tell a caller that its task does not exist; and another node
 * may be behind the same address, so that the request may be sent again at once.
 */
const ONLY_WORKS: Handling = {
  method: "GET",
  path: "*",
  access: "public",
  handle: () => {
    throw new AppError("wrong_node", { kind: "only_works" }, { shouldRetry: true });
  },
};
