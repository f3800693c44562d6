import { assetReads } from "./asset-reads.ts";
import { audits } from "./audits.ts";
import type { Bench } from "./bench.ts";
import { besideReports } from "./beside-reports.ts";
import { callbacks } from "./callbacks.ts";
import { consoleBench } from "./console.ts";
import { creates } from "./creates.ts";
import { dispatches } from "./dispatches.ts";
import { facades } from "./facades.ts";
import { forms } from "./forms.ts";
import { gateway } from "./gateway.ts";
import { hooks } from "./hooks.ts";
import { memory } from "./memory.ts";
import { metrics } from "./metrics.ts";
import { moderation } from "./moderation.ts";
import { overview, overviewPolls } from "./overview.ts";
import { postgres } from "./postgres.ts";
import { queues } from "./queues.ts";
import { retention } from "./retention.ts";
import { routing } from "./routing.ts";
import { sameKey } from "./same-key.ts";
import { sandbox } from "./sandbox.ts";
import { seeded } from "./seeded.ts";
import { starts } from "./starts.ts";
import { statuses } from "./statuses.ts";
import { syncWaiters } from "./sync-waiters.ts";
import { throughput } from "./throughput.ts";
import { thumbnails } from "./thumbnails.ts";
import { underWay } from "./under-way.ts";
import { watch } from "./watch.ts";

/** Benches that run an executable, or the service from the sources of a build. They can run those of another commit. */
const OF_BUILDS: Readonly<Record<string, Bench>> = {
  creates,
  statuses,
  dispatches,
  throughput,
  sandbox,
  starts,
  memory,
  "under-way": underWay,
  retention,
  assets: assetReads,
  seeded,
  "beside-reports": besideReports,
  audit: audits,
  gateway,
  queues,
  "sync-waiters": syncWaiters,
  "same-key": sameKey,
  callbacks,
  "overview-polls": overviewPolls,
  watch,
  console: consoleBench,
  thumbnails,
  facades,
  hooks,
  postgres,
};

/** Benches that import what they measure, which is always of this tree. */
const OF_THIS_TREE: Readonly<Record<string, Bench>> = { overview, forms, routing, moderation, metrics };

const ALL = { ...OF_BUILDS, ...OF_THIS_TREE };

export const BENCH_NAMES: readonly string[] = Object.keys(ALL);

/** Whether a bench can measure another commit. */
export const isOfBuilds = (name: string): boolean => Object.hasOwn(OF_BUILDS, name);

/** @param only names of benches; all of them when it is left out */
export function chooseBenches(only: readonly string[] | undefined): [string, Bench][] {
  return Object.entries(ALL).filter(([name]) => only === undefined || only.includes(name));
}
