import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { freePort } from "../helpers/free-port.ts";
import { type Scripted, startUpstream } from "../helpers/scripted-upstream.ts";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { type FalJob, type FalQueue, startFalQueue } from "./support/fal-queue.ts";
import { plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const BODY = { model: "flux-schnell", prompt: "a lighthouse" };

/** Questions that come without a call, while a test is slow: the first one comes after two seconds. */
const UNASKED = 1;

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
  expect(begun.job.polls).toBeLessThanOrEqual(1 + UNASKED);
});

test("what a call says is not believed, and calls sent again ask no more than once a second", async () => {
  const { id, job, hook } = await begin();
  const calls = Array.from({ length: 50 }, () => call(hook, { body: '{"status":"ERROR","error":"x"}' }));
  for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
  expect((await api.wait(id, "image", 0.01)).status).toBe("processing");
  job.isDone = true;
  expect((await api.wait(id)).status).toBe("completed");
  // The first one at once, and one a second later for those that came after it.
  expect(job.polls).toBeLessThanOrEqual(2 + UNASKED);
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
  expect(job.polls).toBeLessThanOrEqual(1 + UNASKED);
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

test("a call with a wrong signature asks nothing, and one that its provider has signed does", async () => {
  const secret = `whsec_${Buffer.from("the secret of this account").toString("base64")}`;
  const asked: string[] = [];
  let hook = "";
  let isDone = false;
  const submitted = Promise.withResolvers<void>();
  const picture = await plainImage(64, 48);
  const upstream = await startUpstream(({ method, path, body }): Scripted => {
    asked.push(`${method} ${path}`);
    if (path.endsWith("/secret")) return { json: { key: secret } };
    if (path.endsWith(".png")) return { headers: { "content-type": "image/png" }, body: picture };
    const job = { id: "p1", error: null };
    if (method === "GET" && isDone)
      return { json: { ...job, status: "succeeded", output: [`${upstream.origin}/1.png`] } };
    if (method === "GET") return { json: { ...job, status: "processing", output: null } };
    hook = (JSON.parse(body.toString()) as { webhook: string }).webhook;
    submitted.resolve();
    return { status: 201, json: { ...job, status: "starting", output: null } };
  });
  const port = freePort();
  const signing = await startServer({
    port,
    env: { REPLICATE_API_TOKEN: "r8_token", SVC_PROVIDERS_REPLICATE_BASE_URL: `${upstream.origin}/v1` },
    args: ["--no-sandbox", "--public-url", `http://127.0.0.1:${port}`],
  });
  const client = createApi(signing.url, signing.firstKey());
  const id = await client.accept(BODY);
  await submitted.promise;
  isDone = true;
  const body = '{"id":"p1","status":"succeeded"}';
  const signed = (text: string) => {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    const signature = new Bun.CryptoHasher("sha256", key).update(`m1.${timestamp}.${text}`).digest("base64");
    return { "webhook-id": "m1", "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
  };
  expect((await call(hook, { body, headers: signed("{}") })).status).toBe(404);
  expect((await call(hook, { body })).status).toBe(404);
  const questions = () => asked.filter((each) => each === "GET /v1/predictions/p1").length;
  expect(questions()).toBe(0);
  expect(asked.filter((each) => each.endsWith("/secret"))).toHaveLength(1);
  expect((await call(hook, { body, headers: signed(body) })).status).toBe(200);
  expect((await client.wait(id)).status).toBe("completed");
  expect(questions()).toBeLessThanOrEqual(1 + UNASKED);
  expect(signing.stdout() + signing.stderr()).not.toContain(secret.slice("whsec_".length));
  upstream.stop();
});
