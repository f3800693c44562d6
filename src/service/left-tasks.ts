import type { TaskId } from "../domain/ids.ts";
import type { Clock, Secrets } from "../domain/ports/runtime.ts";
import { type AdoptDeps, adoptLeft } from "./adopt-left.ts";
import type { CreateTaskRequest } from "./create-task.ts";
import type { EqualCalls } from "./equal-calls.ts";
import { hashCanonical } from "./inline-files.ts";
import type { Orphans } from "./orphans.ts";

export interface LeftTasksDeps extends AdoptDeps {
  readonly clock: Clock;
  readonly secrets: Pick<Secrets, "hash" | "hashPieces">;
  readonly orphans: Orphans;
  /** Absent if callers are not expected to repeat a request before the loss of their connection is noticed. */
  readonly equalCalls?: EqualCalls | undefined;
}

/** What says which requests are the same. */
export type Comparable = Pick<
  CreateTaskRequest,
  "principal" | "endpoint" | "identity" | "body" | "inlineFiles"
>;

/** Tasks whose callers left before they had their answers. Equal requests join them. */
export interface LeftTasks {
  /** Whether there may be one for a request whose caller does not wait. */
  readonly mayBeAny: () => boolean;
  /** Equal for equal requests. The files of the request still exist. */
  readonly scopeOf: (request: Comparable) => string | Promise<string>;
  /** The task that an equal request left, if any; no other request gets it. */
  readonly find: (scope: string) => ReturnType<typeof adoptLeft>;
  readonly add: (scope: string, id: TaskId) => void;
}

export function createLeftTasks(deps: LeftTasksDeps): LeftTasks {
  const { orphans, equalCalls, clock } = deps;
  return {
    mayBeAny: () => orphans.any() || equalCalls?.areAny() === true,
    scopeOf: ({ principal, endpoint, identity, body, inlineFiles: files }) =>
      hashCanonical(deps.secrets, {
        before: `${principal.keyId}\n${endpoint}\n`,
        value: identity ?? body,
        files,
      }),
    async find(scope) {
      await equalCalls?.settled(scope);
      return adoptLeft(deps, scope);
    },
    add: (scope, id) => orphans.add(scope, id, clock.elapsed()),
  };
}
