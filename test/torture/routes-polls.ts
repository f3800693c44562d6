import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelId, ProviderId, TaskId } from "../../src/domain/ids.ts";
import type { Model } from "../../src/domain/model/model.ts";
import type { PollResult, ProviderAdapter } from "../../src/domain/ports/provider.ts";
import { countingIds, MODEL, memoryAssets } from "../helpers/engine.ts";
import { newTask } from "../helpers/store.ts";
import { createDice, type Dice } from "./dice.ts";
import type { Findings } from "./findings.ts";
import { quantile } from "./quantile.ts";
import { catalogOf } from "./simulated-catalog.ts";
import { ACCOUNT, openService } from "./simulated-service.ts";
import { createWorld, type Owner, STARTS_AT, type World } from "./time-world.ts";

export interface PollsReport {
  readonly tasks: number;
  readonly polls: number;
  /** In the second with most. */
  readonly mostPolls: number;
  readonly intervalMs: number;
  /** From the end of a job to that of its task. */
  readonly noticedP99Ms: number;
}

const PROVIDER = "paced" as ProviderId;
const POLLS_PER_SECOND = 100;
const JOB_MS: [number, number] = [120_000, 420_000];
/** Between two polls of a task, where nothing holds them up. */
const LONGEST_DELAY_MS = 6_000;
const LONGEST_MS = 3_600_000;
/** What a task may take beyond the time until its next turn. */
const MORE_MS = 1_000;

const model: Model = {
  ...MODEL,
  id: "film" as ModelId,
  deadlineMs: LONGEST_MS,
  routes: [{ provider: PROVIDER, upstreamModel: "one" }],
};

/** Many tasks run at once on an account that may be asked so often and no more. */
export async function runPolls(
  { seed, tasks }: { readonly seed: number; readonly tasks: number },
  findings: Findings,
): Promise<PollsReport> {
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "svc-torture-polls-"));
  const world = createWorld(STARTS_AT);
  const dice = createDice(seed, "polls");
  const ids = countingIds();
  const upstream = createPacedUpstream(world, dice, tasks);
  const endedAt = new Map<TaskId, number>();
  const machine = {
    ...{ world, ids, dice, database: join(folder, "svc.db"), assets: memoryAssets(), isFull: () => false },
    onEnd: (id: TaskId) => void endedAt.set(id, world.trueMs()),
    onLog() {},
  };
  const service = openService(machine, {
    ...{ catalog: catalogOf([model]), deadlineMs: LONGEST_MS, concurrency: tasks },
    adapters: (owner) => [upstream.adapterOf(owner)],
  });
  await service.openAccount();
  await service.start();
  for (let i = 0; i < tasks; i++) {
    const createdAt = service.clock.now();
    const task = newTask({
      ...{ id: ids.create("task"), accountId: ACCOUNT, createdAt, model: model.id, lane: PROVIDER },
    });
    await service.admit(task);
  }
  await world.run(LONGEST_MS);
  await service.kill();
  rmSync(folder, { recursive: true });

  const intervalMs = Math.max(LONGEST_DELAY_MS, (tasks / POLLS_PER_SECOND) * 1000);
  const noticed = upstream.jobs().map(({ task, readyAt }) => (endedAt.get(task) ?? Number.NaN) - readyAt);
  const noticedP99Ms = quantile(noticed, 0.99);
  const mostPolls = mostInASecond(upstream.polls());
  findings.check(endedAt.size === tasks, () => `${tasks - endedAt.size} polled tasks have not ended`);
  findings.check(mostPolls <= POLLS_PER_SECOND, () => `${mostPolls} polls in a second`);
  findings.check(
    noticedP99Ms <= intervalMs + MORE_MS,
    () => `p99 from the end of a job to that of its task is ${noticedP99Ms} ms`,
  );
  return { tasks, polls: upstream.polls().length, mostPolls, intervalMs, noticedP99Ms };
}

interface Job {
  readonly task: TaskId;
  readonly readyAt: number;
}

function createPacedUpstream(world: World, dice: Dice, concurrency: number) {
  const jobs = new Map<string, Job>();
  const polls: number[] = [];
  const answer = <T>(owner: Owner, give: () => T): Promise<T> =>
    new Promise((resolve) => {
      const end = async () => resolve(give());
      world.at(world.trueMs() + dice.between(10, 100), () => void world.doing(end), owner);
    });
  return {
    jobs: (): readonly Job[] => [...jobs.values()],
    /** When it was asked. */
    polls: (): readonly number[] => polls,
    adapterOf: (owner: Owner): ProviderAdapter => ({
      ...{ id: PROVIDER, lane: PROVIDER, submitIsIdempotent: false, concurrency },
      rates: { pollsPerMinute: POLLS_PER_SECOND * 60 },
      submit({ attempt, taskId }) {
        jobs.set(attempt, { task: taskId, readyAt: world.trueMs() + dice.between(...JOB_MS) });
        return answer(owner, () => ({ kind: "operation", operation: attempt }));
      },
      poll(operation) {
        polls.push(world.trueMs());
        const isReady = world.trueMs() >= (jobs.get(String(operation))?.readyAt ?? 0);
        return answer(
          owner,
          (): PollResult =>
            isReady ? { kind: "succeeded", outputs: [{ kind: "remote", ref: "one" }] } : { kind: "pending" },
        );
      },
      fetchOutput: () => answer(owner, picture),
    }),
  };
}

async function* picture() {
  yield new TextEncoder().encode("picture");
}

/** @param times in order */
function mostInASecond(times: readonly number[]): number {
  let most = 0;
  let first = 0;
  for (const [i, time] of times.entries()) {
    while ((times[first] ?? time) <= time - 1000) first += 1;
    most = Math.max(most, i - first + 1);
  }
  return most;
}
