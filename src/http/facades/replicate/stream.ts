import { keyStatus } from "../../../domain/access/account.ts";
import { AppError } from "../../../domain/errors.ts";
import { isId, type TaskId } from "../../../domain/ids.ts";
import type { Json } from "../../../domain/json.ts";
import type { AccountStore } from "../../../domain/ports/account-store.ts";
import type { Log, Seal } from "../../../domain/ports/runtime.ts";
import { isTerminal, type Task, type TaskSummary } from "../../../domain/task/task.ts";
import { type WatchTaskDeps, watchTask } from "../../../service/watch-task.ts";
import type { Exchange } from "../../exchange.ts";
import type { Reply } from "../../reply.ts";
import { type EventWriter, eventReply } from "../../sse.ts";
import { type Stays, whileStaying } from "../../stays.ts";
import { BASE } from "./manners.ts";
import { logsOf, type TellPrediction, untoldPrediction } from "./present.ts";
import type { StreamPath } from "./written.ts";

export interface StreamDeps extends WatchTaskDeps {
  readonly accounts: Pick<AccountStore, "account" | "key">;
  readonly seal: Pick<Seal, "sign" | "isSigned">;
  readonly stays: Stays;
  readonly stopping: AbortSignal;
  readonly log: Log;
  readonly tell: TellPrediction;
}

/** What the paths begin with at which a prediction's events are read. */
export const STREAM_PATH = `${BASE}/stream/`;

const signed = (id: TaskId) => `replicate stream ${id}`;

/** Clients of that API follow a prediction without their key, so that the address says by its signature that it comes from here. */
export function streamPathOf(seal: Pick<Seal, "sign">): StreamPath {
  return ({ id }) => `${STREAM_PATH}${id}.${seal.sign(signed(id))}`;
}

/** How long after a prediction was created its events can be read by its address. */
const READABLE_MS = 24 * 60 * 60 * 1000;

/**
 * A prediction's events: `logs` as it goes on, `output` for each of its files, then `done`; `error` in between where it failed.
 * @throws AppError `task_not_found` for an address that this service did not give, that is too old, or whose key is no longer accepted
 */
export async function streamPrediction(deps: StreamDeps, exchange: Exchange): Promise<Reply> {
  const { request, requestId, param, origin } = exchange;
  const [id = "", signature = ""] = param("prediction").split(".");
  const task =
    isId("task", id) && deps.seal.isSigned(signed(id), signature) ? await deps.tasks.byId(id) : undefined;
  if (task === undefined || task.createdAt + READABLE_MS <= deps.clock.now() || !(await isOpen(deps, task)))
    throw untoldPrediction();
  const write = (to: EventWriter, signal: AbortSignal) => writeEvents(deps, { task, origin, to, signal });
  const signal = AbortSignal.any([request.signal, deps.stopping]);
  const onError = (error: unknown) =>
    // Its task was removed while it was followed.
    error instanceof AppError
      ? undefined
      : deps.log.error(
          { request_id: requestId, task: task.id, err: error as Error },
          "an event stream failed",
        );
  return whileStaying(deps.stays("streams", task), () =>
    eventReply({ clock: deps.clock, signal, write, onError }, { task: task.id, model: task.model }),
  );
}

/** Whether the key that made a prediction could still read it. */
async function isOpen(
  { accounts, clock }: Pick<StreamDeps, "accounts" | "clock">,
  { keyId, accountId }: Pick<Task, "keyId" | "accountId">,
): Promise<boolean> {
  const [key, account] = await Promise.all([accounts.key(keyId), accounts.account(accountId)]);
  return key !== undefined && keyStatus(key, clock.now()) === "active" && account?.status === "active";
}

async function writeEvents(
  deps: StreamDeps,
  {
    task: followed,
    origin,
    to,
    signal,
  }: {
    readonly task: Pick<Task, "id" | "keyId" | "accountId">;
    readonly origin: string;
    readonly to: EventWriter;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  let logged = "";
  for await (const event of watchTask(deps, followed, { id: followed.id, signal })) {
    if (event.kind !== "state") continue;
    if (!(await isOpen(deps, followed))) return;
    const { task, number } = event;
    const logs = task.error === undefined ? logsOf(task).trimEnd() : logged;
    if (logs !== logged) await to.event({ name: "logs", id: `${number}:0`, data: logs });
    logged = logs;
    if (isTerminal(task.status)) await writeEnd(deps, { task, number, origin, to });
  }
}

const REASONS = { completed: {}, failed: { reason: "error" }, cancelled: { reason: "canceled" } } as const;

async function writeEnd(
  { tell }: StreamDeps,
  {
    task,
    number,
    origin,
    to,
  }: {
    readonly task: TaskSummary;
    readonly number: number;
    readonly origin: string;
    readonly to: EventWriter;
  },
): Promise<void> {
  const output = (await tell(task, origin))?.output ?? [];
  const files: readonly Json[] = Array.isArray(output) ? output : [output];
  let count = 0;
  // Replicate's client for Python passes over events before the first that has an id.
  const send = (name: string, data: string) => {
    count += 1;
    return to.event({ name, id: `${number}:${count}`, data });
  };
  for (const file of files) await send("output", String(file));
  const { status, error } = task;
  if (error !== undefined) await send("error", inOneLine(error.message));
  if (status === "completed" || status === "failed" || status === "cancelled")
    await send("done", JSON.stringify(REASONS[status]));
}

/** A line break would end the event. */
function inOneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}
