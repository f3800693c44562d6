import type { SubmitRequest } from "../../domain/ports/provider.ts";
import { HOPS_HEADER } from "../../domain/task/hops.ts";

/**
 * Tells an upstream that is another instance of this service how many instances have passed the request on, so that no circle
 * continues.
 */
export function hopHeaders({ request }: Pick<SubmitRequest, "request">): Record<string, string> {
  return { [HOPS_HEADER]: String((request.hops ?? 0) + 1) };
}
