import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import { type Output, type Previews, ProviderError, type Submitted } from "../../domain/ports/provider.ts";
import type { Usage } from "../../domain/task/task.ts";
import type { UpstreamAnswer } from "../kit/answer.ts";
import { describeAnswer, refusedSubmission } from "../kit/classify.ts";
import type { UpstreamEvent } from "../kit/events.ts";
import type { Upstream } from "../kit/http.ts";
import { readImage, readUsage, withIssues } from "./images.ts";
import { readErrorEvent } from "./refusals.ts";

/** Collects the expected number of images from server-sent events, and shows their early versions. */
export function createImageStream(
  upstream: Upstream,
  { images, previews }: { readonly images: number; readonly previews: Previews },
) {
  const outputs: Output[] = [];
  let usage: Usage | undefined;
  let issues: Json | undefined;
  let hasBegun = false;
  let error: JsonObject | undefined;

  const show = ({ partial_image_index: index, b64_json: base64 }: JsonObject) => {
    hasBegun = true;
    if (typeof index !== "number" || typeof base64 !== "string" || !previews.isWatched()) return;
    // With several images, the events do not say which one they belong to.
    const outputIndex = images === 1 ? 0 : undefined;
    previews.show({ index, outputIndex, bytes: Buffer.from(base64, "base64") });
  };
  const submitted = (): Submitted => ({ kind: "outputs", outputs: withIssues(outputs, issues), usage });

  return {
    /** @returns whether more events follow */
    take({ name, data }: UpstreamEvent): boolean {
      if (name.endsWith(".partial_image") && !previews.isWatched()) {
        // Nobody watches: spare the work of decoding megabytes.
        hasBegun = true;
        return true;
      }
      const event = parse(data);
      switch (typeof event.type === "string" ? event.type : name) {
        case "image_generation.partial_image":
        case "image_edit.partial_image":
          show(event);
          return true;
        case "image_generation.completed":
        case "image_edit.completed":
          hasBegun = true;
          outputs.push(...[readImage({}, event)].filter(isMade));
          usage = readUsage(event) ?? usage;
          issues = event.result_issues;
          return outputs.length < images;
        default:
          if (name !== "error" && event.type !== "error" && !isJsonObject(event.error)) return true;
          error = isJsonObject(event.error) ? event.error : event;
          return false;
      }
    },
    /** The images, after the last event. @throws ProviderError when there is none */
    result(answer: UpstreamAnswer): Submitted {
      if (outputs.length > 0) return submitted();
      if (error !== undefined) throw refusedSubmission(readErrorEvent(upstream, answer, error, hasBegun));
      const detail = `${describeAnswer(upstream, answer)}, but its events ended without an image`;
      throw new ProviderError("unknown", "UPSTREAM_ERROR", detail);
    },
    /** The images that arrived complete before the connection was lost; undefined when there are none. */
    rescued: () => (outputs.length > 0 ? submitted() : undefined),
  };
}

const isMade = ({ kind }: Output) => kind !== "missing";

/** Parses a JSON object. Anything else counts as an empty one. */
function parse(data: string): JsonObject {
  try {
    // What JSON.parse returns is JSON.
    const value = JSON.parse(data) as Json;
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
