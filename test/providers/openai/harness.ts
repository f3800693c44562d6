import type { AttemptId, ModelId, TaskId } from "../../../src/domain/ids.ts";
import type { Json } from "../../../src/domain/json.ts";
import type { InputFile, ProviderAdapter, SubmitRequest } from "../../../src/domain/ports/provider.ts";
import type { Clock } from "../../../src/domain/ports/runtime.ts";
import { createOpenAiProvider, type OpenAiDeps } from "../../../src/providers/openai/adapter.ts";
import type { Arrived, Scripted } from "../../helpers/scripted-upstream.ts";
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
