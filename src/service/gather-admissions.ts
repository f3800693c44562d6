import { AppError } from "../domain/errors.ts";
import { type Micros, sumMicros, toMicros } from "../domain/money/money.ts";
import type { Admission, AdmitResult, TaskStore } from "../domain/ports/task-store.ts";
import type { GroupTerms } from "../domain/task/group-terms.ts";

/** Another task of the group was refused, or got its earlier answer, so this one is not stored. */
export class GivenUp extends Error {
  override readonly name = "GivenUp";
}

/** The whole group is refused. The error names a field of the group and none of a task. */
export class GroupRefused extends Error {
  override readonly name = "GroupRefused";
  constructor(readonly refusal: AppError) {
    super("the group is refused");
  }
}

interface Arrival {
  readonly admission: Admission;
  readonly resolve: (result: AdmitResult) => void;
  readonly reject: (error: Error) => void;
}

export interface Gathering {
  /** Waits until all tasks have arrived. Then either all are stored or none. */
  admit(place: number, admission: Admission): Promise<AdmitResult>;
  /** Says that one task will not arrive. The others end with `GivenUp`. */
  giveUp(): void;
}

export interface Gathered {
  readonly count: number;
  readonly terms: Omit<GroupTerms, "tasks">;
  /** Gets the sum of the holds. @throws AppError to store none */
  readonly check: (cost: Micros) => void;
}

/** Holds back the admissions of a group's tasks until all have arrived, and stores them in one transaction. */
export function gatherAdmissions(
  tasks: Pick<TaskStore, "admitAll">,
  { count, terms, check }: Gathered,
): Gathering {
  const arrived = new Map<number, Arrival>();
  let isOver = false;

  const inOrder = () =>
    Array.from({ length: count }, (_, place) => arrived.get(place)).filter((of) => of !== undefined);
  const rejectAll = (error: Error) => {
    for (const { reject } of arrived.values()) reject(error);
  };

  async function admitAll(): Promise<void> {
    const all = inOrder();
    const holds = all.map(({ admission }) => admission.task.held);
    const cost = sumMicros(holds);
    try {
      check(cost);
    } catch (error) {
      throw error instanceof AppError ? new GroupRefused(error) : error;
    }
    const group = { ...terms, tasks: all.map(({ admission }) => admission.task.id) };
    const outcome = await tasks.admitAll(
      all.map(({ admission: { task, ...rest } }) => ({
        ...rest,
        task: { ...task, request: { ...task.request, group } },
      })),
    );
    if (outcome.kind === "accepted") {
      for (const [place, { resolve }] of all.entries()) {
        const result = outcome.results[place];
        if (result !== undefined) resolve(result);
      }
      return;
    }
    const before = sumMicros(holds.slice(0, outcome.place));
    all[outcome.place]?.resolve(ofWhole(outcome.result, cost, before));
    rejectAll(new GivenUp("another task of the group is refused"));
  }

  return {
    admit(place, admission) {
      if (isOver) return Promise.reject(new GivenUp("another task of the group does not come"));
      const { promise, resolve, reject } = Promise.withResolvers<AdmitResult>();
      arrived.set(place, { admission, resolve, reject });
      if (arrived.size === count) {
        isOver = true;
        admitAll().catch(rejectAll);
      }
      return promise;
    },
    giveUp() {
      if (isOver) return;
      isOver = true;
      rejectAll(new GivenUp("another task of the group does not come"));
    },
  };
}

/** The error reports the shortage of the whole group, not what the tasks before the refused one left over. */
function ofWhole(result: AdmitResult, needed: Micros, before: Micros): AdmitResult {
  if (result.kind !== "insufficient_quota") return result;
  return { ...result, needed, available: toMicros(result.available + before) };
}
