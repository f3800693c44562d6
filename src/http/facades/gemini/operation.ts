import type { TaskErrorCode } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { formatAmount, ZERO } from "../../../domain/money/money.ts";
import { isTerminal, type TaskSummary } from "../../../domain/task/task.ts";
import { describe } from "../../../domain/words/words.ts";
import { V1BETA } from "./manners.ts";
import { fileNameOf } from "./own-files.ts";

/** Numbers of `google.rpc.Code` (https://grpc.io/docs/guides/status-codes, checked 2026-11-27). */
const CANCELLED = 1;
const CODES = {
  INPUT_INVALID: 3,
  INPUT_UNREACHABLE: 3,
  UPSTREAM_REJECTED: 3,
  CONTENT_MODERATED: 3,
  UPSTREAM_TIMEOUT: 4,
  DEADLINE_EXCEEDED: 4,
  UPSTREAM_CAPACITY_EXHAUSTED: 8,
  LOOP_DETECTED: 9,
  UPSTREAM_ERROR: 13,
  FINALIZATION_FAILED: 13,
  OUTCOME_UNKNOWN: 13,
  NO_ROUTE_AVAILABLE: 14,
} as const satisfies Record<TaskErrorCode, number>;

const type = (name: string) => `type.googleapis.com/google.ai.generativelanguage.v1beta.${name}`;

/** The name of the operation that a task is. */
export const operationName = ({ id, model }: Pick<TaskSummary, "id" | "model">) =>
  `models/${model}/operations/${id}`;

/** The cost of a task, as far as it is known. */
export const costOf = (task: TaskSummary) =>
  formatAmount(task.charged ?? (isTerminal(task.status) ? ZERO : task.held));

/** What tells the results of a task in one of the forms that clients read. */
export type TellResults = (task: TaskSummary) => JsonObject;

/** A task as an operation: `done` is absent until it has ended. */
export function presentOperation(task: TaskSummary, resultsOf: TellResults): JsonObject {
  const name = operationName(task);
  const metadata = metadataOf(task);
  if (!isTerminal(task.status)) return { name, metadata };
  const error = errorOf(task);
  return error === undefined
    ? { name, metadata, done: true, response: resultsOf(task) }
    : { name, metadata, done: true, error };
}

/** The store returns the same summary of an ended task until something of it changes. */
const ended = new WeakMap<TaskSummary, { readonly origin: string; readonly text: string }>();

/** A task as an operation with addresses of its results, as JSON. What has ended is asked for again, and stays as it is. */
export function operationText(task: TaskSummary, origin: string): string {
  const known = ended.get(task);
  if (known?.origin === origin) return known.text;
  const text = JSON.stringify(presentOperation(task, addressed(origin)));
  if (isTerminal(task.status)) ended.set(task, { origin, text });
  return text;
}

/** Of films. */
const FILM_RESPONSE = type("PredictLongRunningResponse");

/** The results of a task in the form of the developers' edition: addresses of films; of a picture, a part with its address. */
function addressed(origin: string): (task: TaskSummary) => JsonObject {
  const uriOf = (id: TaskSummary["results"][number]["assetId"]) =>
    `${origin}${V1BETA}/files/${fileNameOf(id)}:download?alt=media`;
  return (task) => {
    if (task.kind === "video") {
      const samples = task.results.map(({ assetId, type: encoding }) => ({
        video: { uri: uriOf(assetId), encoding },
      }));
      const filtered = filteredOf(task);
      return {
        "@type": FILM_RESPONSE,
        generateVideoResponse: { ...(samples.length > 0 && { generatedSamples: samples }), ...filtered },
      };
    }
    const candidates = task.results.map(({ assetId, type: mimeType }, index) => ({
      content: { role: "model", parts: [{ fileData: { mimeType, fileUri: uriOf(assetId) } }] },
      ...{ finishReason: "STOP", index },
    }));
    return { "@type": type("GenerateContentResponse"), candidates };
  };
}

/** What content policies withheld of a task. */
export function filteredOf({ error, resultIssues = [] }: TaskSummary): JsonObject {
  const reasons = [
    ...(error?.code === "CONTENT_MODERATED" ? [error.message] : []),
    ...resultIssues.filter(({ code }) => code === "CONTENT_MODERATED").map(({ message }) => message),
  ];
  return reasons.length === 0
    ? {}
    : { raiMediaFilteredCount: reasons.length, raiMediaFilteredReasons: reasons };
}

const STATES = {
  pending: "PENDING",
  processing: "RUNNING",
  completed: "SUCCEEDED",
  failed: "FAILED",
  cancelled: "CANCELLED",
} as const;

const METADATA = type("PredictLongRunningMetadata");

function metadataOf({ status, progress, createdAt, completedAt }: TaskSummary): JsonObject {
  const metadata: Record<string, JsonObject[string]> = {
    "@type": METADATA,
    state: STATES[status],
    progressPercent: progress,
    createTime: new Date(createdAt).toISOString(),
  };
  if (completedAt !== undefined) metadata.endTime = new Date(completedAt).toISOString();
  return metadata;
}

/** A film that was withheld is no error there. */
function errorOf({ id, kind, status, error }: TaskSummary): JsonObject | undefined {
  if (status === "cancelled") {
    const message = describe({ kind: "task_cancelled", task: id }, (field) => field);
    return { code: CANCELLED, message };
  }
  if (error === undefined || (kind === "video" && error.code === "CONTENT_MODERATED")) return undefined;
  const info = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: error.code, domain: "svc" };
  return { code: CODES[error.code], message: error.message, details: [info] };
}
