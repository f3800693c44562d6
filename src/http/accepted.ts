import { formatAmount, type Micros } from "../domain/money/money.ts";
import type { CreatedTask } from "../service/created-task.ts";
import type { Reply } from "./reply.ts";

/** The headers of answers to creates that hold the same amount. */
interface Told {
  readonly headers: Readonly<Record<string, string>>;
  readonly kept: Headers;
}

/** Most requests cost one of a few amounts. Beyond this many, all are forgotten. */
const MOST_KEPT = 500;
const byAmount = new Map<Micros, Told>();

function headersFor(held: Micros): Told {
  const known = byAmount.get(held);
  if (known !== undefined) return known;
  const headers = { "Content-Type": "application/json", "X-Request-Cost": formatAmount(held) };
  const told = { headers, kept: new Headers(headers) };
  if (byAmount.size >= MOST_KEPT) byAmount.clear();
  byAmount.set(held, told);
  return told;
}

const REPLAYED = { "X-Idempotent-Replay": "true" } as const;

/**
 * The answer to an accepted create, whatever its API: what it holds, and whether it was accepted before.
 * @param answer.body JSON
 * @param answer.own further headers of this answer
 */
export function accepted(
  { held, replayed }: Pick<CreatedTask, "held" | "replayed">,
  {
    body,
    log,
    status = 200,
    own,
  }: Pick<Reply, "own" | "log"> & { readonly body: string; readonly status?: number },
): Reply {
  const { headers, kept } = headersFor(held);
  return { status, headers, kept, own: replayed ? { ...own, ...REPLAYED } : own, body, log };
}
