import type { Principal } from "../../domain/access/account.ts";
import type { Feature } from "../../domain/access/key-policy.ts";
import { allowsFeature } from "../../domain/access/permissions.ts";
import { AppError } from "../../domain/errors.ts";
import type { Model } from "../../domain/model/model.ts";
import { namesFrom } from "../../domain/words/say.ts";
import type { CreateTaskRequest } from "../../service/create-task.ts";
import type { KeyedExchange } from "../exchange.ts";
import { hopsOf } from "../hops.ts";
import { idempotencyKeyOf } from "../idempotency-key.ts";
import { routingOf } from "../routing.ts";
import { requireStanding } from "../standing.ts";

/* What facades share. Each translates another API's requests into the same create, and tasks into that API's shapes. */

/** Everything of a create that does not depend on which API it came by. */
type Sent = Pick<
  CreateTaskRequest,
  "principal" | "requestId" | "origin" | "hops" | "idempotencyKey" | "routing" | "trace" | "gone"
>;

/** How a create was sent. @throws AppError if the caller may no longer create, or a header cannot be read */
export function sentBy({
  request,
  principal,
  standing,
  requestId,
  origin,
  trace,
}: Omit<KeyedExchange, "stay">): Sent {
  requireStanding(standing);
  return {
    principal,
    requestId,
    origin,
    trace,
    hops: hopsOf(request),
    idempotencyKey: idempotencyKeyOf(request),
    routing: routingOf(request),
    gone: () => request.signal,
  };
}

/** @throws AppError `permission_denied` if the key may not make what the model makes */
export function requireKind(principal: Principal, { kind }: Pick<Model, "kind">): void {
  requireFeature(principal, `${kind}s`);
}

/** @throws AppError `permission_denied` if the key does not have the feature */
export function requireFeature({ policy }: Principal, feature: Feature): void {
  if (!allowsFeature(policy, feature))
    throw new AppError("permission_denied", { kind: "feature_forbidden", feature });
}

/** Runs a create, and rewords its errors. @throws AppError like `inWords` */
export async function inOtherWords<T>(
  names: Readonly<Record<string, string>>,
  create: () => Promise<T>,
): Promise<T> {
  try {
    return await create();
  } catch (error) {
    throw inWords(names, error);
  }
}

/**
 * What a create threw, for a reader who has these names for our fields: with `model_not_found` in place of `model_not_available`, as
 * everything below `/compat/v1` has it. For callers that catch it themselves: one function less is waited for.
 */
export function inWords(names: Readonly<Record<string, string>>, error: unknown): unknown {
  if (!(error instanceof AppError)) return error;
  const { code, facts, details } = error;
  const known =
    code === "model_not_available" ? new AppError("model_not_found", facts, details, error) : error;
  return known.renamed(namesFrom(names));
}
