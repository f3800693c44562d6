import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import type { Made } from "../../domain/media/made.ts";
import type { Output, Submitted } from "../../domain/ports/provider.ts";
import { RESULT_ISSUE_CODES } from "../../domain/task/result-issue.ts";
import type { Usage } from "../../domain/task/task.ts";
import type { UpstreamAnswer } from "../kit/answer.ts";
import { answerWithout, refusedSubmission } from "../kit/classify.ts";
import type { Upstream } from "../kit/http.ts";
import { type AnswerFiles, bytesOf } from "../kit/json-answer.ts";
import { textIn } from "../kit/said.ts";
import { isModeration, readErrorEvent } from "./refusals.ts";

/**
 * Reads the images of an answer without a stream. One that says nothing of their size must have that which was asked for, because some
 * servers round it.
 *
 * @throws ProviderError when it has no list of images, but perhaps an error
 */
export function readImages(upstream: Upstream, answer: UpstreamAnswer, asked?: Json): Submitted {
  const said = isJsonObject(answer.json) ? answer.json : {};
  const { data, error, result_issues: issues } = said;
  if (!Array.isArray(data)) {
    // Some servers and gateways say 200 to everything. What says nothing certain may have been made.
    const refusal = isJsonObject(error) ? readErrorEvent(upstream, answer, error, false) : undefined;
    throw refusal === undefined || refusal.meaning === "unclear"
      ? answerWithout(upstream, answer, "list of images")
      : refusedSubmission(refusal);
  }
  // An empty list is an answer too: the task ends without outputs.
  const usage = readUsage(said);
  const isExact = typeof asked === "string" && /^\d+x\d+$/.test(asked) && usage?.made?.size === undefined;
  const outputs = data.map((image): Output => {
    const output = isJsonObject(image) ? readImage(answer, image) : NOT_MADE;
    return isExact && output.kind === "bytes" ? { ...output, size: asked } : output;
  });
  return { kind: "outputs", outputs: withIssues(outputs, issues), usage };
}

const NOT_MADE: Output = { kind: "missing", code: "UPSTREAM_ERROR" };

/** Reads one image of an answer, or why there is none. */
export function readImage(answer: AnswerFiles, { b64_json: base64, url, error }: JsonObject): Output {
  if (typeof base64 === "string" && base64 !== "") {
    return { kind: "bytes", bytes: bytesOf(answer, base64) };
  }
  if (typeof url === "string" && url !== "") return { kind: "remote", ref: { url } };
  const word = isJsonObject(error) ? (textIn(error.code) ?? textIn(error.type)) : undefined;
  return isModeration(word) ? { kind: "missing", code: "CONTENT_MODERATED" } : NOT_MADE;
}

/** Puts in what another svc says of images that it could not make (docs/api.md 5.3), each at its place. */
export function withIssues(made: readonly Output[], issues: Json | undefined): readonly Output[] {
  if (!Array.isArray(issues)) return made;
  const outputs = [...made];
  for (const issue of issues) {
    const { index, code } = isJsonObject(issue) ? issue : {};
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index > outputs.length) break;
    const known = RESULT_ISSUE_CODES.find((each) => each === code);
    outputs.splice(index, 0, { kind: "missing", code: known ?? "UPSTREAM_ERROR" });
  }
  return outputs;
}

/** Reads the tokens, under the API's old or new name, and what the upstream says that it made. */
export function readUsage(said: JsonObject): Usage | undefined {
  const usage = isJsonObject(said.usage) ? said.usage : {};
  const inputTokens = count(usage.input_tokens) ?? count(usage.prompt_tokens);
  const outputTokens = count(usage.output_tokens) ?? count(usage.completion_tokens);
  const made = readMade(said);
  if (inputTokens === undefined && outputTokens === undefined && made === undefined) return undefined;
  return { inputTokens, outputTokens, ...(made && { made }) };
}

const MADE = ["size", "quality", "background"] as const;

function readMade(said: JsonObject): Made | undefined {
  const told = MADE.flatMap((name) => {
    const value = said[name];
    return typeof value === "string" && value !== "auto" && /^[\w:-]{1,40}$/.test(value)
      ? [[name, value] as const]
      : [];
  });
  return told.length === 0 ? undefined : Object.fromEntries(told);
}

function count(value: Json | undefined): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
