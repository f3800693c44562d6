import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { type PublishedService, startPublished } from "./openapi-service.ts";

let service: PublishedService;

beforeAll(async () => {
  service = await startPublished({ SVC_EGRESS_ALLOW: "127.0.0.1/32" });
});

afterAll(() => service.stop());

setDefaultTimeout(60_000);

const IMAGE = { model: "sandbox-image", prompt: "A fox", size: "16x16", sandbox: { delay_ms: 0 } };

async function ask(method: string, path: string, body?: JsonObject, headers: Record<string, string> = {}) {
  const response = await fetch(service.url + path, {
    method,
    headers: {
      Authorization: `Bearer ${service.key}`,
      ...(body && { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  const data = isJsonObject(answer) && isJsonObject(answer.data) ? answer.data : {};
  return { status: response.status, code: data.error_code, data };
}

async function ended(body: JsonObject) {
  const { data } = await ask("POST", "/v1/images/generations", body);
  const id = String(data.task_id);
  const { data: task } = await ask("GET", `/v1/images/status/${id}?wait=30`);
  return { id, url: (task.result as string[] | undefined)?.[0] ?? "" };
}

/** Contents on the disk. */
function contents(): string[] {
  const folder = join(service.dataDir, "assets", "sha256");
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.length > 60);
}

test("a deleted task, its file, its callback and its events are gone, and its money stays", async () => {
  const { id, url } = await ended({
    ...IMAGE,
    prompt: "delete me",
    callback_url: "http://127.0.0.1:45999/x",
  });
  const status = async () => (await ask("GET", "/v1/account/status")).data.usage;
  const [usage, before] = [await status(), contents().length];
  expect((await fetch(url)).status).toBe(200);
  const gone = await ask("DELETE", `/v1/tasks/${id}`);
  expect([gone.status, gone.data]).toEqual([200, { task_id: id, deleted: true }]);
  expect((await fetch(url)).status).toBe(404);
  expect(contents()).toHaveLength(before - 1);
  for (const path of [`images/status/${id}`, `tasks/${id}`, `tasks/${id}/events`, `tasks/${id}/trace`])
    expect(await ask("GET", `/v1/${path}`)).toMatchObject({ status: 404, code: "task_not_found" });
  expect(JSON.stringify((await ask("GET", "/v1/tasks?limit=100")).data)).not.toContain(id);
  expect(JSON.stringify((await ask("GET", "/v1/callbacks?limit=100")).data)).not.toContain(id);
  expect(await status()).toEqual(usage);
  expect((await ask("DELETE", `/v1/tasks/${id}`)).data).toEqual({ task_id: id, deleted: true });
});

test("a file that another task has stays, however that task got it", async () => {
  const first = await ended({ ...IMAGE, prompt: "shared" });
  const same = await ended({ ...IMAGE, prompt: "shared" });
  const edit = { model: "sandbox-image", prompt: "wider", sandbox: { delay_ms: 0 } };
  const byUrl = await ended({ ...edit, image_url: first.url });
  await ask("DELETE", `/v1/tasks/${first.id}`);
  expect((await fetch(first.url)).status).toBe(404);
  expect((await fetch(same.url)).status).toBe(200);
  const { data } = await ask("GET", `/v1/tasks/${byUrl.id}`);
  const [input] = (data.request as { inputs: { url: string }[] }).inputs;
  expect((await fetch(input?.url ?? "")).status).toBe(200);
  const again = await ask("POST", `/v1/tasks/${byUrl.id}/retry`);
  expect(again.status).toBe(200);
  for (const task of [byUrl.id, same.id]) await ask("DELETE", `/v1/tasks/${task}`);
  const retried = String(again.data.task_id);
  expect((await ask("GET", `/v1/images/status/${retried}?wait=30`)).data.status).toBe("completed");
});

test("a task that has not ended, and one that is not the caller's, are refused", async () => {
  const { data } = await ask("POST", "/v1/images/generations", { ...IMAGE, sandbox: { outcome: "hang" } });
  const id = String(data.task_id);
  expect(await ask("DELETE", `/v1/tasks/${id}`)).toMatchObject({ status: 409, code: "task_not_deletable" });
  await ask("POST", `/v1/tasks/${id}/cancel`);
  await service.untilEnded(id);
  expect((await ask("DELETE", `/v1/tasks/${id}`)).status).toBe(200);
  for (const other of ["task_01jd0000000000000000000000", "x"])
    expect(await ask("DELETE", `/v1/tasks/${other}`)).toMatchObject({ status: 404, code: "task_not_found" });
});

test("a create that is repeated after its task was deleted makes no other one", async () => {
  const headers = { "Idempotency-Key": "once-only" };
  const { data } = await ask("POST", "/v1/images/generations", IMAGE, headers);
  const id = String(data.task_id);
  await service.untilEnded(id);
  await ask("DELETE", `/v1/tasks/${id}`);
  expect((await ask("POST", "/v1/images/generations", IMAGE, headers)).data.task_id).toBe(id);
  expect((await ask("GET", `/v1/images/status/${id}`)).status).toBe(404);
});
