import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { freePort, type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { type FalJob, type FalQueue, startFalQueue } from "./support/fal-queue.ts";

setDefaultTimeout(60_000);

const BODY = { model: "flux-schnell", prompt: "a lighthouse" };

let queue: FalQueue;
let server: Server;
let api: Api;

beforeAll(async () => {
  queue = await startFalQueue();
  const port = freePort();
  server = await startServer({
    port,
    env: { FAL_KEY: "id:secret", SVC_PROVIDERS_FAL_BASE_URL: queue.upstream.origin },
    args: ["--no-sandbox", "--public-url", `http://127.0.0.1:${port}`, "--log-level", "debug"],
  });
  api = createApi(server.url, server.firstKey());
});
afterAll(async () => {
  await stopServers();
  queue.stop();
});

/** A task whose job fal has, and makes until the test says otherwise. */
async function begin(): Promise<{ id: string; job: FalJob; hook: string }> {
  const before = queue.jobs.length;
  const id = await api.accept(BODY);
  await queue.submitted(before + 1);
  const job = queue.jobs.at(-1);
  if (job?.hook === undefined) throw new Error("fal was told of no address.");
  return { id, job, hook: job.hook };
}

/** Has the job done, its provider call, and the task end. */
async function finish({ id, job, hook }: Awaited<ReturnType<typeof begin>>): Promise<void> {
  job.isDone = true;
  const answer = await call(hook);
  expect([answer.status, await answer.text()]).toEqual([200, "{}"]);
  expect((await api.wait(id)).status).toBe("completed");
}

const call = (url: string, init: RequestInit = {}) =>
  fetch(url, { method: "POST", body: '{"status":"OK"}', keepalive: false, ...init });

test("a job whose provider calls is asked after by that one question, and its task is done", async () => {
  const begun = await begin();
  expect(begun.hook).toMatch(new RegExp(`^${server.url}/hooks/[0-9a-z]{26}-[\\w-]{43}$`));
  await finish(begun);
  expect(begun.job.polls).toBe(1);
});

test("what a call says is not believed, and calls sent again ask no more than once a second", async () => {
  const { id, job, hook } = await begin();
  const calls = Array.from({ length: 50 }, () => call(hook, { body: '{"status":"ERROR","error":"x"}' }));
  for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
  expect((await api.wait(id, "image", 0.01)).status).toBe("processing");
  job.isDone = true;
  expect((await api.wait(id)).status).toBe("completed");
  // The first one at once, and one a second later for those that came after it.
  expect(job.polls).toBeLessThanOrEqual(2);
  const { polls } = job;
  expect((await call(hook)).status).toBe(200);
  await finish(await begin());
  expect(job.polls).toBe(polls);
});

test("forged addresses, other methods and bodies beyond the limit ask nothing", async () => {
  const begun = await begin();
  const { job, hook } = begun;
  const [, attempt = "", signature = ""] = /\/hooks\/(\w{26})-(.+)$/.exec(hook) ?? [];
  const at = (token: string) => `${server.url}/hooks/${token}`;
  const other = `${attempt.slice(0, -1)}${attempt.endsWith("0") ? "1" : "0"}`;
  const wrong = `${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`;
  const forged = [at(`${attempt}-${wrong}`), at(`${other}-${signature}`), at(attempt), at("x")];
  const answers = await Promise.all(forged.map((url) => call(url)));
  const told = await Promise.all(answers.map(async (each) => [each.status, await each.text()]));
  expect(told.every(([status]) => status === 404)).toBe(true);
  expect(new Set(told.map(([, text]) => text)).size).toBe(1);
  const get = await call(hook, { method: "GET", body: null });
  expect([get.status, get.headers.get("allow")]).toEqual([405, "POST"]);
  expect((await call(hook, { body: "x".repeat(64 * 1024 + 1) })).status).toBe(413);
  const challenge = await call(hook, { body: '{"challenge":"1024"}' });
  expect(await challenge.json()).toEqual({ challenge: "1024" });
  expect(job.polls).toBe(0);
  await finish(begun);
  expect(job.polls).toBe(1);
});

test("the log tells of calls, and of no address", async () => {
  const { job, hook } = await begin();
  job.isDone = true;
  await call(hook);
  await call(hook, { method: "GET", body: null });
  await call(`${hook}x`);
  await server.says(/"path":"\/hooks\/:token","status":405/);
  const token = hook.split("/").at(-1) ?? "";
  expect(server.stdout() + server.stderr()).not.toContain(token.slice(27));
});

test("without a public address, or where the operator wants none, providers are told of no address", async () => {
  for (const args of [[], ["--public-url", "https://svc.example.com", "--no-hooks"]]) {
    const other = await startServer({
      env: { FAL_KEY: "id:secret", SVC_PROVIDERS_FAL_BASE_URL: queue.upstream.origin },
      args: ["--no-sandbox", ...args],
    });
    const before = queue.jobs.length;
    await createApi(other.url, other.firstKey()).accept(BODY);
    await queue.submitted(before + 1);
    expect(queue.jobs.at(-1)?.hook).toBeUndefined();
    await other.stop();
  }
});
