import type { StorageError } from "../domain/ports/task-store.ts";
import type { NotReady } from "../http/health/routes.ts";

const REASONS = {
  full: "disk_full",
  read_only: "disk_read_only",
  busy: "database_busy",
  away: "database_busy",
  damaged: "damaged",
  closed: "stopping",
} as const satisfies Record<StorageError["kind"], NotReady>;

/** Whether new tasks are taken, and if not, why. */
export function createReadiness(store: { readonly trouble: () => StorageError | undefined }) {
  let phase: "starting" | "serving" | "stopping" = "starting";
  return {
    begin(): void {
      phase = "serving";
    },
    end(): void {
      phase = "stopping";
    },
    /** Not while the service starts or stops. */
    isAccepting: () => phase === "serving",
    notReady(): NotReady | undefined {
      if (phase !== "serving") return phase;
      const trouble = store.trouble();
      return trouble && REASONS[trouble.kind];
    },
  };
}
