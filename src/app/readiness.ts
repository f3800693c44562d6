import { AppError } from "../domain/errors.ts";
import type { StorageError } from "../domain/ports/task-store.ts";
import type { NotReady } from "../http/health/routes.ts";
import type { DiskWatch } from "../runtime/disk-watch.ts";

const REASONS = {
  full: "disk_full",
  read_only: "disk_read_only",
  busy: "database_busy",
  away: "database_busy",
  damaged: "damaged",
  closed: "stopping",
} as const satisfies Record<StorageError["kind"], NotReady>;

/**
 * Whether new tasks are taken, and if not, why.
 *
 * @param options.takesForOthers whether others make what this node takes in: it takes tasks for as long as it listens, so that no caller
 *   is refused before its proxy has heard that it stops
 */
export function createReadiness(
  store: { readonly trouble: () => StorageError | undefined },
  disk: Pick<DiskWatch, "state">,
  { takesForOthers }: { readonly takesForOthers: boolean },
) {
  let phase: "starting" | "serving" | "stopping" = "starting";
  return {
    begin(): void {
      phase = "serving";
    },
    end(): void {
      phase = "stopping";
    },
    /** False while the service starts or stops. */
    isAccepting: () => phase === "serving" || (phase === "stopping" && takesForOthers),
    notReady(): NotReady | undefined {
      if (phase !== "serving") return phase;
      const trouble = store.trouble();
      if (trouble !== undefined) return REASONS[trouble.kind];
      return disk.state() === "refusing" ? "disk_low" : undefined;
    },
    /** What an operator should look at although new tasks are accepted. */
    warnings: (): "disk_low"[] => (disk.state() === "low" ? ["disk_low"] : []),
    /** Why nothing more may be stored for now, although it would be possible. */
    diskRefusal: () =>
      disk.state() === "refusing"
        ? new AppError("disk_low", { kind: "disk_low" }, { retryAfterSec: 30, shouldRetry: true })
        : undefined,
  };
}
