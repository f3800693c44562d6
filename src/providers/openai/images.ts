import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import { type Output, ProviderError, type Submitted } from "../../domain/ports/provider.ts";
import type { Usage } from "../../domain/task/task.ts";
import { describeAnswer } from "../kit/classify.ts";
import type { Upstream, UpstreamAnswer } from "../kit/http.ts";

/** Reads the images of an answer without a stream. @throws ProviderError when it has no list of images */
export function readImages(upstream: Upstream, answer: UpstreamAnswer): Submitted {
  const { data, usage } = isJsonObject(answer.json) ? answer.json : {};
  if (!Array.isArray(data)) {
    const detail = `${describeAnswer(upstream, answer)}, but with no list of images`;
    throw new ProviderError("unknown", "UPSTREAM_ERROR", detail);
  }
  // An empty list is an answer too: the task ends without outputs.
  const outputs = data.flatMap((image) => (isJsonObject(image) ? readImage(image) : []));
  return { kind: "outputs", outputs, usage: readUsage(usage) };
}

/** Reads one image, if it is one. */
export function readImage({ b64_json: base64, url }: JsonObject): Output[] {
  if (typeof base64 === "string" && base64 !== "") {
    return [{ kind: "bytes", bytes: Buffer.from(base64, "base64") }];
  }
  return typeof url === "string" ? [{ kind: "remote", ref: { url } }] : [];
}

/** Reads the tokens, under the API's old or new name. */
export function readUsage(usage: Json | undefined): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const inputTokens = count(usage.input_tokens) ?? count(usage.prompt_tokens);
  const outputTokens = count(usage.output_tokens) ?? count(usage.completion_tokens);
  return inputTokens === undefined && outputTokens === undefined ? undefined : { inputTokens, outputTokens };
}

function count(value: Json | undefined): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
