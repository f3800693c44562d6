import { type Bench, type Case, describe, endsAs, isPaid, make, must, Skip } from "./bench.ts";
import { BEGINS } from "./engine.ts";
import type { Restarts } from "./families.ts";
import type { Ended } from "./service.ts";

/** Takes the engine some seconds. */
const SLOW = "256x256";
/** Needs more memory than it is given where that runs out; loading a model of 250 MB does not. */
const LARGE = "1024x1024";
const LITTLE_KB = 1_200_000;
/** Longer than asking for a picture takes, so that the next one lies behind it. */
const BEHIND_MS = 300;

/** What becomes of tasks that are cancelled, and of those during which one side dies. */
export const TROUBLE_CASES: readonly Case[] = [
  { name: "cancel while queued", needsOwn: true, run: cancelsQueued },
  { name: "cancel while it is made", needsOwn: true, run: cancelsRunning },
  { name: "engine killed in mid-picture", needsOwn: true, run: (bench) => killsEngine(bench, "charged") },
  { name: "the same, restarts: safe", needsOwn: true, run: (bench) => killsEngine(bench, "safe") },
  { name: "engine killed while it loads", needsOwn: true, run: killsLoading },
  { name: "svc killed in mid-picture", needsOwn: true, run: (bench) => killsService(bench, "charged") },
  { name: "svc killed, restarts: safe", needsOwn: true, run: (bench) => killsService(bench, "safe") },
  { name: "out of memory", needsOwn: true, run: runsOutOfMemory },
  {
    name: "audit",
    async run({ service }) {
      const found = await service.audit();
      must(found === undefined, found ?? "");
      return "the books add up";
    },
  },
];

const times = (count: number) => (count === 1 ? "once" : `${count} times`);

/** Asks for a picture that takes long, and waits until the engine makes it. */
async function begin({ service, engine }: Bench, prompt = "A slow fox"): Promise<string> {
  const mark = engine.mark();
  const id = await service.ask({ prompt, size: SLOW });
  await engine.said(BEGINS, mark);
  return id;
}

/** Asks for a picture that waits in the engine's queue. */
async function queue({ service }: Bench): Promise<string> {
  const id = await service.ask({ prompt: "Queued", size: "64x64" });
  await service.api.underWay(id);
  await Bun.sleep(BEHIND_MS);
  return id;
}

const cancel = (bench: Bench, id: string) =>
  bench.service.api.send(`/v1/tasks/${id}/cancel`, { method: "POST" });

async function cancelsQueued(bench: Bench): Promise<string> {
  const { service, engine } = bench;
  const [mark, before] = [engine.mark(), await service.money()];
  const first = await begin(bench);
  const second = await queue(bench);
  const { status } = await cancel(bench, second);
  must(status === 200, `the cancel was answered ${status}`);
  const tasks = [await service.end(first), await service.end(second)] as const;
  endsAs(tasks[0], "completed");
  must(tasks[1].status === "cancelled" || tasks[1].status === "completed", describe(tasks[1]));
  await isPaid(service, before.charged, tasks);
  // What is still in the engine's queue would be taken for a later case's.
  const after = await make(bench, { prompt: "After", size: "64x64" });
  endsAs(after, "completed");
  return `${tasks[1].status}; the engine made ${engine.begun(mark) - 2} of it`;
}

async function cancelsRunning(bench: Bench): Promise<string> {
  const { service } = bench;
  const before = await service.money();
  const id = await begin(bench);
  const { status } = await cancel(bench, id);
  must(status === 200, `the cancel was answered ${status}`);
  const task = await service.end(id);
  must(task.status === "cancelled" || task.status === "completed", describe(task));
  await isPaid(service, before.charged, [task]);
  endsAs(await make(bench, { prompt: "After", size: "64x64" }), "completed");
  return `${describe(task)}, ${task.costMicros} micros`;
}

/** One picture is being made, and one waits in the engine's queue, which dies with it. */
async function killsEngine(bench: Bench, restarts: Restarts): Promise<string> {
  const { service, engine, family } = bench;
  await service.restart(restarts);
  const [mark, before] = [engine.mark(), await service.money()];
  const ids = [await begin(bench), await queue(bench)];
  await engine.kill();
  engine.spawn();
  await engine.ready();
  const tasks: Ended[] = [];
  for (const id of ids) tasks.push(await service.end(id));
  for (const task of tasks) endsAs(task, restarts === "safe" ? "completed" : family.afterEngine);
  await isPaid(service, before.charged, tasks);
  const begun = engine.begun(mark);
  must(begun === (restarts === "safe" ? 3 : 1), `the engine began ${begun} times`);
  const [made, queued] = tasks.map(describe);
  return `made: ${made}; queued: ${queued}; begun ${times(begun)}`;
}

async function killsLoading(bench: Bench): Promise<string> {
  const { service, engine } = bench;
  await service.restart("safe");
  const [mark, before] = [engine.mark(), await service.money()];
  await engine.kill();
  const id = await service.ask({ prompt: "A red fox", size: "64x64" });
  engine.spawn();
  await engine.said(/loading/i, mark);
  await engine.kill();
  engine.spawn();
  await engine.ready();
  const task = await service.end(id);
  endsAs(task, "completed");
  await isPaid(service, before.charged, [task]);
  must(engine.begun(mark) === 1, `it was begun ${engine.begun(mark)} times`);
  return `${describe(task)}; begun once`;
}

async function killsService(bench: Bench, restarts: Restarts): Promise<string> {
  const { service, engine, family } = bench;
  await service.restart(restarts);
  const [mark, before] = [engine.mark(), await service.money()];
  const id = await begin(bench);
  await service.api.underWay(id);
  await service.kill();
  await service.restart(restarts);
  const task = await service.end(id);
  endsAs(task, restarts === "safe" ? "completed" : family.afterService);
  await isPaid(service, before.charged, [task]);
  // The engine goes on with what nobody waits for; what comes next lies behind it.
  endsAs(await make(bench, { prompt: "After", size: "64x64" }), "completed");
  const begun = engine.begun(mark) - 1;
  const isOnce = restarts === "charged" || family.afterService === "completed";
  must(begun === (isOnce ? 1 : 2), `it was begun ${begun} times`);
  return `${describe(task)}; begun ${times(begun)}`;
}

async function runsOutOfMemory(bench: Bench): Promise<string> {
  const { service, engine } = bench;
  await service.restart("charged");
  await engine.kill();
  engine.spawn(LITTLE_KB);
  const mark = engine.mark();
  try {
    await engine.ready().catch(() => {
      throw new Skip(`the engine does not load its model in ${LITTLE_KB} KB`);
    });
    const task = await make(bench, { prompt: "A large fox", size: LARGE });
    must(task.status === "failed" && task.code !== "OUTCOME_UNKNOWN", describe(task));
    return `${describe(task)}; tried ${times(engine.begun(mark))}`;
  } finally {
    await engine.kill();
    engine.spawn();
    await engine.ready();
  }
}
