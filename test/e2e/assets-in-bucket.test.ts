import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type FakeS3, KEYS, startFakeS3 } from "../helpers/fake-s3.ts";
import { freePort } from "../helpers/free-port.ts";
import {
  cleanEnvironment,
  emptyFolder,
  type Server,
  SVC,
  startServer,
  stopServers,
} from "../helpers/server.ts";
import { type Api, createApi, download } from "./support/api.ts";
import { arranged, svc } from "./support/command.ts";

setDefaultTimeout(120_000);

let s3: FakeS3;
let server: Server;
let api: Api;
const port = freePort();

/** The settings of the bucket, for the server and for commands beside it. */
const bucketEnv = () => ({
  SVC_ASSETS_BUCKET: "media",
  SVC_ASSETS_PREFIX: "svc",
  SVC_ASSETS_ENDPOINT: s3.endpoint,
  SVC_ASSETS_REGION: s3.region,
  SVC_ASSETS_KEY_ENV: "BUCKET_ID,BUCKET_SECRET",
  BUCKET_ID: KEYS.accessKeyId,
  BUCKET_SECRET: KEYS.secretAccessKey,
});

const start = (...args: string[]) =>
  startServer({
    ...(server === undefined ? {} : { folder: server.folder }),
    port,
    args: ["--assets-store", "s3", "--scheduler-lease-seconds", "2", ...args],
    env: bucketEnv(),
  });

beforeAll(async () => {
  s3 = await startFakeS3();
  server = await start();
  api = createApi(server.url, server.firstKey());
});
afterEach(() => {
  s3.fault = () => undefined;
});
afterAll(async () => {
  await stopServers();
  s3.stop();
});

const picture = { model: "sandbox-image", size: "64x64", sandbox: { delay_ms: 0 } };
/** The objects that are files. */
const files = () => [...s3.objects].filter(([key]) => key.startsWith("svc/sha256/"));
const objects = () => files().map(([, { bytes }]) => Buffer.from(bytes).toString("base64"));

async function made(prompt: string): Promise<{ url: string; bytes: Uint8Array }> {
  const task = await api.make({ ...picture, prompt });
  const [url = ""] = task.result ?? [];
  return { url, bytes: await download(url) };
}

/** Restarts on the same folder. */
async function again(how: "stop" | "SIGKILL", ...args: string[]): Promise<void> {
  if (how === "stop") await server.stop();
  else server.signal("SIGKILL");
  await server.exited;
  server = await start(...args);
}

test("a result lies in the bucket, and is served from there as from a folder", async () => {
  const { url, bytes } = await made("a key");
  expect(objects()).toEqual([Buffer.from(bytes).toString("base64")]);
  expect(existsSync(join(server.dataDir, "assets", "sha256"))).toBe(false);
  const etag = `"${new Bun.CryptoHasher("sha256").update(bytes).digest("hex")}"`;
  const get = (headers: Record<string, string>, method = "GET") =>
    fetch(url, { headers, method, keepalive: false });
  for (const isCached of [true, false]) {
    const forget = () =>
      isCached || rmSync(join(server.dataDir, "assets", "cache"), { recursive: true, force: true });
    forget();
    const head = await get({}, "HEAD");
    expect([head.status, head.headers.get("content-length")]).toEqual([200, String(bytes.length)]);
    const part = await get({ Range: "bytes=2-5" });
    expect([part.status, part.headers.get("content-range")]).toEqual([206, `bytes 2-5/${bytes.length}`]);
    expect(await part.bytes()).toEqual(bytes.slice(2, 6));
    forget();
    const whole = await get({});
    expect(whole.headers.get("content-length")).toBe(String(bytes.length));
    expect(await whole.bytes()).toEqual(bytes);
    expect((await get({ "If-None-Match": etag })).status).toBe(304);
    expect((await get({ Range: "bytes=999999-" })).status).toBe(416);
  }
});

test("a result is an input of the next task, and deleting both tasks empties the bucket", async () => {
  for (const [key] of files()) s3.objects.delete(key);
  const first = await api.make({ ...picture, prompt: "one" });
  const second = await api.make({
    ...{ model: "sandbox-image", prompt: "two", sandbox: { delay_ms: 0 } },
    image_urls: [first.result?.[0] ?? ""],
  });
  expect(files()).toHaveLength(2);
  const headers = { Authorization: `Bearer ${server.firstKey()}` };
  for (const { task_id: id } of [first, second])
    expect((await fetch(`${server.url}/v1/tasks/${id}`, { method: "DELETE", headers })).status).toBeLessThan(
      300,
    );
  expect(files()).toEqual([]);
});

test("no task completes while the bucket is away; reads say so, and everything goes on afterwards", async () => {
  const known = await made("before");
  rmSync(join(server.dataDir, "assets", "cache"), { recursive: true, force: true });
  let refused = 0;
  const isRefused = Promise.withResolvers<void>();
  s3.fault = () => {
    if (++refused === 3) isRefused.resolve();
    return { status: 503, code: "SlowDown" };
  };
  const id = await api.accept({ ...picture, prompt: "away" });
  await isRefused.promise;
  expect((await api.wait(id, "image", 0.05)).status).not.toBe("completed");
  s3.fault = () => ({ status: 403, code: "AccessDenied" });
  const refusal = await fetch(known.url);
  expect([refusal.status, refusal.headers.has("retry-after")]).toEqual([503, true]);
  expect(server.stderr() + server.stdout()).not.toContain(KEYS.secretAccessKey);
  s3.fault = () => undefined;
  const task = await api.wait(id);
  expect(task.status).toBe("completed");
  expect(objects()).toContain(Buffer.from(await download(task.result?.[0])).toString("base64"));
});

test("killed at each call to the bucket, the service completes the task at the next start, with its bytes there", async () => {
  for (const operation of ["HeadObject", "PutObject"]) {
    for (const when of ["broken", "answer lost"] as const) {
      const isAsked = Promise.withResolvers<void>();
      s3.fault = (request) => {
        if (request.operation !== operation) return undefined;
        isAsked.resolve();
        return when;
      };
      const id = await api.accept({ ...picture, prompt: `${operation} ${when}` });
      await isAsked.promise;
      const killed = again("SIGKILL");
      s3.fault = () => undefined;
      await killed;
      const task = await api.wait(id);
      expect([operation, when, task.status]).toEqual([operation, when, "completed"]);
      expect(objects()).toContain(Buffer.from(await download(task.result?.[0])).toString("base64"));
    }
  }
});

test("where readers are led to the bucket, they get the file there, and its address is of no use later", async () => {
  await again("stop", "--assets-serve", "redirect");
  const { url, bytes } = await made("led");
  const led = await fetch(url, { redirect: "manual", headers: { Range: "bytes=0-3" } });
  expect([led.status, led.headers.get("cache-control")]).toEqual([
    302,
    expect.stringMatching(/^private, max-age=\d+$/),
  ]);
  const address = led.headers.get("location") ?? "";
  expect(address).toStartWith(`${s3.endpoint}/media/svc/sha256/`);
  expect(address).not.toContain(KEYS.secretAccessKey);
  expect(await (await fetch(url)).bytes()).toEqual(bytes);
  expect(await (await fetch(url, { headers: { Range: "bytes=0-3" } })).bytes()).toEqual(bytes.slice(0, 4));
});

test("files move to the bucket and back beside the server, each found all the while, also when the move is killed", async () => {
  await again("stop", "--assets-store", "folder");
  const all = await Promise.all(Array.from({ length: 12 }, (_, i) => made(`moved ${i}`)));
  const before = files().length;
  const allThere = () =>
    Promise.all(
      all.map(async ({ url, bytes }) => expect(await download(url)).toEqual(new Uint8Array(bytes))),
    );
  const move = (to: string, ...more: string[]) =>
    svc(["assets", "move", "--to", to, "--json", ...more], { folder: server.folder, env: bucketEnv() });

  expect(JSON.parse((await move("s3", "--dry-run")).stdout)).toMatchObject({ files: 12, dry_run: true });
  expect(files().length).toBe(before);
  let puts = 0;
  const isHalfway = Promise.withResolvers<void>();
  s3.fault = ({ operation }) => {
    if (operation === "PutObject" && ++puts === 6) isHalfway.resolve();
    return puts >= 6 && operation === "PutObject" ? "silent" : undefined;
  };
  const killed = Bun.spawn([SVC, "assets", "move", "--to", "s3"], {
    ...{ cwd: server.folder, env: cleanEnvironment(bucketEnv()), stdout: "ignore", stderr: "ignore" },
  });
  await isHalfway.promise;
  killed.kill("SIGKILL");
  await killed.exited;
  s3.fault = () => undefined;
  await allThere();
  const rest = JSON.parse((await move("s3")).stdout);
  expect(rest.files).toBeLessThan(12);
  expect(files().length).toBe(before + 12);
  rmSync(join(server.dataDir, "assets", "cache"), { recursive: true, force: true });
  await allThere();

  expect(JSON.parse((await move("folder")).stdout).files).toBe(before + 12);
  expect(files().length).toBe(0);
  await allThere();
  const env = { ...bucketEnv(), SVC_ASSETS_PREFIX: "another" };
  const other = await svc(["assets", "move", "--to", "s3"], { folder: server.folder, env });
  expect([other.exitCode, other.stderr]).toEqual([
    7,
    expect.stringContaining("another bucket than these settings name"),
  ]);
});

test("a second data folder on the bucket is refused at its start, and takes over where the operator says so", async () => {
  const dataDir = join(emptyFolder("second"), "data");
  const env = cleanEnvironment(bucketEnv());
  const args = ["serve", "--data-dir", dataDir, "--port", "0", "--assets-store", "s3"];
  const refused = Bun.spawn([SVC, ...args], { env, stdout: "ignore", stderr: "pipe" });
  expect([await refused.exited, await refused.stderr.text()]).toEqual([
    1,
    expect.stringMatching(/belongs to the data folder .* of the host .*svc assets claim/),
  ]);
  const moved = await svc(["assets", "move", "--to", "folder", "--data-dir", dataDir], { env: bucketEnv() });
  expect([moved.exitCode, moved.stderr]).toEqual([7, expect.stringContaining(server.dataDir)]);
  const claim = (folder: string, ...more: string[]) =>
    svc(["assets", "claim", "--data-dir", folder, ...more], { env: bucketEnv() });
  expect((await claim(dataDir, "--no-input")).exitCode).toBe(2);
  expect(JSON.parse((await claim(dataDir, "--yes", "--json")).stdout)).toMatchObject({
    before: expect.stringContaining(server.dataDir),
  });
  const token = await arranged(["tokens", "create", "--name", "look", "--data-dir", server.dataDir]);
  const headers = { Authorization: `Bearer ${(token as { token: string }).token}` };
  const readiness = await fetch(`${server.url}/readyz?verbose`, { headers });
  const check = { id: "bucket", status: "error", message: expect.stringContaining(dataDir) };
  expect(await readiness.json()).toMatchObject({
    checks: expect.arrayContaining([expect.objectContaining(check)]),
  });
  await server.stop();
  const old = await svc(["serve", "--data-dir", server.dataDir, "--port", "0"], { env: bucketEnv() });
  expect([old.exitCode, old.stderr]).toEqual([1, expect.stringContaining(dataDir)]);
  expect((await claim(server.dataDir, "--yes")).exitCode).toBe(0);
  server = await start();
});
