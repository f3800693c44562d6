import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TaskId } from "../../src/domain/ids.ts";
import { countingIds, memoryAssets } from "../helpers/engine.ts";
import { createDice } from "./dice.ts";
import type { Findings } from "./findings.ts";
import { planTime, type Trouble } from "./time-plan.ts";
import { type Service, startService, type TimeMachine } from "./time-service.ts";
import { createTimeUpstream } from "./time-upstream.ts";
import { type TimeTally, verifyTime } from "./time-verify.ts";
import { createWorld, STARTS_AT } from "./time-world.ts";
import { createTimeline } from "./timeline.ts";

export interface TimeTortureOptions {
  readonly days: number;
  readonly seed: number;
  /** Tasks asked for in all. */
  readonly tasks: number;
}

export interface TimeReport {
  readonly seed: number;
  readonly days: number;
  readonly ends: TimeTally;
  readonly troubles: Readonly<Record<string, number>>;
  /** Creates that came while the service could not take them. */
  readonly refused: number;
  /** Requests to the upstream. */
  readonly asked: number;
  readonly longestStandstillMs: number;
  readonly logged: Readonly<Record<string, number>>;
  readonly elapsedMs: number;
}

const HOUR_MS = 3_600_000;
/** Until a service that did not start is started again. */
const RESTARTS_AFTER_MS = 5_000;
/** After the last trouble, until all that is left has ended. */
const SETTLES_WITHIN_MS = 12 * HOUR_MS;

/** Simulates a machine for some days, on which everything goes wrong that has to do with time. */
export async function runTimeTorture(options: TimeTortureOptions, findings: Findings): Promise<TimeReport> {
  const startedAt = performance.now();
  const folder = mkdtempSync(join(fastFolder(), "svc-torture-time-"));
  const { machine, timeline, logged, setFull } = createMachine(options.seed, join(folder, "svc.db"));
  const { world, upstream } = machine;
  const plan = planTime(options);
  const accepted: TaskId[] = [];
  let refused = 0;
  let service: Service | undefined = startService(machine);
  await service.openAccount();
  await service.start();

  const later = (forMs: number, run: () => Promise<void>): void =>
    void world.at(world.trueMs() + forMs, () => void run());
  const create = async () => {
    const id = world.frozenMs() > 0 ? undefined : await service?.create();
    if (id === undefined) refused += 1;
    else accepted.push(id);
  };
  const start = async () => {
    if (world.frozenMs() > 0) return later(world.frozenMs(), start);
    const next = startService(machine);
    service = next;
    // On a full disk it does not start. Whoever keeps it running tries again.
    await next.start().then(timeline.works, async () => {
      await next.kill();
      service = undefined;
      later(RESTARTS_AFTER_MS, start);
    });
  };
  const cause = async (trouble: Trouble) => {
    switch (trouble.kind) {
      case "clock step":
        return world.step(trouble.byMs);
      case "upstream out of order":
        return upstream.breakDown();
      case "standstill":
        timeline.fails();
        world.freeze(trouble.forMs);
        later(trouble.forMs, async () => timeline.works());
        return;
      case "full disk":
        timeline.fails();
        setFull(1);
        later(trouble.forMs, async () => {
          setFull(-1);
          timeline.works();
        });
        return;
      case "kill":
      case "stop": {
        const ending = service;
        if (ending === undefined) return;
        service = undefined;
        timeline.fails();
        await (trouble.kind === "kill" ? ending.kill() : ending.stop());
        world.step(trouble.byMs);
        later(trouble.forMs, start);
      }
    }
  };
  for (const { at, trouble } of plan.troubles) world.at(at, () => void cause(trouble));
  for (const at of plan.creates) world.at(at, () => void create());
  const endsAt = Math.max(...plan.troubles.map(({ at }) => at)) + SETTLES_WITHIN_MS;
  await world.run(endsAt);

  findings.check(service !== undefined, () => "the service does not run in the end");
  const last = service ?? startService(machine);
  const truth = { jobs: upstream.jobs(), timeline, endsAt };
  const ends = await verifyTime(accepted, last.read, truth, findings);
  await last.kill();
  rmSync(folder, { recursive: true });
  const { asked, standstill } = timeline.summary();
  return {
    ...{ seed: options.seed, days: options.days, ends, refused, asked, logged },
    troubles: countBy(plan.troubles.map(({ trouble }) => trouble.kind)),
    longestStandstillMs: standstill.ms,
    elapsedMs: performance.now() - startedAt,
  };
}

/** In memory where there is such a folder: the processes here die, but the power does not fail. */
const fastFolder = () => (existsSync("/dev/shm") ? "/dev/shm" : tmpdir());

function createMachine(seed: number, database: string) {
  const world = createWorld(STARTS_AT);
  const timeline = createTimeline(world);
  const upstream = createTimeUpstream(world, createDice(seed, "upstream"), timeline.asked);
  const logged: Record<string, number> = {};
  let fillings = 0;
  const machine: TimeMachine = {
    ...{ world, upstream, database, assets: memoryAssets(), ids: countingIds() },
    dice: createDice(seed, "service"),
    isFull: () => fillings > 0,
    onEnd: timeline.ended,
    onLog(message) {
      logged[message] = (logged[message] ?? 0) + 1;
    },
  };
  return {
    ...{ machine, timeline, logged },
    setFull(by: 1 | -1) {
      fillings += by;
    },
  };
}

function countBy(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
