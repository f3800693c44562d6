import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import sharp from "sharp";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { type PublishedService, startPublished } from "./openapi-service.ts";

let service: PublishedService;
let other: string;

beforeAll(async () => {
  service = await startPublished();
  await ask("/admin/v1/accounts", { key: service.token, body: { name: "other", credit: "0.05" } });
  const body = { name: "other", account: "other" };
  other = String((await ask("/admin/v1/keys", { key: service.token, body })).data.key);
});

afterAll(() => service.stop());

setDefaultTimeout(60_000);

interface Asked {
  readonly status: number;
  readonly headers: Headers;
  readonly data: JsonObject;
  readonly message: unknown;
}

interface Sent {
  readonly body?: JsonObject;
  readonly key?: string;
  readonly headers?: Record<string, string>;
  readonly method?: string;
}

async function ask(path: string, { body, key = service.key, headers, method }: Sent = {}): Promise<Asked> {
  const isCreate = /\/(variations|extend|upscale|retry)$/.test(path);
  const response = await fetch(service.url + path, {
    method: method ?? (body !== undefined || isCreate ? "POST" : "GET"),
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

const problemOf = ({ status, data }: Asked): unknown[] => [status, data.error_code, data.param];
const SOON = { delay_ms: 0 };
const IMAGE = { model: "sandbox-image", prompt: "A fox", size: "32x16", seed: 7, sandbox: SOON };
const VIDEO = { model: "sandbox-video", prompt: "Waves", duration: 1, aspect_ratio: "1:1", sandbox: SOON };

/** Waits for the end of a task. */
const end = (id: unknown, key?: string) => service.untilEnded(String(id), key);

/** Creates a task and waits for its end. @returns its id */
async function ended(body: JsonObject, key = service.key): Promise<string> {
  const kind = String(body.model).includes("video") ? "video" : "image";
  const { data } = await ask(`/v1/${kind}s/generations`, { body, key });
  await end(data.task_id, key);
  return String(data.task_id);
}

const requestOf = async (id: unknown) => (await ask(`/v1/tasks/${id}`)).data.request as JsonObject;
const treeOf = async (id: unknown, query = "") =>
  (await ask(`/v1/tasks/${id}/tree${query}`)).data.tasks as JsonObject[];

test("variations have the same request and other seeds, each a task with a price of its own", async () => {
  const id = await ended(IMAGE);
  const { data, headers } = await ask(`/v1/tasks/${id}/variations`, { body: { count: 3 } });
  expect(data).toEqual({ task_ids: expect.any(Array), variation_of: id, refused: null });
  expect(headers.get("x-request-cost")).toBe("0.030000");
  const ids = data.task_ids as string[];
  const requests = await Promise.all([id, ...ids].map(requestOf));
  const seeds = requests.map(({ parameters }) => (parameters as JsonObject).seed);
  expect(new Set(seeds).size).toBe(4);
  for (const { parameters, ...rest } of requests) {
    const { parameters: first, ...same } = requests[0] ?? {};
    expect(rest).toEqual(same);
    expect<JsonObject>({ ...(parameters as JsonObject), seed: 7 }).toEqual(first as JsonObject);
  }
  for (const each of ids)
    expect(await end(each)).toMatchObject({
      status: "completed",
      parent_id: id,
      usage: { cost: "0.010000" },
    });
  expect((await ask(`/v1/tasks/${id}/variations`)).data.task_ids).toHaveLength(1);
  expect((await end(id)).parent_id).toBeUndefined();
});

test("the same variations again, with their key, are those of before and what was missing", async () => {
  const id = await ended(IMAGE, other);
  const asked = { key: other, headers: { "Idempotency-Key": "vary" }, body: { count: 6 } };
  const first = await ask(`/v1/tasks/${id}/variations`, asked);
  // The account's 0.05 USD are enough for four more.
  expect(first.data.task_ids).toHaveLength(4);
  expect(first.data.refused).toMatchObject({ count: 2, error_code: "insufficient_quota" });
  const credit = { amount: "0.01", reason: "more", idempotency_key: "more" };
  await ask("/admin/v1/accounts/other/credits", { key: service.token, body: credit });
  const second = await ask(`/v1/tasks/${id}/variations`, asked);
  expect((second.data.task_ids as string[]).slice(0, 4)).toEqual(first.data.task_ids as string[]);
  const changed = await ask(`/v1/tasks/${id}/variations`, { ...asked, body: { count: 2 } });
  expect(problemOf(changed)).toEqual([409, "idempotency_conflict", undefined]);
});

test("a model without seeds makes no variations, and nobody makes more than ten at once", async () => {
  const id = await ended(IMAGE);
  const { data } = await ask(`/v1/tasks/${id}/upscale`);
  await end(data.task_id);
  const refused = await ask(`/v1/tasks/${data.task_id}/variations`);
  expect(problemOf(refused)).toEqual([400, "invalid_request", undefined]);
  expect(refused.message).toContain("sandbox-upscale takes no seed");
  for (const body of [{ count: 0 }, { count: 11 }, { count: "2" }, { number: 2 }])
    expect((await ask(`/v1/tasks/${id}/variations`, { body })).status).toBe(400);
});

test("an image is made larger by the cheapest model that can, by the one that is named, and again", async () => {
  const id = await ended({ ...IMAGE, n: 2 });
  const [first] = [await ask(`/v1/tasks/${id}/upscale`, { body: { index: 1, sandbox: SOON } })];
  expect(first?.data).toEqual({ task_id: expect.any(String), parent_id: id, model: "sandbox-upscale" });
  expect(first?.headers.get("x-request-cost")).toBe("0.010000");
  const made = await end(first?.data.task_id);
  const [url] = made.result as string[];
  const { width, height, format } = await sharp(await (await fetch(String(url))).bytes()).metadata();
  expect({ width, height, format }).toEqual({ width: 64, height: 32, format: "png" });
  const body = { model: "sandbox-upscale", factor: 4, output_format: "webp" };
  const again = await ask(`/v1/tasks/${made.task_id}/upscale`, { body });
  const [largest] = (await end(again.data.task_id)).result as string[];
  const larger = await sharp(await (await fetch(String(largest))).bytes()).metadata();
  expect([larger.width, larger.height, larger.format]).toEqual([256, 128, "webp"]);
  // The input is a copy of its own.
  await ask(`/v1/tasks/${id}`, { method: "DELETE" });
  const retried = await ask(`/v1/tasks/${made.task_id}/retry`);
  expect((await end(retried.data.task_id)).status).toBe("completed");
});

test("a video is extended by a model that can, and a longer one comes out", async () => {
  const id = await ended(VIDEO);
  const refused = await ask(`/v1/tasks/${id}/extend`);
  expect(problemOf(refused)).toEqual([400, "invalid_request", "model"]);
  expect(refused.message).toBe(
    "sandbox-video cannot go on where an earlier video ends; name one that can in model: sandbox-video-edit.",
  );
  const body = { model: "sandbox-video-edit", duration: 1, sandbox: SOON };
  const extended = await ask(`/v1/tasks/${id}/extend`, { body });
  expect(await end(extended.data.task_id)).toMatchObject({ status: "completed", parent_id: id });
  const again = await ask(`/v1/tasks/${extended.data.task_id}/extend`, {
    body: { duration: 1, sandbox: SOON },
  });
  expect(again.data.model).toBe("sandbox-video-edit");
  await end(again.data.task_id);
  const lengths = await Promise.all([extended, again].map(({ data }) => lengthOf(data.task_id)));
  expect(lengths).toEqual([2_000, 3_000]);
  expect((await treeOf(id)).map(({ relation }) => relation)).toEqual([null, "extend", "extend"]);
});

/** Of a task's input and what was added to it, in milliseconds. */
async function lengthOf(id: unknown): Promise<number> {
  const { inputs, parameters } = await requestOf(id);
  const [input] = inputs as JsonObject[];
  return Number(input?.duration_ms) + 1_000 * Number((parameters as JsonObject).duration);
}

test("what cannot be followed up is refused by what is wrong with it", async () => {
  const [image, video] = [await ended(IMAGE), await ended(VIDEO)];
  const failed = await ended({ ...IMAGE, sandbox: { ...SOON, outcome: "failed" } });
  const refused: [string, JsonObject, unknown[]][] = [
    [`${image}/extend`, {}, [400, "invalid_request", undefined]],
    [`${failed}/upscale`, {}, [400, "invalid_request", "task_id"]],
    [`${image}/upscale`, { index: 1 }, [400, "invalid_request", "index"]],
    [`${image}/upscale`, { index: -1 }, [400, "invalid_request", "index"]],
    [`${image}/upscale`, { model: "sandbox-image" }, [400, "invalid_request", "model"]],
    [`${image}/upscale`, { model: "none" }, [404, "model_not_available", "model"]],
    [`${image}/upscale`, { model: "sandbox-upscale", factor: 3 }, [400, "invalid_request", "factor"]],
    [`${image}/upscale`, { image_url: "https://example.com/a.png" }, [400, "invalid_request", "image_url"]],
    [`${video}/upscale`, {}, [400, "invalid_request", "model"]],
    ["task_01jd0000000000000000000000/upscale", {}, [404, "task_not_found", undefined]],
    ["nothing/extend", {}, [404, "task_not_found", undefined]],
  ];
  for (const [path, body, problem] of refused)
    expect([path, problemOf(await ask(`/v1/tasks/${path}`, { body }))]).toEqual([path, problem]);
  for (const path of ["variations", "extend", "upscale", "tree"])
    expect(problemOf(await ask(`/v1/tasks/${image}/${path}`, { key: other }))).toEqual([
      404,
      "task_not_found",
      undefined,
    ]);
});

test("a lost answer to an upscale can be asked for again, once", async () => {
  const id = await ended(IMAGE);
  const sent = { headers: { "Idempotency-Key": "larger" }, body: { sandbox: SOON } };
  const [first, second] = [
    await ask(`/v1/tasks/${id}/upscale`, sent),
    await ask(`/v1/tasks/${id}/upscale`, sent),
  ];
  expect(second.data).toEqual(first.data);
  expect(second.headers.get("x-idempotent-replay")).toBe("true");
  expect(await treeOf(id)).toHaveLength(2);
});

test("an operator reads the family of any account's task as its owner does", async () => {
  const id = await ended(IMAGE);
  const retried = String((await ask(`/v1/tasks/${id}/retry`)).data.task_id);
  await end(retried);
  const managed = (path: string) => ask(`/admin/v1/tasks/${path}`, { key: service.token });
  const own = await ask(`/v1/tasks/${id}/tree`);
  expect((await managed(`${retried}/tree`)).data).toEqual(own.data);
  expect((await managed(`${id}/tree?limit=1`)).data).toMatchObject({ tasks: [{ task_id: id }], next: id });
  expect((await managed(`${id}/tree?after=nothing`)).status).toBe(400);
  expect((await managed("task_01jd0000000000000000000000/tree")).data.error_code).toBe("not_found");
  await ask(`/v1/tasks/${retried}`, { method: "DELETE" });
  expect((await managed(`${retried}/tree`)).status).toBe(404);
  expect((await managed(`${id}/tree`)).data).toEqual((await ask(`/v1/tasks/${id}/tree`)).data);
});

test("a tree has the whole family with its results, also after tasks of it were deleted", async () => {
  const id = await ended(IMAGE);
  const retried = String((await ask(`/v1/tasks/${id}/retry`)).data.task_id);
  await end(retried);
  const larger = String(
    (await ask(`/v1/tasks/${retried}/upscale`, { body: { sandbox: SOON } })).data.task_id,
  );
  const { result } = await end(larger);
  const [root, child, grandchild] = await treeOf(larger);
  expect(root).toMatchObject({
    task_id: id,
    parent_id: null,
    relation: null,
    deleted: false,
    status: "completed",
  });
  expect(child).toMatchObject({ task_id: retried, parent_id: id, relation: "retry", model: "sandbox-image" });
  expect(grandchild).toMatchObject({ task_id: larger, parent_id: retried, relation: "upscale", result });
  const [thumbnail] = (grandchild?.thumbnails ?? []) as string[];
  expect((await fetch(String(thumbnail))).headers.get("content-type")).toBe("image/webp");
  const page = await ask(`/v1/tasks/${id}/tree?limit=2`);
  expect(page.data.next).toBe(retried);
  expect((await treeOf(id, `?limit=2&after=${retried}`)).map((node) => node.task_id)).toEqual([larger]);
  for (const query of ["?limit=0", "?limit=101", "?after=nothing", "?depth=1"])
    expect((await ask(`/v1/tasks/${id}/tree${query}`)).status).toBe(400);
  await ask(`/v1/tasks/${retried}`, { method: "DELETE" });
  expect((await treeOf(id))[1]).toEqual({
    task_id: retried,
    parent_id: id,
    relation: "retry",
    deleted: true,
  });
  expect((await end(larger)).parent_id).toBe(retried);
});
