import type { ModelId } from "./ids.ts";
import type { Asset } from "./media/asset.ts";
import type { Micros } from "./money/money.ts";
import type { LaneLoad, OwedCallbacks } from "./overview.ts";
import type { TaskStatus } from "./task/task.ts";

/** What the database contains at one moment. The time to read it grows with the number of rows. */
export interface Stock {
  readonly lanes: readonly LaneLoad[];
  /** Live tasks. */
  readonly tasks: readonly {
    readonly model: ModelId;
    readonly status: TaskStatus;
    readonly count: number;
  }[];
  readonly callbacks: OwedCallbacks;
  /** In all accounts. */
  readonly held: Micros;
  readonly assets: readonly {
    /** `upload`: a file uploaded before any task. */
    readonly role: Asset["role"] | "upload";
    readonly count: number;
    readonly bytes: number;
  }[];
}
