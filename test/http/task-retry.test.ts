import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { picture, png } from "../helpers/media.ts";
import { type PublishedService, startPublished } from "./openapi-service.ts";

let service: PublishedService;

beforeAll(async () => {
  service = await startPublished({ SVC_EGRESS_ALLOW: "127.0.0.1/32" });
});

afterAll(() => service.stop());

setDefaultTimeout(60_000);

const SOON = { delay_ms: 0 };
const IMAGE = { model: "sandbox-image", prompt: "A fox", size: "16x16", sandbox: SOON };
const CALLBACK = "http://127.0.0.1:45999/hook?token=7";

interface Asked {
  readonly status: number;
  readonly headers: Headers;
  readonly data: JsonObject;
}

async function ask(
  path: string,
  {
    body,
    key = service.key,
    headers,
  }: { body?: JsonObject; key?: string; headers?: Record<string, string> } = {},
): Promise<Asked> {
  const isPost = body !== undefined || path.endsWith("/retry");
  const response = await fetch(service.url + path, {
    method: isPost ? "POST" : "GET",
    headers: {
      Authorization: `Bearer ${key}`,
      ...(body && { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  const data = isJsonObject(answer) && isJsonObject(answer.data) ? answer.data : {};
  return { status: response.status, headers: response.headers, data };
}

const problemOf = ({ status, data }: Asked) => [status, data.error_code, data.param];

/** Creates a task and waits for its end. @returns its id */
async function ended(body: JsonObject, key = service.key): Promise<string> {
  const kind = String(body.model).includes("video") ? "videos" : "images";
  const { data } = await ask(`/v1/${kind}/generations`, { body, key });
  const id = String(data.task_id);
  await service.untilEnded(id, key);
  return id;
}

const requestOf = async (id: unknown) => (await ask(`/v1/tasks/${id}`)).data.request as JsonObject;
const retry = (id: string, options: Parameters<typeof ask>[1] = {}) => ask(`/v1/tasks/${id}/retry`, options);

/** Makes an account with a credit and a key of it. */
async function keyOf(account: string, credit: string, limits: JsonObject = {}): Promise<string> {
  await ask("/admin/v1/accounts", { key: service.token, body: { name: account, credit } });
  const body = { name: account, account, ...limits };
  return String((await ask("/admin/v1/keys", { key: service.token, body })).data.key);
}

const dataUri = (bytes: Uint8Array) => `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`;

describe("a retry", () => {
  test("makes the same request again, with every parameter and the callback", async () => {
    const id = await ended({ ...IMAGE, n: 2, seed: 0, output_format: "webp", callback_url: CALLBACK });
    const { status, headers, data } = await retry(id);
    expect([status, data.retry_of, headers.get("x-request-cost")]).toEqual([200, id, "0.020000"]);
    expect(data.task_id).not.toBe(id);
    expect(await requestOf(data.task_id)).toEqual(await requestOf(id));
    expect(await requestOf(id)).toMatchObject({ n: 2, callback_url: CALLBACK, parameters: { seed: 0 } });
  });

  test("has the input files of the first, alone, in a list, as a mask and as results of a task", async () => {
    const [one, two] = [dataUri(await png(8, 8)), dataUri(await png(16, 8))];
    const mask_url = dataUri(await picture(8, 8, 4).png().toBuffer());
    const source = await ended({ ...IMAGE, n: 2 });
    // Nothing needs to be drawn for it.
    const sandbox = { ...SOON, outcome: "failed" };
    const image = { model: "sandbox-image", prompt: "Blue", sandbox };
    const video = { prompt: "Waves", sandbox };
    for (const body of [
      { ...image, image_url: one, mask_url },
      { ...image, image_urls: [one, two] },
      { ...video, model: "sandbox-video-frames", first_frame_url: one, last_frame_url: two },
      { ...video, model: "sandbox-video-reference", reference_image_urls: [two, one] },
      { ...video, model: "sandbox-video", task_id: source, index: 1 },
    ]) {
      const id = await ended(body);
      const { data } = await retry(id);
      expect(data.retry_of).toBe(id);
      const first = await requestOf(id);
      // The same files; a task has addresses of its own for them.
      const again = await requestOf(data.task_id);
      expect(JSON.parse(JSON.stringify(again).replaceAll(/asset_\w+/g, "asset"))).toEqual(
        JSON.parse(JSON.stringify(first).replaceAll(/asset_\w+/g, "asset")),
      );
      expect(first.inputs).not.toEqual([]);
    }
  });

  test("can follow any end, but not come before it", async () => {
    for (const outcome of ["failed", "moderated"]) {
      const failed = await ended({ ...IMAGE, sandbox: { ...SOON, outcome } });
      expect((await retry(failed)).status).toBe(200);
    }
    const { data } = await ask("/v1/images/generations", {
      body: { ...IMAGE, sandbox: { outcome: "hang" } },
    });
    const id = String(data.task_id);
    expect(problemOf(await retry(id))).toEqual([409, "task_not_retryable", undefined]);
    await ask(`/v1/tasks/${id}/cancel`, { body: {} });
    await service.untilEnded(id);
    expect((await retry(id)).status).toBe(200);
  });

  test("sent twice with one key makes one task and one hold", async () => {
    const key = await keyOf("thrifty", "0.025");
    const id = await ended(IMAGE, key);
    const headers = { "Idempotency-Key": "once" };
    const first = await retry(id, { key, headers });
    const again = await retry(id, { key, headers });
    expect([first.status, again.status, again.data]).toEqual([200, 200, first.data]);
    expect([first, again].map((each) => each.headers.get("x-idempotent-replay"))).toEqual([null, "true"]);
    expect(again.headers.get("x-request-cost")).toBe("0.010000");
    expect((await ask("/v1/tasks", { key })).data.tasks).toHaveLength(2);
    expect(problemOf(await retry(id, { key, headers: { "Idempotency-Key": "é" } }))[1]).toBe(
      "invalid_idempotency_key",
    );
  });

  test("is held to the limits of today: money, features, models and requests a minute", async () => {
    const poor = await keyOf("poor", "0.010");
    const spent = await ended(IMAGE, poor);
    expect(problemOf(await retry(spent, { key: poor }))).toEqual([402, "insufficient_quota", undefined]);

    const key = await keyOf("limited", "5");
    const id = await ended(IMAGE, key);
    const change = (body: JsonObject) =>
      fetch(`${service.url}/admin/v1/keys/limited`, {
        method: "PATCH",
        headers: { Authorization: `Bearer ${service.token}`, "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
    await change({ features: ["videos"] });
    expect(problemOf(await retry(id, { key }))).toEqual([403, "permission_denied", undefined]);
    await change({ features: null, models: ["none"] });
    expect(problemOf(await retry(id, { key }))).toEqual([403, "permission_denied", "model"]);
    await change({ models: null, requests_per_minute: 1 });
    expect([(await retry(id, { key })).status, (await retry(id, { key })).status]).toEqual([200, 429]);
  });

  test("changes nothing of the request: what is in its body is refused by name, and nothing in it is fine", async () => {
    const id = await ended(IMAGE);
    const refused = await retry(id, { body: { prompt: "another" } });
    expect(problemOf(refused)).toEqual([400, "invalid_request", "prompt"]);
    expect(problemOf(await retry(id, { body: {} }))).toEqual([200, undefined, undefined]);
    const empty = await fetch(`${service.url}/v1/tasks/${id}/retry`, {
      method: "POST",
      headers: { Authorization: `Bearer ${service.key}`, "Content-Length": "0" },
    });
    expect(empty.status).toBe(200);
  });

  test("is for the tasks of the own account, and for those that there are", async () => {
    const key = await keyOf("stranger", "5");
    const id = await ended(IMAGE);
    for (const asked of [
      await retry(id, { key }),
      await retry("task_1"),
      await ask(`/v1/tasks/${id}`, { key }),
    ])
      expect(problemOf(asked)).toEqual([404, "task_not_found", undefined]);
    const read = await fetch(`${service.url}/v1/tasks/${id}/retry`, {
      headers: { Authorization: `Bearer ${service.key}` },
    });
    expect([read.status, read.headers.get("allow")]).toEqual([405, "POST"]);
  });
});
