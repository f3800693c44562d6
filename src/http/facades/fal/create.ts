import type { Principal } from "../../../domain/access/account.ts";
import { allowsFeature } from "../../../domain/access/permissions.ts";
import { AppError } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { AssetStore } from "../../../domain/ports/asset-store.ts";
import type { TaskKind } from "../../../domain/task/request.ts";
import type { JoiningRequest, JoinTask } from "../../../service/join-task.ts";
import type { ModelDeps } from "../../../service/read-model.ts";
import { readJsonBody } from "../../body.ts";
import type { KeyedExchange } from "../../exchange.ts";
import type { JsonBody } from "../../read-json.ts";
import { sentBy } from "../create.ts";
import { fromForeign } from "../foreign-input.ts";
import { type AskedHeaders, askedHeaders, LIFECYCLE } from "./headers.ts";
import { falModel, requireInputs } from "./models.ts";
import { withLength, withSize } from "./sizes.ts";
import { BASE, mayHaveQuery, type NamedModel, queryOf } from "./target.ts";
import { WEBHOOK } from "./webhook.ts";

export interface FalCreateDeps extends ModelDeps {
  readonly assets: AssetStore;
  readonly joinTask: JoinTask;
}

/** A create that was read. */
export interface FalCreate extends Pick<AskedHeaders, "startWithinMs"> {
  readonly joining: JoiningRequest;
  /** Releases the files of its body; those that a task uses stay. Undefined for a body without files. */
  readonly release: (() => Promise<void>) | undefined;
}

/**
 * Reads a create.
 * @throws AppError naming the field, the header or the parameter at fault; then no file is kept
 */
export async function readCreate(
  deps: FalCreateDeps,
  exchange: KeyedExchange,
  named: NamedModel,
): Promise<FalCreate> {
  const { principal } = exchange;
  const asked = falModel(deps, principal, named.name);
  const { model, route } = asked;
  requireFeature(principal, model.kind);
  const headers = askedHeaders(exchange.request.headers, { model: model.id, isQueued: named.isQueued });
  const json = await readJsonBody(exchange, deps.assets);
  const release = json.discard;
  try {
    const given = withLength(model, route, withoutDefaults(json.body));
    const fields = withSize(model, route, given);
    const { body, names } = fromForeign(deps.catalog, model, { fields, at: "", route });
    requireInputs(asked, body, names);
    const { retainSec, startWithinMs } = headers;
    const url = mayHaveQuery(exchange.request) ? queryOf(exchange).get("fal_webhook") : null;
    names.retain_seconds = LIFECYCLE;
    names.callback_url = "fal_webhook";
    const joining: JoiningRequest = {
      ...sentBy(exchange),
      kind: model.kind,
      model,
      names,
      body: retainSec === undefined ? body : { ...body, retain_seconds: retainSec },
      identity: identityOf(json, url, retainSec),
      inlineFiles: json.inlineFiles,
      endpoint: `POST ${BASE}/${named.name}`,
      isWaiting: !named.isQueued,
      callback: url === null ? undefined : { ...WEBHOOK, url },
    };
    return { startWithinMs, joining, release };
  } catch (error) {
    await release?.();
    throw error;
  }
}

/** What says nothing: results are addresses of files unless a client wants their content in the answer. */
function withoutDefaults(body: JsonObject): JsonObject {
  if (body.sync_mode === undefined) return body;
  const { sync_mode: mode, ...fields } = body;
  return mode === false ? fields : { ...fields, sync_mode: mode };
}

function identityOf({ body }: JsonBody, url: string | null, retainSec: number | undefined): JsonObject {
  if (url === null && retainSec === undefined) return body;
  return {
    ...body,
    ...(url !== null && { fal_webhook: url }),
    ...(retainSec !== undefined && { retainSec }),
  };
}

function requireFeature({ policy }: Principal, kind: TaskKind): void {
  const feature = `${kind}s` as const;
  if (!allowsFeature(policy, feature))
    throw new AppError("permission_denied", { kind: "feature_forbidden", feature });
}
