import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type FakeS3, KEYS, startFakeS3 } from "../helpers/fake-s3.ts";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { prepaidKey, svcJson } from "./support/command.ts";

setDefaultTimeout(120_000);

const IMAGE = { model: "sandbox-image", size: "16x16", sandbox: { delay_ms: 0 } };
const HOUR = 3_600_000;
let s3: FakeS3;
let server: Server;
let api: Api;
let made = 0;

const env = () => ({
  SVC_ASSETS_STORE: "s3",
  SVC_ASSETS_BUCKET: "media",
  SVC_ASSETS_PREFIX: "svc",
  SVC_ASSETS_ENDPOINT: s3.endpoint,
  SVC_ASSETS_REGION: s3.region,
  AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
});
const run = (...args: string[]) => svcJson([...args, "--data-dir", server.dataDir], { env: env() });
const objects = () => [...s3.objects.keys()].filter((key) => key.startsWith("svc/sha256/"));
const make = async () => (await api.make({ ...IMAGE, prompt: `picture ${++made}` })).task_id;
const remove = (id: string) => api.send(`/v1/tasks/${id}`, { method: "DELETE" });

beforeAll(async () => {
  s3 = await startFakeS3();
  server = await startServer({ env: env() });
  api = createApi(server.url, await prepaidKey(server.dataDir, "studio", "5.00"));
});
afterAll(async () => {
  await stopServers();
  s3.stop();
});

async function again(more: Readonly<Record<string, string>> = {}): Promise<void> {
  await server.exited;
  server = await startServer({ folder: server.folder, port: server.port, env: { ...env(), ...more } });
}

/** The books, which nothing that is removed changes. */
const sums = async () => {
  const audit = (await run("audit")) as { adds_up: boolean; sums: { captured: string } };
  expect(audit.adds_up).toBe(true);
  return audit.sums.captured;
};

test("a task is deleted while the bucket refuses to, and after a kill between the two; the collector ends both", async () => {
  const [refused, killed] = [await make(), await make()];
  const captured = await sums();
  expect(objects()).toHaveLength(2);
  s3.fault = ({ operation }) =>
    operation === "DeleteObject" ? { status: 403, code: "AccessDenied" } : undefined;
  expect((await remove(refused)).status).toBe(200);
  await server.says(/a file that nobody needs could not be removed/);

  const isAsked = Promise.withResolvers<void>();
  s3.fault = ({ operation }) => {
    if (operation !== "DeleteObject") return undefined;
    isAsked.resolve();
    return "silent";
  };
  const deleting = remove(killed).catch(() => undefined);
  await isAsked.promise;
  server.signal("SIGKILL");
  await Promise.all([server.exited, deleting]);
  s3.fault = () => undefined;

  expect(objects()).toHaveLength(2);
  expect(await run("assets", "gc", "--yes")).toMatchObject({ files: 0, young: 2 });
  for (const key of objects()) s3.objects.get(key)!.storedAt -= HOUR;
  expect(await run("assets", "gc", "--yes")).toMatchObject({ files: 2, young: 0 });
  expect(objects()).toEqual([]);
  await again();
  for (const id of [refused, killed]) expect((await api.send(`/v1/images/status/${id}`)).status).toBe(404);
  expect(await sums()).toBe(captured);
});

test("files whose time is over go from the bucket, and their task and its price stay", async () => {
  const id = await make();
  const captured = await sums();
  await server.stop();
  await again({ SVC_RETENTION_OUTPUTS_SECONDS: "1" });
  while (objects().length > 0) await Bun.sleep(50);
  const status = JSON.parse((await api.send(`/v1/images/status/${id}`)).text).data;
  expect(status).toMatchObject({ status: "completed", files_removed_at: expect.any(Number) });
  expect(await sums()).toBe(captured);
  await server.stop();
  await again();
});

test("an account that is purged leaves nothing in the bucket but what others have, and its money", async () => {
  const own = await api.make({ ...IMAGE, prompt: "of the studio" });
  const key = await prepaidKey(server.dataDir, "leaver", "5.00");
  const studio = api;
  api = createApi(server.url, key);
  await make();
  await make();
  const captured = await sums();
  expect(objects()).toHaveLength(3);
  await server.stop();
  expect(await run("accounts", "purge", "leaver", "--yes")).toMatchObject({ files_left: 0 });
  expect(objects()).toHaveLength(1);
  expect(await sums()).toBe(captured);
  await again();
  api = studio;
  expect((await fetch(String(own.result?.[0]))).status).toBe(200);
  expect(await run("assets", "verify")).toMatchObject({ files: 1, damaged: [] });
});
