import type { JsonObject } from "../../../domain/json.ts";
import type { Model } from "../../../domain/model/model.ts";
import type { AssetStore } from "../../../domain/ports/asset-store.ts";
import type { Clock } from "../../../domain/ports/runtime.ts";
import type { JoiningRequest } from "../../../service/join-task.ts";
import type { ModelDeps } from "../../../service/read-model.ts";
import type { KeyedExchange } from "../../exchange.ts";
import type { JsonBody } from "../../read-json.ts";
import { requireKind, sentBy } from "../create.ts";
import { fromForeign } from "../foreign-input.ts";
import { type AskedHeaders, askedHeaders, LIFECYCLE } from "./headers.ts";
import { type FalModel, falModel, requireInputs } from "./models.ts";
import { withLength, withSize } from "./sizes.ts";
import { BASE, mayHaveQuery, type NamedModel, namedModel, queryOf } from "./target.ts";
import { WEBHOOK } from "./webhook.ts";

export interface FalCreateDeps extends ModelDeps {
  readonly assets: AssetStore;
  readonly clock: Pick<Clock, "now">;
}

/** What a create says before its body has arrived. */
export interface FalBeginning {
  readonly named: NamedModel;
  readonly asked: FalModel;
  readonly headers: AskedHeaders;
}

/** Reads path and headers. @throws AppError naming the header at fault */
export function readBeginning(deps: ModelDeps, exchange: KeyedExchange): FalBeginning {
  const { request, principal } = exchange;
  const named = namedModel(exchange);
  const asked = falModel(deps, principal, named.name);
  requireKind(principal, asked.model);
  return { named, asked, headers: askedHeaders(request.headers, asked.model.id) };
}

/**
 * Reads the rest, which is at hand.
 * @throws AppError naming the field, the header or the parameter at fault
 */
export function readCreate(
  deps: FalCreateDeps,
  exchange: KeyedExchange,
  { named, asked, headers }: FalBeginning,
  json: JsonBody,
): JoiningRequest {
  const { model, route } = asked;
  const { isInline, fields: wanted } = withoutSyncMode(model, json.body);
  const given = withLength(model, route, wanted);
  const fields = withSize(model, route, given);
  const { body, names, resultType } = fromForeign(deps.catalog, model, { fields, at: "", route });
  requireInputs(asked, body, names);
  const { retainSec, startWithinMs } = headers;
  const url = mayHaveQuery(exchange) ? queryOf(exchange).get("fal_webhook") : null;
  names.retain_seconds = LIFECYCLE;
  names.callback_url = "fal_webhook";
  const sent = sentBy(exchange);
  return {
    ...sent,
    kind: model.kind,
    model,
    names,
    body: retainSec === undefined ? body : { ...body, retain_seconds: retainSec },
    identity: identityOf(json, url, retainSec),
    inlineFiles: json.inlineFiles,
    endpoint: `POST ${BASE}/${named.name}`,
    hasPaintedMasks: true,
    isInline,
    resultType,
    callback: url === null ? undefined : { ...WEBHOOK, url },
    ...(startWithinMs !== undefined && startingBy(deps.clock.now() + startWithinMs)),
  };
}

/** The task itself says when it is cancelled unless it has started: its caller may be gone by then. */
const startingBy = (cancelAt: number) => ({ cancelAt, cancelsUnstarted: true }) as const;

/** Whether a client wants pictures themselves in the answer, and not their addresses. Of videos, the model's schema refuses that. */
function withoutSyncMode(
  model: Model,
  body: JsonObject,
): { readonly isInline?: true; readonly fields: JsonObject } {
  const { sync_mode: mode, ...fields } = body;
  if (mode === false) return { fields };
  return mode === true && model.kind === "image" ? { isInline: true, fields } : { fields: body };
}

function identityOf({ body }: JsonBody, url: string | null, retainSec: number | undefined): JsonObject {
  if (url === null && retainSec === undefined) return body;
  return {
    ...body,
    ...(url !== null && { fal_webhook: url }),
    ...(retainSec !== undefined && { retainSec }),
  };
}
