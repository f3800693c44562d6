import { AppError } from "../domain/errors.ts";
import { type AttemptId, isId, type LaneId } from "../domain/ids.ts";
import type { HookCall, ProviderAdapter } from "../domain/ports/provider.ts";
import type { Log, Seal } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { Attempt } from "../domain/task/task.ts";

/** The beginning of the paths that upstreams call. */
export const HOOK_PATH = "/hooks/";

/** `<id of the attempt>-<signature>` */
const TOKEN = /^([0-9a-z]{26})-([A-Za-z0-9_-]{43})$/;

/**
 * Tokens in the addresses that upstreams call. A token names its attempt and proves that this service issued it, so none is
 * stored.
 */
export interface HookTokens {
  pathOf(attempt: AttemptId): string;
  /** Undefined for every text that is no token. The time does not depend on the text. */
  attemptOf(token: string): AttemptId | undefined;
}

export function createHookTokens({ seal }: { readonly seal: Pick<Seal, "sign" | "isSigned"> }): HookTokens {
  const signed = (id: string) => `hook ${id}`;
  return {
    pathOf: (attempt) => `${HOOK_PATH}${attempt.slice("att_".length)}-${seal.sign(signed(attempt))}`,
    attemptOf(token) {
      const [, suffix = "", signature = ""] = TOKEN.exec(token) ?? [];
      const attempt = `att_${suffix}`;
      return seal.isSigned(signed(attempt), signature) && isId("att", attempt) ? attempt : undefined;
    },
  };
}

export interface TakeHook {
  /** The attempt that a token is for. @throws AppError `not_found` */
  attemptOf(token: string): AttemptId;
  /**
   * Makes the job's next poll happen soon. The content of the call does not count.
   * @throws AppError `not_found` if the signature is not the upstream's
   */
  take(attempt: AttemptId, call: HookCall): Promise<void>;
}

/** How long checking a signature may take. Some upstreams wait only five seconds for an answer. */
const VERIFY_MS = 3_000;

export function createTakeHook(deps: {
  readonly hookTokens: HookTokens;
  readonly tasks: Pick<TaskStore, "attempt">;
  readonly provider: (lane: LaneId) => ProviderAdapter | undefined;
  /** See `Hooks.came` of the scheduler. */
  readonly hookCame: (attempt: Attempt) => Promise<void>;
  readonly log: Log;
}): TakeHook {
  const unknown = () => new AppError("not_found", { kind: "hook_unknown" });
  return {
    attemptOf(token) {
      const attempt = deps.hookTokens.attemptOf(token);
      if (attempt === undefined) throw unknown();
      return attempt;
    },
    async take(id, call) {
      const attempt = await deps.tasks.attempt(id);
      // Its task was removed, or the data folder is an older copy.
      if (attempt === undefined) throw unknown();
      const { lane, terms, taskId: task } = attempt;
      const now = deps.provider(lane);
      const adapter = terms === undefined ? now : (now?.withTerms?.(terms) ?? now);
      const verdict = await adapter?.verifyHook?.(call, AbortSignal.timeout(VERIFY_MS));
      if (verdict === "forged") {
        deps.log.debug({ provider: lane, task }, "a call with a wrong signature was refused");
        throw unknown();
      }
      // The upstream has delivered its news. It need not wait or call again.
      deps.hookCame(attempt).catch((error: unknown) => {
        deps.log.warn({ provider: lane, task, err: error as Error }, "a call could not be noted");
      });
    },
  };
}
