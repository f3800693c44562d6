import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { type PublishedService, startPublished } from "./openapi-service.ts";

setDefaultTimeout(60_000);

let service: PublishedService;
/** A key of another account than the service's first. */
let studio: string;

beforeAll(async () => {
  service = await startPublished({ SVC_EGRESS_ALLOW: "127.0.0.1/32" });
  await manage("/accounts", { name: "studio", credit: "5" });
  studio = String((await manage("/keys", { name: "web", account: "studio" })).data.key);
});

afterAll(() => service.stop());

const IMAGE = { model: "sandbox-image", prompt: "A fox", size: "16x16", sandbox: { delay_ms: 0 } };

async function ask(path: string, key: string, body?: JsonObject) {
  const isPost = body !== undefined || path.endsWith("/cancel");
  const response = await fetch(service.url + path, {
    method: isPost ? "POST" : "GET",
    headers: { Authorization: `Bearer ${key}`, ...(body && { "Content-Type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const answer: unknown = JSON.parse(text);
  const data = isJsonObject(answer) && isJsonObject(answer.data) ? answer.data : {};
  return { status: response.status, text, data };
}

const manage = (path: string, body?: JsonObject) => ask(`/admin/v1${path}`, service.token, body);

async function ended(key: string, body: JsonObject): Promise<string> {
  const id = String((await ask("/v1/images/generations", key, body)).data.task_id);
  await service.untilEnded(id, key);
  return id;
}

const idsOf = ({ data }: { data: JsonObject }) =>
  (data.tasks as { task_id: string }[]).map((task) => task.task_id);

test("an operator lists the tasks of all accounts, or of one, with whose they are", async () => {
  const mine = await ended(service.key, IMAGE);
  const theirs = await ended(studio, { ...IMAGE, sandbox: { delay_ms: 0, outcome: "failed" } });
  const page = await manage("/tasks?limit=2");
  expect(page.data.tasks).toMatchObject([
    {
      task_id: theirs,
      kind: "image",
      account: { name: "studio" },
      key: { name: "web" },
      provider: "sandbox",
    },
    { task_id: mine, account: { name: "default" }, key: { name: "default" } },
  ]);
  expect(idsOf(await manage("/tasks?account=studio"))).toEqual([theirs]);
  expect(idsOf(await manage("/tasks?status=failed&kind=image&model=sandbox-image"))).toEqual([theirs]);
  const first = await manage("/tasks?limit=1");
  expect(first.data.next).toBe(theirs);
  expect(idsOf(await manage(`/tasks?limit=1&after=${String(first.data.next)}`))).toEqual([mine]);
});

test("what cannot be listed is told by its name", async () => {
  const problem = async (query: string) => {
    const { status, data } = await manage(`/tasks?${query}`);
    return [status, data.error_code, data.param];
  };
  for (const [query, param] of [
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["limit=x", "limit"],
    ["status=done", "status"],
    ["kind=audio", "kind"],
    ["after=task_1", "after"],
    ["model=", "model"],
    ["acount=studio", "acount"],
    ["status=failed&status=failed", "status"],
  ] as const)
    expect(await problem(query)).toEqual([400, "invalid_request", param]);
  expect(await problem("account=nobody")).toEqual([404, "not_found", undefined]);
});

test("an operator reads a story with its routes, and without the address of its callback", async () => {
  const callback_url = "http://127.0.0.1:45999/hook?token=7";
  const id = await ended(studio, { ...IMAGE, callback_url, sandbox: { delay_ms: 0, outcome: "failed" } });
  const { data, text } = await manage(`/tasks/${id}`);
  expect(data).toMatchObject({
    task_id: id,
    account: { name: "studio" },
    provider: "sandbox",
    attempts: [{ outcome: "failed", route: { provider: "sandbox", upstream_model: "picture" } }],
    callbacks: [{ host: "127.0.0.1:45999" }],
  });
  expect(text).not.toContain("token=7");
  const own = await ask(`/v1/tasks/${id}`, studio);
  expect(own.data.attempts).not.toHaveProperty("0.route");
  expect(own.text).toContain("token=7");
});

test("an operator cancels a task of any account, once", async () => {
  const created = await ask("/v1/images/generations", studio, { ...IMAGE, sandbox: { outcome: "hang" } });
  const id = String(created.data.task_id);
  const cancelled = await manage(`/tasks/${id}/cancel`);
  expect([cancelled.status, cancelled.data.task_id]).toEqual([200, id]);
  expect((await ask(`/v1/images/status/${id}?wait=30`, studio)).data.status).toBe("cancelled");
  const again = await manage(`/tasks/${id}/cancel`);
  expect([again.status, again.data.error_code]).toEqual([409, "task_not_cancellable"]);
});

test("what is not there, and who is no operator, is refused", async () => {
  for (const id of ["task_01jd0000000000000000000000", "task_1"]) {
    expect(await manage(`/tasks/${id}`)).toMatchObject({ status: 404, data: { error_code: "not_found" } });
    expect(await manage(`/tasks/${id}/cancel`)).toMatchObject({
      status: 404,
      data: { error_code: "not_found" },
    });
  }
  for (const path of ["/tasks", "/tasks/task_1", "/tasks/task_1/cancel"])
    expect((await ask(`/admin/v1${path}`, service.key)).status).toBe(401);
  expect((await ask("/v1/tasks", service.token)).status).toBe(401);
});
