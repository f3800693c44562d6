import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { png } from "../helpers/media.ts";
import { type CheckAnswer, compileAt, createAnswerCheck } from "../helpers/openapi.ts";
import { attemptId } from "../helpers/store.ts";
import { type PublishedService, startPublished } from "./openapi-service.ts";

// It waits for a task.
setDefaultTimeout(30_000);

let service: PublishedService;
let checkAnswer: CheckAnswer;
/** Operations that were called and did what they are for. */
const called = new Set<string>();

beforeAll(async () => {
  service = await startPublished({ SVC_EGRESS_ALLOW: "127.0.0.1/32" });
  checkAnswer = createAnswerCheck(service.document);
});

afterAll(() => service.stop());

interface Called {
  readonly status: number;
  readonly text: string;
  readonly data: JsonObject;
}

/** Calls an operation by its path in the document, and checks the answer against it. */
async function call(
  operation: string,
  {
    path = {},
    query = "",
    body,
    credential = service.key,
    headers = {},
  }: {
    path?: Readonly<Record<string, string>>;
    query?: string;
    body?: JsonObject | FormData;
    credential?: string;
    headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<Called> {
  const [method = "", template = ""] = operation.split(" ");
  const target = template.replace(/\{(\w+)\}/g, (_, name: string) => path[name] ?? "") + query;
  const isForm = body instanceof FormData;
  const response = await fetch(service.url + target, {
    method,
    headers: {
      Authorization: `Bearer ${credential}`,
      ...(body === undefined || isForm ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  checkAnswer(method, target, response.status, response.headers, text);
  if (response.status < 400) called.add(`${method.toLowerCase()} ${template}`);
  const parsed: unknown =
    response.headers.get("content-type") === "application/json" && text !== "" ? JSON.parse(text) : {};
  const data = isJsonObject(parsed) && isJsonObject(parsed.data) ? parsed.data : {};
  return { status: response.status, text, data };
}

const SOON = { delay_ms: 0 };
const IMAGE = { model: "sandbox-image", prompt: "A fox", size: "16x16", sandbox: SOON };

async function finished(kind: "image" | "video", body: JsonObject): Promise<Called> {
  const { data } = await call(`POST /v1/${kind}s/generations`, { body });
  const path = { task_id: String(data.task_id) };
  return call(`GET /v1/${kind}s/status/{task_id}`, { path, query: "?wait=30" });
}

test("tasks are answered as the document says, however they end", async () => {
  const { data } = await finished("image", IMAGE);
  expect(data.status).toBe("completed");
  const [url = ""] = data.result as string[];
  const file = { path: { file: url.split("/").at(-1) ?? "" } };
  await call("GET /assets/{file}", file);
  const ranged = await call("GET /assets/{file}", { ...file, headers: { Range: "bytes=0-9" } });
  const beyond = await call("GET /assets/{file}", { ...file, headers: { Range: "bytes=99999999-" } });
  expect([ranged.status, beyond.status]).toEqual([206, 416]);

  const bytes = await (await fetch(url)).bytes();
  const sha256 = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
  const address = service.inputPath({ sha256, sizeBytes: bytes.length, type: "image/png" });
  const input = { path: { file: address.split("/").at(-1) ?? "" } };
  const read = await call("GET /inputs/{file}", input);
  const partly = await call("GET /inputs/{file}", { ...input, headers: { Range: "bytes=0-9" } });
  const none = await call("GET /inputs/{file}", { path: { file: "none.png" } });
  expect([read.status, partly.status, none.status]).toEqual([200, 206, 404]);

  const failing = { ...IMAGE, sandbox: { ...SOON, outcome: "failed" } };
  expect((await finished("image", failing)).data.status).toBe("failed");
  const video = { model: "sandbox-video", prompt: "A fox", sandbox: { ...SOON, outcome: "moderated" } };
  expect((await finished("video", video)).data.error_code).toBe("CONTENT_MODERATED");

  const hanging = await call("POST /v1/images/generations", {
    body: { ...IMAGE, sandbox: { outcome: "hang" } },
  });
  const path = { task_id: String(hanging.data.task_id) };
  await call("GET /v1/tasks/{task_id}", { path });
  await call("GET /v1/tasks/{task_id}/trace", { path });
  await call("POST /v1/tasks/{task_id}/cancel", { path });
  const events = await call("GET /v1/tasks/{task_id}/events", { path });
  expect(events.text).toContain("event: cancelled\n");
  expect((await call("POST /v1/tasks/{task_id}/cancel", { path })).status).toBe(409);
  expect((await call("POST /v1/tasks/{task_id}/retry", { path })).data.retry_of).toBe(path.task_id);
  const varied = await call("POST /v1/tasks/{task_id}/variations", { path, body: { count: 2 } });
  expect(varied.data.variation_of).toBe(path.task_id);
  expect((await call("GET /v1/tasks/{task_id}/tree", { path, query: "?limit=2" })).data.next).toBeString();
  const grid = { seed: [1, 2] };
  const group = await call("POST /v1/groups", {
    body: { prompt: "A fox", models: ["sandbox-image"], parameters: { sandbox: { outcome: "hang" } }, grid },
  });
  const ofGroup = { path: { group_id: String(group.data.group_id) } };
  expect((await call("GET /v1/groups", { query: "?limit=1" })).data.groups).toHaveLength(1);
  expect((await call("GET /v1/groups/{group_id}", ofGroup)).data.status).toBe("processing");
  expect((await call("POST /v1/groups/{group_id}/cancel", ofGroup)).status).toBe(200);
  const missing = { task_id: "task_01jd0000000000000000000000" };
  expect((await call("POST /v1/tasks/{task_id}/retry", { path: missing })).status).toBe(404);
  expect((await call("DELETE /v1/tasks/{task_id}", { path })).data.deleted).toBe(true);
  expect((await call("DELETE /v1/tasks/{task_id}", { path: missing })).status).toBe(404);
  expect((await call("GET /v1/tasks", { query: "?limit=3" })).data.next).toBeString();
  expect((await call("GET /v1/tasks", { query: "?limit=0" })).status).toBe(400);
});

test("what is made of results is answered as the document says", async () => {
  const image = { task_id: String((await finished("image", IMAGE)).data.task_id) };
  const larger = await call("POST /v1/tasks/{task_id}/upscale", { path: image, body: { sandbox: SOON } });
  expect(larger.data.parent_id).toBe(image.task_id);
  expect((await call("POST /v1/tasks/{task_id}/upscale", { path: image, body: { index: 9 } })).status).toBe(
    400,
  );
  const video = { model: "sandbox-video", prompt: "A fox", duration: 1, aspect_ratio: "1:1", sandbox: SOON };
  const path = { task_id: String((await finished("video", video)).data.task_id) };
  const body = { model: "sandbox-video-edit", duration: 1, sandbox: SOON };
  const longer = await call("POST /v1/tasks/{task_id}/extend", { path, body });
  expect(longer.data.model).toBe("sandbox-video-edit");
  expect((await call("POST /v1/tasks/{task_id}/extend", { path })).status).toBe(400);
  await call("GET /v1/videos/status/{task_id}", {
    path: { task_id: String(longer.data.task_id) },
    query: "?wait=30",
  });
  expect((await call("GET /v1/tasks/{task_id}/tree", { path })).data.next).toBeNull();
});

test("uploaded files are answered as the document says", async () => {
  const form = new FormData();
  form.append("file", new Blob([await png(3, 2)]), "fox.png");
  form.append("name", "a fox");
  const { data } = await call("POST /v1/files", { body: form });
  const path = { file_id: String(data.id) };
  const url = { file: String(data.url).split("/").at(-1) ?? "" };
  expect((await call("GET /v1/files/{file_id}", { path })).data).toEqual(data);
  expect((await call("GET /assets/{file}", { path: url })).status).toBe(200);
  expect((await call("GET /v1/files", { query: "?limit=1" })).data).toEqual({ files: [data], next: null });
  expect((await call("GET /v1/files", { query: "?limit=0" })).status).toBe(400);
  expect((await call("DELETE /v1/files/{file_id}", { path })).data.deleted).toBe(true);
  expect((await call("GET /v1/files/{file_id}", { path })).status).toBe(404);
  expect((await call("POST /v1/files", { body: {} })).status).toBe(415);
  const empty = new FormData();
  empty.append("name", "a fox");
  expect((await call("POST /v1/files", { body: empty })).status).toBe(400);
});

test("calls of providers are answered as the document says", async () => {
  const path = { token: service.hookPath(attemptId(1)).split("/").at(-1) ?? "" };
  const body = { challenge: "echo" };
  expect((await call("POST /hooks/{token}", { path, body })).text).toBe('{"challenge":"echo"}');
  const nobody = await call("POST /hooks/{token}", { path, body: {} });
  const forged = await call("POST /hooks/{token}", { path: { token: `${path.token}x` }, body });
  const large = await call("POST /hooks/{token}", { path, body: { text: "x".repeat(64 * 1024) } });
  expect([nobody.status, forged.status, large.status]).toEqual([404, 404, 413]);
});

test("callbacks are answered as the document says, and so are the streams without an end", async () => {
  const receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response("busy", { status: 503 }),
  });
  const callback_url = `http://127.0.0.1:${receiver.port}/hook`;
  const { data } = await finished("image", { ...IMAGE, callback_url });
  await finished("image", { ...IMAGE, sandbox: { ...SOON, outcome: "failed" } });
  const page = await call("GET /v1/callbacks", { query: `?task_id=${data.task_id}&from=0&limit=1` });
  const [callback] = page.data.callbacks as { id: string }[];
  const path = { callback_id: String(callback?.id) };
  const tried = async () =>
    (await call("GET /v1/callbacks/{callback_id}", { path })).text.includes('"answer":"busy"');
  while (!(await tried())) await Bun.sleep(5);
  await call("POST /v1/callbacks/{callback_id}/redeliver", { path });
  await call("POST /v1/callbacks/redeliver", { body: { task_id: String(data.task_id) } });
  await call("POST /v1/callbacks/redeliver", { body: { from: 0, state: "pending" } });
  expect((await call("POST /v1/callbacks/redeliver", { body: {} })).status).toBe(400);
  expect((await call("GET /v1/callbacks", { query: "?state=dead" })).status).toBe(400);
  const unknown = { callback_id: "cb_01jd0000000000000000000000" };
  expect((await call("GET /v1/callbacks/{callback_id}", { path: unknown })).status).toBe(404);
  expect(await begin("/v1/events", "event: failed\n")).toContain("event: completed\n");
  expect(await begin("/v1/callbacks/events", '"url":null')).toContain(callback_url);
  expect(await begin("/admin/v1/events", "event: failed\n", service.token)).toContain('"name":"default"');
  expect((await call("GET /v1/events", { headers: { "Last-Event-ID": "x" } })).status).toBe(400);
  await receiver.stop(true);
});

/** The beginning of a stream, up to what is told, checked against the document. */
async function begin(path: string, last: string, credential = service.key): Promise<string> {
  const headers = { Authorization: `Bearer ${credential}`, "Last-Event-ID": "0" };
  const response = await fetch(service.url + path, { headers, keepalive: false });
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes(last) && text.endsWith("\n\n")) break;
  }
  checkAnswer("GET", path, response.status, response.headers, text);
  called.add(`get ${path}`);
  return text;
}

test("the synchronous images API is answered as the document says, in each form", async () => {
  const body = { model: "sandbox-image", prompt: "A fox", size: "16x16", sandbox: SOON };
  const generate = "POST /compat/v1/images/generations";
  for (const response_format of ["b64_json", "url"]) {
    for (const stream of [false, true]) await call(generate, { body: { ...body, response_format, stream } });
  }
  const failing = { ...body, sandbox: { ...SOON, outcome: "moderated" } };
  const moderated = await call(generate, { body: failing });
  expect([moderated.status, moderated.text.includes("content_policy_violation")]).toEqual([400, true]);
  expect((await call(generate, { body: { ...failing, stream: true } })).text).toContain("event: error\n");
  expect((await call(generate, { body: { ...body, model: "none" } })).status).toBe(404);

  const picture = await png(16, 16);
  const image_url = `data:image/png;base64,${Buffer.from(picture).toString("base64")}`;
  const edit = "POST /compat/v1/images/edits";
  const pointer = "/paths/~1compat~1v1~1images~1edits/post/requestBody/content/application~1json/schema";
  const isDescribed = compileAt(service.document, pointer);
  for (const image of [image_url, { image_url }, { url: image_url }, { image_url: { url: image_url } }]) {
    for (const given of [{ images: [image] }, { image }, { image: [image] }]) {
      expect((await call(edit, { body: { ...body, ...given } })).status).toBe(200);
      expect([given, isDescribed({ ...body, ...given })]).toEqual([given, true]);
    }
  }
  const form = new FormData();
  form.append("image", new Blob([picture]), "blob");
  const fields = { model: body.model, prompt: "Make it blue", size: body.size, stream: "true" };
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  expect((await call(edit, { body: form })).text).toContain("event: image_edit.completed\n");
  const varied = new FormData();
  varied.append("image", new Blob([picture]), "blob");
  varied.append("model", String(body.model));
  expect((await call("POST /compat/v1/images/variations", { body: varied })).status).toBe(200);
  await call("GET /compat/v1/models");
  await call("GET /compat/v1/models/{model}", { path: { model: "sandbox-image" } });
});

test("the videos API of others' clients is answered as the document says", async () => {
  const body = { model: "sandbox-video", prompt: "A fox", size: "640x360", seconds: "1", sandbox: SOON };
  const create = await call("POST /compat/v1/videos", { body });
  const { id: video_id = "" } = JSON.parse(create.text) as { readonly id?: string };
  await service.untilEnded(String(video_id));
  const path = { video_id };
  expect((await call("GET /compat/v1/videos", { query: "?order=asc&limit=1" })).status).toBe(200);
  expect((await call("GET /compat/v1/videos/{video_id}", { path })).text).toContain('"completed"');
  expect((await call("GET /compat/v1/videos/{video_id}/content", { path })).status).toBe(200);
  const again = { path, body: { prompt: "A cat" } };
  expect((await call("POST /compat/v1/videos/{video_id}/remix", again)).text).toContain(video_id);
  const other = {
    body: { model: "sandbox-video-edit", prompt: "A cat", video: { id: video_id }, sandbox: SOON },
  };
  expect((await call("POST /compat/v1/videos/edits", other)).text).toContain(video_id);
  expect((await call("POST /compat/v1/videos/extensions", other)).status).toBe(200);
  expect((await call("DELETE /compat/v1/videos/{video_id}", { path })).status).toBe(200);
});

test("models, account and prices are answered as the document says", async () => {
  await call("GET /v1/models");
  await call("GET /v1/models", { query: "?all=true" });
  expect((await call("GET /v1/models", { query: "?all=some" })).status).toBe(400);
  await call("GET /v1/models/{model}", { path: { model: "sandbox-video" } });
  await call("GET /v1/account/status");
  for (const by of ["day", "key", "model,day"]) await call("GET /v1/usage", { query: `?by=${by}` });
  await call("POST /v1/pricing/estimate", { body: { request: { model: "sandbox-video" }, quantity: 3 } });
  await call("POST /v1/pricing/estimate", { body: { model: "sandbox-image", n: 2 } });
});

test("work that operators have the server do is answered as the document says", async () => {
  const managed = (operation: string, body?: JsonObject, path?: Readonly<Record<string, string>>) =>
    call(operation, { credential: service.token, ...(body && { body }), ...(path && { path }) });
  const ended = async (operation: string) => {
    for (;;) {
      const { data } = await managed(operation);
      const { status } = isJsonObject(data.job) ? data.job : data;
      if (status !== "running") return data;
    }
  };
  const page = await managed("GET /admin/v1/assets");
  expect(page.data.assets).not.toEqual([]);
  await managed("POST /admin/v1/assets/verify");
  expect(await ended("GET /admin/v1/assets/verify")).toMatchObject({
    status: "done",
    result: { damaged: [] },
  });
  await managed("POST /admin/v1/assets/gc", { dry_run: true });
  expect(await ended("GET /admin/v1/assets/gc")).toMatchObject({ result: { dry_run: true, files: 0 } });
  await managed("POST /admin/v1/backups");
  const backups = await ended("GET /admin/v1/backups");
  expect(backups).toMatchObject({ to: null, backups: [], job: { status: "failed", result: null } });
  expect((await managed("GET /admin/v1/database")).data).toMatchObject({ ok: true, faults: [] });
  const tried = await managed("POST /admin/v1/moderation/test", { text: "a fox" });
  expect(tried.data).toEqual({ verdict: "allowed", checks: [] });
  const unknown = await managed("POST /admin/v1/moderation/test", { text: "a fox", checks: ["slurs"] });
  expect([unknown.status, unknown.data.param]).toEqual([400, "checks"]);
  expect((await managed("POST /admin/v1/alerts/test")).data).toEqual({ targets: [] });
  const { id } = (await managed("POST /admin/v1/accounts", { name: "leaver" })).data;
  const purge = (confirm: string) =>
    managed("POST /admin/v1/accounts/{id}/purge", { confirm }, { id: "leaver" });
  expect((await purge("leaver")).data).toMatchObject({ param: "confirm" });
  expect((await purge(String(id))).data).toMatchObject({ account_id: id, status: "purged", verified: true });
});

test("a key of a provider that cannot be kept is refused, and nothing of it is told", async () => {
  const add = (body: JsonObject, id = "bfl") =>
    call("POST /admin/v1/providers/{id}/add", { credential: service.token, body, path: { id } });
  const secret = "a secret with spaces";
  const refused = await Promise.all([
    add({ secrets: { key: secret } }),
    add({ secrets: { token: secret } }),
    add({ account: "No Name", secrets: { key: "x".repeat(20) } }),
    add({ secrets: { key: secret } }, "none"),
  ]);
  expect(refused.map(({ status, data }) => [status, data.param])).toEqual([
    [400, "secrets.key"],
    [400, "secrets"],
    [400, "account"],
    [404, undefined],
  ]);
  expect(refused.map(({ text }) => text).join()).not.toContain(secret);
});

test("the management API is answered as the document says", async () => {
  const credential = service.token;
  const managed = (operation: string, body?: JsonObject, path?: Readonly<Record<string, string>>) =>
    call(operation, { credential, ...(body && { body }), ...(path && { path }) });

  const account = await managed("POST /admin/v1/accounts", { name: "acme", credit: "5.00" });
  const owner = { id: String(account.data.id) };
  await managed("POST /admin/v1/accounts/{id}/credit", { amount: "-1.00", reason: "Refund" }, owner);
  await managed("GET /admin/v1/accounts/{id}", undefined, owner);
  const terms = { credit_limit: "1.00", price_multiplier: "1.25", low_balance: "0.50" };
  await managed("PATCH /admin/v1/accounts/{id}", terms, owner);
  await managed("POST /admin/v1/accounts/{id}/suspend", undefined, owner);
  await managed("POST /admin/v1/accounts/{id}/activate", undefined, owner);
  await managed("GET /admin/v1/accounts/{id}/ledger", undefined, owner);
  await managed("GET /admin/v1/accounts");
  await managed("GET /admin/v1/models");
  await managed("GET /admin/v1/models/{model}", undefined, { model: "sandbox-image" });
  expect((await managed("GET /admin/v1/models/{model}", undefined, { model: "none" })).status).toBe(404);
  const mine = { model: "mine" };
  const routes = [{ provider: "nobody", upstream_model: "picture" }];
  const manifest = JSON.stringify({
    ...{ id: "mine", kind: "image", name: "Mine", description: "Mine.", deadline_seconds: 60, routes },
    modes: [{ id: "text-to-image", requires: [] }],
    schema: { required: ["prompt"], properties: { prompt: { type: "string" } } },
    price: { lines: [{ sku: "mine", unit: "output", amount: "0.020000" }] },
  });
  for (const content of [manifest, "id: [", "kind: song"])
    await managed("POST /admin/v1/models/check", { text: content });
  expect((await managed("GET /admin/v1/models/{model}/manifest", undefined, mine)).status).toBe(404);
  for (const content of ["id: [", manifest])
    await managed("PUT /admin/v1/models/{model}/manifest", { text: content }, mine);
  await managed("GET /admin/v1/models/{model}/manifest", undefined, mine);
  await managed("DELETE /admin/v1/models/{model}/manifest", undefined, mine);

  await managed("GET /admin/v1/routes");
  const asked = { model: "sandbox-image", request: { n: 2 }, route_policy: "fastest" };
  expect((await managed("POST /admin/v1/routes/explain", asked)).status).toBe(200);
  expect((await managed("POST /admin/v1/routes/explain", { model: "none" })).status).toBe(404);
  await managed("POST /admin/v1/routes/block", { provider: "sandbox", account: "default", reason: "x" });
  expect((await managed("POST /admin/v1/routes/block", { provider: "none" })).status).toBe(404);
  await managed("POST /admin/v1/routes/explain", { model: "sandbox-image" });
  await managed("GET /admin/v1/models");
  await managed("POST /admin/v1/routes/allow", { provider: "sandbox" });
  await managed("GET /admin/v1/providers");
  await managed("GET /admin/v1/providers/{id}", undefined, { id: "bfl" });
  expect((await managed("GET /admin/v1/providers/{id}", undefined, { id: "none" })).status).toBe(404);
  const tested = await managed("POST /admin/v1/providers/{id}/test", {}, { id: "sandbox" });
  expect(tested.data).toMatchObject({ accounts: [{ lane: "sandbox", result: "untested" }] });

  const spare = { account: "spare", secrets: { key: "bfl-0123456789abcdef" } };
  const added = await managed("POST /admin/v1/providers/{id}/add", spare, { id: "bfl" });
  expect(added.data).toMatchObject({ lane: "bfl/spare", in_force: true });
  const gone = await managed("POST /admin/v1/providers/{id}/remove", { account: "spare" }, { id: "bfl" });
  expect(gone.data).toMatchObject({ account: "spare" });

  await managed("GET /admin/v1/config");
  await managed("POST /admin/v1/reload");
  const audit = await managed("GET /admin/v1/audit");
  expect(audit.data).toMatchObject({ adds_up: true, sealed: { depth: "checksums" }, differences: [] });
  const image = { model: "sandbox-image" };
  await managed("GET /admin/v1/pricing");
  await managed("GET /admin/v1/pricing/{model}", undefined, image);
  const price = { lines: [{ sku: "sandbox-image", unit: "output", amount: "0.012" }] };
  const set = await managed("PATCH /admin/v1/pricing/{model}", { price, reason: "cheaper" }, image);
  expect(set.data).toMatchObject({ source: "set", reason: "cheaper" });
  const wrong = { price: { lines: [{ ...price.lines[0], amount: "free" }] } };
  const refused = await managed("PATCH /admin/v1/pricing/{model}", wrong, image);
  expect([refused.status, refused.data.param]).toEqual([400, "price.lines[0].amount"]);
  const quote = { request: { n: 2 }, price_multiplier: "2" };
  const quoted = await managed("POST /admin/v1/pricing/{model}/quote", quote, image);
  expect(quoted.data).toMatchObject({ status: "exact", max_cost: "0.048000", multiplier: "2" });
  const reset = await managed("POST /admin/v1/pricing/{model}/reset", undefined, image);
  expect(reset.data).toMatchObject({ source: "built_in", was_set: true });

  const limits = {
    ...{ models: ["sandbox-*"], features: ["images", "compat"], allow_ips: ["127.0.0.0/8"] },
    ...{ requests_per_minute: 60, concurrency: 2, aliases: { fox: "sandbox-image" } },
    ...{ response_format: "url", sync_wait_seconds: 30, expires_at: 4_000_000_000 },
    ...{ quota: { limit: "5.00", reset: "monthly" }, price_multiplier: "2" },
  };
  const key = await managed("POST /admin/v1/keys", { name: "web", account: "acme", ...limits });
  const named = { id: String(key.data.id) };
  const limited = String(key.data.key);
  await call("GET /v1/account/status", { credential: limited });
  const begun = await call("POST /v1/images/generations", {
    ...{ credential: limited, body: { ...IMAGE, model: "fox" } },
  });
  // Its price is spent once it has ended.
  await call("GET /v1/images/status/{task_id}", {
    ...{ credential: limited, path: { task_id: String(begun.data.task_id) }, query: "?wait=20" },
  });
  const video = { model: "sandbox-video", prompt: "A fox" };
  expect((await call("POST /v1/videos/generations", { credential: limited, body: video })).status).toBe(403);
  await managed("POST /admin/v1/keys/{id}/rotate", { grace_seconds: 60 }, named);
  await managed("PATCH /admin/v1/keys/{id}", { models: null, concurrency: 3 }, named);
  await managed("GET /admin/v1/keys/{id}", undefined, named);
  const quotas = await call("GET /admin/v1/quotas", { credential, query: "?account=acme" });
  expect(quotas.data.quotas).toMatchObject([
    {
      key: "web",
      account: "acme",
      limit: "5.000000",
      used: "0.020000",
      remaining: "4.980000",
      reset: "monthly",
    },
  ]);
  await managed("POST /admin/v1/keys/{id}/revoke", undefined, named);
  await managed("GET /admin/v1/keys");

  const task = { id: String((await finished("image", IMAGE)).data.task_id) };
  await managed("POST /admin/v1/tasks/{id}/refund", { reason: "Late" }, task);
  await managed("GET /admin/v1/tasks");
  await managed("GET /admin/v1/tasks/{id}", undefined, task);
  await managed("GET /admin/v1/tasks/{id}/trace", undefined, task);
  await managed("GET /admin/v1/tasks/{id}/tree", undefined, task);
  const hanging = await call("POST /v1/images/generations", {
    body: { ...IMAGE, sandbox: { outcome: "hang" } },
  });
  await managed("POST /admin/v1/tasks/{id}/cancel", undefined, { id: String(hanging.data.task_id) });
  const told = { ...IMAGE, callback_url: "http://127.0.0.1:45999/hook" };
  const calling = String((await finished("image", told)).data.task_id);
  const posted = await managed("POST /admin/v1/callbacks/redeliver", { task_id: calling });
  const callback = { id: String((posted.data.callbacks as JsonObject[])[0]?.id) };
  await managed("GET /admin/v1/callbacks");
  await managed("GET /admin/v1/callbacks/{id}", undefined, callback);
  await managed("POST /admin/v1/callbacks/{id}/redeliver", undefined, callback);
  const nobodys = await managed("GET /admin/v1/callbacks/{id}", undefined, { id: "cb_1" });
  expect([nobodys.status, nobodys.data.error_code]).toEqual([404, "not_found"]);
  for (const by of ["key", "model", "day", "account,provider", "day,model"]) {
    await call("GET /admin/v1/usage", { credential, query: `?by=${by}` });
  }

  await managed("GET /admin/v1/overview");
  await managed("GET /admin/v1/history");
  const readiness = await managed("GET /admin/v1/readiness");
  const accepting = { id: "accepting", status: "ok", message: "New tasks are taken.", fix: null };
  expect(readiness.data).toMatchObject({ ready: true, reason: null, shedding: [] });
  expect(readiness.data.checks).toContainEqual(accepting);
  await managed("GET /admin/v1/log/level");
  await managed("POST /admin/v1/log/level", { level: "debug", for_seconds: 5 });
  await managed("GET /admin/v1/audit-log");
  await managed("GET /admin/v1/nodes");

  const token = await managed("POST /admin/v1/tokens", { name: "other" });
  await managed("POST /admin/v1/tokens/{id}/revoke", undefined, { id: String(token.data.id) });
  await managed("GET /admin/v1/tokens");
  await managed("GET /admin/v1/token");
  const link = await managed("POST /admin/v1/sessions");
  await managed("GET /admin/v1/sessions");
  const waiting = { id: String(link.data.id) };
  await managed("POST /admin/v1/sessions/{id}/end", undefined, waiting);
  expect((await managed("POST /admin/v1/sessions/{id}/end", undefined, waiting)).status).toBe(404);
  expect((await managed("GET /admin/v1/keys/{id}", undefined, { id: "none" })).status).toBe(404);
  expect((await managed("POST /admin/v1/keys", { nam: "x" })).status).toBe(400);
  expect((await call("GET /admin/v1/keys")).status).toBe(401);
});

test("what fal's clients ask for is answered as the document says", async () => {
  const path = { model: "svc/sandbox-image" };
  const body = { prompt: "A fox", image_size: "square", sandbox: SOON };
  await call("POST /fal/{model}", { path, body });
  const queued = await call("POST /fal/{model}", {
    path,
    body,
    headers: { "X-Fal-Queue-Priority": "normal" },
  });
  const one = { path: { ...path, request_id: JSON.parse(queued.text).request_id } };
  await call("GET /fal/{model}/requests/{request_id}/status/stream", one);
  for (const more of ["/status", "", "/response"])
    await call(`GET /fal/{model}/requests/{request_id}${more}`, one);
  const hanging = { ...body, sandbox: { outcome: "hang" } };
  const lasting = await call("POST /fal/{model}", { path: { model: "queue/sandbox-image" }, body: hanging });
  const other = { path: { ...path, request_id: JSON.parse(lasting.text).request_id } };
  await call("PUT /fal/{model}/requests/{request_id}/cancel", other);
  await call("GET /fal/.well-known/jwks.json");
  const begun = JSON.parse(
    (await call("POST /fal/storage/upload/initiate", { body: { file_name: "a.png" } })).text,
  );
  const sent = await fetch(begun.upload_url, { method: "PUT", body: await png(8, 8) });
  const { pathname } = new URL(begun.upload_url);
  checkAnswer("PUT", pathname, sent.status, sent.headers, await sent.text());
  called.add("put /fal/storage/upload/files/{ticket}");
  expect((await call("POST /fal/storage/upload/initiate-multipart", { body: {} })).status).toBe(413);
  called.add("post /fal/storage/upload/initiate-multipart");
});

test("what Replicate's clients ask for is answered as the document says", async () => {
  const base = "/replicate/v1";
  const named = { owner: "svc", name: "sandbox-image" };
  const input = { prompt: "A fox", size: "64x64", sandbox: SOON };
  const headers = { Prefer: "wait=20" };
  const body = { version: "svc/sandbox-image", input };
  const made = await call(`POST ${base}/predictions`, { body, headers });
  expect(made.status).toBe(201);
  for (const kind of ["models", "deployments"])
    await call(`POST ${base}/${kind}/{owner}/{name}/predictions`, { path: named, body: { input } });
  await call(`GET ${base}/deployments/{owner}/{name}`, { path: named });
  const prediction = JSON.parse(made.text) as { id: string; urls: { stream: string } };
  const path = { prediction_id: prediction.id };
  for (const each of ["GET", "POST"]) {
    const more = each === "GET" ? "" : "/cancel";
    await call(`${each} ${base}/predictions/{prediction_id}${more}`, { path });
  }
  await call(`GET ${base}/predictions`);
  const signed = new URL(prediction.urls.stream).pathname.split("/").at(-1) ?? "";
  expect((await call(`GET ${base}/stream/{prediction}`, { path: { prediction: signed } })).status).toBe(200);
  const form = new FormData();
  form.append("content", new Blob([await png(8, 8)]), "a.png");
  const file = { file_id: JSON.parse((await call(`POST ${base}/files`, { body: form })).text).id };
  for (const more of ["", "/download"]) await call(`GET ${base}/files/{file_id}${more}`, { path: file });
  await call(`GET ${base}/files`);
  expect((await call(`DELETE ${base}/files/{file_id}`, { path: file })).status).toBe(204);
  const model = JSON.parse((await call(`GET ${base}/models/{owner}/{name}`, { path: named })).text);
  const version = model.latest_version.id;
  await call(`GET ${base}/models/{owner}/{name}/versions`, { path: named });
  await call(`GET ${base}/models/{owner}/{name}/versions/{version}`, { path: { ...named, version } });
  for (const list of ["models", "collections", "account", "hardware", "webhooks/default/secret"])
    await call(`GET ${base}/${list}`);
  await call(`GET ${base}/collections/{slug}`, { path: { slug: "text-to-image" } });
});

test("what needs no credential is answered as the document says", async () => {
  await call("GET /");
  const page = await call("GET /docs");
  await call("GET /docs/clients");
  const [, file = ""] = /src="docs\/([^"]+)"/.exec(page.text) ?? [];
  await call("GET /docs/{file}", { path: { file } });
  for (const path of ["/openapi.json", "/healthz", "/readyz"]) await call(`GET ${path}`);
});

test("the console is answered as the document says", async () => {
  const page = await call("GET /console");
  const [, item = ""] = /src="\.\/console\/assets\/([^"]+)"/.exec(page.text) ?? [];
  await call("GET /console/{screen}", { path: { screen: "tasks" } });
  // As it is: compressed pieces that come one by one are at times too much for the fetch of this process.
  const plain = { "Accept-Encoding": "identity" };
  await call("GET /console/{screen}/{item}", { path: { screen: "assets", item }, headers: plain });
  const none = await call("GET /console/{screen}/{item}", { path: { screen: "assets", item: "none.js" } });
  const headers = { Origin: service.url };
  await call("GET /console/session");
  const opened = await call("POST /console/session", { headers, body: { credential: service.token } });
  const refused = await call("POST /console/session", { headers, body: { link: "none" } });
  const foreign = await call("POST /console/session", { body: { link: "none" } });
  await call("DELETE /console/session", { headers });
  expect([none, opened, refused, foreign].map(({ status }) => status)).toEqual([404, 200, 401, 403]);
});

test("agents are answered as the document says", async () => {
  const Accept = "application/json, text/event-stream";
  const say = (message: JsonObject, headers: Readonly<Record<string, string>> = { Accept }) =>
    call("POST /mcp", { body: { jsonrpc: "2.0", ...message }, headers });
  const create = { name: "generate_image", arguments: IMAGE };
  const made = await say({ id: 1, method: "tools/call", params: create });
  const listed = await say({ id: 2, method: "tools/list" });
  const noted = await say({ method: "notifications/initialized" });
  const refused = await say({ id: 3, method: "ping" }, { Accept: "application/json" });
  const old = await say({ id: 4, method: "ping" }, { Accept, "Mcp-Protocol-Version": "1999-01-01" });
  expect([made, listed, noted, refused, old].map(({ status }) => status)).toEqual([200, 200, 202, 406, 400]);
});

test("metrics are for management tokens, and text", async () => {
  const refused = await call("GET /metrics");
  const { status, text } = await call("GET /metrics", { credential: service.token });
  expect([refused.status, status, text.split("\n").at(-1)]).toEqual([401, 200, ""]);
});

test("Gemini's API is answered as the document says", async () => {
  const base = "/gemini/v1beta";
  const parameters = { sandbox: SOON };
  const contents = [{ parts: [{ text: "A fox" }] }];
  const image = { path: { model: "sandbox-image" } };
  const video = { path: { model: "sandbox-video" } };
  await call(`GET ${base}/models`);
  await call(`GET ${base}/models/{model}`, image);
  const instances = [{ prompt: "A fox" }];
  await call(`POST ${base}/models/{model}:predict`, { ...image, body: { instances, parameters } });
  const generation = { ...image, body: { contents, generationConfig: parameters } };
  await call(`POST ${base}/models/{model}:streamGenerateContent`, { ...generation, query: "?alt=sse" });
  const made = await call(`POST ${base}/models/{model}:generateContent`, generation);
  const { responseId } = JSON.parse(made.text) as { readonly responseId: string };
  const operation = await call(`GET ${base}/operations/{operation}`, { path: { operation: responseId } });
  const file = /files\/([a-z0-9]+)/.exec(operation.text)?.[1] ?? "";
  await call(`GET ${base}/files/{file}`, { path: { file } });
  await call(`GET ${base}/files/{file}:download`, { path: { file }, query: "?alt=media" });
  const headers = { "X-Goog-Upload-Protocol": "resumable", "X-Goog-Upload-Command": "start" };
  await call("POST /gemini/upload/v1beta/files", { body: {}, headers });
  const begun = await fetch(`${service.url}/gemini/upload/v1beta/files`, {
    ...{ method: "POST", body: "{}" },
    headers: { ...headers, "x-goog-api-key": service.key, "Content-Type": "application/json" },
  });
  const upload = begun.headers.get("x-goog-upload-url")?.split("/").at(-1) ?? "";
  const query = { "X-Goog-Upload-Command": "query" };
  await call("POST /gemini/upload/v1beta/files/{upload}", { path: { upload }, body: {}, headers: query });
  const form = new FormData();
  form.append("file", new Blob([await png(8, 8)]), "a.png");
  const native = await call("POST /v1/files", { body: form });
  const uploaded = String(native.data.id).replace("file_", "");
  await call(`GET ${base}/files`);
  await call(`DELETE ${base}/files/{file}`, { path: { file: uploaded } });
  for (const place of ["", "/models/{model}"]) {
    const body = { instances, parameters: { sandbox: { outcome: "hang" } } };
    const begun = await call(`POST ${base}/models/{model}:predictLongRunning`, { ...video, body });
    const { name } = JSON.parse(begun.text) as { readonly name: string };
    const path = { ...video.path, operation: name.split("/").at(-1) ?? "" };
    await call(`GET ${base}${place}/operations/{operation}`, { path });
    await call(`POST ${base}/models/{model}:fetchPredictOperation`, { path, body: { operationName: name } });
    await call(`POST ${base}${place}/operations/{operation}:cancel`, { path, body: {} });
  }
});

test("Google's Interactions API is answered as the document says", async () => {
  const base = "/gemini/v1beta/interactions";
  const generation_config = { sandbox: SOON };
  const asked = { model: "sandbox-image", input: "A fox", generation_config };
  const made = await call(`POST ${base}`, { body: asked });
  await call(`POST ${base}`, { body: { ...asked, stream: true } });
  const { id } = JSON.parse(made.text) as { readonly id: string };
  const path = { interaction: id };
  await call(`GET ${base}/{interaction}`, { path });
  await call(`DELETE ${base}/{interaction}`, { path });
  const lasting = { ...asked, model: "sandbox-video", generation_config: { sandbox: { outcome: "hang" } } };
  const begun = await call(`POST ${base}`, { body: lasting });
  const other = { interaction: (JSON.parse(begun.text) as { readonly id: string }).id };
  await call(`POST ${base}/{interaction}/cancel`, { path: other, body: {} });
});

test("AUTOMATIC1111's API is answered as the document says", async () => {
  const base = "/sdapi/v1";
  const image = Buffer.from(await png(16, 16)).toString("base64");
  const drawn = { prompt: "A fox", width: 16, height: 16, sandbox: SOON };
  await call(`POST ${base}/txt2img`, { body: drawn });
  await call(`POST ${base}/img2img`, { body: { ...drawn, init_images: [image] } });
  await call(`POST ${base}/extra-single-image`, { body: { image, upscaler_1: "sandbox-upscale" } });
  const imageList = [{ data: image, name: "a.png" }];
  await call(`POST ${base}/extra-batch-images`, { body: { imageList, upscaler_1: "sandbox-upscale" } });
  await call(`POST ${base}/png-info`, { body: { image } });
  await call("POST /internal/progress", { body: { id_task: "mine" } });
  await call(`POST ${base}/options`, { body: { sd_model_checkpoint: "sandbox-image" } });
  await call("GET /queue/status");
  await call("GET /internal/ping");
  const lists = [
    ...["options", "progress", "sd-models", "samplers", "schedulers", "upscalers", "latent-upscale-modes"],
    ...["loras", "hypernetworks", "embeddings", "sd-vae", "sd-modules", "prompt-styles", "face-restorers"],
    ...["realesrgan-models", "scripts", "script-info", "extensions", "cmd-flags", "memory"],
  ];
  for (const list of lists) await call(`GET ${base}/${list}`);
  const deeds = [
    ...["interrupt", "skip", "refresh-checkpoints", "refresh-vae", "refresh-loras", "refresh-embeddings"],
    ...["reload-checkpoint", "unload-checkpoint"],
  ];
  for (const deed of deeds) await call(`POST ${base}/${deed}`);
});

test("every operation of the document was called above", () => {
  const paths = Object.entries(service.document.paths as Record<string, JsonObject>);
  const all = paths.flatMap(([path, item]) => Object.keys(item).map((method) => `${method} ${path}`));
  expect(all.filter((operation) => !called.has(operation))).toEqual([]);
});
