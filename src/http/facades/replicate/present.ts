import { type AtHand, whenAtHand } from "../../../domain/at-hand.ts";
import { AppError } from "../../../domain/errors.ts";
import type { Json, JsonObject } from "../../../domain/json.ts";
import { assetPath } from "../../../domain/media/asset.ts";
import type { Model } from "../../../domain/model/model.ts";
import type { TaskStore } from "../../../domain/ports/task-store.ts";
import type { GenerationRequest } from "../../../domain/task/request.ts";
import { isTerminal, type NewTask, type TaskStatus, type TaskSummary } from "../../../domain/task/task.ts";
import { type AskedTask, iso, NO_FILES, takesMany, type WritingDeps, written } from "./written.ts";

/** A task's status in that API's words. One that its owner ended is `canceled` also where it never began: older clients know no `aborted`. */
export const PREDICTION_STATUS = {
  pending: "starting",
  processing: "processing",
  completed: "succeeded",
  failed: "failed",
  cancelled: "canceled",
} as const satisfies Record<TaskStatus, string>;

export interface PredictionDeps extends WritingDeps {
  readonly tasks: Pick<TaskStore, "assetById" | "requestOf">;
}

/** A prediction as JSON: to make an object of it first takes as long as everything else that makes an answer. */
export interface ToldPrediction {
  readonly text: string;
  /** The addresses of its files, which are in the text, too. */
  readonly output: Json;
}

/** A task as a prediction for a caller who reached this service at `origin`; undefined for one that was removed meanwhile. */
export type TellPrediction = (task: TaskSummary, origin: string) => AtHand<ToldPrediction | undefined>;

/** The parts of a prediction that never change. */
interface Asked {
  readonly origin: string;
  readonly isMany: boolean;
  /** Its first members, as JSON, and its last ones. */
  readonly beginning: string;
  readonly rest: string;
}

/** Clients ask for the same few tasks again and again. Up to twice as many are kept. */
const MOST_KEPT = 500;
/** Characters of a prompt. */
const LONGEST_KEPT = 4_000;

export function createTellPrediction(deps: PredictionDeps): TellPrediction {
  let kept = new Map<string, Asked>();
  let earlier = new Map<string, Asked>();
  /** The store has the same summary of what has ended as long as nothing of it changes. */
  const ended = new WeakMap<TaskSummary, { readonly origin: string; readonly told: ToldPrediction }>();

  function keep(task: TaskSummary, { prompt = "" }: GenerationRequest, made: Asked): Asked {
    if (prompt.length > LONGEST_KEPT) return made;
    // To forget the oldest one by one takes longer than to make one anew.
    if (kept.size >= MOST_KEPT) [earlier, kept] = [kept, new Map()];
    kept.set(task.id, made);
    return made;
  }

  function asked(task: TaskSummary, origin: string): AtHand<Asked | undefined> {
    const before = kept.get(task.id) ?? earlier.get(task.id);
    if (before?.origin === origin) return before;
    return whenAtHand(
      deps.tasks.requestOf(task),
      (request) =>
        request && whenAtHand(askedBy(deps, task, origin, request), (made) => keep(task, request, made)),
    );
  }

  return (task, origin) => {
    const known = ended.get(task);
    if (known?.origin === origin) return known.told;
    return whenAtHand(asked(task, origin), (found) => {
      if (found === undefined) return undefined;
      const told = presentPrediction(task, found);
      if (isTerminal(task.status)) ended.set(task, { origin, told });
      return told;
    });
  };
}

/** What a task that was stored just now has between what was asked for and its addresses. */
const BEGUN = ',"logs":"","output":null,"data_removed":false,"error":null,"status":"starting"';

/** A task that was stored just now, as JSON. Many are never asked for again, so that nothing of it is kept. */
export function presentNewPrediction(deps: PredictionDeps, task: NewTask, origin: string): AtHand<string> {
  const { request } = task;
  // An await would cost a turn, and most requests have no files.
  if (request.inputs.length === 0)
    return written(deps, task, origin, { request, files: NO_FILES, between: BEGUN });
  return filesOf(deps, request, origin).then((files) =>
    written(deps, task, origin, { request, files, between: BEGUN }),
  );
}

/** No JSON has it. */
const GAP = "\0";

async function askedBy(
  deps: PredictionDeps,
  task: AskedTask,
  origin: string,
  request: GenerationRequest,
): Promise<Asked> {
  const files = await filesOf(deps, request, origin);
  const text = written(deps, task, origin, { request, files, between: GAP });
  const [beginning = "", rest = ""] = text.split(GAP);
  return { origin, isMany: isMany(request, deps.catalog.find(task.model)), beginning, rest };
}

function presentPrediction(task: TaskSummary, asked: Asked): ToldPrediction {
  const { startedAt, completedAt, filesRemovedAt, status, error } = task;
  const output = outputOf(task, asked);
  const made = `"output":${output === null ? "null" : JSON.stringify(output)},"data_removed":${filesRemovedAt !== undefined}`;
  const failure = `"error":${error === undefined ? "null" : JSON.stringify(error.message)}`;
  const started = startedAt === undefined ? "" : `,"started_at":"${iso(startedAt)}"`;
  const completed =
    completedAt === undefined
      ? ""
      : `,"completed_at":"${iso(completedAt)}","metrics":${JSON.stringify(metricsOf(task, completedAt))}`;
  const rest = `${made},${failure},"status":"${PREDICTION_STATUS[status]}"${started}${completed}`;
  const text = `${asked.beginning},"logs":${JSON.stringify(logsOf(task))},${rest}${asked.rest}`;
  return { text, output };
}

const seconds = (ms: number) => Math.max(0, ms) / 1000;

function metricsOf({ createdAt, startedAt }: TaskSummary, completedAt: number): JsonObject {
  const total_time = seconds(completedAt - createdAt);
  return startedAt === undefined
    ? { total_time }
    : { predict_time: seconds(completedAt - startedAt), total_time };
}

/** One address, or a list of them where the model makes many. */
function outputOf({ status, results, filesRemovedAt }: TaskSummary, { origin, isMany }: Asked): Json {
  if (status !== "completed" || filesRemovedAt !== undefined) return null;
  const addresses = results.map(({ assetId, type }) => origin + assetPath({ id: assetId, type }));
  return isMany || addresses.length !== 1 ? addresses : (addresses[0] ?? null);
}

/** Image models that can make several always answer with a list, as there; videos come one by one unless more are asked for. */
function isMany({ kind, n }: GenerationRequest, model: Model | undefined): boolean {
  return n > 1 || (kind === "image" && model !== undefined && takesMany(model));
}

const BAR = 10;

/** How far it is, in the form of a progress bar that clients read it from; then why it failed. */
export function logsOf({ progress, error, startedAt }: TaskSummary): string {
  if (startedAt === undefined) return error === undefined ? "" : `${error.message}\n`;
  const full = Math.floor((progress * BAR) / 100);
  const bar = `${String(progress).padStart(3)}%|${"█".repeat(full)}${" ".repeat(BAR - full)}| ${progress}/100\n`;
  return error === undefined ? bar : `${bar}${error.message}\n`;
}

/** The files that a task was given, by their addresses here. */
async function filesOf(
  { tasks }: Pick<PredictionDeps, "tasks">,
  { inputs }: GenerationRequest,
  origin: string,
): Promise<JsonObject> {
  const files: Record<string, Json> = {};
  for (const { param, source } of inputs) {
    if (source.kind === "asset" && source.result !== undefined) {
      files.task_id = source.result.taskId;
      files.index = source.result.index;
      continue;
    }
    const [, list] = /^(.+)\[\d+\]$/.exec(param) ?? [];
    const address = source.kind === "url" ? source.url : await addressOf(tasks, source.assetId, origin);
    const before = list === undefined ? undefined : files[list];
    if (list === undefined) files[param] = address;
    else files[list] = [...(Array.isArray(before) ? before : []), address];
  }
  return files;
}

async function addressOf(
  tasks: Pick<TaskStore, "assetById">,
  id: Parameters<TaskStore["assetById"]>[0],
  origin: string,
): Promise<string | null> {
  const asset = await tasks.assetById(id);
  return asset === undefined ? null : origin + assetPath(asset);
}

/** The prediction does not exist, or was removed meanwhile. */
export const untoldPrediction = () => new AppError("task_not_found", { kind: "task_unknown" });
