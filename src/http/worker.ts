import { AppError } from "../domain/errors.ts";
import type { Handling } from "./exchange.ts";
import { createRouter, type RouterDeps } from "./router.ts";

/** The paths by which a node that only works is observed: by probes, by collectors of metrics, and by operators. */
const LOOKED_AT = /^\/(?:healthz|readyz|metrics|admin\/v1\/.+)$/;

/** Answers requests to a node that only works for others: only the endpoints by which it is observed. */
export function createWorkerRouter(
  deps: RouterDeps,
  endpoints: readonly Handling[],
): ReturnType<typeof createRouter> {
  const seen = endpoints.filter(({ path }) => LOOKED_AT.test(path));
  return createRouter(deps, seen, ONLY_WORKS);
}

/**
 * The answer on all other paths. It is no 404, which would tell a caller that its task does not exist. Another node may be
 * behind the same address, so the client may repeat the request at once.
 */
const ONLY_WORKS: Handling = {
  method: "GET",
  path: "*",
  access: "public",
  handle: () => {
    throw new AppError("wrong_node", { kind: "only_works" }, { shouldRetry: true });
  },
};
