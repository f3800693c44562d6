import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import sharp from "sharp";
import { sheetLayout } from "../../src/assets/thumbnails/sheet.ts";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { createSystemClock } from "../../src/runtime/clock.ts";
import { type PublishedService, startPublished } from "./openapi-service.ts";

/** No other timer of the service is set for so long. */
const DEADLINE_SEC = 54_321;
/** The deadlines of groups, which come when a test says so. */
const deadlines: (() => void)[] = [];
/** How far the clock is ahead meanwhile, in ms. */
let ahead = 0;

let service: PublishedService;
let other: string;

beforeAll(async () => {
  const clock = createSystemClock();
  const after: typeof clock.after = (delayMs, run) => {
    if (delayMs <= (DEADLINE_SEC - 60) * 1000 || delayMs > DEADLINE_SEC * 1000)
      return clock.after(delayMs, run);
    deadlines.push(run);
    return () => void deadlines.splice(deadlines.indexOf(run) >>> 0, 1);
  };
  service = await startPublished({}, { ...clock, now: () => clock.now() + ahead, after });
  await ask("/admin/v1/accounts", { key: service.token, body: { name: "other", credit: "0.025" } });
  other = String(
    (await ask("/admin/v1/keys", { key: service.token, body: { name: "other", account: "other" } })).data.key,
  );
});

afterAll(() => service.stop());

setDefaultTimeout(60_000);

interface Sent {
  readonly body?: JsonObject;
  readonly key?: string;
  readonly headers?: Record<string, string>;
  readonly method?: string;
}

async function ask(path: string, { body, key = service.key, headers, method }: Sent = {}) {
  const response = await fetch(service.url + path, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      Authorization: `Bearer ${key}`,
      ...(body && { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  const data = isJsonObject(answer) && isJsonObject(answer.data) ? answer.data : {};
  const message = isJsonObject(answer) ? answer.message : undefined;
  return { status: response.status, headers: response.headers, data, message };
}

const create = (body: JsonObject, sent: Sent = {}) => ask("/v1/groups", { ...sent, body });
const read = async (id: unknown, key = service.key) => (await ask(`/v1/groups/${id}`, { key })).data;
const statusesOf = ({ tasks }: JsonObject) =>
  (tasks as { task: { status: string } | null }[]).map(({ task }) => task?.status);
const countOf = async (key: string) =>
  ((await ask("/v1/tasks?limit=100", { key })).data.tasks as JsonObject[]).length;

/** Waits for the ends of all tasks. */
async function ended({ data }: Awaited<ReturnType<typeof ask>>, key = service.key): Promise<JsonObject> {
  for (const id of data.task_ids as string[]) await service.untilEnded(id, key);
  return read(data.group_id, key);
}

const SOON = { sandbox: { delay_ms: 0 } };
const TINY = { size: "16x16" };
const SMALL = { ...TINY, ...SOON };
const BASE = { prompt: "A fox", models: ["sandbox-image"], parameters: SMALL };
const FOX = { model: "sandbox-image", prompt: "A fox", ...SMALL };
const SIZES = ["16x16", "32x16"];

test("a grid makes a task for each combination, and the group has them all with their cost", async () => {
  const made = await create({ ...BASE, parameters: SOON, grid: { size: SIZES, seed: [1, 2] } });
  expect([made.status, made.headers.get("x-request-cost")]).toEqual([200, "0.040000"]);
  const ids = made.data.task_ids as string[];
  const requests = await Promise.all(ids.map(async (id) => (await ask(`/v1/tasks/${id}`)).data.request));
  expect(
    requests.map((request) => {
      const { parameters } = request as { parameters: JsonObject };
      return [parameters.size, parameters.seed];
    }),
  ).toEqual([
    ["16x16", 1],
    ["16x16", 2],
    ["32x16", 1],
    ["32x16", 2],
  ]);
  const group = await ended(made);
  expect(group).toMatchObject({
    ...{ group_id: made.data.group_id, status: "completed", policy: "all", winner: null, deadline_at: null },
    usage: { cost: "0.040000", currency: "USD" },
  });
  expect(statusesOf(group)).toEqual(ids.map(() => "completed"));
});

test("all tasks are accepted or none, and errors name fields as they were given", async () => {
  const before = await countOf(service.key);
  const refusals: [JsonObject, string | undefined][] = [
    [{ ...BASE, parameters: SOON, grid: { size: ["16x16", "no size"] } }, "grid.size[1]"],
    [{ ...BASE, models: ["sandbox-image", "no-such-model"] }, "models[1]"],
    [{ ...BASE, parameters: { size: "no size" } }, "parameters.size"],
    [{ ...BASE, parameters: SOON, grid: { size: SIZES }, budget: "0.019999" }, "budget"],
    [{ ...BASE, budget: "much" }, "budget"],
    [
      { ...BASE, parameters: SOON, grid: { seed: Array.from({ length: 9 }, (_, i) => i), size: SIZES } },
      "grid",
    ],
    [{ ...BASE, grid: { prompt: ["A hare"] } }, "grid.prompt"],
    [{ ...BASE, parameters: { model: "sandbox-image" } }, "parameters.model"],
    [{ ...BASE, models: [] }, "models"],
    [{ ...BASE, deadline_seconds: 0 }, "deadline_seconds"],
    [{ prompt: "A fox" }, "models"],
    [{ requests: [FOX], parameters: SOON }, "parameters"],
    [{ requests: [FOX, { ...FOX, size: "no size" }] }, "requests[1].size"],
    [{ requests: [FOX, { model: "sandbox-image" }] }, "requests[1].prompt"],
    [{ requests: [{ prompt: "A fox" }] }, "requests[0].model"],
    [{ requests: [] }, "requests"],
    [{ ...BASE, requests: Array.from({ length: 16 }, () => FOX) }, "requests"],
    [{ requests: [{ ...FOX, callback_url: "http://10.0.0.1/" }] }, "requests[0].callback_url"],
    [{ requests: [FOX], budget: "0.009" }, "budget"],
    [
      { requests: [{ ...FOX, callback_url: "https://x.example/" }], callback_url: "http://10.0.0.1/" },
      "callback_url",
    ],
    [{ ...BASE, callback_url: "http://169.254.169.254/" }, "callback_url"],
    [{ ...BASE, callback_url: "no address" }, "callback_url"],
  ];
  for (const [body, param] of refusals) {
    const { status, data } = await create(body);
    expect([body, status, data.param]).toEqual([body, expect.any(Number), param]);
    expect(status === 400 || status === 404).toBe(true);
  }
  const over = await create({ ...BASE, parameters: SOON, grid: { size: SIZES }, budget: "0.019999" });
  expect(over.message).toContain("0.020000");
  expect(await countOf(service.key)).toBe(before);
});

test("whole requests of different models and kinds are tasks beside those of the grid", async () => {
  const requests = [
    { model: "sandbox-video", prompt: "A hare", duration: 1, aspect_ratio: "1:1", ...SOON },
    { ...FOX, prompt: "An owl", n: 2 },
  ];
  const made = await create({ ...BASE, grid: { seed: [1, 2] }, requests });
  const ids = made.data.task_ids as string[];
  const told = await Promise.all(ids.map(async (id) => (await ask(`/v1/tasks/${id}`)).data.request));
  expect(told.map((request) => (request as JsonObject).prompt)).toEqual([
    "A fox",
    "A fox",
    "A hare",
    "An owl",
  ]);
  const group = await ended(made);
  const models = (group.tasks as { task: JsonObject }[]).map(({ task }) => task.model);
  expect(models).toEqual(["sandbox-image", "sandbox-image", "sandbox-video", "sandbox-image"]);
  expect(group.status).toBe("completed");
});

test("groups are listed newest first, page by page, and nobody else's", async () => {
  const named = await ask("/admin/v1/accounts", {
    key: service.token,
    body: { name: "lister", credit: "1" },
  });
  const { data } = await ask("/admin/v1/keys", {
    key: service.token,
    body: { name: "lister", account: named.data.name ?? "" },
  });
  const sent = { key: String(data.key) };
  const made: unknown[] = [];
  for (const seed of [1, 2, 3]) {
    await ask("/v1/images/generations", { ...sent, body: FOX });
    const { data: group } = await create({ ...BASE, grid: { seed: [seed, 9] } }, sent);
    made.unshift({ id: group.group_id, tasks: group.task_ids });
  }
  const listed: unknown[] = [];
  let next = "";
  do {
    const page = (await ask(`/v1/groups?limit=2${next && `&after=${next}`}`, sent)).data;
    for (const { group_id: id, task_ids: tasks } of page.groups as JsonObject[]) listed.push({ id, tasks });
    next = String(page.next ?? "");
  } while (next !== "");
  expect(listed).toEqual(made);
  expect((await ask("/v1/groups?limit=1", sent)).data.groups).toHaveLength(1);
  expect((await ask("/v1/groups?after=task_1", sent)).data.param).toBe("after");
  expect((await ask("/v1/groups?limit=0", sent)).data.param).toBe("limit");
});

test("where the money is not enough for all, nothing is made and nothing is held", async () => {
  const refused = await create({ ...BASE, grid: { seed: [1, 2, 3] } }, { key: other });
  expect([refused.status, refused.data.error_code]).toEqual([402, "insufficient_quota"]);
  expect(refused.message).toContain("needs 0.030000 USD; the account has 0.025000");
  expect(await countOf(other)).toBe(0);
  expect((await create({ ...BASE, grid: { seed: [1, 2] }, budget: "0.02" }, { key: other })).status).toBe(
    200,
  );
});

test("a group of more tasks than a key may have at once is refused for good, and none is made", async () => {
  const limited = { name: "two at once", concurrency: 2 };
  const { key } = (await ask("/admin/v1/keys", { key: service.token, body: limited })).data;
  const refused = await create({ ...BASE, grid: { seed: [1, 2, 3] } }, { key: String(key) });
  expect([refused.status, refused.headers.get("retry-after"), refused.message]).toEqual([
    ...[400, null, "This group makes 3 tasks at once, and this API key may have 2."],
  ]);
  expect((await create({ ...BASE, grid: { seed: [1, 2] } }, { key: String(key) })).status).toBe(200);
});

test("the same request with its key is the same group, at once and later, and another body is a conflict", async () => {
  const sent = { headers: { "Idempotency-Key": "group-1" } };
  const body = { ...BASE, grid: { seed: [5, 6] } };
  const before = await countOf(service.key);
  const first = await create(body, sent);
  await ended(first);
  const again = await create(body, sent);
  expect([again.data, again.headers.get("x-idempotent-replay")]).toEqual([first.data, "true"]);
  const changed = await create({ ...body, policy: "first" }, sent);
  expect([changed.status, changed.data.error_code]).toEqual([409, "idempotency_conflict"]);
  expect(await countOf(service.key)).toBe(before + 2);
});

test("what was accepted is answered again though its model is gone for the key", async () => {
  const named = await ask("/admin/v1/keys", { key: service.token, body: { name: "goes" } });
  const sent = { key: String(named.data.key), headers: { "Idempotency-Key": "group-2" } };
  const body = { ...BASE, grid: { seed: [7, 8] } };
  const first = await create(body, sent);
  const limited = { key: service.token, method: "PATCH", body: { models: ["sandbox-video"] } };
  expect((await ask(`/admin/v1/keys/${named.data.id}`, limited)).status).toBe(200);
  const again = await create(body, sent);
  expect([again.data, again.headers.get("x-idempotent-replay")]).toEqual([first.data, "true"]);
  const anew = await create(body, { ...sent, headers: { "Idempotency-Key": "group-3" } });
  expect([anew.status, anew.data.param]).toEqual([403, "models[0]"]);
});

test("of a group by first, one completes and the others are cancelled without a charge", async () => {
  const grid = { sandbox: [{ delay_ms: 60_000 }, { delay_ms: 0 }, { delay_ms: 60_000 }] };
  const made = await create({ ...BASE, parameters: TINY, grid, policy: "first" });
  const group = await ended(made);
  expect(statusesOf(group)).toEqual(["cancelled", "completed", "cancelled"]);
  expect(group).toMatchObject({
    ...{ status: "completed", winner: (made.data.task_ids as string[])[1] },
    usage: { cost: "0.010000" },
  });
});

test("cheapest and fastest choose once all have ended, and let every task end", async () => {
  // Which of several completes soonest is up to the machine, so one alone does.
  const fails = { delay_ms: 500, outcome: "failed" };
  const cases = [
    ["cheapest", { n: [3, 1, 2] }, SMALL, ["0.060000", 1], "completed"],
    ["fastest", { sandbox: [fails, { delay_ms: 0 }, fails] }, TINY, ["0.010000", 1], "failed"],
  ] as const;
  for (const [policy, grid, parameters, [cost, winner], others] of cases) {
    const made = await create({ ...BASE, parameters, grid, policy });
    const group = await ended(made);
    expect(statusesOf(group)).toEqual([others, "completed", others]);
    expect(group).toMatchObject({
      ...{ policy, winner: (made.data.task_ids as string[])[winner], usage: { cost } },
    });
  }
});

test("results are on a contact sheet once all have ended, for whoever may read one of them", async () => {
  const body = {
    ...BASE,
    parameters: TINY,
    grid: { sandbox: [{ delay_ms: 0 }, { delay_ms: 60_000 }], n: [2] },
  };
  const made = await create(body);
  const [done, live] = made.data.task_ids as [string, string];
  await ask(`/v1/images/status/${done}?wait=30`);
  expect((await read(made.data.group_id)).contact_sheet).toBeNull();
  await ask(`/v1/tasks/${live}/cancel`, { method: "POST" });
  const { contact_sheet: address } = await ended(made);
  const sheet = await fetch(String(address));
  expect([sheet.status, sheet.headers.get("content-type")]).toEqual([200, "image/webp"]);
  expect((await sharp(await sheet.bytes()).metadata()).width).toBe(sheetLayout(2).width);
  const known = { headers: { "If-None-Match": sheet.headers.get("etag") ?? "" } };
  expect((await fetch(String(address), known)).status).toBe(304);
  const head = await fetch(String(address), { method: "HEAD" });
  expect([head.status, head.headers.get("etag")]).toEqual([200, sheet.headers.get("etag")]);

  const other = await ended(await create({ ...BASE, models: ["sandbox-image"] }));
  const foreign = String(address).replace(/group=.*/, `group=${other.group_id}`);
  for (const wrong of [foreign, String(address).replace(/group=.*/, "group=grp_1"), `${address}0`])
    expect([wrong, (await fetch(wrong)).status]).toEqual([wrong, 404]);
  for (const twice of [`${address}&w=64`, `${address}&group=grp_1`])
    expect([twice, (await fetch(twice)).status]).toEqual([twice, 400]);
  await ask(`/v1/tasks/${done}`, { method: "DELETE" });
  expect((await fetch(String(address), known)).status).toBe(404);
});

test("a contact sheet changes with what is deleted", async () => {
  const made = await create({ ...BASE, grid: { seed: [1, 2] } });
  const { contact_sheet: address } = await ended(made);
  const before = await fetch(String(address));
  await ask(`/v1/tasks/${(made.data.task_ids as string[])[1]}`, { method: "DELETE" });
  const after = await fetch(String(address));
  expect(after.headers.get("etag")).not.toBe(before.headers.get("etag"));
  expect((await sharp(await after.bytes()).metadata()).width).toBe(sheetLayout(1).width);
});

test("at its deadline a group's live tasks are cancelled", async () => {
  const grid = { sandbox: [{ delay_ms: 60_000 }, { delay_ms: 0 }] };
  const timed = { grid, policy: "fastest", deadline_seconds: DEADLINE_SEC };
  const made = await create({ ...BASE, parameters: TINY, ...timed });
  await service.untilEnded((made.data.task_ids as string[])[1]!);
  ahead = DEADLINE_SEC * 1000;
  for (const due of deadlines.splice(0)) due();
  ahead = 0;
  const group = await ended(made);
  expect(statusesOf(group)).toEqual(["cancelled", "completed"]);
  expect(group.winner).toBe((made.data.task_ids as string[])[1]!);
});

test("a group is cancelled, forgets deleted tasks, and is nobody else's", async () => {
  const grid = { sandbox: [{ delay_ms: 0 }, { delay_ms: 60_000 }] };
  const made = await create({ ...BASE, parameters: TINY, grid });
  const [id, ids] = [made.data.group_id, made.data.task_ids as string[]];
  for (const [path, method] of [
    [`/v1/groups/${id}`, "GET"],
    [`/v1/groups/${id}/cancel`, "POST"],
  ] as const)
    expect((await ask(path, { key: other, method })).data.error_code).toBe("task_not_found");
  expect((await ask(`/v1/groups/${String(ids[1]).replace("task", "grp")}`)).status).toBe(404);
  await service.untilEnded(ids[0]!);
  expect((await ask(`/v1/groups/${id}/cancel`, { method: "POST" })).status).toBe(200);
  expect(statusesOf(await ended(made))).toEqual(["completed", "cancelled"]);
  expect((await ask(`/v1/tasks/${ids[1]}`, { method: "DELETE" })).status).toBe(200);
  expect(statusesOf(await read(id))).toEqual(["completed", undefined]);
  await ask(`/v1/tasks/${ids[0]}`, { method: "DELETE" });
  expect((await ask(`/v1/groups/${id}`)).status).toBe(404);
});
