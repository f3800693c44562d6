import type { AttemptId, ModelId, TaskId } from "../../../src/domain/ids.ts";
import type { Json } from "../../../src/domain/json.ts";
import type { Wording } from "../../../src/domain/model/wording.ts";
import type { InputFile, ProviderAdapter, SubmitRequest } from "../../../src/domain/ports/provider.ts";
import type { Clock } from "../../../src/domain/ports/runtime.ts";
import { createSdApiProvider, type SdApiDeps } from "../../../src/providers/sdapi/adapter.ts";

export function createProvider(to: { baseUrl: string; clock: Clock } & Partial<SdApiDeps>): ProviderAdapter {
  return createSdApiProvider({ concurrency: 2, isExclusive: false, mayRepeat: false, ...to });
}

let attempts = 0;

export interface Given {
  readonly upstreamModel?: string;
  readonly prompt?: string;
  readonly n?: number;
  readonly parameters?: { readonly [name: string]: Json };
  readonly inputs?: readonly InputFile[];
  readonly wording?: Wording;
}

export function submission(given: Given = {}): SubmitRequest {
  const number = String(++attempts).padStart(26, "0");
  const { upstreamModel = "v1-5.safetensors [abc]", prompt = "A red fox", n = 1 } = given;
  const { parameters = {}, inputs = [], wording } = given;
  return {
    attempt: `att_${number}` as AttemptId,
    taskId: `task_${number}` as TaskId,
    upstreamModel,
    wording,
    request: {
      ...{ kind: "image", model: "house" as ModelId, mode: "any", prompt, n, parameters },
      inputs: [],
    },
    inputs,
  };
}
