import type { AttemptId, ModelId, TaskId } from "../../../src/domain/ids.ts";
import { isJsonObject, type JsonObject } from "../../../src/domain/json.ts";
import type { ProviderAdapter, SubmitRequest } from "../../../src/domain/ports/provider.ts";
import type { Clock } from "../../../src/domain/ports/runtime.ts";
import { createSvcProvider, type SvcDeps } from "../../../src/providers/svc/adapter.ts";
import {
  type Arrived,
  type Scripted,
  type ScriptedUpstream,
  startUpstream,
} from "../../helpers/scripted-upstream.ts";
import { taskId as fixedTaskId } from "../../helpers/store.ts";
import { KEY } from "../kit/http-contract.ts";

export function createProvider(
  to: Pick<SvcDeps, "fetchPublic"> & { baseUrl: string; clock: Clock },
): ProviderAdapter {
  return createSvcProvider({ apiKey: KEY, concurrency: 4, ...to });
}

let attempts = 0;

export function submission(
  request: Partial<SubmitRequest["request"]> = {},
  more: Partial<Pick<SubmitRequest, "inputs" | "hookUrl" | "wording">> = {},
): SubmitRequest {
  const number = String(++attempts).padStart(26, "0");
  return {
    attempt: `att_${number}` as AttemptId,
    taskId: `task_${number}` as TaskId,
    upstreamModel: "sandbox-image",
    request: {
      kind: "image",
      model: "house-image" as ModelId,
      mode: "text-to-image",
      prompt: "A fox",
      n: 1,
      parameters: {},
      inputs: [],
      ...request,
    },
    inputs: [],
    ...more,
  };
}

/** An answer in the standard envelope. */
export const success = (data: object): Scripted => ({ json: { code: 200, message: "success", data } });

export function refused(status: number, code: string, message = "No.", param?: string): Scripted {
  return {
    status,
    json: { code: status, message, data: { type: "some_error", error_code: code, ...(param && { param }) } },
  };
}

export const accepted = (number = 1): Scripted => success({ task_id: fixedTaskId(number) });

/** The state of a task there. */
export const task = (status: string, more: JsonObject = {}): Scripted =>
  success({ task_id: fixedTaskId(1), status, progress: 0, model: "sandbox-image", created_at: 1, ...more });

export interface Instance extends ScriptedUpstream {
  /** The bodies of the creates, in the order in which they arrived. */
  readonly creates: JsonObject[];
}

/** The states that do not change any more. */
const ENDED = new WeakSet<object>();
function ended(state: Scripted): Scripted {
  ENDED.add(state);
  return state;
}

/** Another instance, as far as its answers go: creates by their keys, tasks that go from state to state. */
export async function startInstance(
  plan: (body: JsonObject) => { readonly states: readonly Scripted[] } | Scripted,
): Promise<Instance> {
  const creates: JsonObject[] = [];
  const byKey = new Map<string, Scripted>();
  const states = new Map<string, Scripted[]>();
  const upstream = await startUpstream((request) => respond(request));

  function create({ headers, body: bytes }: Arrived): Scripted {
    const key = headers.get("idempotency-key") ?? "";
    const body = JSON.parse(bytes.toString()) as JsonObject;
    creates.push(body);
    const known = byKey.get(key);
    if (known !== undefined) return known;
    const planned = plan(body);
    if (!("states" in planned)) return planned;
    const number = byKey.size + 1;
    states.set(fixedTaskId(number), [...planned.states]);
    byKey.set(key, accepted(number));
    return accepted(number);
  }

  function respond(request: Arrived): Scripted {
    const { method, path } = request;
    if (path.startsWith("/assets/")) return { body: `bytes of ${path}` };
    if (method === "POST" && path.endsWith("/generations")) return create(request);
    const id = path.split("/").find((part) => part.startsWith("task_")) ?? "";
    const left = states.get(id);
    if (left === undefined) return refused(404, "task_not_found");
    if (path.endsWith("/cancel")) {
      if (left.length === 1 && ENDED.has(left[0] as Scripted)) return refused(409, "task_not_cancellable");
      left.splice(0, left.length, task("cancelled"));
      return task("processing", { cancel_requested: true });
    }
    return named((left.length > 1 ? left.shift() : left[0]) ?? task("processing"), id);
  }

  return Object.assign(upstream, { creates });
}

/** What is told of the first task, as of this one. */
function named(state: Scripted, id: string): Scripted {
  const { data, ...rest } = "json" in state && isJsonObject(state.json) ? state.json : {};
  if (!isJsonObject(data) || data.task_id !== fixedTaskId(1)) return state;
  return { ...state, json: { ...rest, data: { ...data, task_id: id } } };
}

export const done = (count: number): Scripted =>
  ended(
    task("completed", {
      progress: 100,
      completed_at: 2,
      result: Array.from({ length: count }, (_, i) => `https://media.example.com/assets/asset_${i}.png`),
      usage: { cost: "0.080000", currency: "USD" },
    }),
  );
