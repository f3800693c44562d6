import { copyFinished } from "../run/finished-tasks.ts";
import { onCore, track } from "../run/process.ts";
import { type Measurement, measurement } from "../run/report.ts";
import { seedFinishedTasks } from "../run/seed.ts";
import type { DataFolder } from "../run/service.ts";
import type { Bench } from "./bench.ts";

const TASKS = 1_000_000;
const NEW_TASKS = 1_000;
const MOST_MS = 8_000;

/** How long `svc audit` takes over a million finished tasks: all of them, and when an audit has verified all but the last thousand. */
export const audits: Bench = async (context) => {
  const count = context.scaled(TASKS);
  const { folder } = copyFinished(context, { count, name: "audited" });
  const { template } = context;
  // The first one has the file read from the disk, and seals what is right.
  await audit(folder);
  seedFinishedTasks(folder.database, { template, count: NEW_TASKS, sample: 1 });
  const audited: Record<"full" | "checksums" | "new", Audited[]> = { full: [], checksums: [], new: [] };
  for (let round = 0; round < context.rounds; round++) {
    audited.full.push(await audit(folder, "--full"));
    audited.checksums.push(await audit(folder));
    audited.new.push(await audit(folder, "--new"));
  }
  const name = `svc audit, ${count.toLocaleString("en")} finished tasks`;
  const target = { kind: "most", value: (MOST_MS * count) / TASKS } as const;
  const lines = (label: string, values: readonly Audited[]): Measurement[] => [
    measurement({
      name: `${name}${label}`,
      unit: "ms",
      values: values.map(({ lastedMs }) => lastedMs),
      target,
    }),
    measurement({
      name: `${name}${label}, processor time`,
      unit: "ms",
      values: values.map(({ cpuMs }) => cpuMs),
      target,
    }),
  ];
  return [
    ...lines("", audited.full),
    ...lines(`, and ${NEW_TASKS.toLocaleString("en")} since they were verified`, audited.checksums),
    ...lines(", of which only new ones are read", audited.new),
  ];
};

interface Audited {
  readonly lastedMs: number;
  readonly cpuMs: number;
}

/** @throws Error unless the books add up */
async function audit({ build, path }: DataFolder, ...flags: readonly string[]): Promise<Audited> {
  const startedAt = performance.now();
  const command = [build.executable, "audit", "--data-dir", path, "--field", "adds_up", ...flags];
  const child = track(
    Bun.spawn(onCore("server", command), { stdin: "ignore", stdout: "pipe", stderr: "inherit" }),
  );
  const text = await child.stdout.text();
  await child.exited;
  const lastedMs = performance.now() - startedAt;
  if (text.trim() !== "true") throw new Error(`The books that were seeded do not add up: ${text}`);
  return { lastedMs, cpuMs: Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1_000 };
}
