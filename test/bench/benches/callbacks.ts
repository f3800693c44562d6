import { join } from "node:path";
import type { ReceiverPlan, SenderPlan } from "../baselines/receiver-plan.ts";
import { oweCallbacks, owedNow } from "../run/owed-callbacks.ts";
import { cpuMs, freePorts, onCore, runToEnd, stopProcess, track } from "../run/process.ts";
import { measureRate, type Rate, type RateSubject, rateMeasurement } from "../run/rate.ts";
import type { Measurement } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import { seedFinishedTasks } from "../run/seed.ts";
import { copyDataFolder, type DataFolder, holdSlot, startService } from "../run/service.ts";
import { interleave } from "../run/statistics.ts";
import { type Bench, type BenchContext, CLIENTS } from "./bench.ts";
import { creating } from "./creates.ts";

const OWED = 6_000;
/** To one host, in a second. */
const LEAST = 2_000;
/** Bare POSTs for each callback: so fast that as many would be over before the processes are warm. */
const BARE = 5;
const HOSTS = 16;
/** As many sends at once as the service allows one account to one host, and in all. */
const PER_HOST = 4;
const PER_ACCOUNT = 64;
const HANGING = 1_000;
const CREATES = 8_000;
const RECEIVED_WITHIN_MS = 60_000;

/** A callback as long as those of an image task. */
const BODY = JSON.stringify({
  task_id: "task_01k7z853jkecms2g0ry7n099db",
  request_id: "req_01k7z853jkecms2g0ry7n099db",
  status: "completed",
  result: ["http://127.0.0.1:8080/assets/asset_01k7z853jkecms2g0ry7n099db.png"],
  created_at: "2026-01-01T00:00:00.000Z",
  completed_at: "2026-01-01T00:00:01.000Z",
});

/** Callbacks delivered beside a bare loop of POSTs, and creates while receivers hang. */
export const callbacks: Bench = async (context) => {
  await using resources = new Resources();
  const ports = freePorts(2 * HOSTS);
  const [accepting, hanging] = [ports.slice(0, HOSTS), ports.slice(HOSTS)];
  const receiver = await resources.open(startReceiver({ accepting, hanging }));
  const folder = copyDataFolder(context.folder, join(context.workspace, "seeded"));
  const seed = { template: context.template, count: OWED, sample: OWED };
  const tasks = seedFinishedTasks(folder.database, seed);
  return [
    await compareDeliveries(context, { receiver, folder, tasks, ports: accepting.slice(0, 1) }),
    await compareDeliveries(context, { receiver, folder, tasks, ports: accepting }),
    await compareCreates(context, resources, { folder, tasks: tasks.slice(0, HANGING), ports: hanging }),
  ];
};

interface Owed {
  readonly folder: DataFolder;
  readonly tasks: readonly string[];
  readonly ports: readonly number[];
}

async function compareDeliveries(
  context: BenchContext,
  { receiver, folder, tasks, ports }: Owed & { readonly receiver: Receiver },
): Promise<Measurement> {
  const owed = tasks.slice(0, context.scaled(ports.length === 1 ? OWED / 2 : OWED));
  const connections = Math.min(PER_ACCOUNT, PER_HOST * ports.length);
  let copies = 0;
  const values = await interleave<"service" | "bare", Rate>(context.rounds, {
    service: async () => {
      copies += 1;
      const copy = copyDataFolder(folder, join(context.workspace, `owed-${ports.length}-${copies}`));
      oweCallbacks(copy.database, owed, ports);
      await receiver.anew();
      const service = await startService(copy, { env: { SVC_EGRESS_ALLOW: "127.0.0.0/8" } });
      try {
        // Some were delivered while it was looked whether the service is ready.
        const [rest, before] = [owed.length - (await receiver.count()), cpuMs(service.pid)];
        const perSecond = await receiver.rateOf(owed.length);
        const after = cpuMs(service.pid);
        const isKnown = before !== undefined && after !== undefined && rest > 0;
        return { perSecond, cpuUs: isKnown ? ((after - before) / rest) * 1000 : undefined };
      } finally {
        await service.stop();
      }
    },
    bare: async () => {
      await receiver.anew();
      const count = BARE * owed.length;
      const plan: SenderPlan = { ports, count, connections, body: BODY };
      const sender = join(import.meta.dir, "../baselines/sender.ts");
      await runToEnd(onCore("server", [process.execPath, sender, JSON.stringify(plan)]), {
        cwd: context.workspace,
      });
      return { perSecond: await receiver.rateOf(count), cpuUs: undefined };
    },
  });
  const hosts = ports.length === 1 ? "one host" : `${ports.length} hosts`;
  return rateMeasurement(
    `callbacks delivered to ${hosts}`,
    values.service,
    { name: `bare POSTs, ${connections} at once`, rates: values.bare },
    {
      target: ports.length === 1 ? { kind: "least", value: LEAST } : undefined,
      note: "from the first arrival to the last; each is counted before it leaves and its outcome is recorded, both flushed to the disk",
    },
  );
}

async function compareCreates(
  context: BenchContext,
  resources: Resources,
  { folder, tasks, ports }: Owed,
): Promise<Measurement> {
  const open = async (name: string, owed: readonly string[]) => {
    const copy = copyDataFolder(folder, join(context.workspace, name));
    oweCallbacks(copy.database, owed, ports);
    const env = { SVC_EGRESS_ALLOW: "127.0.0.0/8" };
    const server = await resources.open(startService(copy, { concurrency: 1, env }));
    const requests = [creating(copy.unlimitedKey)];
    const subject: RateSubject = { server, requests, connections: CLIENTS };
    return { subject, slot: await holdSlot(server), owed: owed.length, database: copy.database };
  };
  const sides = { hanging: await open("hanging", tasks), quiet: await open("quiet", []) };
  const measuring =
    ({ subject }: typeof sides.quiet) =>
    () =>
      measureRate(context.load, subject, context.scaled(CREATES));
  for (const side of [sides.hanging, sides.quiet]) await measuring(side)();
  const rates = await interleave(context.rounds, {
    hanging: measuring(sides.hanging),
    quiet: measuring(sides.quiet),
  });
  for (const side of [sides.hanging, sides.quiet]) {
    await side.slot.requireHeld();
    requireOwed(side.database, side.owed);
  }
  return rateMeasurement(
    `creates, ${HANGING.toLocaleString("en")} callbacks to hosts that hang`,
    rates.hanging,
    { name: "svc that owes none", rates: rates.quiet },
    { target: { kind: "leastRatio", value: 0.9 } },
  );
}

/** @throws Error unless so many are still owed, and as many as may be are being sent: else nothing hung */
function requireOwed(database: string, count: number): void {
  const found = owedNow(database);
  const sending = Math.min(PER_ACCOUNT, count);
  if (found.pending !== count || found.sending < sending / 2 || found.sending > sending)
    throw new Error(`Owed are ${JSON.stringify(found)}, not ${count} callbacks; what was measured is void.`);
}

interface Receiver {
  /** How many came. */
  count(): Promise<number>;
  /** Counts from none. */
  anew(): Promise<void>;
  /** Once so many have come: how many came in a second. @throws Error when they don't come */
  rateOf(count: number): Promise<number>;
  stop(): Promise<void>;
}

async function startReceiver(plan: ReceiverPlan): Promise<Receiver> {
  const program = join(import.meta.dir, "../baselines/receiver.ts");
  const child = track(
    Bun.spawn(onCore("client", [process.execPath, program, JSON.stringify(plan)]), {
      stdin: "ignore",
      stdout: "inherit",
      stderr: "inherit",
    }),
  );
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${plan.accepting[0]}${path}`);
    // The receiver is of the same version.
    return (await response.json()) as { count: number; elapsedMs: number };
  };
  const deadline = performance.now() + RECEIVED_WITHIN_MS;
  while ((await ask("/").catch(() => undefined)) === undefined) {
    if (performance.now() > deadline) throw new Error("The receiver does not answer.");
    await Bun.sleep(5);
  }
  return {
    count: async () => (await ask("/")).count,
    anew: async () => void (await ask("/anew")),
    async rateOf(count) {
      const until = performance.now() + RECEIVED_WITHIN_MS;
      for (;;) {
        const got = await ask("/");
        if (got.count > count) throw new Error(`${got.count} callbacks came instead of ${count}.`);
        if (got.count === count) return (count / got.elapsedMs) * 1000;
        if (performance.now() > until) throw new Error(`Only ${got.count} of ${count} callbacks came.`);
        await Bun.sleep(20);
      }
    },
    stop: () => stopProcess(child),
  };
}
