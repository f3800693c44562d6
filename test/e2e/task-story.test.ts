import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startServer, stopServers } from "../helpers/server.ts";
import { type Answer, createApi } from "./support/api.ts";
import { arranged, keyIn, prepaidKey, svcJson } from "./support/command.ts";
import { openEvents } from "./support/event-stream.ts";
import { openReceiver } from "./support/receivers.ts";
import { ALLOW_LOOPBACK } from "./support/slow-source.ts";

setDefaultTimeout(120_000);
afterAll(stopServers);

const server = await startServer({ args: ALLOW_LOOPBACK });
const api = createApi(server.url, server.firstKey());
const other = createApi(server.url, await prepaidKey(server.dataDir, "other", "5.00"));

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };
const MISSING = "task_01jd0000000000000000000000";
const problemOf = ({ status, body }: Answer) => [status, body.data?.error_code, body.data?.param];

test("a story tells of a callback that was answered, and never what signs it", async () => {
  const folder = ["--data-dir", server.dataDir];
  const made = await arranged(["keys", "create", "--name", "signer", "--callback-secret", "new", ...folder]);
  const signer = createApi(server.url, keyIn(made));
  const receiver = openReceiver({ answers: [new Response("busy with secret things", { status: 503 })] });
  const id = await signer.accept({ ...IMAGE, callback_url: receiver.url });
  await receiver.received(1);
  let story = await signer.send(`/v1/tasks/${id}`);
  while (!story.text.includes('"last_status":503')) {
    await Bun.sleep(10);
    story = await signer.send(`/v1/tasks/${id}`);
  }
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
    await api.send(`/v1/tasks/${id}`, { method: "PUT" }),
    await api.send(`/v1/tasks/${id}/retry`),
  ];
  expect(wrong.map(({ status, headers }) => [status, headers.get("allow")])).toEqual([
    [405, "DELETE, GET, HEAD"],
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
  expect(timeline.map(({ stage }) => stage)).toEqual(["queued", "submitting", "running", "ended"]);
});

describe("an operator", () => {
  const folder = ["--data-dir", server.dataDir];

  async function operator(name: string) {
    const made = JSON.stringify(await arranged(["tokens", "create", "--name", name, ...folder]));
    return createApi(server.url, /mt-svc-[0-9A-Za-z]{38}/.exec(made)?.[0] ?? "");
  }

  test("finds, reads and cancels the tasks of all accounts, and a key does not", async () => {
    const admin = await operator("finder");
    const id = await other.accept({ ...IMAGE, sandbox: { outcome: "hang" } });
    const listed = await admin.send("/admin/v1/tasks?account=other&limit=1");
    expect(listed.data.tasks).toMatchObject([
      { task_id: id, account: { name: "other" }, provider: "sandbox" },
    ]);
    const cancelled = await admin.send(`/admin/v1/tasks/${id}/cancel`, { method: "POST" });
    expect(cancelled.status).toBe(200);
    expect((await other.wait(id)).status).toBe("cancelled");
    expect((await admin.send(`/admin/v1/tasks/${id}`)).data.status).toBe("cancelled");
    expect(problemOf(await admin.send(`/admin/v1/tasks/${MISSING}`))).toEqual([404, "not_found", undefined]);
    expect(problemOf(await admin.send("/admin/v1/tasks?status=x"))).toEqual([
      400,
      "invalid_request",
      "status",
    ]);
    expect((await admin.send("/admin/v1/tasks", { method: "POST" })).status).toBe(405);
    for (const path of ["/admin/v1/tasks", `/admin/v1/tasks/${id}`, "/admin/v1/events"])
      expect((await api.send(path)).status).toBe(401);
  });

  test("follows the changes of all accounts, and resumes without a gap", async () => {
    const admin = await operator("follower");
    const stream = await openEvents(admin, "/admin/v1/events");
    const { task_id: theirs } = await other.make(IMAGE);
    const { task_id: mine } = await api.make(IMAGE);
    const ended = new Map<string, string>();
    let seen = "";
    while (ended.size < 2) {
      const event = await stream.next();
      const task = JSON.parse(event.data);
      expect(task.status).toBe(event.name);
      seen = event.id ?? seen;
      if (event.name === "completed") ended.set(task.task_id, task.account.name);
    }
    expect([...ended]).toEqual([
      [theirs, "other"],
      [mine, "default"],
    ]);
    stream.cut();
    const later = await other.make(IMAGE);
    const again = await openEvents(admin, "/admin/v1/events", seen);
    expect(JSON.parse((await again.next()).data).task_id).toBe(later.task_id);
    again.cut();
    const wrong = await admin.send("/admin/v1/events", { headers: { "Last-Event-ID": "x" } });
    expect([wrong.status, wrong.data.param]).toEqual([400, "Last-Event-ID"]);
    // All accounts' tasks are not to be taken for one account's.
    const filtered = await admin.send("/admin/v1/events?account=other");
    expect([filtered.status, filtered.data.param]).toEqual([400, "account"]);
  });

  test("is told no more once its token is revoked", async () => {
    const admin = await operator("leaver");
    const stream = await openEvents(admin, "/admin/v1/events");
    await svcJson(["tokens", "revoke", "leaver", "--yes", ...folder]);
    const last = await stream.next();
    expect([last.name, JSON.parse(last.data).error.code]).toEqual(["error", "invalid_api_key"]);
    await expect(stream.next()).rejects.toThrow("The stream has ended.");
  });

  test("has as many streams at once as a key", async () => {
    const own = await startServer({ args: ["--streams-key-concurrency", "2"] });
    const made = JSON.stringify(
      await arranged(["tokens", "create", "--name", "many", "--data-dir", own.dataDir]),
    );
    const admin = createApi(own.url, /mt-svc-[0-9A-Za-z]{38}/.exec(made)?.[0] ?? "");
    const streams = await Promise.all([1, 2].map(() => openEvents(admin, "/admin/v1/events")));
    const third = await admin.send("/admin/v1/events");
    expect(problemOf(third)).toEqual([429, "rate_limit_exceeded", undefined]);
    expect(third.body.message).toContain("This management token may have 2 event streams at once");
    for (const stream of streams) stream.cut();
  });
});
