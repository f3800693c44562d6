import type { Tested } from "../../domain/ports/provider.ts";
import { testedBy, testedByError } from "../kit/tested.ts";
import type { Api } from "./api.ts";
import { readRefusal } from "./refusals.ts";

const ANSWER_BYTES = 4 * 1024 * 1024;

/** Makes a call that creates nothing: the server's state, or the cloud's list of one job, which needs the key. */
export async function testComfy({ upstream, path, isCloud }: Api, signal: AbortSignal): Promise<Tested> {
  try {
    const url = path(isCloud ? "/jobs?limit=1" : "/system_stats");
    const answer = await upstream.send({ method: "GET", url, maxBytes: ANSWER_BYTES }, signal);
    const isWhole = answer.status === 200 && answer.json !== undefined;
    return isWhole ? { kind: "ok" } : testedBy(readRefusal(upstream, answer));
  } catch (error) {
    signal.throwIfAborted();
    return testedByError(error);
  }
}
