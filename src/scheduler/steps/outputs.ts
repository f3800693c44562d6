import { taskError } from "../../domain/errors.ts";
import { MAX_OUTPUT_BYTES } from "../../domain/limits.ts";
import type { StoredFile } from "../../domain/media/asset.ts";
import { costOf } from "../../domain/money/upstream-cost.ts";
import { MediaError } from "../../domain/ports/asset-store.ts";
import type { Output, Report } from "../../domain/ports/provider.ts";
import { failureOf, type ResultIssue, resultIssues } from "../../domain/task/result-issue.ts";
import type { AttemptOutput, Usage } from "../../domain/task/task.ts";
import { outputsReady, succeeded } from "../../domain/task/transition.ts";
import type { Step, StepResult } from "../step.ts";
import { storeFile } from "./store-file.ts";

/**
 * Commits the outputs of an upstream before anything else is done with them. Bytes that came with the answer are stored first,
 * because they cannot be requested again. If nothing is left to fetch, the task ends.
 */
export async function recordOutputs(
  step: Step,
  { outputs: made, usage, costMicros }: { readonly outputs: readonly Output[] } & Report,
): Promise<StepResult> {
  const { task } = step;
  const { n } = task.request;
  const attempt = attemptOf(step);
  const report = { usage, costMicros };
  const outputs: AttemptOutput[] = [];
  // Outputs beyond `n` are dropped.
  for (const output of made.slice(0, n)) outputs.push(await keep(step, output, outputs.length));
  while (outputs.length < n) outputs.push({ kind: "missing", code: "UPSTREAM_ERROR" });
  if (!outputs.some(({ kind }) => kind === "remote")) return endWith(step, outputs, report);
  const madeAt = step.deps.clock.now();
  return step.continue(outputsReady(madeAt, attempt.id, outputs, report), {
    task: { ...task, stage: "finalizing", failures: 0 },
    attempt: { ...attempt, state: "accepted", outputs, ...report, madeAt },
  });
}

async function keep(step: Step, output: Output, index: number): Promise<AttemptOutput> {
  if (output.kind !== "bytes") return output;
  try {
    const file = await storeOutput(step, () => output.bytes, { isOnlyCopy: true });
    const size = `${file.width}x${file.height}`;
    if (output.size === undefined || output.size === size) return { kind: "stored", file };
    return unusable(step, index, `An output is ${size}, and ${output.size} was asked for.`);
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    return unusable(step, index, `An output ${error.message}.`);
  }
}

/** The code of an output that was made and could not be stored. */
const UNUSABLE = "FINALIZATION_FAILED";

/** Gives up one output, and logs why. */
export function unusable({ deps, task }: Step, index: number, detail: string): AttemptOutput {
  deps.log.warn({ task: task.id, output: index, detail }, "an output could not be used");
  return { kind: "missing", code: UNUSABLE, detail };
}

/** Ends the task with the available outputs: completed if any file is stored, failed if none is. */
export async function endWith(
  step: Step,
  outputs: readonly AttemptOutput[],
  report: Report,
): Promise<StepResult> {
  const files = outputs.flatMap((output) => (output.kind === "stored" ? [output.file] : []));
  const issues = resultIssues(outputs);
  if (files.length > 0) return complete(step, files, { ...report, issues });
  const details = outputs.flatMap((output) => (output.kind === "missing" ? (output.detail ?? []) : []));
  const detail = [...new Set(details)].join(" ") || "No outputs.";
  return step.failAtCost(taskError(failureOf(issues)), detail, { reported: report.costMicros });
}

/** Completes the task with its stored outputs. */
async function complete(
  step: Step,
  files: readonly StoredFile[],
  report: Report & { readonly issues: readonly ResultIssue[] },
): Promise<StepResult> {
  const { deps, task } = step;
  const attempt = attemptOf(step);
  const at = deps.clock.now();
  const { issues } = report;
  const lost = issues.filter(({ code }) => code === UNUSABLE).length;
  const usage = withBackground(report.usage, files);
  const assets = files.map((file, index) => step.asset(file, { role: "output", index, createdAt: at }));
  const costMicros =
    report.costMicros ?? costOf(deps.catalog.find(task.model), task, attempt, { outputs: assets, usage });
  deps.standing.worked({ ...attempt, accountId: task.accountId }, "job");
  deps.durations.took(attempt.lane, attempt.upstreamModel, task.request, at - attempt.startedAt);
  const callbackId = deps.ids.create("cb");
  return step.settle(
    succeeded(task, at, attempt.id, assets, usage, callbackId, { costMicros, issues, lost }),
  );
}

/** Adds that images without transparency are opaque, if the upstream does not report it. */
function withBackground(usage: Usage | undefined, files: readonly StoredFile[]): Usage | undefined {
  const isOpaque = files.every(({ hasAlpha }) => hasAlpha === false);
  if (!isOpaque || usage?.made?.background !== undefined) return usage;
  return { ...usage, made: { ...usage?.made, background: "opaque" } };
}

function attemptOf({ task, attempt }: Step) {
  if (attempt === undefined) throw new Error(`Task ${task.id} has outputs but no attempt`);
  return attempt;
}

/** Fetches one output, and stores it after the same strict checks as for an input. */
export function storeOutput(
  step: Step,
  bring: () => Promise<AsyncIterable<Uint8Array>> | Uint8Array,
  { isOnlyCopy = false } = {},
): Promise<StoredFile> {
  const { traces } = step.deps;
  const { kind, request } = step.task;
  const maxBytes = MAX_OUTPUT_BYTES[kind];
  const options = {
    ...({ accept: [kind], maxBytes, isOutput: true, sanitize: "output", isOnlyCopy } as const),
    storedAs: request.resultType,
  };
  return traces.output(attemptOf(step), bring, (source) => storeFile(step, source, options));
}
