import { join } from "node:path";
import { cpuMs } from "../run/process.ts";
import { type Measurement, measurement } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import { copyDataFolder, createTask, readStatus, type Service, startService } from "../run/service.ts";
import type { Bench } from "./bench.ts";

interface Work {
  readonly name: string;
  readonly kind: "images" | "videos";
  readonly body: Readonly<Record<string, unknown>>;
  readonly perRound: number;
  /** In milliseconds, from the create to the end. */
  readonly most: number;
}

/** The sandbox draws another scene for each of these. */
const PROMPTS = ["a red fox in snow", "a lake", "city at night", "old paper", "orbits of planets", "a bowl"];

const WORKS: readonly Work[] = [
  {
    name: "a picture of 1024 pixels a side",
    kind: "images",
    body: { model: "sandbox-image", size: "1024x1024" },
    perRound: 12,
    most: 60,
  },
  {
    name: "a video of 2 seconds, 720p",
    kind: "videos",
    body: { model: "sandbox-video", duration: 2, resolution: "720p" },
    perRound: 6,
    most: 1_000,
  },
];

/** What the sandbox draws, one task after the other, from the create to the stored file. The service has all cores. */
export const sandbox: Bench = async (context) => {
  await using resources = new Resources();
  const folder = copyDataFolder(context.folder, join(context.workspace, "svc"));
  const service = await resources.open(startService(folder, { core: "any" }));
  const measurements: Measurement[] = [];
  let seed = 0;
  for (const work of WORKS) {
    const rounds: Round[] = [];
    await runRound(service, work, 1, () => seed++);
    for (let round = 0; round < context.rounds; round++) {
      rounds.push(await runRound(service, work, context.scaled(work.perRound), () => seed++));
    }
    measurements.push(
      measurement({
        name: `sandbox, ${work.name}`,
        unit: "ms",
        values: rounds.map((round) => round.elapsedMs),
        eachUs: { values: rounds.flatMap((round) => round.cpuUs ?? []) },
        target: { kind: "most", value: work.most },
        renders: `${work.name}, another one each time`,
        note: "from the create to its end, one task after the other; service on all cores",
      }),
    );
  }
  return measurements;
};

/** Figures of one task, on average. */
interface Round {
  readonly elapsedMs: number;
  readonly cpuUs: number | undefined;
}

async function runRound(service: Service, work: Work, count: number, nextSeed: () => number): Promise<Round> {
  const before = cpuMs(service.pid);
  const startedAt = performance.now();
  for (let i = 0; i < count; i++) {
    const prompt = PROMPTS[i % PROMPTS.length];
    const body = { ...work.body, prompt, seed: nextSeed(), sandbox: { delay_ms: 0 } };
    const task = await createTask(service, body);
    const status = await readStatus(service, task, 60, work.kind);
    if (status !== "completed") throw new Error(`${task} is ${status} instead of completed.`);
  }
  const elapsedMs = (performance.now() - startedAt) / count;
  const after = cpuMs(service.pid);
  const cpuUs = before === undefined || after === undefined ? undefined : ((after - before) / count) * 1000;
  return { elapsedMs, cpuUs };
}
