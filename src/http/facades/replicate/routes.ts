import { signingSecretsAt } from "../../../domain/callback/signature.ts";
import { AppError } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { formatAmount } from "../../../domain/money/money.ts";
import { type AccountStore, LOCKED } from "../../../domain/ports/account-store.ts";
import type { TaskSummary } from "../../../domain/task/task.ts";
import { type CancelTaskDeps, cancelTask } from "../../../service/cancel-task.ts";
import { createCreateOrJoin } from "../../../service/create-or-join.ts";
import { createEqualCalls } from "../../../service/equal-calls.ts";
import { createJoinTask, type JoinTaskDeps } from "../../../service/join-task.ts";
import { readTask } from "../../../service/read-task.ts";
import { type Endpoint, type KeyedExchange, keyed, polled } from "../../exchange.ts";
import { json, type Reply } from "../../reply.ts";
import { OWNER } from "../models.ts";
import { type CreateDeps, createPrediction } from "./create.ts";
import { HARDWARE_ENTRY, oneDeployment } from "./deployments.ts";
import { type FileDeps, fileEndpoints } from "./files.ts";
import { listPredictions } from "./list.ts";
import { BASE } from "./manners.ts";
import {
  collectionPage,
  type ModelPageDeps,
  modelPage,
  oneCollection,
  oneModel,
  oneVersion,
  versionPage,
} from "./models.ts";
import { createTellPrediction, untoldPrediction } from "./present.ts";
import { foundModels } from "./search.ts";
import { STREAM_PATH, type StreamDeps, streamPathOf, streamPrediction } from "./stream.ts";
import { defaultSecret } from "./webhook.ts";
import * as wire from "./wire.ts";

export type ReplicateDeps = Omit<CreateDeps, "tell" | "joinTask" | "createOrJoin" | "streamPath"> &
  Omit<JoinTaskDeps, "equalCalls"> &
  Omit<StreamDeps, "tell"> &
  FileDeps &
  ModelPageDeps &
  CancelTaskDeps & { readonly accounts: Pick<AccountStore, "account" | "key" | "callbackSecret"> };

type Deps = ReplicateDeps & Pick<CreateDeps, "tell" | "joinTask" | "createOrJoin" | "streamPath">;

const PREDICTIONS = `${BASE}/predictions`;
const PREDICTION = `${PREDICTIONS}/:prediction_id`;
const MODEL = `${BASE}/models/:owner/:name`;
const DEPLOYMENT = `${BASE}/deployments/:owner/:name`;
const CREATES = { isCounted: true, sheds: "creates" } as const;

/** The predictions API that Replicate's clients speak (docs/facades.md). A prediction is a task, and its id is the task's. */
export function replicateEndpoints(given: ReplicateDeps): Endpoint[] {
  const streamPath = streamPathOf(given.seal);
  const tell = createTellPrediction({ ...given, streamPath });
  const equalCalls = createEqualCalls({ after: (...due) => given.clock.after(...due) });
  const joining = { ...given, equalCalls };
  const deps: Deps = {
    ...{ ...given, tell, streamPath },
    joinTask: createJoinTask(joining),
    createOrJoin: createCreateOrJoin(joining),
  };
  return [
    keyed("POST", PREDICTIONS, wire.CREATE_PREDICTION, CREATES, (exchange) =>
      createPrediction(deps, exchange),
    ),
    keyed("POST", `${MODEL}/predictions`, wire.CREATE_MODEL_PREDICTION, CREATES, (exchange) =>
      createPrediction(deps, exchange, nameIn(exchange)),
    ),
    keyed("POST", `${DEPLOYMENT}/predictions`, wire.CREATE_DEPLOYMENT_PREDICTION, CREATES, (exchange) =>
      createPrediction(deps, exchange, nameIn(exchange)),
    ),
    polled(PREDICTIONS, wire.LIST_PREDICTIONS, (exchange) => listPredictions(deps, exchange), "lists"),
    polled(PREDICTION, wire.READ_PREDICTION, (exchange) => read(deps, exchange), "reads"),
    keyed("POST", `${PREDICTION}/cancel`, wire.CANCEL_PREDICTION, {}, (exchange) => cancel(deps, exchange)),
    {
      method: "GET",
      path: `${STREAM_PATH}:prediction`,
      contract: wire.STREAM_PREDICTION,
      access: "public",
      logLevel: "debug",
      isSecret: true,
      isStreaming: true,
      handle: (exchange) => streamPrediction(deps, exchange),
    },
    ...fileEndpoints(deps),
    ...catalogEndpoints(deps),
  ];
}

/** The model that a path names: one of ours by its id alone, which is found sooner than a text made of two. */
function nameIn({ param }: KeyedExchange): string {
  const [owner, name] = [param("owner"), param("name")];
  return owner === OWNER ? name : `${owner}/${name}`;
}

/** What is here, and who asks. */
function catalogEndpoints(deps: Deps): Endpoint[] {
  const told =
    (tell: (deps: Deps, exchange: KeyedExchange) => JsonObject | Promise<JsonObject>) =>
    async (exchange: KeyedExchange) =>
      json(await tell(deps, exchange));
  return [
    keyed("GET", `${BASE}/models`, wire.LIST_OWNED_MODELS, {}, told(modelPage)),
    keyed("QUERY", `${BASE}/models`, wire.LIST_OWNED_MODELS, {}, told(foundModels)),
    // A create that names a model without its owner would fit it, too.
    { ...keyed("GET", MODEL, wire.READ_OWNED_MODEL, {}, told(oneModel)), isKnownByMethod: true },
    keyed("GET", `${MODEL}/versions`, wire.LIST_VERSIONS, {}, told(versionPage)),
    keyed("GET", `${MODEL}/versions/:version`, wire.READ_VERSION, {}, told(oneVersion)),
    keyed("GET", DEPLOYMENT, wire.READ_DEPLOYMENT, {}, told(oneDeployment)),
    keyed("GET", `${BASE}/collections`, wire.LIST_COLLECTIONS, {}, told(collectionPage)),
    keyed("GET", `${BASE}/collections/:slug`, wire.READ_COLLECTION, {}, told(oneCollection)),
    keyed("GET", `${BASE}/account`, wire.READ_OWNER, {}, told(owner)),
    keyed("GET", `${BASE}/hardware`, wire.LIST_HARDWARE, {}, () => json([HARDWARE_ENTRY])),
    keyed("GET", `${BASE}/webhooks/default/secret`, wire.READ_WEBHOOK_SECRET, {}, told(webhookSecret)),
  ];
}

/** A prediction with what it costs: what is held for it, or was charged. */
async function replyOf(deps: Deps, task: TaskSummary, origin: string): Promise<Reply> {
  const told = await deps.tell(task, origin);
  if (told === undefined) throw untoldPrediction();
  const cost = { "X-Request-Cost": formatAmount(task.charged ?? task.held) };
  return {
    status: 200,
    headers: { "Content-Type": "application/json", ...cost },
    body: told.text,
    log: { task: task.id, model: task.model },
  };
}

async function read(deps: Deps, { principal, param, origin }: KeyedExchange): Promise<Reply> {
  return replyOf(deps, await readTask(deps, principal, param("prediction_id")), origin);
}

/** One that has ended stays as it is, which is no error there. */
async function cancel(deps: Deps, { principal, param, origin }: KeyedExchange): Promise<Reply> {
  const id = param("prediction_id");
  const task = await cancelTask(deps, principal, id).catch((error: unknown) => {
    if (error instanceof AppError && error.code === "task_not_cancellable")
      return readTask(deps, principal, id);
    throw error;
  });
  return replyOf(deps, task, origin);
}

async function owner({ accounts }: Deps, { principal }: KeyedExchange): Promise<JsonObject> {
  const account = await accounts.account(principal.accountId);
  const name = account?.name ?? principal.accountId;
  return { type: "organization", username: name, name, github_url: null };
}

/** What the caller's webhooks are signed with: its key's own secret, where it has one, or the account's. */
async function webhookSecret(
  { accounts, seal, clock }: Deps,
  { principal }: KeyedExchange,
): Promise<JsonObject> {
  const kept = await accounts.callbackSecret(principal.keyId);
  const [own] = kept === undefined || kept === LOCKED ? [] : signingSecretsAt(kept, clock.now());
  return { key: own ?? defaultSecret(seal, principal.accountId) };
}
