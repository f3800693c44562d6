import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { isJsonObject, type JsonObject } from "../../../src/domain/json.ts";
import { png } from "../../helpers/media.ts";
import { type CheckAnswer, createAnswerCheck } from "../../helpers/openapi.ts";
import { openPublished } from "../../helpers/published.ts";
import { type PublishedService, startPublished } from "../openapi-service.ts";

// It waits for videos.
setDefaultTimeout(30_000);

/** What fal publishes of its queue and of three models, and what its documentation says of the queue of any; checked 2026-11-27. */
const queue = openPublished("fal/queue.transcribed.openapi.json");
const models = openPublished("fal/openapi.json");
let service: PublishedService;
let checkAnswer: CheckAnswer;
let picture: string;

beforeAll(async () => {
  // Nothing is listening there, so that tasks wait.
  const nowhere = { FAL_KEY: "id:secret", SVC_PROVIDERS_FAL_BASE_URL: "http://127.0.0.1:9" };
  service = await startPublished({
    SVC_ALIASES: "mine=sandbox-image",
    SVC_SCHEDULER_CONCURRENCY: "8",
    ...nowhere,
  });
  checkAnswer = createAnswerCheck(service.document);
  picture = `data:image/png;base64,${Buffer.from(await png(64, 64)).toString("base64")}`;
});

afterAll(() => service.stop());

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: JsonObject;
  readonly text: string;
}

interface Call {
  readonly method?: string;
  readonly body?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  readonly authorization?: string;
}

/** Sends a request below /fal, and checks the answer by the service's own document. */
async function call(
  path: string,
  { body, method = body === undefined ? "GET" : "POST", headers = {}, authorization }: Call = {},
): Promise<Answer> {
  const target = `/fal${path}`;
  const response = await fetch(service.url + target, {
    method,
    headers: {
      Authorization: authorization ?? `Key ${service.key}`,
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  checkAnswer(method, target, response.status, response.headers, text);
  const isJson = response.headers.get("content-type") === "application/json";
  const parsed: unknown = isJson ? JSON.parse(text) : {};
  return {
    status: response.status,
    headers: response.headers,
    body: isJsonObject(parsed) ? parsed : {},
    text,
  };
}

const SOON = { delay_ms: 0 };
const SMALL = { prompt: "A fox", size: "16x16", sandbox: SOON };
/** Ends by being cancelled alone. */
const LASTING = { ...SMALL, sandbox: { outcome: "hang" } };

/** Joins the queue. @returns the id of the request */
async function submit(model: string, body: JsonObject, headers: Readonly<Record<string, string>> = {}) {
  const answer = await call(`/queue/${model}`, { body, headers });
  expectSchema("InQueue", answer.body);
  return String(answer.body.request_id);
}

async function ended(id: string): Promise<Answer> {
  await service.untilEnded(id);
  return call(`/queue/svc/any/requests/${id}/status?logs=1`);
}

test("a submission that is sent again with its key is answered as before, with what it costs", async () => {
  const headers = { "Idempotency-Key": "order-18" };
  const [first, again] = [
    await call("/queue/svc/sandbox-image", { body: LASTING, headers }),
    await call("/queue/svc/sandbox-image", { body: LASTING, headers }),
  ];
  await cancel(String(first.body.request_id));
  expect(again.body).toEqual(first.body);
  const told = ["x-request-cost", "x-idempotent-replay"];
  expect(told.map((name) => first.headers.get(name))).toEqual(["0.010000", null]);
  expect(told.map((name) => again.headers.get(name))).toEqual(["0.010000", "true"]);
});

const cancel = (id: string) => call(`/queue/svc/any/requests/${id}/cancel`, { method: "PUT" });

function expectSchema(name: string, value: JsonObject): void {
  expect(queue.problems(["components", "schemas", name], value)).toEqual([]);
}

/** The one field that an error is about. */
function faultOf({ status, body }: Answer): { status: number; loc: unknown; type: unknown } {
  expectSchema("ModelError", body);
  const [first] = Array.isArray(body.detail) ? body.detail : [];
  const fault = isJsonObject(first) ? first : {};
  return { status, loc: fault.loc, type: fault.type };
}

async function requestOf(id: string): Promise<JsonObject> {
  const headers = { Authorization: `Bearer ${service.key}` };
  const response = await fetch(`${service.url}/v1/tasks/${id}`, { headers });
  const { data } = (await response.json()) as { readonly data: { readonly request: JsonObject } };
  return data.request;
}

/** What a request has made, with the content of its files in place of their addresses. */
async function expectInline(id: string, made: JsonObject, side: number): Promise<void> {
  const { result } = await service.untilEnded(id);
  const images = await Promise.all(
    (result as string[]).map(async (url) => {
      const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
      return {
        ...{ url: `data:image/png;base64,${bytes.toString("base64")}`, content_type: "image/png" },
        ...{ file_name: url.slice(url.lastIndexOf("/") + 1), file_size: bytes.length },
        ...{ width: side, height: side },
      };
    }),
  );
  expect(made).toMatchObject({ images, prompt: "A fox", has_nsfw_concepts: [false, false] });
}

describe("a run", () => {
  // Those that take long do so together. One that finds no room to start waits until there is some.
  test.concurrent("is answered with what was made, in the shape that the model has there", async () => {
    const body = { prompt: "A fox", image_size: "square", num_images: 2, seed: 7, sandbox: SOON };
    const answer = await call("/svc/sandbox-image", { body });
    expect([answer.status, answer.headers.get("x-request-cost")]).toEqual([200, "0.020000"]);
    expect(answer.headers.get("x-fal-request-id")).toStartWith("task_");
    expect(models.problems(["components", "schemas", "FluxDevOutput"], answer.body)).toEqual([]);
    expect(answer.body).toMatchObject({ seed: 7, prompt: "A fox", has_nsfw_concepts: [false, false] });
    const [image] = answer.body.images as JsonObject[];
    expect(image).toMatchObject({ content_type: "image/png", width: 512, height: 512 });
    expect((await fetch(String(image?.url))).status).toBe(200);
  });

  test.concurrent("of a model of videos has the video", async () => {
    const body = { prompt: "A fox", size: "640x360", duration: "1s", seed: 3, sandbox: SOON };
    const { body: made } = await call("/svc/sandbox-video", { body });
    expect(models.problems(["components", "schemas", "HunyuanVideoOutput"], made)).toEqual([]);
    expect(made).toMatchObject({ seed: 3, video: { content_type: "video/mp4", duration: 1 } });
  });

  test.concurrent("that has not started in its time is cancelled, and told so", async () => {
    const headers = { "X-Fal-Request-Timeout": "1.001" };
    const hung = await Promise.all(Array.from({ length: 8 }, () => submit("svc/sandbox-image", LASTING)));
    const late = await call("/svc/sandbox-image", { body: SMALL, headers });
    await Promise.all(hung.map(cancel));
    expect([late.status, late.body.error_type]).toEqual([504, "request_timeout"]);
    expect(late.headers.get("x-fal-request-timeout-type")).toBe("user");
  });

  test("takes a model by its id, with an owner and by an alias", async () => {
    for (const name of ["sandbox-image", "svc/sandbox-image", "fal-ai/sandbox-image", "mine"])
      expect((await call(`/${name}`, { body: SMALL })).status).toBe(200);
  });

  test("that streams has the same as its one event", async () => {
    const { headers, text } = await call("/svc/sandbox-image/stream", { body: SMALL });
    expect(headers.get("content-type")).toBe("text/event-stream");
    expect(JSON.parse(text.replace("data: ", "")).images).toHaveLength(1);
  });

  test.each([64, 512])("with sync_mode has its pictures of %i pixels a side in the answer", async (side) => {
    const body = { ...SMALL, size: `${side}x${side}`, num_images: 2, sync_mode: true };
    const { body: made, headers } = await call("/svc/sandbox-image", { body });
    const id = String(headers.get("x-fal-request-id"));
    await expectInline(id, made, side);
    const streamed = await call("/svc/sandbox-image/stream", { body });
    expect(streamed.headers.get("content-type")).toBe("text/event-stream");
    const [event = "", ...others] = streamed.text.split("\n\n");
    expect(others).toEqual([""]);
    const other = String(streamed.headers.get("x-fal-request-id"));
    await expectInline(other, JSON.parse(event.replace("data: ", "")), side);
  });

  test("that fails has that API's errors", async () => {
    const failing = async (outcome: string) =>
      call("/svc/sandbox-image", { body: { ...SMALL, sandbox: { ...SOON, outcome } } });
    const moderated = await failing("moderated");
    expect(faultOf(moderated)).toEqual({
      ...{ status: 422, loc: ["body", "prompt"], type: "content_policy_violation" },
    });
    expect(moderated.headers.get("x-fal-error-type")).toBe("content_policy_violation");
    expect(faultOf(await failing("failed"))).toMatchObject({ status: 500 });
  });
});

test("a run that its address cuts before it has started is one task, however often it is sent again", async () => {
  const busy = await startPublished({ SVC_EDGE_TIMEOUT_SECONDS: "1", SVC_SANDBOX_CONCURRENCY: "1" });
  const send = (path: string, body: JsonObject, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${busy.url}/fal${path}`, {
      method: "POST",
      headers: { Authorization: `Key ${busy.key}`, "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  await send("/queue/svc/sandbox-image", LASTING);
  const run = () => send("/svc/sandbox-image", SMALL, { "X-Fal-Request-Timeout": "2.5" });
  const cut = [await run(), await run()];
  const ids = cut.map(({ headers }) => headers.get("x-fal-request-id"));
  expect(cut.map(({ status }) => status)).toEqual([504, 504]);
  expect([ids[0], new Set(ids).size]).toEqual([expect.stringMatching(/^task_/), 1]);
  // It is cancelled at its time all the same, and whoever waits then is told why.
  const late = await run();
  expect([late.status, late.headers.get("x-fal-request-timeout-type")]).toEqual([504, "user"]);
  expect(late.headers.get("x-fal-request-id")).toBe(ids[0] ?? "");
  await busy.stop();
});

describe("the queue", () => {
  test("cancels a request that has not started in its time, and leaves one that has", async () => {
    const headers = { "X-Fal-Request-Timeout": "1.001" };
    const started = await submit("svc/sandbox-image", LASTING, headers);
    const hung = await Promise.all(Array.from({ length: 7 }, () => submit("svc/sandbox-image", LASTING)));
    const late = await submit("svc/sandbox-image", SMALL, headers);
    const { body } = await ended(late);
    expectSchema("Completed", body);
    expect(body).toMatchObject({ status: "COMPLETED", error_type: "request_timeout" });
    const result = await call(`/queue/svc/any/requests/${late}`);
    expect([result.status, result.body.error_type]).toEqual([504, "request_timeout"]);
    expect(result.headers.get("x-fal-request-timeout-type")).toBe("user");
    expect((await call(`/queue/svc/any/requests/${started}/status`)).body.status).toBe("IN_PROGRESS");
    await Promise.all([started, ...hung].map(cancel));
    // Who cancels it before is told so.
    const waiting = await submit("svc/sandbox-image", LASTING, { "X-Fal-Request-Timeout": "3600" });
    await cancel(waiting);
    expect((await ended(waiting)).body.error_type).toBe("client_cancelled");
  });

  test("tells of a request until its result is there", async () => {
    const id = await submit("svc/sandbox-image", SMALL);
    const status = await ended(id);
    expectSchema("Completed", status.body);
    expect(status).toMatchObject({ status: 200, body: { status: "COMPLETED", request_id: id } });
    expect(status.body.response_url).toBe(`${service.url}/fal/queue/svc/any/requests/${id}`);
    expect((status.body.logs as JsonObject[]).length).toBeGreaterThan(0);
    for (const path of ["", "/response"]) {
      const result = await call(`/svc/any/requests/${id}${path}`);
      expect(result.status).toBe(200);
      expect(result.body.images).toHaveLength(1);
    }
  });

  test("tells each caller the addresses by which it came, under headers of its own answer", async () => {
    const hosts = ["one.example", "other.example:8080", "one.example"];
    const requestIds = new Set<string | null>();
    for (const host of hosts) {
      const { body, headers } = await call("/queue/svc/sandbox-image", {
        body: SMALL,
        headers: { Host: host },
      });
      const id = String(body.request_id);
      const address = `http://${host}/fal/queue/svc/sandbox-image/requests/${id}`;
      const [status_url, cancel_url] = [`${address}/status`, `${address}/cancel`];
      expect(body).toEqual({
        ...{ status: "IN_QUEUE", request_id: id },
        ...{ response_url: address, status_url, cancel_url },
      });
      expect(headers.get("x-fal-request-id")).toBe(id);
      expect(headers.get("x-request-cost")).toBe("0.010000");
      requestIds.add(headers.get("x-request-id"));
    }
    expect(requestIds.size).toBe(hosts.length);
  });

  test("is joined by path, by priority and by webhook", async () => {
    const byPriority = await call("/svc/sandbox-image", {
      body: LASTING,
      headers: { "X-Fal-Queue-Priority": "low" },
    });
    expect(byPriority.body.status).toBe("IN_QUEUE");
    const id = String(byPriority.body.request_id);
    const early = await call(`/svc/sandbox-image/requests/${id}`);
    expect(early).toMatchObject({ status: 400, body: { detail: "Request is still in progress" } });
    const status = await call(`/svc/sandbox-image/requests/${id}/status`);
    // fal's client for Python reads no status under way without it.
    expect([status.status, status.body.logs]).toEqual([202, null]);
    await cancel(id);
    const bad = await call(`/svc/sandbox-image?fal_webhook=${encodeURIComponent("ftp://x")}`, {
      body: SMALL,
    });
    expect(faultOf(bad)).toMatchObject({ status: 422, loc: ["query", "fal_webhook"] });
  });

  test("has the pictures themselves in the result of a request with sync_mode", async () => {
    const id = await submit("svc/sandbox-image", { ...SMALL, size: "64x64", num_images: 2, sync_mode: true });
    await service.untilEnded(id);
    for (const end of ["", "/response"])
      await expectInline(id, (await call(`/queue/svc/sandbox-image/requests/${id}${end}`)).body, 64);
  });

  test("follows a request to its end", async () => {
    const id = await submit("svc/sandbox-image", SMALL);
    const { text } = await call(`/queue/svc/sandbox-image/requests/${id}/status/stream?logs=1`);
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(
      ([, data = ""]) => JSON.parse(data) as JsonObject,
    );
    for (const event of events) expectSchema("Base", event);
    expect(events.at(-1)?.status).toBe("COMPLETED");
    const lines = events.flatMap(({ logs }) => (Array.isArray(logs) ? logs : []));
    expect(new Set(lines.map((line) => isJsonObject(line) && line.message)).size).toBe(lines.length);
  });

  test("cancels, once, and says what became of it", async () => {
    const id = await submit("svc/sandbox-image", LASTING);
    const first = await cancel(id);
    expect([first.status, first.body]).toEqual([202, { status: "CANCELLATION_REQUESTED" }]);
    const { body } = await ended(id);
    expect(body).toMatchObject({ status: "COMPLETED", error_type: "client_cancelled" });
    const result = await call(`/svc/any/requests/${id}`);
    expect([result.status, result.body.error_type]).toEqual([499, "client_cancelled"]);
    const again = await cancel(id);
    expect([again.status, again.body.status]).toEqual([400, "ALREADY_COMPLETED"]);
    expectSchema("CancelStatus", again.body);
    const none = await cancel("task_01m7z8zvfpegjs21bj52wsn618");
    expect([none.status, none.body.status]).toEqual([404, "NOT_FOUND"]);
  });

  test("finds tasks that came another way, and none of another account", async () => {
    const headers = { Authorization: `Bearer ${service.key}`, "Content-Type": "application/json" };
    const body = JSON.stringify({ model: "sandbox-image", ...SMALL });
    const created = await fetch(`${service.url}/v1/images/generations`, { method: "POST", headers, body });
    const { data } = (await created.json()) as { readonly data: { readonly task_id: string } };
    expect((await ended(data.task_id)).body.status).toBe("COMPLETED");
    const stranger = await strangersKey();
    for (const path of ["", "/status", "/status/stream", "/response"]) {
      const answer = await call(`/svc/any/requests/${data.task_id}${path}`, {
        authorization: `Key ${stranger}`,
      });
      expect([answer.status, answer.body.error_type]).toEqual([404, "not_found"]);
    }
  });
});

async function strangersKey(): Promise<string> {
  const api = async (path: string, body: JsonObject) => {
    const response = await fetch(`${service.url}/admin/v1${path}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${service.token}`, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    return ((await response.json()) as { readonly data: JsonObject }).data;
  };
  const name = `stranger-${crypto.randomUUID().slice(0, 8)}`;
  await api("/accounts", { name, mode: "unlimited" });
  return String((await api("/keys", { name, account: name })).key);
}

describe("the words of that API", () => {
  test("become those of a model with a route there, and its sub-paths its modes", async () => {
    const video = await submit("fal-ai/veo3/image-to-video", {
      prompt: "x",
      image_url: picture,
      duration: "8s",
    });
    expect(await requestOf(video)).toMatchObject({ mode: "image-to-video", parameters: { duration: 8 } });
    const image = await submit("fal-ai/flux/dev", {
      prompt: "x",
      image_size: "landscape_16_9",
      num_images: 2,
    });
    expect(await requestOf(image)).toMatchObject({ n: 2, parameters: { aspect_ratio: "16:9" } });
    const sized = { prompt: "x", image_size: { width: 1152, height: 864 } };
    expect(await requestOf(await submit("fal-ai/flux/dev", sized))).toMatchObject({
      parameters: { aspect_ratio: "4:3" },
    });
    // What fal publishes as the example of that model, with a size of its caller's own.
    const published = {
      ...{
        prompt: "x",
        image_size: { width: 1024, height: 768 },
        num_inference_steps: 28,
        guidance_scale: 3.5,
      },
      ...{ num_images: 1, enable_safety_checker: true, output_format: "jpeg", acceleration: "none" },
    };
    expect(models.problems(["components", "schemas", "FluxDevInput"], published)).toEqual([]);
    expect((await requestOf(await submit("fal-ai/flux/dev", published))).parameters).toEqual({
      ...{ aspect_ratio: "4:3", steps: 28, guidance: 3.5, output_format: "jpeg" },
    });
    const edited = await submit("fal-ai/nano-banana/edit", { prompt: "x", image_urls: [picture] });
    expect(await requestOf(edited)).toMatchObject({ mode: "image-to-image" });
    for (const id of [video, image, edited]) await cancel(id);
  });

  test("name the field at fault", async () => {
    const faults: readonly (readonly [string, JsonObject, readonly unknown[], string])[] = [
      ["fal-ai/veo3/image-to-video", { prompt: "x" }, ["body", "image_url"], "missing"],
      ["svc/sandbox-image", {}, ["body", "prompt"], "missing"],
      ["svc/sandbox-image", { prompt: "x", loras: [{}] }, ["body", "loras"], "extra_forbidden"],
      ["svc/sandbox-video", { prompt: "x", sync_mode: true }, ["body", "sync_mode"], "extra_forbidden"],
      ["svc/sandbox-image", { prompt: "x", sync_mode: "yes" }, ["body", "sync_mode"], "extra_forbidden"],
      ["svc/sandbox-image", { prompt: "x", num_images: 99 }, ["body", "num_images"], "value_error"],
      [
        "svc/sandbox-image",
        { prompt: "x", image_size: { width: 0, height: 9 } },
        ["body", "image_size"],
        "value_error",
      ],
    ];
    for (const [model, body, loc, type] of faults)
      expect(faultOf(await call(`/queue/${model}`, { body }))).toEqual({ status: 422, loc: [...loc], type });
  });

  test("refuse headers that cannot be honoured, by their names", async () => {
    const refused = async (headers: Readonly<Record<string, string>>) =>
      faultOf(await call("/queue/svc/sandbox-image", { body: SMALL, headers }));
    const stored = "x-fal-object-lifecycle-preference";
    for (const [name, value] of [
      ["x-fal-queue-priority", "high"],
      ["x-fal-store-io", "0"],
      ["x-fal-request-timeout", "1"],
      ["x-fal-request-timeout", "soon"],
      [stored, "{"],
      [stored, '{"initial_acl":{}}'],
    ] as const)
      expect(await refused({ [name]: value })).toMatchObject({ status: 422, loc: ["header", name] });
    const kept = await submit("svc/sandbox-image", SMALL, {
      [stored]: '{"expiration_duration_seconds":3600}',
    });
    expect((await ended(kept)).body.status).toBe("COMPLETED");
  });

  test("are heard for paths that are too long, models that are unknown and keys that are wrong", async () => {
    const long = await call("/a/b/c/d/e/f", { body: SMALL });
    expect([long.status, long.body.error_type]).toEqual([404, "url_error"]);
    expectSchema("RequestError", long.body);
    const unknown = await call("/fal-ai/never", { body: SMALL });
    expect([unknown.status, unknown.body.error_type]).toEqual([404, "not_found"]);
    const nobody = await call("/svc/sandbox-image", { body: SMALL, authorization: "Key sk-svc-wrong" });
    expect([nobody.status, nobody.body.error_type]).toEqual([401, "auth_error"]);
    expectSchema("RequestError", nobody.body);
  });
});

describe("storage", () => {
  const begin = () =>
    call("/storage/upload/initiate?storage_type=fal-cdn-v3", {
      body: { content_type: "image/png", file_name: "a.png" },
    });
  const put = (url: unknown, bytes: Uint8Array<ArrayBuffer>) =>
    fetch(String(url), { method: "PUT", body: bytes });

  test("gives an address, takes the file there, and a model takes it", async () => {
    const { body } = await begin();
    const bytes = await png(32, 32);
    expect((await put(body.upload_url, bytes)).status).toBe(200);
    // A lost answer is asked for again.
    expect((await put(body.upload_url, bytes)).status).toBe(200);
    expect((await put(body.upload_url, await png(33, 33))).status).toBe(422);
    const edited = { ...SMALL, image_url: body.file_url ?? null };
    expect((await call("/svc/sandbox-image", { body: edited })).status).toBe(200);
  });

  test("takes nothing at an address that it did not give, nothing that is no media, and no parts", async () => {
    const { body } = await begin();
    // The last character of base64 has bits that mean nothing, so the one before it is changed.
    const forged = String(body.upload_url).replace(/.(?=.$)/, (one) => (one === "A" ? "B" : "A"));
    expect((await put(forged, await png(8, 8))).status).toBe(404);
    expect((await put(body.upload_url, new Uint8Array([1, 2, 3]))).status).toBe(422);
    const parts = await call("/storage/upload/initiate-multipart", { body: {} });
    expect([parts.status, JSON.stringify(parts.body).includes("larger than 67108864 bytes")]).toEqual([
      413,
      true,
    ]);
  });
});
