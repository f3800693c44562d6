import { Database } from "bun:sqlite";
import { join } from "node:path";
import { requestText } from "../load/plan.ts";
import { memoryMb, ownCpuUs } from "../run/process.ts";
import { type Measurement, measurement } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import { copyDataFolder, ORDINARY, type Service, startService } from "../run/service.ts";
import { type Bench, type BenchContext, CLIENTS } from "./bench.ts";

const SOME = 2_000;
const MANY = 10_000;
/** Longer than the bench takes. Until then the upstream wants to be asked nothing. */
const UNDER_WAY_MS = 280_000;
const SETTLE_MS = 3_000;
/** What making the tasks has left is collected within ten seconds; then there is what waiting tasks hold. */
const COLLECTED_MS = 20_000;
const WINDOW_MS = 10_000;
const STARTED_WITHIN_MS = 60_000;

const SHARE_NOTE =
  "processor time while nobody asks anything and no poll is due, less that of the same service without tasks; served from source, beside an instant upstream";

/** Drawn at once, whenever it is asked for: another size would have the sandbox draw, which takes memory of its own. */
const WAITING = { ...ORDINARY, size: "1x1", sandbox: { delay_ms: UNDER_WAY_MS } };

/** What tasks cost that only wait for their upstream: processor time, and memory. */
export const underWay: Bench = async (context) => {
  const costs: number[] = [];
  const memory: Held[] = [];
  for (let round = 0; round < Math.min(3, context.rounds); round++) {
    const cost = await costOfSome(context, `share-${round}`);
    if (cost === undefined) return [];
    costs.push(cost);
    memory.push(await memoryOfMany(context, `memory-${round}`));
  }
  return linesOf(costs, memory);
};

async function costOfSome(context: BenchContext, name: string): Promise<number | undefined> {
  await using resources = new Resources();
  const folder = copyDataFolder(context.folder, join(context.workspace, name));
  const service = await resources.open(startService(folder, { isInstant: true, concurrency: SOME }));
  const idle = await share(service);
  await fill(context, service, SOME);
  const withSome = await share(service);
  requireUnderWay(service, SOME);
  return idle === undefined || withSome === undefined ? undefined : withSome - idle;
}

interface Held {
  readonly before: number;
  readonly atOnce: number;
  readonly later: number;
}

async function memoryOfMany(context: BenchContext, name: string): Promise<Held> {
  await using resources = new Resources();
  const folder = copyDataFolder(context.folder, join(context.workspace, name));
  // The sandbox takes fewer unless it is told.
  const env = { SVC_SANDBOX_CONCURRENCY: String(MANY) };
  const service = await resources.open(startService(folder, { concurrency: MANY, env }));
  const held = () => memoryMb(service.pid)?.now ?? 0;
  await Bun.sleep(SETTLE_MS);
  const before = held();
  await fill(context, service, MANY);
  const atOnce = held();
  await Bun.sleep(COLLECTED_MS);
  requireUnderWay(service, MANY);
  return { before, atOnce, later: held() };
}

function linesOf(costs: readonly number[], memory: readonly Held[]): Measurement[] {
  const named = (count: number) => `${count.toLocaleString("en")} tasks under way`;
  const baseline = { name: "the same service before", values: memory.map(({ before }) => before) };
  const ofMany = (label: string, values: readonly number[]) =>
    measurement({
      ...{ name: `${named(MANY)}: memory ${label}`, unit: "MB", values, baseline },
      target: { kind: "most", value: 170 },
    });
  return [
    measurement({
      name: `${named(SOME)}: share of a core`,
      unit: "%",
      values: costs,
      target: { kind: "most", value: 1 },
      note: SHARE_NOTE,
    }),
    ofMany(
      "once the last has begun",
      memory.map(({ atOnce }) => atOnce),
    ),
    ofMany(
      "20 seconds later",
      memory.map(({ later }) => later),
    ),
  ];
}

/** The part of a core that the service takes while nothing is asked, in per cent. */
async function share({ pid }: Service): Promise<number | undefined> {
  await Bun.sleep(SETTLE_MS);
  const [before, from] = [ownCpuUs(pid), performance.now()];
  await Bun.sleep(WINDOW_MS);
  const [after, to] = [ownCpuUs(pid), performance.now()];
  if (before === undefined || after === undefined) return undefined;
  return ((after - before) / 1000 / (to - from)) * 100;
}

/** Creates so many tasks more, and waits until their upstream has them all. */
async function fill({ load }: BenchContext, service: Service, count: number): Promise<void> {
  const goal = tasksUnderWay(service) + count;
  const body = JSON.stringify(WAITING);
  const headers = { Authorization: `Bearer ${service.folder.unlimitedKey}` };
  const request = requestText({ method: "POST", path: "/v1/images/generations", headers, body });
  const until = { kind: "responses", count } as const;
  await load.run({ port: service.port, connections: CLIENTS, requests: [request], until });
  const deadline = performance.now() + STARTED_WITHIN_MS;
  while (tasksUnderWay(service) < goal && performance.now() < deadline) await Bun.sleep(50);
  requireUnderWay(service, goal);
}

/** @throws Error unless exactly so many tasks are with their upstream: else what was measured is something else */
function requireUnderWay(service: Service, count: number): void {
  const found = tasksUnderWay(service);
  if (found !== count) throw new Error(`${found} tasks are under way, not ${count}.`);
}

function tasksUnderWay({ folder }: Service): number {
  using db = new Database(folder.database, { readonly: true });
  const found = db.query<{ count: number }, []>("select count(*) as count from task where stage = 'running'");
  return found.get()?.count ?? 0;
}
