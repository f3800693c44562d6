import { AppError } from "../../../domain/errors.ts";
import type { TaskId } from "../../../domain/ids.ts";
import { formatAmount } from "../../../domain/money/money.ts";
import type { AssetStore } from "../../../domain/ports/asset-store.ts";
import type { Clock } from "../../../domain/ports/runtime.ts";
import { namesFrom } from "../../../domain/words/say.ts";
import type { CancelLater } from "../../../service/cancel-later.ts";
import { createCreateOrJoin } from "../../../service/create-or-join.ts";
import type { CreateTask } from "../../../service/create-task.ts";
import {
  createJoinTask,
  type JoinedTask,
  type JoiningRequest,
  type JoinTask,
  type JoinTaskDeps,
} from "../../../service/join-task.ts";
import { accepted } from "../../accepted.ts";
import { readJsonBody } from "../../body.ts";
import { type Endpoint, type KeyedExchange, keyed, open, polled } from "../../exchange.ts";
import { json, type Reply } from "../../reply.ts";
import { whileStaying } from "../../stays.ts";
import {
  acceptStaying,
  answerInTime,
  finishInTime,
  standingFor,
  type WaitingDeps,
  waitOf,
} from "../../waiting.ts";
import type { WebhookSigning } from "../signing.ts";
import { type FalCreateDeps, readBeginning, readCreate } from "./create.ts";
import { endOf } from "./failure.ts";
import {
  cancelRequest,
  type FalQueueDeps,
  readResult,
  readStatus,
  requestIdHeader,
  streamStatus,
} from "./queue.ts";
import { resultReply } from "./result.ts";
import { type FalStorageDeps, falStorageEndpoints } from "./storage.ts";
import { addressesOf, BASE, type NamedModel } from "./target.ts";
import {
  CANCEL_FAL_REQUEST,
  READ_FAL_KEYS,
  READ_FAL_RESPONSE,
  READ_FAL_RESULT,
  READ_FAL_STATUS,
  RUN_FAL_MODEL,
  STREAM_FAL_STATUS,
} from "./wire.ts";

export interface FalFacadeDeps
  extends FalCreateDeps,
    JoinTaskDeps,
    FalQueueDeps,
    FalStorageDeps,
    WaitingDeps {
  readonly clock: Clock;
  readonly cancelLater: Pick<CancelLater, "plan">;
  readonly signing: WebhookSigning;
  readonly assets: AssetStore;
}

interface Deps extends FalFacadeDeps {
  /** For runs. */
  readonly joinTask: JoinTask;
  /** For submissions to the queue. */
  readonly createOrJoin: CreateTask;
}

const REQUEST = `${BASE}/:model+/requests/:request_id`;
const CREATES = { isCounted: true, sheds: "creates" } as const;
const FOLLOWS = { logLevel: "debug", isStreaming: true } as const;

/** The API that fal's clients speak, with its queue (docs/facades.md). A request is a task, and its id is the task's. */
export function falEndpoints(given: FalFacadeDeps): Endpoint[] {
  const deps: Deps = {
    ...given,
    joinTask: createJoinTask(given),
    createOrJoin: createCreateOrJoin(given),
  };
  return [
    keyed("POST", `${BASE}/:model+`, RUN_FAL_MODEL, CREATES, (exchange) => create(deps, exchange)),
    polled(`${REQUEST}/status`, READ_FAL_STATUS, (exchange) => readStatus(deps, exchange), "reads"),
    keyed("GET", `${REQUEST}/status/stream`, STREAM_FAL_STATUS, FOLLOWS, (exchange) =>
      streamStatus(deps, exchange),
    ),
    polled(REQUEST, READ_FAL_RESULT, (exchange) => readResult(deps, exchange), "reads"),
    polled(`${REQUEST}/response`, READ_FAL_RESPONSE, (exchange) => readResult(deps, exchange), "reads"),
    keyed("PUT", `${REQUEST}/cancel`, CANCEL_FAL_REQUEST, {}, (exchange) => cancelRequest(deps, exchange)),
    ...falStorageEndpoints(given),
    open(`${BASE}/.well-known/jwks.json`, READ_FAL_KEYS, () => json({ keys: [deps.signing.publicKey()] })),
  ];
}

async function create(deps: Deps, exchange: KeyedExchange): Promise<Reply> {
  const beginning = readBeginning(deps, exchange);
  const { named } = beginning;
  const json = await readJsonBody(exchange, deps.assets);
  let { discard } = json;
  let words: JoiningRequest["names"] = {};
  try {
    const joining = readCreate(deps, exchange, beginning, json);
    if (named.isQueued) {
      words = joining.names;
      // A caller that never receives the request's id sends it again.
      const created = await deps.createOrJoin(joining);
      planStart(deps, joining, created);
      const { taskId } = created;
      return accepted(created, {
        own: requestIdHeader(taskId),
        body: queuedText(exchange, named, taskId),
        log: { task: taskId, model: joining.model.id },
      });
    }
    const release = discard;
    // From here on, the run releases them.
    discard = undefined;
    return await run(deps, exchange, named, joining, release);
  } catch (error) {
    throw error instanceof AppError ? error.renamed(namesFrom(words)) : error;
  } finally {
    // An await would cost a turn of the event loop, and most bodies have no files.
    if (discard !== undefined) await discard();
  }
}

/** A request that was accepted before has its start planned since then. */
function planStart(
  { cancelLater }: Deps,
  { cancelAt, cancelsUnstarted, principal }: JoiningRequest,
  { taskId: id, task }: Pick<JoinedTask, "taskId" | "task">,
): void {
  if (cancelAt !== undefined && task !== undefined)
    cancelLater.plan({ id, accountId: principal.accountId, cancelsUnstarted }, cancelAt);
}

/** Only its status reports how many are ahead of it, because counting them takes as long as accepting a request. */
function queuedText(exchange: KeyedExchange, { name }: NamedModel, id: TaskId): string {
  return `{"status":"IN_QUEUE","request_id":"${id}",${addressesOf(exchange, name, id)}}`;
}

/** What the task holds, what it is called, and whether it was accepted before. */
function headersOf({ taskId, held, replayed }: JoinedTask): Record<string, string> {
  const headers: Record<string, string> = {
    "Content-Type": "application/json",
    ...requestIdHeader(taskId),
  };
  if (held !== undefined) headers["X-Request-Cost"] = formatAmount(held);
  if (replayed) headers["X-Idempotent-Replay"] = "true";
  return headers;
}

const NOTHING = async () => {};

async function run(
  deps: Deps,
  exchange: KeyedExchange,
  { isStream }: NamedModel,
  joining: JoiningRequest,
  release: () => Promise<void> = NOTHING,
): Promise<Reply> {
  const { leave, accepted: joined } = await acceptStaying(exchange, "waits", { release }, async () => {
    const call = await deps.joinTask(joining);
    planStart(deps, joining, call);
    return call;
  });
  return whileStaying(leave, async () => {
    const { origin } = exchange;
    const { waitMs, headers } = waitOf(deps, exchange);
    const standing = standingFor(exchange, joined);
    const task = await finishInTime(deps, exchange, joined, { waitMs, standing }).catch(
      async (error: unknown) => {
        throw await endOf(deps, error);
      },
    );
    const all = { ...headers, ...headersOf(joined) };
    const answering = { origin, headers: all, isStream, leave: joined.leave };
    return answerInTime(deps, exchange, joined, () => resultReply(deps, task, answering));
  });
}
