import { copyFinished } from "../run/finished-tasks.ts";
import { onCore, track } from "../run/process.ts";
import { type Measurement, measurement } from "../run/report.ts";
import type { DataFolder } from "../run/service.ts";
import type { Bench } from "./bench.ts";

const TASKS = 1_000_000;
const MOST_MS = 8_000;

/** How long `svc audit` takes over a million finished tasks that nobody has looked at. */
export const audits: Bench = async (context) => {
  const count = context.scaled(TASKS);
  const { folder } = copyFinished(context, { count, name: "audited" });
  const audited: Audited[] = [];
  // The first one has the file read from the disk.
  await audit(folder);
  for (let round = 0; round < context.rounds; round++) audited.push(await audit(folder));
  const name = `svc audit, ${count.toLocaleString("en")} finished tasks`;
  const target = { kind: "most", value: (MOST_MS * count) / TASKS } as const;
  const line = (label: string, values: number[]): Measurement =>
    measurement({ name: `${name}${label}`, unit: "ms", values, target });
  return [
    line(
      "",
      audited.map(({ lastedMs }) => lastedMs),
    ),
    line(
      ", processor time",
      audited.map(({ cpuMs }) => cpuMs),
    ),
  ];
};

interface Audited {
  readonly lastedMs: number;
  readonly cpuMs: number;
}

/** @throws Error unless the books add up */
async function audit({ build, path }: DataFolder): Promise<Audited> {
  const startedAt = performance.now();
  const command = [build.executable, "audit", "--data-dir", path, "--field", "adds_up"];
  const child = track(
    Bun.spawn(onCore("server", command), { stdin: "ignore", stdout: "pipe", stderr: "inherit" }),
  );
  const text = await child.stdout.text();
  await child.exited;
  const lastedMs = performance.now() - startedAt;
  if (text.trim() !== "true") throw new Error(`The books that were seeded do not add up: ${text}`);
  return { lastedMs, cpuMs: Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1_000 };
}
