import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { type PublishedService, startPublished } from "./openapi-service.ts";

setDefaultTimeout(60_000);

let service: PublishedService;
/** A key of another account than the service's first. */
let studio: string;
/** The status that the receiver answers with. */
let status = 500;
const waiting: ((body: string) => void)[] = [];
const receiver = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const body = await request.text();
    for (const tell of waiting.splice(0)) tell(body);
    return new Response("not now", { status });
  },
});
const secret = "token=7";
const url = `http://127.0.0.1:${receiver.port}/${secret}?${secret}`;

beforeAll(async () => {
  service = await startPublished({ SVC_EGRESS_ALLOW: "127.0.0.1/32", SVC_CALLBACKS_DELAYS_SECONDS: "3600" });
  await manage("/accounts", { name: "studio", credit: "5" });
  studio = String(
    (await manage("/keys", { name: "web", account: "studio", callback_secret: "new" })).data.key,
  );
});

afterAll(async () => {
  await receiver.stop(true);
  await service.stop();
});

async function ask(path: string, key: string, body?: JsonObject) {
  const isPost = body !== undefined || path.endsWith("/redeliver");
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
const posted = () => new Promise<string>((resolve) => waiting.push(resolve));

/** A task that was called back. */
async function calledBack(key: string): Promise<string> {
  const arrival = posted();
  const { data } = await ask("/v1/images/generations", key, {
    ...{ model: "sandbox-image", prompt: "A fox", size: "16x16", sandbox: { delay_ms: 0 } },
    callback_url: url,
  });
  await arrival;
  return String(data.task_id);
}

const tasksOf = ({ data }: { data: JsonObject }) =>
  (data.callbacks as { task_id: string }[]).map((callback) => callback.task_id);

test("an operator lists, reads and redelivers callbacks of all accounts, and sees no address", async () => {
  const mine = await calledBack(service.key);
  const theirs = await calledBack(studio);
  const page = await manage("/callbacks?limit=2");
  expect(page.data.callbacks).toMatchObject([
    {
      ...{ task_id: theirs, host: `127.0.0.1:${receiver.port}` },
      ...{ account: { name: "studio" }, key: { name: "web" } },
    },
    { task_id: mine, account: { name: "default" }, key: { name: "default" } },
  ]);
  const first = await manage("/callbacks?limit=1");
  expect(tasksOf(await manage(`/callbacks?limit=1&after=${String(first.data.next)}`))).toEqual([mine]);
  for (const [query, found] of [
    ["account=studio", [theirs]],
    ["key_id=web", [theirs]],
    ["account=default&key_id=web", []],
    ["account=studio&key_id=web&state=pending", [theirs]],
    ["state=delivered", []],
    [`task_id=${mine}`, [mine]],
    ["from=2000-01-01T00:00:00Z&to=2000-01-02T00:00:00Z", []],
  ] as const)
    expect([query, tasksOf(await manage(`/callbacks?${query}`))]).toEqual([query, [...found]]);

  const [callback] = page.data.callbacks as { id: string }[];
  const path = `/callbacks/${callback?.id}`;
  status = 204;
  const again = posted();
  const asked = await manage(`${path}/redeliver`);
  expect(asked.data).toMatchObject({ task_id: theirs, redelivery_due: true, account: { name: "studio" } });
  expect(JSON.parse(await again)).toMatchObject({ task_id: theirs, status: "completed" });
  const range = [posted(), manage("/callbacks/redeliver", { from: 0, key_id: "web" })] as const;
  await range[0];
  expect(tasksOf(await range[1])).toEqual([theirs]);
  const { data, text } = await manage(path);
  expect(data).toMatchObject({ payload: { task_id: theirs }, history: [{ kind: "attempt" }, {}, {}] });
  for (const each of [text, page.text, asked.text]) {
    for (const hidden of [secret, "whsec"]) expect(each).not.toContain(hidden);
  }
  expect((await ask(`/v1${path}`, studio)).text).toContain(secret);
});

test("what cannot be selected is told by its name", async () => {
  const problem = ({ status, data }: Awaited<ReturnType<typeof manage>>) => [
    status,
    data.error_code,
    data.param,
  ];
  for (const [query, param] of [
    ["limit=101", "limit"],
    ["state=done", "state"],
    ["after=cb_1", "after"],
    ["task_id=1", "task_id"],
    ["from=yesterday", "from"],
    ["acount=studio", "acount"],
  ] as const)
    expect(problem(await manage(`/callbacks?${query}`))).toEqual([400, "invalid_request", param]);
  for (const query of ["account=nobody", "key_id=nobody"])
    expect(problem(await manage(`/callbacks?${query}`))).toEqual([404, "not_found", undefined]);
  expect(problem(await manage("/callbacks/redeliver", { account: "studio" }))).toEqual([
    ...[400, "invalid_request", "from"],
  ]);
  const both = { task_id: "task_01jd0000000000000000000000", account: "studio" };
  expect(problem(await manage("/callbacks/redeliver", both))).toEqual([400, "invalid_request", "task_id"]);
});

test("what is not there, and who is no operator, is refused", async () => {
  for (const id of ["cb_01jd0000000000000000000000", "cb_1"]) {
    for (const path of [`/callbacks/${id}`, `/callbacks/${id}/redeliver`])
      expect(await manage(path)).toMatchObject({ status: 404, data: { error_code: "not_found" } });
  }
  for (const path of ["/callbacks", "/callbacks/cb_1", "/callbacks/cb_1/redeliver", "/callbacks/redeliver"])
    expect((await ask(`/admin/v1${path}`, service.key)).status).toBe(401);
});
