import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TaskId } from "../../src/domain/ids.ts";
import { countingIds, memoryAssets } from "../helpers/engine.ts";
import { createDice } from "./dice.ts";
import type { Findings } from "./findings.ts";
import { quantile } from "./quantile.ts";
import { LANES, laneOf, planRoutes } from "./routes-plan.ts";
import { type RoutesMachine, type RoutesService, startRoutesService } from "./routes-service.ts";
import { createRoutesUpstream } from "./routes-upstream.ts";
import { verifyRoutes } from "./routes-verify.ts";
import { createRoutesWatch } from "./routes-watch.ts";
import { createWorld, STARTS_AT } from "./time-world.ts";

export interface RoutesOptions {
  readonly seed: number;
  readonly tasks: number;
}

export interface RoutesReport {
  readonly seed: number;
  readonly steady: string;
  readonly ends: Readonly<Record<string, number>>;
  readonly counts: Readonly<Record<string, number>>;
  /** What failing over added to tasks that the steady account had room for. */
  readonly addedP99Ms: number;
  readonly waitedP99Ms: number;
  readonly elapsedMs: number;
}

/** What failing over may add at p99. */
const ADDED_MS = 1_000;
/** After the last task, until all that is left has ended. */
const SETTLES_WITHIN_MS = 2_400_000;

/** Simulates one bad day of accounts, of which at most one is always well, and checks what became of each task. */
export async function runRoutes(options: RoutesOptions, findings: Findings): Promise<RoutesReport> {
  const startedAt = performance.now();
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "svc-torture-routes-"));
  const plan = planRoutes(options);
  const steady = LANES.find((place) => laneOf(place) === plan.steady);
  const machine = createMachine(options.seed, join(folder, "svc.db"), plan, findings);
  const { world, watch } = machine;
  const accepted: TaskId[] = [];
  let refused = 0;
  let service: RoutesService | undefined = startRoutesService(machine);
  await service.openAccount();
  await service.start();

  const create = async () => {
    const id = await service?.create(steady);
    if (id === "no way" || id === "not stored") {
      refused += 1;
      findings.check(steady === undefined || id === "no way", () => "a task could not be stored");
    } else if (id !== undefined) accepted.push(id);
  };
  const end = async (kind: "kill" | "stop", forMs: number) => {
    const ending = service;
    if (ending === undefined) return;
    service = undefined;
    watch.restarted(false);
    await ending[kind]();
    world.at(world.trueMs() + forMs, () => void start());
  };
  const start = async () => {
    const next = startRoutesService(machine);
    await next.start();
    watch.restarted(true);
    service = next;
  };
  for (const at of plan.creates) world.at(at, () => void create());
  for (const { at, kind, forMs } of plan.restarts) world.at(at, () => void end(kind, forMs));
  await world.run(Math.max(...plan.creates) + SETTLES_WITHIN_MS);

  const last = service ?? startRoutesService(machine);
  const ends = await verifyRoutes(
    { accepted, database: machine.database, read: last.read, attempts: last.attempts, watch },
    findings,
  );
  await last.kill();
  rmSync(folder, { recursive: true });
  const { counts, added, waited } = watch;
  const addedP99Ms = quantile(added, 0.99);
  findings.check(
    addedP99Ms < ADDED_MS,
    () => `failing over to an account that was well adds ${addedP99Ms} ms at p99`,
  );
  return {
    ...{
      seed: options.seed,
      steady: plan.steady ?? "none",
      ends,
      counts: { ...counts, unaccepted: refused },
    },
    addedP99Ms,
    waitedP99Ms: quantile(waited, 0.99),
    elapsedMs: performance.now() - startedAt,
  };
}

function createMachine(
  seed: number,
  database: string,
  plan: ReturnType<typeof planRoutes>,
  findings: Findings,
): RoutesMachine {
  const world = createWorld(STARTS_AT);
  const watch = createRoutesWatch({ world, steady: plan.steady, findings });
  return {
    ...{ world, watch, database, assets: memoryAssets(), ids: countingIds() },
    upstream: createRoutesUpstream({ world, plan, watch, dice: createDice(seed, "upstream") }),
    dice: createDice(seed, "service"),
    isFull: () => false,
    onEnd: watch.ended,
    onLog() {},
  };
}
