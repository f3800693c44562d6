import { join } from "node:path";
import { requestText } from "../load/plan.ts";
import { measureCosts, type RateSubject } from "../run/rate.ts";
import { type Measurement, measurement } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import { seedFinishedTasks } from "../run/seed.ts";
import {
  copyDataFolder,
  createTask,
  type DataFolder,
  holdSlot,
  ORDINARY,
  readStatus,
  type Service,
  startService,
} from "../run/service.ts";
import { type Bench, type BenchContext, CLIENTS } from "./bench.ts";

const CREATES = 2_000;
const READS = 2_000;
/** Of each API in turns, also in a quick run: as long as compiling goes on, it is counted with whoever has the turn. */
const WARM_UP = 24_000;
/** A ratio of two APIs differs by a tenth from one round to the next. */
const ROUNDS_EACH = 3;
const FINISHED = 1_000;
/** What asking by another API may cost beside asking by the service's own. */
const MOST = 1.05;

type Answer = RateSubject["answer"];

/** How one API is asked to make something. */
interface Create {
  readonly name: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly answer?: Answer;
}

/** Where one API tells of a task. */
interface Reading {
  readonly name: string;
  readonly pathOf: (task: string) => string;
  /** Before the task has ended. */
  readonly answerWaiting?: Answer;
}

const { model, prompt } = ORDINARY;
const VIDEO = { model: "sandbox-video", prompt } as const;

/** Creates that wait for nothing, the service's own way first. */
const PICTURES: readonly Create[] = [
  { name: "native", path: "/v1/images/generations", body: ORDINARY },
  { name: "fal", path: `/fal/queue/svc/${model}`, body: { prompt } },
  {
    name: "Replicate",
    path: `/replicate/v1/models/svc/${model}/predictions`,
    body: { input: { prompt } },
    answer: { status: 201, hasBody: true },
  },
];
const FILMS: readonly Create[] = [
  { name: "native", path: "/v1/videos/generations", body: VIDEO },
  { name: "OpenAI videos", path: "/compat/v1/videos", body: VIDEO },
  {
    name: "Gemini",
    path: "/gemini/v1beta/models/sandbox-video:predictLongRunning",
    body: { instances: [{ prompt }] },
  },
];

const OF_PICTURES: readonly Reading[] = [
  { name: "native", pathOf: (task) => `/v1/images/status/${task}` },
  {
    name: "fal",
    pathOf: (task) => `/fal/queue/svc/${model}/requests/${task}/status`,
    answerWaiting: { status: 202, hasBody: true },
  },
  { name: "Replicate", pathOf: (task) => `/replicate/v1/predictions/${task}` },
];
const OF_FILMS: readonly Reading[] = [
  { name: "native", pathOf: (task) => `/v1/videos/status/${task}` },
  { name: "OpenAI videos", pathOf: (task) => `/compat/v1/videos/${task}` },
  { name: "Gemini", pathOf: (task) => `/gemini/v1beta/models/sandbox-video/operations/${task}` },
];

/** The APIs of others beside this service's own: creates while the only slot is taken, and reads of what waits and what has ended. */
export const facades: Bench = async (context) => {
  await using resources = new Resources();
  return [...(await whileWaiting(context, resources)), ...(await onceEnded(context, resources))];
};

async function whileWaiting(context: BenchContext, resources: Resources): Promise<Measurement[]> {
  const folder = copyDataFolder(context.folder, join(context.workspace, "creates"));
  const server = await resources.open(startService(folder, { concurrency: 1 }));
  const slot = await holdSlot(server);
  const waiting = await Promise.all(Array.from({ length: 100 }, () => createTask(server, ORDINARY)));
  const lines = [
    ...(await besideNative(
      context,
      "reads of a waiting picture",
      readings(server, OF_PICTURES, waiting, true),
      READS,
    )),
    ...(await besideNative(context, "creates of a picture", creates(server, PICTURES), CREATES)),
    ...(await besideNative(context, "creates of a video", creates(server, FILMS), CREATES)),
  ];
  await slot.requireHeld();
  return lines;
}

async function onceEnded(context: BenchContext, resources: Resources): Promise<Measurement[]> {
  const { template, workspace } = context;
  const folder = copyDataFolder(context.folder, join(workspace, "reads"));
  const film = await makeFilm(folder);
  const [pictures, films] = [template, film].map((each) =>
    seedFinishedTasks(folder.database, { template: each, count: FINISHED, sample: FINISHED }),
  );
  const server = await resources.open(startService(folder));
  return [
    ...(await besideNative(
      context,
      "reads of a finished picture",
      readings(server, OF_PICTURES, pictures),
      READS,
    )),
    ...(await besideNative(context, "reads of a finished video", readings(server, OF_FILMS, films), READS)),
  ];
}

async function makeFilm(folder: DataFolder): Promise<string> {
  const server = await startService(folder);
  try {
    const task = await createTask(server, { ...VIDEO, sandbox: { delay_ms: 0 } });
    const status = await readStatus(server, task, 60, "videos");
    if (status !== "completed") throw new Error(`A first video is ${status} instead of completed.`);
    return task;
  } finally {
    await server.stop();
  }
}

const headersFor = ({ folder }: Service) => ({ Authorization: `Bearer ${folder.unlimitedKey}` });

function creates(server: Service, apis: readonly Create[]): Record<string, RateSubject> {
  return Object.fromEntries(
    apis.map(({ name, path, body, answer }) => {
      const text = requestText({
        method: "POST",
        path,
        headers: headersFor(server),
        body: JSON.stringify(body),
      });
      return [name, { server, requests: [text], connections: CLIENTS, ...(answer && { answer }) }];
    }),
  );
}

function readings(
  server: Service,
  apis: readonly Reading[],
  tasks: readonly string[] = [],
  areWaiting = false,
): Record<string, RateSubject> {
  return Object.fromEntries(
    apis.map(({ name, pathOf, answerWaiting }) => {
      const requests = tasks.map((task) =>
        requestText({ method: "GET", path: pathOf(task), headers: headersFor(server) }),
      );
      const answer = areWaiting ? answerWaiting : undefined;
      return [name, { server, requests, connections: CLIENTS, ...(answer && { answer }) }];
    }),
  );
}

/**
 * One server answers all of them, in turns. What counts is its processor time: how long its disk takes, and for how long others have
 * the core, is the same for every API.
 */
async function besideNative(
  context: BenchContext,
  what: string,
  subjects: Readonly<Record<string, RateSubject>>,
  count: number,
): Promise<Measurement[]> {
  const { load, rounds, scaled } = context;
  await measureCosts(load, subjects, { rounds: 1, count: WARM_UP });
  const { native = [], ...others } = await measureCosts(load, subjects, {
    rounds: rounds * ROUNDS_EACH,
    count: scaled(count),
  });
  const baseline = { name: "the service's own API", values: native };
  return Object.entries(others).map(([name, values]) =>
    measurement({
      name: `${what}, ${name}`,
      unit: "µs",
      values,
      baseline,
      target: { kind: "mostRatio", value: MOST },
    }),
  );
}
