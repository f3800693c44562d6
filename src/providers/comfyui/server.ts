import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import type { PollResult, Previews, ProviderAdapter, RecoverRequest } from "../../domain/ports/provider.ts";
import { failedJob } from "../kit/classify.ts";
import { type Api, ask, tell } from "./api.ts";
import { uuidOf } from "./ids.ts";
import { openPrompt, type Prompt, readPrompt } from "./prompt.ts";
import { createQueue, type Queue } from "./queue.ts";
import { readFailure } from "./refusals.ts";
import { readOutputs } from "./result.ts";

/** The calls by which a prompt is followed. */
export type Following = Required<Pick<ProviderAdapter, "poll" | "cancel">> & Pick<ProviderAdapter, "recover">;

/** What the server reports about running prompts. It may know nothing. */
export interface Hints {
  /** Somebody asks for the prompt. */
  follow(prompt: Prompt, previews?: Previews): void;
  /** Percent, as far as was told. */
  progressOf(id: string): number | undefined;
  /** Whether an event about it came just now. */
  isAlive(id: string): boolean;
  ended(id: string): void;
}

/** Ids of prompts that were taken out of the queue, kept until their cancelled tasks have asked. */
const MOST_CANCELLED = 1_000;
/** Since these releases a prompt may be named by who sends it (#8189), and one alone be interrupted (#9607). */
const NAMES_PROMPTS = [0, 3, 45] as const;
const INTERRUPTS_ONE = [0, 3, 57] as const;

/** A server of one's own: a queue, and a history that it keeps until it is restarted. */
export function followOnServer(api: Api, hints: Hints): Following {
  const queue = createQueue(api);
  const cancelled = new Set<string>();
  return {
    async poll(handle, signal, previews) {
      const prompt = readPrompt(handle);
      hints.follow(prompt, previews);
      const answer = await whereabouts(api, queue, hints, prompt, signal);
      if (answer.kind !== "pending") hints.ended(prompt.id);
      const isOurs = answer.kind === "failed" && answer.isLost === true && cancelled.has(prompt.id);
      return isOurs ? { kind: "cancelled" } : answer;
    },
    async cancel(handle, signal) {
      const prompt = readPrompt(handle);
      if ((await queue.find(prompt.id, signal)) === "pending") {
        await tell(api, "/queue", { delete: [prompt.id] }, signal);
      }
      const place = await queue.find(prompt.id, signal);
      if (place === "running") return interrupt(api, prompt, signal);
      const isGone = place === undefined && (await readHistory(api, prompt, signal)) === undefined;
      if (isGone) remember(cancelled, prompt.id);
      return undefined;
    },
    async recover(request, signal) {
      if (!(await isSince(api, NAMES_PROMPTS, signal))) return { kind: "unable" };
      const operation = openPrompt(request, uuidOf(request.attempt), api.upstream.clock.now());
      const isThere = await isKnown(api, queue, request, signal);
      return isThere ? { kind: "found", operation } : { kind: "absent" };
    },
  };
}

/** A prompt goes from the queue to the history in one step, so one that is in neither, asked in this order, is nowhere. */
async function isKnown(api: Api, queue: Queue, { attempt }: RecoverRequest, signal: AbortSignal) {
  const id = uuidOf(attempt);
  if ((await queue.find(id, signal)) !== undefined) return true;
  if (isJsonObject((await history(api, id, signal))[id])) return true;
  return (await queue.find(id, signal)) !== undefined;
}

/** Reads the history first, whose answer is small, and the queue only if a doubt remains. */
async function whereabouts(
  api: Api,
  queue: Queue,
  hints: Hints,
  prompt: Prompt,
  signal: AbortSignal,
): Promise<PollResult> {
  const ended = await readHistory(api, prompt, signal);
  if (ended !== undefined) return ended;
  const progress = hints.progressOf(prompt.id);
  const pending = { kind: "pending", ...(progress !== undefined && { progress }) } as const;
  if (hints.isAlive(prompt.id) || queue.known(prompt.id) !== undefined) return pending;
  if ((await queue.find(prompt.id, signal)) !== undefined) return pending;
  // It may have ended between the two questions.
  const late = await readHistory(api, prompt, signal);
  if (late !== undefined) return late;
  if ((await queue.find(prompt.id, signal)) !== undefined) return pending;
  const message = "The provider no longer has this job.";
  return { kind: "failed", code: "UPSTREAM_ERROR", message, isLost: true };
}

function history(api: Api, id: string, signal: AbortSignal): Promise<JsonObject> {
  return ask(api, `/history/${encodeURIComponent(id)}`, signal);
}

/** How a prompt ended; undefined for one that the history does not have. */
async function readHistory(api: Api, prompt: Prompt, signal: AbortSignal): Promise<PollResult | undefined> {
  const { [prompt.id]: entry } = await history(api, prompt.id, signal);
  if (!isJsonObject(entry)) return undefined;
  const { status, outputs } = entry;
  // Before 2024 there was none.
  const { status_str: word = "success", messages } = isJsonObject(status) ? status : {};
  if (word === "success") return readOutputs(outputs, prompt);
  // For an undocumented status, neither success nor failure follows.
  if (word !== "error") return { kind: "pending" };
  const said = new Map<string, JsonObject>();
  for (const message of Array.isArray(messages) ? messages : []) {
    const [event, told] = Array.isArray(message) ? message : [];
    if (typeof event === "string" && isJsonObject(told)) said.set(event, told);
  }
  if (said.has("execution_interrupted")) return { kind: "cancelled" };
  return failedJob(readFailure(api.upstream, said.get("execution_error") ?? {}));
}

/** Stops only this prompt. A release that cannot distinguish prompts might stop somebody else's, so nothing is stopped there. */
async function interrupt(api: Api, { id }: Prompt, signal: AbortSignal): Promise<"unable" | undefined> {
  if (!(await isSince(api, INTERRUPTS_ONE, signal))) return "unable";
  await tell(api, "/interrupt", { prompt_id: id }, signal);
  return undefined;
}

/** Whether the server has this release or a later one. It may have been replaced since the last check. */
async function isSince(api: Api, release: readonly number[], signal: AbortSignal): Promise<boolean> {
  const { system } = await ask(api, "/system_stats", signal);
  const version = isJsonObject(system) ? system.comfyui_version : undefined;
  const parts = /^v?(\d+)\.(\d+)\.(\d+)/.exec(String(version))?.slice(1).map(Number);
  if (parts === undefined) return false;
  const differing = parts.findIndex((part, i) => part !== release[i]);
  return differing === -1 || (parts[differing] ?? 0) > (release[differing] ?? 0);
}

function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > MOST_CANCELLED && oldest !== undefined) ids.delete(oldest);
}
