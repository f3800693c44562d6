import { UNIQUE } from "../load/plan.ts";
import { copyFinished } from "../run/finished-tasks.ts";
import { measureRate, type RateSubject, rateMeasurement } from "../run/rate.ts";
import { type Measurement, measurement } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import { holdSlot, type Service, SMALLEST, startService } from "../run/service.ts";
import { interleave } from "../run/statistics.ts";
import { type Bench, type BenchContext, CLIENTS } from "./bench.ts";
import { creating } from "./creates.ts";
import { dispatchLatencies, runTasks } from "./dispatches.ts";
import { statusRequest } from "./statuses.ts";

const FULL = 1_000_000;
/** As many in the nearly empty database as the status reads take turns with. */
const NEARLY_EMPTY = 1_000;
const CREATES = 5_000;
const READS = 40_000;
const DISPATCHES = 100;
const SAMPLE = 1_000;

interface Side {
  readonly service: Service;
  readonly tasks: readonly string[];
}

/** The service with a million finished tasks in its database, beside itself with a thousand. */
export const seeded: Bench = async (context) => {
  await using resources = new Resources();
  const open = async (name: string, count: number, concurrency?: number): Promise<Side> => {
    const { folder, tasks } = copyFinished(context, { count, name });
    const service = await resources.open(
      startService(folder, concurrency === undefined ? {} : { concurrency }),
    );
    return { service, tasks: tasks.slice(0, SAMPLE) };
  };
  const many = context.scaled(FULL);
  const dispatching = { empty: await open("empty-idle", NEARLY_EMPTY), full: await open("full-idle", many) };
  const waiting = { empty: await open("empty", NEARLY_EMPTY, 1), full: await open("full", many, 1) };
  const held = [await holdSlot(waiting.empty.service), await holdSlot(waiting.full.service)];
  const measurements = [
    ...(await compareLatency(context, dispatching)),
    await compareRate(context, "status reads", waiting, READS, ({ service, tasks }) =>
      tasks.map((task) => statusRequest(task, service.folder.unlimitedKey)),
    ),
    await compareRate(context, "creates, unlimited account", waiting, CREATES, ({ service }) => [
      creating(service.folder.unlimitedKey),
    ]),
    await compareRate(context, "creates, fresh Idempotency-Key each", waiting, CREATES, ({ service }) => [
      creating(service.folder.unlimitedKey, { "Idempotency-Key": `order-${UNIQUE}` }),
    ]),
  ];
  for (const slot of held) await slot.requireHeld();
  return measurements;
};

const named = ({ scaled }: BenchContext) => `${scaled(FULL).toLocaleString("en-US")} finished tasks`;

async function compareRate(
  context: BenchContext,
  name: string,
  sides: { readonly empty: Side; readonly full: Side },
  perRound: number,
  requestsOf: (side: Side) => readonly string[],
): Promise<Measurement> {
  const subjectOf = (side: Side): RateSubject => ({
    server: side.service,
    requests: requestsOf(side),
    connections: CLIENTS,
  });
  const [empty, full] = [subjectOf(sides.empty), subjectOf(sides.full)];
  for (const subject of [empty, full, empty, full]) await measureRate(context.load, subject, perRound);
  const count = context.scaled(perRound);
  const rates = await interleave(context.rounds, {
    empty: () => measureRate(context.load, empty, count),
    full: () => measureRate(context.load, full, count),
  });
  return rateMeasurement(
    `${name}, ${named(context)}`,
    rates.full,
    { name: "svc with 1,000", rates: rates.empty },
    { target: { kind: "leastRatio", value: 0.9 } },
  );
}

async function compareLatency(
  context: BenchContext,
  sides: { readonly empty: Side; readonly full: Side },
): Promise<Measurement[]> {
  const count = context.scaled(DISPATCHES);
  const running = ({ service }: Side) => {
    return async () => {
      const latencies = dispatchLatencies(service, await runTasks(service, count));
      return latencies.reduce((sum, each) => sum + each, 0) / latencies.length;
    };
  };
  const subjects = { empty: running(sides.empty), full: running(sides.full) };
  await subjects.empty();
  await subjects.full();
  const values = await interleave(context.rounds, subjects);
  return [
    measurement({
      name: `create to dispatch, mean, ${named(context)}`,
      unit: "ms",
      values: values.full,
      baseline: { name: "svc with 1,000", values: values.empty },
      target: { kind: "mostRatio", value: 1.1 },
      renders: SMALLEST,
    }),
  ];
}
