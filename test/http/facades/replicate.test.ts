import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { isJsonObject, type JsonObject } from "../../../src/domain/json.ts";
import { createSystemClock } from "../../../src/runtime/clock.ts";
import { picture, png } from "../../helpers/media.ts";
import { type CheckAnswer, createAnswerCheck } from "../../helpers/openapi.ts";
import { openPublished } from "../../helpers/published.ts";
import { type PublishedService, startPublished } from "../openapi-service.ts";

// It waits for pictures and films.
setDefaultTimeout(30_000);

/** What Replicate publishes of its API; checked 2026-11-27. */
const published = openPublished("replicate/openapi.json");
/** No other timer of the service is set for so long. */
const LIFE_SEC = 54_321;
/** The ends of predictions that live so long, which come when a test says so. */
const ends: (() => void)[] = [];
let aheadMs = 0;
let service: PublishedService;
let checkAnswer: CheckAnswer;

/** One of a model there. */
const THEIR_VERSION = "39ed52f2".repeat(8);

beforeAll(async () => {
  const clock = createSystemClock();
  const after: typeof clock.after = (delayMs, run) => {
    if (delayMs <= (LIFE_SEC - 60) * 1000 || delayMs > LIFE_SEC * 1000) return clock.after(delayMs, run);
    ends.push(run);
    return () => void ends.splice(ends.indexOf(run) >>> 0, 1);
  };
  const aliases = `google/veo-3=sandbox-video,draw=sandbox-image,${THEIR_VERSION}=sandbox-image`;
  const env = { SVC_ALIASES: aliases };
  service = await startPublished(env, { ...clock, after, now: () => clock.now() + aheadMs });
  checkAnswer = createAnswerCheck(service.document);
});

afterAll(() => service.stop());

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: JsonObject;
}

interface Call {
  readonly method?: string;
  readonly body?: JsonObject | FormData | string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string;
}

/** Sends a request below /replicate/v1, and checks the answer by the service's own document. */
async function call(
  path: string,
  { body, method, headers = {}, key = service.key }: Call = {},
): Promise<Answer> {
  const target = `/replicate/v1${path}`;
  const isForm = body instanceof FormData;
  const verb = method ?? (body === undefined ? "GET" : "POST");
  const response = await fetch(service.url + target, {
    method: verb,
    headers: {
      Authorization: `Bearer ${key}`,
      ...(body === undefined || isForm ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: isForm || typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  checkAnswer(verb, target, response.status, response.headers, text);
  const isJson = response.headers.get("content-type") === "application/json";
  const parsed: unknown = isJson ? JSON.parse(text) : {};
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJsonObject(parsed) ? parsed : {},
  };
}

const SMALL = { prompt: "A fox", size: "64x64", sandbox: { delay_ms: 0 } };
/** Ends by being cancelled alone. */
const LASTING = { prompt: "A fox", sandbox: { outcome: "hang" } };
const WAIT = { Prefer: "wait=20" };

const create = (input: JsonObject, more: Call & { readonly model?: string } = {}) =>
  call(`/models/${more.model ?? "svc/sandbox-image"}/predictions`, { ...more, body: { input } });
const ended = async (id: unknown) => {
  await service.untilEnded(String(id));
  return (await call(`/predictions/${id}`)).body;
};
const cancel = (id: unknown) => call(`/predictions/${id}/cancel`, { method: "POST" });

function expectPublished(name: string, value: JsonObject): void {
  expect(published.problems(["components", "schemas", name], value)).toEqual([]);
}

const errorOf = ({ status, body }: Answer) => {
  const [field] = Array.isArray(body.invalid_fields) ? body.invalid_fields : [];
  return { status, title: body.title, field: isJsonObject(field) ? field.field : undefined };
};

describe("a prediction", () => {
  // Those that wait do so together. None of them looks at tasks of another one.
  test.concurrent("is created, made and read in that API's shape", async () => {
    const created = await create({ ...SMALL, num_outputs: 2 });
    expect(created.status).toBe(201);
    expect(created.headers.get("x-request-cost")).toBe("0.020000");
    expectPublished("schemas_prediction_response", created.body);
    const { id } = created.body;
    const made = await ended(id);
    expectPublished("schemas_prediction_response", made);
    expect(made).toMatchObject({
      ...{ id, status: "succeeded", model: "svc/sandbox-image", error: null, data_removed: false },
      input: { prompt: "A fox", size: "64x64", n: 2, sandbox: { delay_ms: 0 } },
      logs: "100%|██████████| 100/100\n",
      metrics: { predict_time: expect.any(Number), total_time: expect.any(Number) },
      urls: { get: `${service.url}/replicate/v1/predictions/${id}` },
    });
    const output = made.output as string[];
    expect(output).toHaveLength(2);
    for (const address of output)
      expect((await fetch(address)).headers.get("content-type")).toBe("image/png");
    expect((await call(`/predictions/${id}`)).headers.get("x-request-cost")).toBe("0.020000");
  });

  test.concurrent("has the addresses by which its caller came", async () => {
    for (const host of ["one.example", "other.example:8080", "one.example"]) {
      const { body } = await call("/models/svc/sandbox-image/predictions", {
        body: { input: { ...SMALL } },
        headers: { Host: host },
      });
      const id = String(body.id);
      const get = `http://${host}/replicate/v1/predictions/${id}`;
      expect(body.urls).toEqual({
        ...{ get, cancel: `${get}/cancel`, web: `http://${host}/console/tasks/${id}` },
        stream: expect.stringContaining(`http://${host}/replicate/v1/stream/${id}.`),
      });
    }
  });

  test.concurrent("that is waited for is answered once it has ended, or as starting when the wait is over", async () => {
    const made = await create(SMALL, { headers: WAIT });
    expect([made.status, made.body.status]).toEqual([201, "succeeded"]);
    const late = await create({ ...LASTING, seed: 76 }, { headers: { Prefer: "wait=1" } });
    expect([late.status, late.body.status]).toEqual([202, "starting"]);
    expect((await cancel(late.body.id)).status).toBe(200);
    expect((await ended(late.body.id)).status).toBe("canceled");
    // What has ended stays as it is.
    expect((await cancel(late.body.id)).body.status).toBe("canceled");
  });

  test.concurrent("is made by a version, by a name of that API, by an alias, and by a reference to both", async () => {
    const model = (await call("/models/svc/sandbox-image")).body;
    const version = (model.latest_version as JsonObject).id;
    expect(version).toMatch(/^[0-9a-f]{64}$/);
    const ours = ["svc/sandbox-image", "draw", `svc/sandbox-image:${version}`];
    for (const reference of [version, ...ours, THEIR_VERSION]) {
      const { status, body } = await call("/predictions", {
        body: { version: reference as string, input: LASTING },
      });
      expect([reference, status, body.version]).toEqual([reference, 201, version]);
      await cancel(body.id);
    }
    // Programs name a version that they were written for.
    const named = { version: `google/veo-3:${THEIR_VERSION}`, input: { ...LASTING, duration: 1 } };
    const film = await call("/predictions", { body: named });
    expect(film.body).toMatchObject({ model: "svc/sandbox-video", input: { duration: 1 }, output: null });
    await cancel(film.body.id);
    const byModel = await call("/predictions", { body: { model: "svc/sandbox-image", input: LASTING } });
    await cancel(byModel.body.id);
  });

  test.concurrent("is made by a deployment, which is a model by any of its names", async () => {
    const version = ((await call("/models/svc/sandbox-image")).body.latest_version as JsonObject).id;
    for (const name of ["svc/sandbox-image", "svc/draw"]) {
      const { body } = await call(`/deployments/${name}`);
      const [owner, ownName] = name.split("/");
      expect(body).toMatchObject({
        ...{ owner, name: ownName },
        current_release: { number: 1, model: "svc/sandbox-image", version },
      });
    }
    const of = (name: string, input: JsonObject) =>
      call(`/deployments/${name}/predictions`, { body: { input } });
    const film = await of("google/veo-3", { ...LASTING, duration: 1 });
    expectPublished("schemas_prediction_response", film.body);
    expect([film.status, film.body.model]).toEqual([201, "svc/sandbox-video"]);
    await cancel(film.body.id);
    expect([(await of("acme/none", SMALL)).status, (await call("/deployments/acme/none")).status]).toEqual([
      404, 404,
    ]);
    expect(errorOf(await of("svc/draw", { ...SMALL, colour: 1 }))).toMatchObject({
      status: 422,
      field: "input.colour",
    });
  });

  test.concurrent("of a film has one address as its output", async () => {
    const input = { prompt: "A fox", duration: 1, size: "640x360", sandbox: { delay_ms: 0 } };
    const { body } = await create(input, { model: "svc/sandbox-video" });
    const film = await ended(body.id);
    expect(film).toMatchObject({ status: "succeeded", output: expect.stringMatching(/^http.*\.mp4$/) });
    expect(film.input).toMatchObject({ aspect_ratio: "16:9", resolution: "360p" });
  });

  test.concurrent("whose caller left while it waited is joined by the same request", async () => {
    const gone = new AbortController();
    const body = { input: { ...LASTING, seed: 77 } };
    const target = `${service.url}/replicate/v1/models/svc/sandbox-image/predictions`;
    const headers = {
      Authorization: `Bearer ${service.key}`,
      "Content-Type": "application/json",
      Prefer: "wait",
    };
    const lost = fetch(target, { method: "POST", headers, body: JSON.stringify(body), signal: gone.signal });
    const mine = async () =>
      ((await call("/predictions")).body.results as JsonObject[]).filter(
        ({ input }) => isJsonObject(input) && input.seed === 77,
      );
    while ((await mine()).length === 0) await Bun.sleep(10);
    gone.abort();
    await lost.catch(() => {});
    const again = await create(body.input, { headers: { Prefer: "wait=1" } });
    const tasks = await mine();
    expect(tasks.map(({ id }) => id)).toEqual([again.body.id]);
    await cancel(again.body.id);
  });

  test("that fails says why, and costs nothing", async () => {
    const { body } = await create({ ...SMALL, sandbox: { delay_ms: 0, outcome: "moderated" } });
    const failed = await ended(body.id);
    expectPublished("schemas_prediction_response", failed);
    expect(failed).toMatchObject({ status: "failed", output: null });
    expect(failed.error).toContain("content policy");
    expect(failed.logs).toContain(String(failed.error));
    expect((await call(`/predictions/${body.id}`)).headers.get("x-request-cost")).toBe("0.000000");
  });

  test("takes pictures as data URIs, and shows them by their addresses", async () => {
    const uri = `data:image/png;base64,${Buffer.from(await png(64, 64)).toString("base64")}`;
    const mask = await picture(64, 64, 4).png().toBuffer();
    const maskUri = `data:image/png;base64,${mask.toString("base64")}`;
    const { body } = await create({ ...LASTING, image: uri, mask: maskUri });
    expect(body.input).toMatchObject({
      image_url: expect.stringMatching(/\/assets\/asset_/),
      mask_url: expect.stringMatching(/\/assets\/asset_/),
    });
    await cancel(body.id);
  });

  test("is cancelled after the time that its creator sets", async () => {
    const lifeOf = ({ deadline, created_at: from }: JsonObject) =>
      Date.parse(String(deadline)) - Date.parse(String(from));
    const { body: least } = await create(LASTING, { headers: { "Cancel-After": "5s" } });
    expect(lifeOf(least)).toBeWithin(4_000, 5_001);
    await cancel(least.id);
    const { body } = await create(LASTING, { headers: { "Cancel-After": `${LIFE_SEC}s` } });
    expectPublished("schemas_prediction_response", body);
    expect(lifeOf(body)).toBeWithin(LIFE_SEC * 1000 - 1_000, LIFE_SEC * 1000 + 1);
    expect(ends).toHaveLength(1);
    expect((await call(`/predictions/${body.id}`)).body.status).toBeOneOf(["starting", "processing"]);
    aheadMs = LIFE_SEC * 1000;
    ends[0]?.();
    aheadMs = 0;
    expect(await ended(body.id)).toMatchObject({ status: "canceled", deadline: body.deadline });
    for (const given of ["4s", "soon", "-5", "1d", "h"]) {
      const refused = await create(LASTING, { headers: { "Cancel-After": given } });
      expect(errorOf(refused)).toMatchObject({ status: 422, field: "Cancel-After" });
    }
  });

  test("that another API made is found, and listed with the others page by page", async () => {
    const response = await fetch(`${service.url}/v1/images/generations`, {
      method: "POST",
      headers: { Authorization: `Bearer ${service.key}`, "Content-Type": "application/json" },
      body: JSON.stringify({ model: "sandbox-image", ...SMALL }),
    });
    const { data } = (await response.json()) as { data: { task_id: string } };
    const found = await ended(data.task_id);
    expect(found).toMatchObject({ id: data.task_id, status: "succeeded", input: { prompt: "A fox" } });
    const page = await call("/predictions");
    const results = page.body.results as JsonObject[];
    expect(results[0]?.id).toBe(data.task_id);
    expect([page.body.previous, page.body.next]).toEqual([null, null]);
    const older = await call(`/predictions?cursor=${data.task_id}`);
    expect((older.body.results as JsonObject[]).map(({ id }) => id)).toEqual(
      results.slice(1).map(({ id }) => id),
    );
    expect(older.body.previous).toBe(`${service.url}/replicate/v1/predictions`);
    expect(errorOf(await call("/predictions?cursor=x"))).toMatchObject({ status: 422, field: "cursor" });
  });

  test("is listed by when it was created, and by where", async () => {
    const first = await create(SMALL);
    await ended(first.body.id);
    const second = await create(SMALL);
    await ended(second.body.id);
    const listed = async (query: string) =>
      (await call(`/predictions?${query}`)).body.results as JsonObject[];
    const [all, since] = [await listed(""), String(first.body.created_at)];
    const isSince = ({ created_at }: JsonObject) => String(created_at) >= since;
    expect(all.filter(isSince).length).toBeGreaterThan(1);
    expect(await listed(`created_after=${since}`)).toEqual(all.filter(isSince));
    expect(await listed(`created_before=${since}`)).toEqual(all.filter((each) => !isSince(each)));
    expect(await listed(`created_after=${since}&created_before=${since}`)).toEqual([]);
    expect(await listed("created_before=2099-01-01T00:00:00%2B01:00")).toEqual(all);
    expect(await listed("source=web")).toEqual([]);
    for (const query of ["created_after=soon", "created_before=2026-02-30", "source=api"])
      expect(errorOf(await call(`/predictions?${query}`))).toMatchObject({
        ...{ status: 422, field: query.split("=")[0] },
      });
  });

  test("sent again with its idempotency key is one prediction", async () => {
    const headers = { "Idempotency-Key": "aisdk_vid_1" };
    const first = await create(LASTING, { headers });
    const again = await create(LASTING, { headers });
    expect([again.body.id, again.headers.get("x-idempotent-replay")]).toEqual([first.body.id, "true"]);
    expect((await create({ ...LASTING, seed: 1 }, { headers })).status).toBe(409);
    const long = await create(LASTING, { headers: { "Idempotency-Key": "x".repeat(256) } });
    expect([long.status, long.body.title]).toEqual([400, "Bad request"]);
    await cancel(first.body.id);
  });
});

describe("an error", () => {
  test.each([
    [{}, "input.prompt"],
    [{ prompt: "x", gibberish: 1 }, "input.gibberish"],
    [{ prompt: "x", num_outputs: 99 }, "input.num_outputs"],
    [{ prompt: "x", width: 64 }, "input.width"],
    [{ prompt: "x", image: "nonsense" }, "input.image"],
    [{ prompt: "x", video: "https://example.org/a.mp4" }, "input.video"],
    [{ prompt: "x", sandbox: { delay_ms: -1 } }, "input.sandbox.delay_ms"],
  ] as const)("about the input %j names the caller's field", async (input, field) => {
    const refused = await create(input);
    expect(errorOf(refused)).toEqual({ status: 422, title: "Input validation failed", field });
    expect(refused.body.detail).toContain(field);
  });

  test.each([
    [{ input: 7 }, "input"],
    [{}, "input"],
    [{ input: LASTING }, "version"],
    [{ input: LASTING, version: 7 }, "version"],
    [{ input: LASTING, version: "svc/sandbox-image", webhook: "ftp://x" }, "webhook"],
    [
      { input: LASTING, version: "svc/sandbox-image", webhook_events_filter: ["x"] },
      "webhook_events_filter[0]",
    ],
  ] as const)("about the body %j names it", async (body, field) => {
    expect(errorOf(await call("/predictions", { body }))).toMatchObject({ status: 422, field });
  });

  test("about what is no JSON is told of", async () => {
    expect(errorOf(await call("/predictions", { body: "{" }))).toMatchObject({
      ...{ status: 422, title: "Unprocessable request" },
    });
  });

  test("about versions and models is that API's", async () => {
    const version = "f".repeat(64);
    for (const reference of [version, `svc/sandbox-image:${version}`]) {
      const refused = await call("/predictions", { body: { version: reference, input: LASTING } });
      expect(errorOf(refused)).toEqual({
        status: 422,
        title: "Invalid version or not permitted",
        field: "version",
      });
    }
    expect(errorOf(await create(LASTING, { model: "google/nothing" }))).toMatchObject({
      status: 404,
      title: "Not found",
    });
    // It is known, and no provider makes it here.
    const known = `black-forest-labs/flux-dev:${version}`;
    const unmade = await call("/predictions", { body: { version: known, input: LASTING } });
    expect([unmade.status, unmade.body.code]).toEqual([404, "model_not_found"]);
    expect((await call(`/models/svc/sandbox-image/versions/${version}`)).status).toBe(404);
    expect((await call("/collections/nothing")).status).toBe(404);
  });

  test("about the key, the prediction and the path is that API's", async () => {
    expect(errorOf(await call("/predictions", { key: "sk-svc-nobody" }))).toEqual({
      ...{ status: 401, title: "Unauthenticated", field: undefined },
    });
    const unknown = await call("/predictions/task_01m7z8zvfpegjs21bj52wsn618");
    expect(unknown.body).toEqual({
      ...{ title: "Not found", detail: "The requested resource could not be found.", status: 404 },
      code: "task_not_found",
    });
    expect((await call("/predictions/x/cancel", { method: "POST" })).status).toBe(404);
    const nowhere = await fetch(`${service.url}/replicate/v1/trainings`);
    expect(await nowhere.json()).toMatchObject({ title: "Not found", status: 404 });
  });
});

test("models, versions, collections, account, hardware and the secret are told", async () => {
  const models = await call("/models");
  expect((models.body.results as JsonObject[]).map(({ name }) => name)).toContain("sandbox-image");
  const model = (await call("/models/google/veo-3")).body;
  expectPublished("schemas_model_response", model);
  expect(model).toMatchObject({ owner: "google", name: "veo-3" });
  const version = model.latest_version as JsonObject;
  expectPublished("schemas_version_response", version);
  // Replicate's client for Python takes no other value for its version than a text.
  expect(version.cog_version).toBe("0.3.9");
  const { components } = version.openapi_schema as { components: { schemas: Record<string, JsonObject> } };
  expect(components.schemas.Input).toMatchObject({
    ...{ type: "object", required: ["prompt"] },
    properties: { prompt: { type: "string", title: "Prompt", "x-order": expect.any(Number) } },
  });
  expect(Object.keys(components.schemas.Input?.properties as JsonObject)).not.toContain("model");
  const versions = (await call("/models/google/veo-3/versions")).body.results;
  expect(versions).toEqual([version]);
  expect((await call(`/models/google/veo-3/versions/${version.id}`)).body).toEqual(version);
  const slugs = ((await call("/collections")).body.results as JsonObject[]).map(({ slug }) => slug);
  expect(slugs).toContain("text-to-video");
  const films = (await call("/collections/text-to-video")).body.models as JsonObject[];
  expect(films.map(({ name }) => name)).toContain("sandbox-video");
  expect((await call("/account")).body).toMatchObject({ type: "organization", github_url: null });
  expect(JSON.parse((await call("/hardware")).text)).toHaveLength(1);
  expect((await call("/webhooks/default/secret")).body.key).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
});

test("models are searched with the method QUERY, by their names, what providers call them, and what they do", async () => {
  const search = async (body: string) => {
    const response = await fetch(`${service.url}/replicate/v1/models`, {
      method: "QUERY",
      headers: { Authorization: `Bearer ${service.key}`, "Content-Type": "text/plain" },
      body,
    });
    const found = (await response.json()) as { results?: JsonObject[]; detail?: string };
    for (const model of found.results ?? []) expectPublished("schemas_model_response", model);
    return { status: response.status, names: found.results?.map(({ name }) => name), ...found };
  };
  expect((await search("Sandbox video edit")).names?.[0]).toBe("sandbox-video-edit");
  // As `replicate` sends it.
  expect((await search('"sandbox-image"')).names).toEqual(["sandbox-image"]);
  expect((await search("image-to-image-with-mask sandbox")).names).toContain("sandbox-image");
  expect((await search("no model has this")).names).toEqual([]);
  expect(await search("  ")).toMatchObject({ status: 422, detail: expect.stringContaining("query") });
  expect((await search("x".repeat(5000))).status).toBe(413);
});

test("what is not here is refused in that API's words", async () => {
  const notFound = { title: "Not found", detail: "The requested resource could not be found.", status: 404 };
  for (const path of ["/trainings", "/deployments", "/trainings/any", "/search?query=x"])
    expect((await (await fetch(`${service.url}/replicate/v1${path}`)).json()) as object).toMatchObject(
      notFound,
    );
  const ownerless = `${service.url}/replicate/v1/models/sandbox-image/predictions`;
  const unknown = await fetch(ownerless, { method: "POST", body: "{}" });
  expect([unknown.status, await unknown.json()]).toEqual([404, expect.objectContaining(notFound)]);
  const response = await fetch(`${service.url}/replicate/v1/models`, { method: "POST", body: "{}" });
  expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD, QUERY"]);
  expect(await response.json()).toMatchObject({ detail: 'Method "POST" not allowed.', status: 405 });
});

test("a prediction is followed by its address alone", async () => {
  const { body } = await create({ ...SMALL, seed: 3 });
  const made = await ended(body.id);
  const address = (made.urls as JsonObject).stream as string;
  const follow = async (url: string) => (await fetch(url)).text();
  const [output] = made.output as string[];
  const events = await follow(address);
  expect(events).toContain(`event: output\n`);
  expect(events).toContain(`data: ${output}\n`);
  expect(events).toContain(`event: done\ndata: {}\n`);
  const failed = await create({ ...SMALL, sandbox: { delay_ms: 0, outcome: "failed" } });
  const why = await follow((failed.body.urls as JsonObject).stream as string);
  expect(why).toContain("event: error\ndata: The provider failed");
  expect(why).toContain('event: done\ndata: {"reason":"error"}');
  // Replicate's client for Python passes over what comes before an id.
  for (const event of `${events}${why}`.matchAll(/(.*)\nevent: /g)) expect(event[1]).toMatch(/^id: \d+:\d+$/);
  expect((await fetch(`${address.slice(0, -3)}abc`)).status).toBe(404);
});

async function manage(path: string, body: JsonObject = {}): Promise<JsonObject> {
  const response = await fetch(`${service.url}/admin/v1${path}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${service.token}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: JsonObject }).data;
}

test("a prediction is followed by its address only while its key is accepted", async () => {
  const account = await manage("/accounts", { name: "followed", mode: "unlimited" });
  const { key, id } = await manage("/keys", { name: "followed", account: account.id as string });
  const made = (await create(LASTING, { key: String(key) })).body;
  const follow = () => fetch((made.urls as JsonObject).stream as string);
  const early = await follow();
  expect(early.status).toBe(200);
  await manage(`/accounts/${account.id}/suspend`);
  expect((await follow()).status).toBe(404);
  await manage(`/accounts/${account.id}/activate`);
  await manage(`/keys/${id}/revoke`);
  expect((await follow()).status).toBe(404);
  // One who follows since before is told nothing more: not even that it has ended.
  await manage(`/tasks/${made.id}/cancel`);
  expect(await early.text()).not.toContain("event: done");
});

test("a file is uploaded, read, used as an input, downloaded and deleted", async () => {
  const form = new FormData();
  const fox = await png(64, 64);
  form.append("content", new Blob([fox]), "fox.png");
  form.append("metadata", new Blob(['{"order": 7}'], { type: "application/json" }));
  const uploaded = await call("/files", { body: form });
  expect(uploaded.status).toBe(201);
  expectPublished("schemas_file_response", uploaded.body);
  const { id, urls, checksums } = uploaded.body as JsonObject & { id: string; urls: { get: string } };
  const { sha256 } = checksums as { sha256: string };
  expect(uploaded.body).toMatchObject({ content_type: "image/png", metadata: { order: 7 } });
  // Replicate's client for Python reads no file without these two.
  expect(uploaded.body).toMatchObject({ name: `${id}.png`, etag: sha256 });
  expect((await call(`/files/${id}`)).body).toMatchObject({ id, urls });
  expect(((await call("/files")).body.results as JsonObject[]).map((file) => file.id)).toEqual([id]);
  const used = await create({ ...LASTING, image: urls.get });
  expect(used.status).toBe(201);
  await cancel(used.body.id);
  expect((await call(`/files/${id}/download`)).headers.get("content-type")).toBe("image/png");
  expect((await call(`/files/${id}`, { method: "DELETE" })).status).toBe(204);
  expect((await call(`/files/${id}`)).status).toBe(404);
  for (const [fields, field] of [
    [{}, "content"],
    [{ content: new Blob(["x"]) }, "content"],
    [{ content: new Blob([fox]), metadata: "[" }, "metadata"],
  ] as const) {
    const wrong = new FormData();
    for (const [name, value] of Object.entries(fields)) wrong.append(name, value);
    if (Object.keys(fields).length === 0) wrong.append("x", "y");
    expect(errorOf(await call("/files", { body: wrong }))).toMatchObject({ status: 422, field });
  }
});
