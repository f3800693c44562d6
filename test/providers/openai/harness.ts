import type { AttemptId, ModelId, TaskId } from "../../../src/domain/ids.ts";
import type { Json, JsonObject } from "../../../src/domain/json.ts";
import type { Wording } from "../../../src/domain/model/wording.ts";
import type { InputFile, ProviderAdapter, SubmitRequest } from "../../../src/domain/ports/provider.ts";
import type { Clock } from "../../../src/domain/ports/runtime.ts";
import { createOpenAiProvider, type OpenAiDeps } from "../../../src/providers/openai/adapter.ts";
import {
  type Arrived,
  type Scripted,
  type ScriptedUpstream,
  startUpstream,
} from "../../helpers/scripted-upstream.ts";
import { KEY } from "../kit/http-contract.ts";

export function createProvider(to: { baseUrl: string; clock: Clock } & Partial<OpenAiDeps>): ProviderAdapter {
  return createOpenAiProvider({ apiKey: KEY, concurrency: 4, isIdempotent: false, ...to });
}

let attempts = 0;

export interface Submission {
  readonly upstreamModel?: string;
  readonly prompt?: string;
  readonly n?: number;
  readonly parameters?: { readonly [name: string]: Json };
  readonly inputs?: readonly InputFile[];
  readonly wording?: Wording;
}

export function submission(given: Submission = {}): SubmitRequest {
  const number = String(++attempts).padStart(26, "0");
  const { upstreamModel = "gpt-image-2", prompt = "A red fox", n = 1, parameters = {}, inputs = [] } = given;
  return {
    attempt: `att_${number}` as AttemptId,
    taskId: `task_${number}` as TaskId,
    upstreamModel,
    request: {
      kind: "image",
      model: upstreamModel as ModelId,
      mode: "any",
      prompt,
      n,
      parameters,
      inputs: [],
    },
    inputs,
  };
}

/** The fields of a request: of its JSON, or of its form, in which a field that comes more than once is a list. */
export async function fieldsOf({ headers, body }: Arrived): Promise<Record<string, unknown>> {
  const type = headers.get("content-type") ?? "";
  if (type === "application/json") return JSON.parse(body.toString());
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  const names = [...new Set(form.keys())];
  return Object.fromEntries(
    names.map((name) => {
      const values = form.getAll(name);
      return [name, values.length > 1 ? values : values[0]];
    }),
  );
}

/** An answer with so many pictures; each says which it is. */
export function pictures(count: number): Scripted {
  const data = Array.from({ length: count }, (_, i) => ({ b64_json: btoa(`picture ${i}`) }));
  const usage = { total_tokens: 1069, input_tokens: 13, output_tokens: 1056, input_tokens_details: TOKENS };
  return { json: { created: 1_790_000_000, data, usage, size: "1024x1024", quality: "high" } };
}

const TOKENS = { text_tokens: 13, image_tokens: 0 };

/** An error in that API's form. */
export function refusal(
  status: number,
  error: Partial<Record<"message" | "type" | "code", string>>,
): Scripted {
  return {
    status,
    json: { error: { message: "No.", type: "invalid_request_error", param: null, code: null, ...error } },
  };
}

/** A submission of a video. */
export function videoSubmission(given: Submission = {}): SubmitRequest {
  const made = submission({ upstreamModel: "wan-2.2", ...given });
  return { ...made, wording: given.wording, request: { ...made.request, kind: "video" } };
}

/** What a job's record says next; the last one for ever. */
export interface VideoPlan {
  readonly records: readonly JsonObject[];
}

export interface VideoServer extends ScriptedUpstream {
  readonly jobs: Map<string, JsonObject[]>;
}

/** A server of the videos API as its documentation has it: jobs with records, files, and deleting. */
export async function startVideoServer(
  plan: (fields: Record<string, unknown>) => VideoPlan | Scripted,
): Promise<VideoServer> {
  const jobs = new Map<string, JsonObject[]>();
  const record = (id: string, over: JsonObject) => ({
    json: {
      id,
      object: "video",
      model: "wan-2.2",
      created_at: 1_790_000_000,
      seconds: "5",
      size: "832x480",
      ...over,
    },
  });
  const upstream = await startUpstream((request): Scripted => {
    const [, id = "", verb] = /^\/videos\/([^/]+)(?:\/(content))?$/.exec(request.path) ?? [];
    if (request.method === "POST") {
      const planned = plan(formTexts(request));
      if (!("records" in planned)) return planned;
      const fresh = `video_${jobs.size + 1}`;
      jobs.set(fresh, [...planned.records]);
      return record(fresh, { status: "queued", progress: 0 });
    }
    const records = jobs.get(id);
    if (records === undefined) return refusal(404, { message: "Video not found" });
    if (request.method === "DELETE") {
      jobs.delete(id);
      return { json: { id, object: "video.deleted", deleted: true } };
    }
    if (verb === "content") return { headers: { "content-type": "video/mp4" }, body: `bytes of ${id}` };
    return record(id, (records.length > 1 ? records.shift() : records[0]) ?? {});
  });
  return Object.assign(upstream, { jobs });
}

/** The text fields of a form, read at once; a file is left out. */
function formTexts({ body }: Arrived): Record<string, unknown> {
  const parts = body.toString("latin1").matchAll(/name="([^"]+)"\r\n\r\n([^\r]*)\r\n/g);
  return Object.fromEntries([...parts].map(([, name = "", value]) => [name, value]));
}
