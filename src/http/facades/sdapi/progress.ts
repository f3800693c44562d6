import { AppError } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { Preview } from "../../../domain/task/preview.ts";
import { type CancelTaskDeps, cancelTask } from "../../../service/cancel-task.ts";
import { readBody } from "../../body.ts";
import type { KeyedExchange } from "../../exchange.ts";
import { json, type Reply } from "../../reply.ts";
import { checkQuery } from "../../wire/check.ts";
import { stampOf } from "./answer.ts";
import type { Calls } from "./calls.ts";
import { PROGRESS_QUERY, TASK_QUESTION } from "./wire.ts";

export interface ProgressDeps extends CancelTaskDeps {
  readonly calls: Calls;
}

/** What that server tells of a call that has begun and said nothing yet. Zero stands for none. */
const BEGUN = 0.01;

/** The caller's own calls: the one that has run longest, as that server draws one at a time. */
export async function progress({ calls }: ProgressDeps, { principal, query }: KeyedExchange): Promise<Reply> {
  const { skip_current_image: isWithoutImage } = checkQuery(PROGRESS_QUERY, query());
  const [first] = await calls.running(principal.keyId);
  const { wasInterrupted: interrupted, wasSkipped: skipped } = calls.stateOf(principal.keyId);
  const marks = { skipped, interrupted, stopping_generation: interrupted };
  if (first === undefined) {
    const idle = {
      job: "",
      job_count: 0,
      job_timestamp: "0",
      job_no: 0,
      sampling_step: 0,
      sampling_steps: 0,
    };
    const state = { ...marks, ...idle };
    return json({ progress: 0, eta_relative: 0, state, current_image: null, textinfo: null });
  }
  const { call, task } = first;
  const part = Math.max(BEGUN, task.progress / 100);
  const state = {
    ...{ ...marks, job: `scripts_${call.job}`, job_count: call.times, job_timestamp: stampOf(call.begunAt) },
    job_no: Math.min(call.times - 1, Math.floor(part * call.times)),
    ...{ sampling_step: Math.floor(part * call.steps), sampling_steps: call.steps },
  };
  return json({
    progress: part,
    eta_relative: etaOf(calls, call.startedAt, part),
    state,
    current_image: isWithoutImage === true ? null : pictureOf(call.preview),
    textinfo: null,
  });
}

/** Seconds, by what has been done so far. */
function etaOf(calls: Calls, startedAt: number, part: number): number {
  const elapsedSec = (calls.elapsed() - startedAt) / 1000;
  return Math.max(0, elapsedSec / part - elapsedSec);
}

function pictureOf(preview: Preview | undefined): string | null {
  return preview === undefined ? null : Buffer.from(preview.bytes).toString("base64");
}

/** Where one of the caller's calls is, by the name that it gave it. */
export async function ownProgress({ calls }: ProgressDeps, exchange: KeyedExchange): Promise<Reply> {
  const { id_task: name, live_preview: wantsPreview } = await readBody<{
    readonly id_task: string;
    readonly live_preview?: boolean | null;
  }>(exchange, TASK_QUESTION);
  const { keyId } = exchange.principal;
  const found = (await calls.running(keyId)).find(({ call }) => call.name === name);
  const isOver = calls.stateOf(keyId).finished.includes(name);
  const none = { progress: null, eta: null, live_preview: null, id_live_preview: -1, textinfo: null };
  if (found === undefined) return json({ active: false, queued: false, completed: isOver, ...none });
  const { call, task } = found;
  if (task.status === "pending") return json({ active: false, queued: true, completed: false, ...none });
  const part = Math.max(BEGUN, task.progress / 100);
  const picture = wantsPreview === false ? null : pictureOf(call.preview);
  return json({
    ...{ active: true, queued: false, completed: false, progress: part },
    ...{
      eta: etaOf(calls, call.startedAt, part),
      textinfo: null,
      id_live_preview: call.preview?.index ?? -1,
    },
    live_preview: picture && `data:${call.preview?.type};base64,${picture}`,
  });
}

/** Ends the caller's calls, all of them or the one that has run longest. Those of other keys go on. */
export async function interrupt(
  deps: ProgressDeps,
  { principal }: KeyedExchange,
  how: "wasInterrupted" | "wasSkipped",
): Promise<Reply> {
  const running = await deps.calls.running(principal.keyId);
  const ended = how === "wasInterrupted" ? running : running.slice(0, 1);
  deps.calls.mark(principal.keyId, how);
  await Promise.all(ended.map(({ call }) => cancelTask(deps, principal, call.taskId).catch(unlessOver)));
  const body: JsonObject | null = how === "wasInterrupted" ? {} : null;
  return json(body);
}

/** It has ended just now. */
export function unlessOver(error: unknown): void {
  const isOver = error instanceof AppError && ["task_not_cancellable", "task_not_found"].includes(error.code);
  if (!isOver) throw error;
}
