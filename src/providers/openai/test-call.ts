import type { Tested } from "../../domain/ports/provider.ts";
import type { Upstream } from "../kit/http.ts";
import { testedBy, testedByError } from "../kit/tested.ts";
import { readRefusal } from "./refusals.ts";

const ANSWER_BYTES = 4 * 1024 * 1024;

/** Lists the models, which makes nothing and needs a key (https://platform.openai.com/docs/api-reference/models/list, 2026-11). */
export async function testOpenAi(upstream: Upstream, signal: AbortSignal): Promise<Tested> {
  try {
    const request = { method: "GET", url: "/models", maxBytes: ANSWER_BYTES } as const;
    const answer = await upstream.send(request, signal);
    if (answer.status === 200) return { kind: "ok" };
    const refusal = readRefusal(upstream, answer);
    // Not every service that speaks this API has such a list, or the address is wrong. The key was not looked at.
    return answer.status === 404 ? { kind: "failed", detail: refusal.detail } : testedBy(refusal);
  } catch (error) {
    signal.throwIfAborted();
    return testedByError(error);
  }
}
