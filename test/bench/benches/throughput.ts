import { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { join } from "node:path";
import { requestText } from "../load/plan.ts";
import { cpuMs, writtenBytes } from "../run/process.ts";
import { type Measurement, measurement } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import { copyDataFolder, type Service, startService, TINY } from "../run/service.ts";
import type { Bench, BenchContext } from "./bench.ts";

/** The second draws what a request without a size gets. */
const PICTURES = [
  { size: "1x1", name: "1×1", tasks: 600, target: { kind: "least", value: 1_500 } },
  { size: "1024x1024", name: "1024×1024", tasks: 60, target: undefined },
] as const;
type Picture = (typeof PICTURES)[number];
const CLIENTS = 8;
const FINISHED_WITHIN_MS = 120_000;

/** Whole tasks: create, submit, draw a PNG (the larger one is polled for), store the file, settle. The service has all cores. */
export const throughput: Bench = async (context) => {
  await using resources = new Resources();
  const folder = copyDataFolder(context.folder, join(context.workspace, "svc"));
  const service = await resources.open(startService(folder, { core: "any" }));
  const measurements: Measurement[] = [];
  for (const picture of PICTURES) {
    await runRound(context, service, picture);
    const rounds: Round[] = [];
    for (let round = 0; round < context.rounds; round++)
      rounds.push(await runRound(context, service, picture));
    measurements.push(...linesOf(picture, rounds));
  }
  return measurements;
};

function linesOf({ name, target }: Picture, rounds: readonly Round[]): Measurement[] {
  const of = (figure: (round: Round) => number | undefined) =>
    rounds.map(figure).filter((value) => value !== undefined);
  const tasks = `whole tasks of ${name} pictures`;
  return [
    measurement({
      name: `${tasks}, zero-delay sandbox`,
      unit: "tasks/s",
      values: of((round) => round.perSecond),
      eachUs: { values: of((round) => round.cpuUs) },
      target,
      renders: `the same ${name} PNG each time`,
      note: "from the first created_at to the last completed_at; service on all cores",
    }),
    measurement({
      name: `  ${tasks}: sent to the disk by each`,
      unit: "KB",
      values: of((round) => round.writtenKb),
    }),
    measurement({
      name: `  ${tasks}: kept in the database by each`,
      unit: "KB",
      values: of((round) => round.keptKb),
    }),
  ].filter(({ figure }) => figure.rounds > 0);
}

/** Figures of one task, on average. */
interface Round {
  readonly perSecond: number;
  readonly cpuUs: number | undefined;
  readonly writtenKb: number | undefined;
  readonly keptKb: number;
}

async function runRound(context: BenchContext, service: Service, picture: Picture): Promise<Round> {
  const count = context.scaled(picture.tasks);
  const before = usage(service);
  const since = Date.now();
  await context.load.run({
    port: service.port,
    connections: CLIENTS,
    requests: [creating(service.folder.unlimitedKey, picture)],
    until: { kind: "responses", count },
  });
  const seconds = await untilFinished(service, since, count);
  const after = usage(service);
  const each = (from?: number, to?: number) =>
    from === undefined || to === undefined ? undefined : (to - from) / count;
  const cpuMs = each(before.cpu, after.cpu);
  const written = each(before.written, after.written);
  return {
    perSecond: count / seconds,
    cpuUs: cpuMs === undefined ? undefined : cpuMs * 1000,
    writtenKb: written === undefined ? undefined : written / 1000,
    keptKb: (after.kept - before.kept) / count / 1000,
  };
}

function usage(service: Service) {
  return {
    cpu: cpuMs(service.pid),
    written: writtenBytes(service.pid),
    kept: statSync(service.folder.database).size,
  };
}

/** @returns seconds from the first creation to the last completion */
async function untilFinished(service: Service, since: number, count: number): Promise<number> {
  using db = new Database(service.folder.database, { readonly: true });
  const select = db.query<{ finished: number; seconds: number }, [number]>(
    `select count(*) as finished, (max(completed_at) - min(created_at)) / 1000.0 as seconds
     from task where status = 'completed' and created_at >= ?`,
  );
  const deadline = Date.now() + FINISHED_WITHIN_MS;
  for (;;) {
    const row = select.get(since);
    if (row !== null && row.finished >= count) return row.seconds;
    if (Date.now() > deadline) throw new Error(`Only ${row?.finished} of ${count} tasks were completed.`);
    await Bun.sleep(50);
  }
}

function creating(key: string, { size }: Picture): string {
  return requestText({
    method: "POST",
    path: "/v1/images/generations",
    headers: { Authorization: `Bearer ${key}` },
    body: JSON.stringify({ ...TINY, size }),
  });
}
