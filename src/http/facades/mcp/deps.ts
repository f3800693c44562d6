import type { Micros } from "../../../domain/money/money.ts";
import type { AccountStore } from "../../../domain/ports/account-store.ts";
import type { AssetStore } from "../../../domain/ports/asset-store.ts";
import type { TaskStore } from "../../../domain/ports/task-store.ts";
import type { CancelTaskDeps } from "../../../service/cancel-task.ts";
import type { CreateTask } from "../../../service/create-task.ts";
import type { EstimateCost } from "../../../service/estimate.ts";
import type { PriceDeps } from "../../../service/price-terms.ts";
import type { ModelDeps } from "../../../service/read-model.ts";
import type { Shedding } from "../../../service/shedding.ts";
import type { WatchTaskDeps } from "../../../service/watch-task.ts";
import type { LateAnswerDeps } from "../../exchange.ts";

/** The operator's settings. They may change. */
export interface McpSettings {
  /** A call that holds more needs `max_cost`. */
  readonly maxCostRequiredAbove: Micros;
  /** The images of a task are given as content up to this size together. */
  readonly inlineBytes: number;
}

export interface McpDeps
  extends ModelDeps,
    PriceDeps,
    WatchTaskDeps,
    CancelTaskDeps,
    Pick<LateAnswerDeps, "stopping"> {
  readonly clock: WatchTaskDeps["clock"];
  readonly tasks: TaskStore;
  readonly feed: WatchTaskDeps["feed"];
  readonly assets: AssetStore;
  readonly accounts: Pick<AccountStore, "account" | "keyQuota">;
  readonly createTask: CreateTask;
  readonly estimateCost: EstimateCost;
  readonly shedding: Pick<Shedding, "refusal">;
  readonly mcp: McpSettings;
}
