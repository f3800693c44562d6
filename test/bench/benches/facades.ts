import { join } from "node:path";
import { requestText } from "../load/plan.ts";
import { measureRate, type RateSubject, rateMeasurement } from "../run/rate.ts";
import type { Measurement } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import { seedFinishedTasks } from "../run/seed.ts";
import { copyDataFolder, holdSlot, ORDINARY, startService } from "../run/service.ts";
import { interleave } from "../run/statistics.ts";
import { type Bench, type BenchContext, CLIENTS } from "./bench.ts";

const CREATES = 6_000;
const READS = 20_000;
const FINISHED = 1_000;

/** How one API is asked for the same. */
interface Api {
  readonly name: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly answer?: RateSubject["answer"];
}

const { model, prompt } = ORDINARY;

/** Creates that wait for nothing, the service's own way first. */
const IMAGES: readonly Api[] = [
  { name: "native", path: "/v1/images/generations", body: ORDINARY },
  { name: "fal", path: `/fal/queue/svc/${model}`, body: { prompt } },
  {
    name: "Replicate",
    path: `/replicate/v1/models/svc/${model}/predictions`,
    body: { input: { prompt } },
    answer: { status: 201, hasBody: true },
  },
];
const VIDEOS: readonly Api[] = [
  { name: "native", path: "/v1/videos/generations", body: { model: "sandbox-video", prompt } },
  { name: "OpenAI videos", path: "/compat/v1/videos", body: { model: "sandbox-video", prompt } },
  {
    name: "Gemini",
    path: "/gemini/v1beta/models/sandbox-video:predictLongRunning",
    body: { instances: [{ prompt }] },
  },
];

/** Where each API tells of a finished picture. */
const READINGS: readonly (Pick<Api, "name" | "answer"> & { readonly pathOf: (task: string) => string })[] = [
  { name: "native", pathOf: (task) => `/v1/images/status/${task}` },
  { name: "fal", pathOf: (task) => `/fal/queue/svc/${model}/requests/${task}/status` },
  { name: "Replicate", pathOf: (task) => `/replicate/v1/predictions/${task}` },
  { name: "Gemini", pathOf: (task) => `/gemini/v1beta/operations/${task}` },
];

/** The APIs of others beside this service's own: creates while the only slot is taken, and reads of finished tasks. */
export const facades: Bench = async (context) => {
  await using resources = new Resources();
  return [
    ...(await createsOf(context, resources, "picture", IMAGES)),
    ...(await createsOf(context, resources, "video", VIDEOS)),
    ...(await readsOf(context, resources)),
  ];
};

async function createsOf(
  context: BenchContext,
  resources: Resources,
  kind: string,
  apis: readonly Api[],
): Promise<Measurement[]> {
  const authorization = { Authorization: `Bearer ${context.folder.unlimitedKey}` };
  const subjects: Record<string, RateSubject> = {};
  for (const { name, path, body, answer } of apis) {
    const folder = copyDataFolder(context.folder, join(context.workspace, `${kind}-${name}`));
    const server = await resources.open(startService(folder, { concurrency: 1 }));
    await holdSlot(server);
    const request = requestText({ method: "POST", path, headers: authorization, body: JSON.stringify(body) });
    subjects[name] = { server, requests: [request], connections: CLIENTS, ...(answer && { answer }) };
  }
  return besideNative(context, `creates of a ${kind}`, subjects, CREATES);
}

async function readsOf(context: BenchContext, resources: Resources): Promise<Measurement[]> {
  const { template, workspace } = context;
  const folder = copyDataFolder(context.folder, join(workspace, "reads"));
  const tasks = seedFinishedTasks(folder.database, { template, count: FINISHED, sample: FINISHED });
  const server = await resources.open(startService(folder));
  const headers = { Authorization: `Bearer ${folder.unlimitedKey}` };
  const subjects = Object.fromEntries(
    READINGS.map(({ name, pathOf, answer }) => {
      const requests = tasks.map((task) => requestText({ method: "GET", path: pathOf(task), headers }));
      return [name, { server, requests, connections: CLIENTS, ...(answer && { answer }) }];
    }),
  );
  return besideNative(context, "reads of a finished picture", subjects, READS);
}

async function besideNative(
  context: BenchContext,
  what: string,
  subjects: Readonly<Record<string, RateSubject>>,
  perRound: number,
): Promise<Measurement[]> {
  const count = context.scaled(perRound);
  for (const subject of Object.values(subjects)) await measureRate(context.load, subject, count);
  const { native, ...others } = await interleave(
    context.rounds,
    Object.fromEntries(
      Object.entries(subjects).map(([name, subject]) => [
        name,
        () => measureRate(context.load, subject, count),
      ]),
    ),
  );
  if (native === undefined) throw new Error(`${what}: nothing was measured.`);
  const baseline = { name: "the service's own API", rates: native };
  return Object.entries(others).map(([name, rates]) =>
    rateMeasurement(`${what}, ${name}`, rates, baseline, { target: { kind: "leastRatio", value: 0.95 } }),
  );
}
