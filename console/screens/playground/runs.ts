import { ask, newIdempotencyKey, untilAnswered } from "../../api/ask.ts";
import { ApiProblem } from "../../api/problem.ts";
import { runs } from "./draft.ts";
import { type Body, type Media, type ModelInFull, mediaOf } from "./request.ts";
import type { Refusal, Run, Told } from "./run.ts";

export function isLive({ task, problem }: Pick<Run, "task" | "problem">): boolean {
  return (
    problem === undefined && (task === undefined || task.status === "pending" || task.status === "processing")
  );
}

/** Runs a request for each model. */
export function start(requests: readonly (readonly [ModelInFull, Body])[]): void {
  const group = newIdempotencyKey();
  const begun = requests.map(
    ([model, body]): Run => ({
      ...{ key: `console-${newIdempotencyKey()}`, group, model: model.id, kind: model.kind, body },
      ...{
        prompt: String(body.prompt ?? ""),
        previews: Number(body.partial_images ?? 0) > 0,
        at: Date.now(),
      },
    }),
  );
  runs.value = [...begun, ...runs.peek()];
  for (const run of begun) void send(run);
}

async function send({ key, kind, body = {} }: Run): Promise<void> {
  const name = kind === "video" ? "POST /v1/videos/generations" : "POST /v1/images/generations";
  try {
    const { task_id } = await untilAnswered(
      () => ask(name, { body }, { idempotencyKey: key }),
      () => change(key, { isWaiting: true }),
    );
    change(key, { taskId: task_id, isWaiting: false });
    await read(task_id);
  } catch (error) {
    change(key, { problem: refusalOf(error), isWaiting: false });
  }
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof ApiProblem) {
    const { message, code, status, param, requestId } = error;
    return { message, code, status, param, requestId };
  }
  return { message: String(error), code: "unknown", status: 0, param: undefined, requestId: undefined };
}

function change(key: string, by: Partial<Run>): void {
  runs.value = runs.peek().map((run) => (run.key === key ? { ...run, ...by } : run));
}

/** Reads how a task stands, for what no stream has told. */
export async function read(taskId: string): Promise<void> {
  try {
    const { hold, advice, ...task } = await ask("GET /v1/tasks/{task_id}", { path: { task_id: taskId } });
    note(task, { hold: hold.amount, ...(advice === undefined ? {} : { advice }) });
  } catch (error) {
    const isGone = error instanceof ApiProblem && error.code === "task_not_found";
    const run = runs.peek().find((each) => each.taskId === taskId);
    if (isGone && run !== undefined) change(run.key, { problem: refusalOf(error) });
  }
}

/** Takes in what a stream or a read told of a task, unless more is known already. */
export function note(task: Told, more: { readonly hold?: string; readonly advice?: string } = {}): void {
  const run = runs.peek().find(({ taskId }) => taskId === task.task_id);
  if (run === undefined) return;
  const isOlder = !isLive(run) && (task.status === "pending" || task.status === "processing");
  const known = isOlder ? run.task : pick(task);
  if (known === undefined) return;
  const { hold, advice } = run.task ?? {};
  change(run.key, { task: { ...given({ hold, advice }), ...known, ...more } });
  // Only its story says what to do about a failure.
  if (task.status === "failed" && more.hold === undefined) void read(task.task_id);
}

const given = <Of extends object>(of: Of) =>
  Object.fromEntries(Object.entries(of).filter(([, value]) => value !== undefined)) as {
    [Key in keyof Of]?: string;
  };

/** What is shown of a task; its story has far more. */
function pick(task: Told): Told {
  const { task_id, status, progress, model, created_at, queue_position, cancel_requested, kind } = task;
  const { result, result_issues, completed_at, files_removed_at, error_code, usage } = task;
  const message = task.error_message ?? task.error;
  return {
    ...{ task_id, status, model, created_at, kind },
    ...Object.fromEntries(
      Object.entries({
        ...{ progress, queue_position, cancel_requested, result, result_issues, completed_at },
        ...{ files_removed_at, error_code, usage, error_message: message },
      }).filter(([, value]) => value !== undefined),
    ),
  };
}

/** Reads what may have changed unseen. */
export function catchUp(): void {
  for (const { taskId } of runs.peek().filter(isLive)) if (taskId !== undefined) void read(taskId);
}

/** Takes up the runs of an earlier page: what had no answer is sent again, which makes nothing twice. */
export function resume(): void {
  for (const run of runs.peek().filter(isLive)) {
    if (run.taskId !== undefined) void read(run.taskId);
    else if (run.body !== undefined) void send(run);
    else change(run.key, { problem: { ...UNKNOWN, param: undefined, requestId: undefined } });
  }
}

const UNKNOWN = {
  message: "The page was closed before the service answered. If it was accepted, it is among the tasks.",
  code: "unknown",
  status: 0,
};

export function forget(group: string): void {
  runs.value = runs.peek().filter((run) => run.group !== group);
}

/** The values that a task was made with, for the form. @throws ApiProblem */
export async function recall(taskId: string, modelOf: (id: string) => Promise<ModelInFull>) {
  const { model: id, request } = await ask("GET /v1/tasks/{task_id}", { path: { task_id: taskId } });
  const model = await modelOf(id);
  const properties = model.schema.properties ?? {};
  const media: Record<string, Media[]> = {};
  for (const { field, url } of request.inputs) {
    // A result of another task is given by its address.
    const plain = field.replace(/\[\d+\]$/, "");
    const name = plain === "task_id" ? (model.inputs[0]?.field ?? plain) : plain;
    if (url !== undefined && mediaOf(model, name) !== undefined)
      media[name] = [...(media[name] ?? []), { uri: url, name: "input of the task", isShown: true }];
  }
  const { prompt, n, parameters = {}, callback_url } = request;
  const all = { ...parameters, ...media, prompt, n: n === 1 ? undefined : n, callback_url };
  return { model: id, values: Object.fromEntries(Object.entries(all).filter(([name]) => properties[name])) };
}
