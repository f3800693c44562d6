import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startServer, stopServers } from "../helpers/server.ts";
import { type Answer, createApi } from "./support/api.ts";
import { keyIn, prepaidKey, svcJson } from "./support/command.ts";
import { openReceiver } from "./support/receivers.ts";
import { ALLOW_LOOPBACK } from "./support/slow-source.ts";

setDefaultTimeout(60_000);
afterAll(stopServers);

const server = await startServer({ args: ALLOW_LOOPBACK });
const api = createApi(server.url, server.firstKey());
const other = createApi(server.url, await prepaidKey(server.dataDir, "other", "5.00"));

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };
const MISSING = "task_01jd0000000000000000000000";
const problemOf = ({ status, body }: Answer) => [status, body.data?.error_code, body.data?.param];

test("a story tells of a callback that was answered, and never what signs it", async () => {
  const folder = ["--data-dir", server.dataDir];
  const made = await svcJson(["keys", "create", "--name", "signer", "--callback-secret", "new", ...folder]);
  const signer = createApi(server.url, keyIn(made));
  const receiver = openReceiver({ answers: [new Response("busy with secret things", { status: 503 })] });
  const id = await signer.accept({ ...IMAGE, callback_url: receiver.url });
  await receiver.received(1);
  let story = await signer.send(`/v1/tasks/${id}`);
  while (!story.text.includes('"last_status":503')) story = await signer.send(`/v1/tasks/${id}`);
  expect(JSON.parse(story.text).data).toMatchObject({
    key: { name: "signer" },
    request: { callback_url: receiver.url },
    callbacks: [{ host: new URL(receiver.url).host, state: "pending", attempts: 1, last_outcome: "refused" }],
  });
  expect(story.text).not.toMatch(/whsec_|sk-svc-|secret things|"provider"|upstream/);
  await receiver.stop();
});

test("another account's task, an unknown id and another method are refused alike", async () => {
  const { task_id: id } = await api.make(IMAGE);
  for (const path of [`/v1/tasks/${id}`, `/v1/tasks/${MISSING}`, "/v1/tasks/task_1", "/v1/tasks/%00"])
    expect(problemOf(await other.send(path))).toEqual([404, "task_not_found", undefined]);
  for (const path of [`/v1/tasks/${id}/retry`, `/v1/tasks/${MISSING}/retry`])
    expect(problemOf(await other.send(path, { method: "POST" }))).toEqual([404, "task_not_found", undefined]);
  const wrong = [
    await api.send(`/v1/tasks/${id}`, { method: "DELETE" }),
    await api.send(`/v1/tasks/${id}/retry`),
  ];
  expect(wrong.map(({ status, headers }) => [status, headers.get("allow")])).toEqual([
    [405, "GET, HEAD"],
    [405, "POST"],
  ]);
});

test("a retry without its input file is refused by the field it was given in, one that was accepted is answered again", async () => {
  const files = join(server.dataDir, "assets");
  const { result } = await api.make(IMAGE);
  const { task_id: id } = await api.make({ ...IMAGE, image_urls: [result![0]!] });
  const headers = { "Idempotency-Key": "kept" };
  const first = await api.send(`/v1/tasks/${id}/retry`, { method: "POST", headers });
  expect(first.status).toBe(200);
  await api.wait(first.data.task_id ?? "");
  for (const name of readdirSync(files)) rmSync(join(files, name), { recursive: true });

  const refused = await api.send(`/v1/tasks/${id}/retry`, { method: "POST" });
  expect(problemOf(refused)).toEqual([400, "invalid_request", "image_urls[0]"]);
  expect(refused.body.message).toBe("image_urls[0] names a file that this service no longer has.");
  const again = await api.send(`/v1/tasks/${id}/retry`, { method: "POST", headers });
  expect([again.status, again.data, again.headers.get("x-idempotent-replay")]).toEqual([
    200,
    first.data,
    "true",
  ]);
});

test("stories and stages outlast a kill", async () => {
  let own = await startServer();
  const { folder, port } = own;
  const client = createApi(own.url, own.firstKey());
  const { task_id: id } = await client.make({ ...IMAGE, sandbox: { delay_ms: 300 } });
  const before = await client.send(`/v1/tasks/${id}`);
  own.signal("SIGKILL");
  await own.exited;
  own = await startServer({ folder, port });
  expect((await createApi(own.url, client.key).send(`/v1/tasks/${id}`)).text).toBe(before.text);
  const { timeline } = JSON.parse(before.text).data as { timeline: { stage: string }[] };
  expect(timeline.map(({ stage }) => stage)).toEqual([
    "queued",
    "submitting",
    "running",
    "finalizing",
    "ended",
  ]);
});
