import type { Config } from "../config/config.ts";
import type { History } from "../domain/history.ts";
import type { Vitals } from "../domain/overview.ts";
import type { Counts, Tally } from "../domain/ports/tally.ts";
import type { Wakeup } from "../domain/ports/wakeup.ts";
import type { Attempt } from "../domain/task/task.ts";
import type { NotReady } from "../http/health/routes.ts";
import type { Feeds } from "../runtime/signals.ts";
import type { ManageAs } from "../service/manage-account.ts";
import type { Orphans } from "../service/orphans.ts";
import type { MetricsDeps } from "../service/read-metrics.ts";
import type { Backups } from "./backups.ts";
import type { BookReadings } from "./book-readings.ts";
import type { WatchedDisk } from "./disk.ts";
import type { createReload } from "./live/reload.ts";
import type { Rooms } from "./rooms.ts";
import type { openShedding } from "./shedding.ts";

/** Counts for the overview and the metrics, and how the process does. */
interface Watched {
  readonly tally: Tally & Counts;
  readonly counted: MetricsDeps["counted"];
  readonly history: { readonly read: (minutes: number) => History };
  readonly vitals: { readonly read: () => Vitals };
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

/** What requests work with. */
export interface RequestDeps extends Rooms, Feeds, Watched, Omit<ReturnType<typeof openShedding>, "observe"> {
  readonly config: Config;
  readonly wakeup: Wakeup;
  readonly callbacksDue: () => void;
  readonly hookCame: (attempt: Attempt) => Promise<void>;
  readonly manageAs: ManageAs;
  readonly orphans: Orphans;
  readonly audits: Pick<BookReadings, "run" | "report" | "stock" | "check">;
  /** Applies settings while the service runs; absent if they cannot change. */
  readonly reload: ReturnType<typeof createReload> | undefined;
  readonly isAccepting: () => boolean;
  readonly backups: Backups;
  /** Why no new tasks are taken. */
  readonly notReady: () => NotReady | undefined;
  readonly warnings: () => readonly "disk_low"[];
  readonly disk: Pick<WatchedDisk, "advice">;
  /** Why new tasks are refused although they could be stored. */
  readonly diskRefusal: () => Error | undefined;
  /** Aborts when the service stops, so that callers stop waiting. */
  readonly stopping: AbortSignal;
  /** Aborts when all steps that could still end have ended. */
  readonly drained: AbortSignal;
  /** Lifts the server's limit on how long a connection may be silent. */
  readonly keepOpen: (request: Request) => void;
}
