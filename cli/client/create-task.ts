import type { JsonObject } from "../../src/domain/json.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import type { Kind } from "./answer.ts";
import type { Created } from "./client.ts";

/** After these failures, the server may or may not have the request. */
const UNDECIDED: readonly number[] = [EXIT.unreachable, EXIT.interrupted, EXIT.stillRunning];

export interface CreateFlags {
  readonly idempotencyKey?: string;
  readonly verbose?: boolean;
}

/**
 * Creates a task, or several at once, with one idempotency key for all tries. If the outcome is unknown, the failure names the key,
 * with which it is safe to repeat the command.
 */
export async function createTask<Made extends object = Created>(
  { idempotencyKey = crypto.randomUUID(), verbose }: CreateFlags,
  { stderr }: Pick<Context, "stderr">,
  create: (idempotencyKey: string) => Promise<Made>,
): Promise<Made & { readonly idempotencyKey: string }> {
  if (verbose === true) stderr.write(`Idempotency-Key: ${idempotencyKey}\n`);
  try {
    return { ...(await create(idempotencyKey)), idempotencyKey };
  } catch (error) {
    if (!(error instanceof Failure) || !isUndecided(error)) throw error;
    const hint = `The server may have accepted it. Repeat the command with --idempotency-key ${idempotencyKey}, and it runs only once.`;
    throw error.withHint(hint, { idempotency_key: idempotencyKey });
  }
}

/** Whether the server may have the request. One that answers now may have been cut off at an earlier try. */
function isUndecided({ exitCode, code, more }: Failure): boolean {
  return UNDECIDED.includes(exitCode) || more?.status === 503 || code === "idempotency_in_progress";
}

export function createdJson(
  created: Created & { readonly idempotencyKey: string },
  of: { readonly kind: Kind; readonly model: string | undefined },
): JsonObject {
  return {
    task_id: created.taskId,
    ...of,
    cost: created.cost,
    replayed: created.replayed,
    idempotency_key: created.idempotencyKey,
    request_id: created.requestId,
  };
}
