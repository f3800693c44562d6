import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FakeS3, KEYS, startFakeS3 } from "../helpers/fake-s3.ts";
import { freePort } from "../helpers/free-port.ts";
import { emptyFolder, type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi, download } from "./support/api.ts";
import { readDatabase } from "./support/database.ts";
import { decode, plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);
afterEach(stopServers);

/** A model of the front whose tasks go to the instance behind, under another price. */
const MODEL = `
id: house-image
kind: image
name: House image
description: What the other instance draws.
modes:
  - { id: text-to-image, requires: [] }
  - { id: image-to-image, requires: [image] }
schema:
  required: [prompt]
  properties:
    prompt: { type: string, minLength: 1, maxLength: 4000, description: What to draw. }
    size: { type: string, pattern: "^\\\\d+x\\\\d+$", default: 48x32, description: Width and height. }
    n: { type: integer, minimum: 1, maximum: 4, default: 1, description: How many. }
    image_url: { description: An image to draw anew. }
    sandbox: { type: object, description: How it goes. }
media:
  image_url: { role: image, media: image }
price:
  lines:
    - { sku: house-image, unit: output, amount: "0.050000" }
deadline_seconds: 600
routes:
  - { provider: svc, upstream_model: sandbox-image }
`;

const ALLOWED = ["--egress-allow", "127.0.0.1/32"];

const bucketEnv = ({ endpoint, region }: FakeS3) => ({
  SVC_ASSETS_BUCKET: "media",
  SVC_ASSETS_ENDPOINT: endpoint,
  SVC_ASSETS_REGION: region,
  SVC_ASSETS_KEY_ENV: "BUCKET_ID,BUCKET_SECRET",
  BUCKET_ID: KEYS.accessKeyId,
  BUCKET_SECRET: KEYS.secretAccessKey,
});

interface Chain {
  readonly behind: Server;
  readonly front: Server;
  readonly api: Api;
  restartBehind(): Promise<Server>;
  restartFront(): Promise<Server>;
}

function addModel(folder: string, model: string): void {
  mkdirSync(join(folder, "svc-data/models"), { recursive: true });
  writeFileSync(join(folder, "svc-data/models/house-image.yaml"), model);
}

const upstreamEnv = (key: string, url: string) => ({
  SVC_UPSTREAM_API_KEY: key,
  SVC_PROVIDERS_SVC_BASE_URL: url,
});

/**
 * @param isCalled whether the one behind may send callbacks to addresses of this machine
 * @param bucket where the one behind keeps its files, and sends their readers
 */
async function startChain({
  isCalled = true,
  bucket,
}: {
  isCalled?: boolean;
  bucket?: FakeS3;
} = {}): Promise<Chain> {
  const [behindPort, frontPort] = [freePort(), freePort()];
  const behindArgs = [
    ...(isCalled ? ALLOWED : []),
    ...(bucket ? ["--assets-store", "s3", "--assets-serve", "redirect"] : []),
  ];
  const behindEnv = bucket ? bucketEnv(bucket) : {};
  const behind = await startServer({ port: behindPort, args: behindArgs, env: behindEnv });
  const folder = emptyFolder("front");
  addModel(folder, MODEL);
  const env = upstreamEnv(behind.firstKey(), behind.url);
  const args = ["--no-sandbox", "--public-url", `http://127.0.0.1:${frontPort}`, "--log-level", "debug"];
  // The one behind is the operator's own; its bucket is any address.
  if (bucket) args.push(...ALLOWED);
  const startFront = () => startServer({ folder, port: frontPort, env, args });
  const front = await startFront();
  return {
    ...{ behind, front, api: createApi(front.url, front.firstKey()) },
    restartBehind: () =>
      startServer({ folder: behind.folder, port: behindPort, args: behindArgs, env: behindEnv }),
    restartFront: startFront,
  };
}

const BODY = { model: "house-image", prompt: "a lighthouse" };

const tasksOf = ({ dataDir }: Server) =>
  readDatabase<{ model: string; status: string; charged_micros: number }>(
    dataDir,
    "SELECT model, status, charged_micros FROM task ORDER BY id",
  );
const movesOf = ({ dataDir }: Server) =>
  readDatabase<{ kind: string; balance_delta_micros: number }>(
    dataDir,
    "SELECT kind, balance_delta_micros FROM ledger_entry ORDER BY id",
  );
const attemptsOf = ({ dataDir }: Server) =>
  readDatabase<{ state: string; cost_micros: number | null }>(
    dataDir,
    "SELECT state, cost_micros FROM attempt ORDER BY id",
  );

/** One task on either side, paid once by each: at its own price in front, and at cost behind. */
function expectOneOfEach({ behind, front }: Chain): void {
  expect(tasksOf(behind)).toEqual([{ model: "sandbox-image", status: "completed", charged_micros: 10_000 }]);
  expect(tasksOf(front)).toEqual([{ model: "house-image", status: "completed", charged_micros: 50_000 }]);
  expect(movesOf(behind).filter(({ balance_delta_micros: delta }) => delta !== 0)).toEqual([
    { kind: "capture", balance_delta_micros: -10_000 },
  ]);
  expect(movesOf(front).filter(({ balance_delta_micros: delta }) => delta !== 0)).toEqual([
    { kind: "capture", balance_delta_micros: -50_000 },
  ]);
  expect(attemptsOf(front)).toEqual([{ state: "done", cost_micros: 10_000 }]);
}

test("a task is made by the other instance, which calls when it is done, and costs what it charges", async () => {
  const chain = await startChain();
  const id = await chain.api.accept({ ...BODY, sandbox: { delay_ms: 300 } });
  const task = await chain.api.wait(id);
  expect(task).toMatchObject({ status: "completed", usage: { cost: "0.050000" } });
  expect(task.result?.[0]).toStartWith(chain.front.url);
  expect(await decode(await download(task.result?.[0]))).toMatchObject({ width: 48, height: 32 });
  await chain.front.says(/"path":"\/hooks\/:token","status":200/);
  expectOneOfEach(chain);
});

test("an instance that may not be called at such an address makes the task all the same", async () => {
  const chain = await startChain({ isCalled: false });
  const task = await chain.api.make(BODY);
  expect(task.status).toBe("completed");
  expectOneOfEach(chain);
});

test("results are fetched from the bucket to which the other instance sends their readers", async () => {
  const bucket = await startFakeS3();
  try {
    const chain = await startChain({ bucket });
    const task = await chain.api.make(BODY);
    expect(task.status).toBe("completed");
    expect(await decode(await download(task.result?.[0]))).toMatchObject({ width: 48, height: 32 });
    expectOneOfEach(chain);
  } finally {
    await stopServers();
    bucket.stop();
  }
});

test("files, several results, refused content and cancels go through both", async () => {
  const { api, behind } = await startChain();
  const image = `data:image/png;base64,${(await plainImage(64, 32)).toBase64()}`;
  const edited = await api.make({ ...BODY, image_url: image, n: 2 });
  expect([edited.status, edited.result?.length]).toEqual(["completed", 2]);
  const refused = await api.make({ ...BODY, sandbox: { outcome: "moderated" } });
  expect(refused).toMatchObject({
    status: "failed",
    error_code: "CONTENT_MODERATED",
    usage: { cost: "0.000000" },
  });
  const id = await api.accept({ ...BODY, sandbox: { outcome: "hang" } });
  await api.underWay(id);
  await api.send(`/v1/tasks/${id}/cancel`, { method: "POST" });
  expect((await api.wait(id)).status).toBe("cancelled");
  const ends = tasksOf(behind).map(({ status, charged_micros: charged }) => [status, charged]);
  expect(ends).toEqual([
    ["completed", 20_000],
    ["failed", 0],
    ["cancelled", 0],
  ]);
});

test.each(["front", "behind", "both"] as const)(
  "SIGKILL of %s in the middle leaves one task and one charge on either side",
  async (which) => {
    const chain = await startChain();
    const id = await chain.api.accept({ ...BODY, sandbox: { delay_ms: 1_500 } });
    const behind = createApi(chain.behind.url, chain.behind.firstKey());
    let made: string | undefined;
    for (; made === undefined; await Bun.sleep(10))
      made = (await behind.send("/v1/tasks")).data.tasks?.[0]?.task_id;
    const killed = [which !== "behind" && chain.front, which !== "front" && chain.behind].filter(
      (each) => each !== false,
    );
    for (const each of killed) each.signal("SIGKILL");
    for (const each of killed) expect(await each.exited).toBeNull();
    if (which !== "front") await chain.restartBehind();
    if (which !== "behind") await chain.restartFront();
    expect((await chain.api.wait(id)).status).toBe("completed");
    expectOneOfEach(chain);
  },
);

test("a create whose answer is lost to SIGKILL again and again is one task behind", async () => {
  const chain = await startChain();
  let { front } = chain;
  const accepted: string[] = [];
  for (let round = 0; round < 3; round++) {
    accepted.push(await chain.api.accept({ ...BODY, prompt: `round ${round}` }));
    // Wherever the submission is by now.
    front.signal("SIGKILL");
    await front.exited;
    front = await chain.restartFront();
  }
  for (const id of accepted) expect((await chain.api.wait(id)).status).toBe("completed");
  expect(tasksOf(chain.behind).map(({ status }) => status)).toEqual(accepted.map(() => "completed"));
});

test("models of the catalogue that the other instance makes are offered without a line about them", async () => {
  const behind = await startServer({ args: ["--alias", "house=sandbox-image"] });
  const env = upstreamEnv(behind.firstKey(), behind.url);
  const first = await startServer({ env, args: ["--no-sandbox"] });
  await first.says(/the models of this provider are known/);
  const api = createApi(first.url, first.firstKey());
  const listed = async (each: Api) => (await each.send("/v1/models")).data.models?.map(({ id }) => id).sort();
  expect(await listed(api)).toEqual(await listed(createApi(behind.url, behind.firstKey())));
  expect((await api.make({ model: "sandbox-video", prompt: "waves", duration: 1 })).status).toBe("completed");
  // A start that cannot list them keeps tasks of before, and takes new ones, until the other one is back.
  await behind.stop();
  first.signal("SIGKILL");
  await first.exited;
  await startServer({ folder: first.folder, port: first.port, env, args: ["--no-sandbox"] });
  const id = await api.accept({ model: "sandbox-image", prompt: "a fox", size: "16x16" });
  await startServer({ folder: behind.folder, port: behind.port });
  expect((await api.wait(id)).status).toBe("completed");
});

test("a circle of two instances ends, and nothing in it is charged", async () => {
  const ports = [freePort(), freePort()] as const;
  const folders = ports.map(() => emptyFolder("circle"));
  const start = (i: 0 | 1, key?: string) =>
    startServer({
      ...{ folder: folders[i] ?? "", port: ports[i], args: ["--no-sandbox"] },
      env: key === undefined ? {} : upstreamEnv(key, `http://127.0.0.1:${ports[1 - i]}`),
    });
  for (const folder of folders) addModel(folder, MODEL.replace("sandbox-image", "house-image"));
  const first = await start(0);
  const firstKey = first.firstKey();
  await first.stop();
  const second = await start(1, firstKey);
  const again = await start(0, second.firstKey());
  const api = createApi(again.url, firstKey);
  expect(await api.make(BODY)).toMatchObject({ status: "failed", error_code: "LOOP_DETECTED" });
  const all = [again, second].flatMap((each) => tasksOf(each));
  expect(all.map(({ status, charged_micros: charged }) => [status, charged])).toEqual(
    Array.from({ length: 4 }, () => ["failed", 0]),
  );
});
