import type { Admission, AdmitAllResult, AdmitResult } from "../../../domain/ports/task-store.ts";
import type { Connection } from "../connection.ts";
import type { WriteOptions } from "../group-commit.ts";

/** Rolls back what was admitted before it. */
class Refused extends Error {
  constructor(
    readonly place: number,
    readonly result: AdmitResult,
  ) {
    super("a task of a group is refused");
  }
}

/** Returns the body of `TaskStore.admitAll`: one write, which is rolled back where a task is refused. */
export function prepareAdmitAll(
  { write }: Pick<Connection, "write">,
  admit: (admission: Admission) => AdmitResult,
  admitting: Pick<WriteOptions, "closing">,
) {
  return async (admissions: readonly Admission[]): Promise<AdmitAllResult> => {
    try {
      const results = await write(() => {
        const all: AdmitResult[] = [];
        for (const [place, admission] of admissions.entries()) {
          const result = admit(admission);
          const isLikeOthers = result.kind === (all[0]?.kind ?? result.kind);
          if (!isLikeOthers || (result.kind !== "admitted" && result.kind !== "replayed"))
            throw new Refused(place, result);
          all.push(result);
        }
        return all;
      }, admitting);
      return { kind: "accepted", results };
    } catch (error) {
      if (error instanceof Refused) return { kind: "refused", place: error.place, result: error.result };
      throw error;
    }
  };
}
