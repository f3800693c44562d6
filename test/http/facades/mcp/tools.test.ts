import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import sharp from "sharp";
import type { JsonObject } from "../../../../src/domain/json.ts";
import { type PublishedService, startPublished } from "../../openapi-service.ts";
import { type Agent, ask, connectAgent, makeKey } from "./agent.ts";

// It waits for videos.
setDefaultTimeout(60_000);

const INLINE_BYTES = 20_000;
let service: PublishedService;
let agent: Agent;

beforeAll(async () => {
  service = await startPublished({ SVC_MCP_INLINE_BYTES: String(INLINE_BYTES) });
  agent = await connectAgent(service, service.key);
});

afterAll(async () => {
  await agent.stop();
  await service.stop();
});

const SOON = { delay_ms: 0 };
const SMALL = { model: "sandbox-image", prompt: "A fox", size: "64x64", sandbox: SOON };
/** Ends by being cancelled alone. */
const LASTING = { ...SMALL, sandbox: { outcome: "hang" } };
const VIDEO = { model: "sandbox-video", prompt: "A fox", duration: 1, aspect_ratio: "1:1", sandbox: SOON };

const taskCount = async (key = service.key) =>
  ((await ask(service, key, "/v1/tasks?limit=100")).tasks as unknown[]).length;

/** A picture of noise, which no compression makes small. */
async function uriOf(side: number, channels: 3 | 4): Promise<string> {
  const noise = Buffer.from(Array.from({ length: side * side * channels }, (_, i) => (i * 7919) % 251));
  const bytes = await sharp(noise, { raw: { width: side, height: side, channels } })
    .png()
    .toBuffer();
  return `data:image/png;base64,${bytes.toString("base64")}`;
}

describe("the tools", () => {
  test("are all there, with what a client needs to choose and to check", async () => {
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      ...["list_models", "estimate", "generate_image", "edit_image", "generate_video"],
      ...["get_task", "cancel_task"],
    ]);
    for (const { inputSchema, outputSchema, annotations } of tools) {
      expect([inputSchema.type, outputSchema?.type]).toEqual(["object", "object"]);
      expect(annotations).toMatchObject({
        readOnlyHint: expect.any(Boolean),
        destructiveHint: expect.any(Boolean),
        idempotentHint: expect.any(Boolean),
        openWorldHint: expect.any(Boolean),
      });
    }
    const made = tools.find(({ name }) => name === "generate_video");
    const properties = made?.inputSchema.properties as Record<string, JsonObject>;
    expect(made?.inputSchema.required).toEqual(["model"]);
    expect(properties.model?.enum).toContain("sandbox-video");
    expect(properties.model?.description).toContain(
      "sandbox-video: Sandbox Video, from 0.020000 USD per second",
    );
    expect(properties.resolution?.enum).toEqual(expect.arrayContaining(["360p", "720p"]));
    expect(properties.max_cost?.description).toContain("Required above 1.000000");
  });

  test("say one type in each place, as clients need that translate schemas for their model", async () => {
    const { tools } = await agent.client.listTools();
    const schemas = tools.map(({ inputSchema, outputSchema }) => [inputSchema, outputSchema]);
    expect(JSON.stringify(schemas)).not.toContain('"type":[');
  });

  test("are those that a key may use, with its own models", async () => {
    const key = await makeKey(service, { name: "pictures", features: ["images"], models: ["sandbox-image"] });
    const limited = await connectAgent(service, key);
    const { tools } = await limited.client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain("generate_video");
    const { models } = (await limited.call("list_models", {})).structured;
    expect((models as JsonObject[]).map(({ id }) => id)).toEqual(["sandbox-image"]);
    const refused = await limited.call("generate_video", VIDEO);
    expect([refused.isError, refused.error.code]).toEqual([true, "permission_denied"]);
    await limited.stop();
  });

  test("models are listed by kind and by capability, and one of them with its schema", async () => {
    const idsOf = async (args: JsonObject) =>
      ((await agent.call("list_models", args)).structured.models as JsonObject[]).map(({ id }) => id);
    expect(await idsOf({ kind: "image" })).toEqual(["sandbox-image", "sandbox-upscale"]);
    expect(await idsOf({ capability: "image-to-video" })).toContain("sandbox-video");
    const [model] = (await agent.call("list_models", { model: "sandbox-image" })).structured
      .models as JsonObject[];
    expect(model).toMatchObject({ kind: "image", schema: { type: "object" }, price: { currency: "USD" } });
    const { error } = await agent.call("list_models", { capability: "telepathy" });
    expect(error).toMatchObject({ code: "invalid_request", param: "capability" });
  });

  test("an estimate says what a call would hold, and what is left", async () => {
    const key = await makeKey(service, { name: "saver", quota: { limit: "0.100000", reset: "total" } });
    const limited = await connectAgent(service, key);
    const { structured } = await limited.call("estimate", { model: "sandbox-video", duration: 8 });
    expect(structured).toMatchObject({
      ...{ status: "exact", max_cost: "0.160000", missing: ["prompt"], max_cost_required: false },
      ...{ affordable: false, limited_by: "key_quota", key_quota_left: "0.100000", balance_left: null },
    });
    await limited.stop();
  });
});

describe("a call that waits", () => {
  test("gives a small picture itself, and tells its cost and its progress", async () => {
    const told: number[] = [];
    const { structured, content } = await agent.call(
      "generate_image",
      { ...SMALL, sandbox: { delay_ms: 300 } },
      { onprogress: ({ progress }) => told.push(progress) },
    );
    expect(structured).toMatchObject({ status: "completed", kind: "image", progress: 100, cost: "0.010000" });
    const [result] = structured.results as JsonObject[];
    expect(result).toMatchObject({ mime_type: "image/png", width: 64, height: 64 });
    const [image] = content;
    if (image?.type !== "image") throw new Error("No picture came.");
    const bytes = await (await fetch(String(result?.url))).bytes();
    expect(Buffer.from(image.data, "base64").equals(bytes)).toBe(true);
    expect(told[0]).toBe(0);
    expect(told).toEqual([...new Set(told)].sort((one, other) => one - other));
  });

  test("gives a link to a picture that is larger than the setting", async () => {
    const { structured, content } = await agent.call("generate_image", { ...SMALL, size: "1024x1024" });
    const [result] = structured.results as JsonObject[];
    expect(Number(result?.size_bytes)).toBeGreaterThan(INLINE_BYTES);
    expect(content[0]).toEqual({
      ...{ type: "resource_link", uri: String(result?.url), mimeType: "image/png" },
      ...{ name: `${structured.task_id}-0.png`, size: Number(result?.size_bytes) },
    });
  });

  test("edits what an earlier call made, and makes a video of it", async () => {
    const { structured: first } = await agent.call("generate_image", SMALL);
    const edit = { model: "sandbox-image", prompt: "Older", images: [String(first.task_id)], sandbox: SOON };
    const { structured: second } = await agent.call("edit_image", edit);
    expect(second.status).toBe("completed");
    const { error } = await agent.call("edit_image", { ...edit, images: [`${first.task_id}#1`] });
    expect(error.message).toStartWith("images[0] must name a result of the task, #0 to #0");
    const { structured, content } = await agent.call("generate_video", {
      ...VIDEO,
      image_url: `${second.task_id}#0`,
    });
    expect(structured).toMatchObject({ kind: "video", status: "completed", cost: "0.020000" });
    expect(content[0]).toMatchObject({ type: "resource_link", mimeType: "video/mp4" });
  });

  test("takes pictures and a mask as data URIs, small and large", async () => {
    for (const side of [16, 400]) {
      const images = [await uriOf(side, 3)];
      const edit = { model: "sandbox-image", prompt: "Older", images, mask: await uriOf(side, 4) };
      const { structured, error } = await agent.call("edit_image", { ...edit, sandbox: SOON });
      expect([structured.status, error]).toEqual(["completed", {}]);
    }
  });

  test("of a task that fails is an error with its code", async () => {
    const { isError, structured } = await agent.call("generate_image", {
      ...SMALL,
      sandbox: { ...SOON, outcome: "moderated" },
    });
    expect(isError).toBe(true);
    expect(structured).toMatchObject({
      ...{ status: "failed", cost: "0.000000" },
      error: { code: "CONTENT_MODERATED" },
    });
  });

  test("answers with the task's id after its time, and the task can be read and cancelled", async () => {
    const { structured } = await agent.call("generate_image", { ...LASTING, wait: 0 });
    expect(structured).toMatchObject({ held: "0.010000", next: expect.stringContaining("get_task") });
    const id = String(structured.task_id);
    const waited = await agent.call("get_task", { task_id: id, wait: 0.05 });
    expect(["pending", "processing"]).toContain(String(waited.structured.status));
    await agent.call("cancel_task", { task_id: id });
    const ended = await agent.call("get_task", { task_id: id, wait: 20 });
    expect(ended.structured).toMatchObject({ status: "cancelled", cost: "0.000000" });
    const again = await agent.call("cancel_task", { task_id: id });
    expect(again.error.code).toBe("task_not_cancellable");
  });

  test("of several pictures counts their sizes together", async () => {
    const { structured, content } = await agent.call("generate_image", { ...SMALL, n: 4, size: "80x80" });
    const sizes = (structured.results as JsonObject[]).map(({ size_bytes }) => Number(size_bytes));
    // Each alone would be small enough.
    expect(sizes.every((size) => size <= INLINE_BYTES)).toBe(true);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(INLINE_BYTES);
    const inline = content.flatMap((each) =>
      each.type === "image" ? [Buffer.from(each.data, "base64")] : [],
    );
    expect(inline.length).toBeGreaterThan(0);
    expect(inline.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(INLINE_BYTES);
    expect(content.filter(({ type }) => type !== "text")).toHaveLength(4);
  });
});

describe("a refused call", () => {
  const refusals: [string, string, JsonObject, JsonObject][] = [
    [
      "an unknown model",
      "generate_image",
      { ...SMALL, model: "sandbox-imag" },
      { code: "model_not_available" },
    ],
    [
      "a model of another kind",
      "generate_image",
      VIDEO,
      {
        code: "model_not_available",
        message: '"sandbox-video" is a video model; use the tool generate_video.',
      },
    ],
    ["no images at all", "edit_image", { ...SMALL, images: [] }, { message: "images is required." }],
    ["no task", "get_task", {}, { param: "task_id", message: "task_id is required." }],
    ["no prompt", "generate_image", { model: "sandbox-image" }, { param: "prompt" }],
    [
      "a value that the model lacks",
      "generate_image",
      { ...SMALL, resolution: "9K" },
      { param: "resolution" },
    ],
    ["a parameter that it lacks", "generate_image", { ...SMALL, duration: 4 }, { param: "duration" }],
    ["a value of another type", "generate_image", { ...SMALL, n: "many" }, { param: "n" }],
    ["no images to edit", "edit_image", SMALL, { param: "images" }],
    ["images that are no texts", "edit_image", { ...SMALL, images: [1] }, { param: "images" }],
    ["an address that is none", "edit_image", { ...SMALL, images: ["here"] }, { param: "images[0]" }],
    [
      "a mask without a model's field",
      "edit_image",
      { ...SMALL, images: ["x:y"], mask: 3 },
      { param: "mask" },
    ],
    ["a wait that is too long", "generate_image", { ...SMALL, wait: 601 }, { param: "wait" }],
    ["a price that is none", "generate_image", { ...SMALL, max_cost: "much" }, { param: "max_cost" }],
    ["a negative price", "generate_image", { ...SMALL, max_cost: -1 }, { param: "max_cost" }],
    [
      "a key that is none",
      "generate_image",
      { ...SMALL, idempotency_key: "" },
      { code: "invalid_idempotency_key" },
    ],
    [
      "a prompt of 32,000 characters",
      "generate_image",
      { ...SMALL, prompt: "x".repeat(32_000) },
      { param: "prompt" },
    ],
    [
      "a task that nobody knows",
      "get_task",
      { task_id: "task_01jd0000000000000000000000" },
      { code: "task_not_found" },
    ],
    ["what is no task's id", "cancel_task", { task_id: "../x" }, { code: "task_not_found" }],
  ];
  test.each(refusals)("for %s says what is wrong, and stores nothing", async (_, name, args, told) => {
    const before = await taskCount();
    const { isError, error } = await agent.call(name, args);
    expect(isError).toBe(true);
    expect(error).toMatchObject({ message: expect.any(String), code: expect.any(String), ...told });
    expect(await taskCount()).toBe(before);
  });

  test("above the price that it allows is told the price, and stores nothing", async () => {
    const before = await taskCount();
    const { error } = await agent.call("generate_video", { ...VIDEO, duration: 8, max_cost: "0.159999" });
    expect(error).toEqual({
      code: "invalid_request",
      message: "This request costs up to 0.160000 USD, which is more than max_cost allows, 0.159999.",
      param: "max_cost",
    });
    const exact = await agent.call("generate_video", { ...VIDEO, max_cost: 0.02, wait: 0 });
    expect(exact.isError).toBe(false);
    expect(await taskCount()).toBe(before + 1);
  });

  test("above the setting needs to say what it may cost", async () => {
    const dear = { ...VIDEO, duration: 10, n: 4, resolution: "720p", wait: 0, sandbox: { outcome: "hang" } };
    const { error } = await agent.call("generate_video", dear);
    expect(error.message).toBe(
      "This request costs up to 1.600000 USD. Above 1.000000, max_cost is required: give it to agree to the price.",
    );
    const agreed = await agent.call("generate_video", { ...dear, max_cost: "1.60" });
    expect(agreed.structured.held).toBe("1.600000");
    await agent.call("cancel_task", { task_id: String(agreed.structured.task_id) });
  });

  test("of another account's task knows no such task", async () => {
    const made = await ask(service, service.token, "/admin/v1/accounts", { name: "others", credit: "1" });
    const key = await makeKey(service, { name: "others", account: String(made.id) });
    const other = await connectAgent(service, key);
    const { structured } = await agent.call("generate_image", SMALL);
    const task_id = String(structured.task_id);
    for (const name of ["get_task", "cancel_task"])
      expect((await other.call(name, { task_id })).error.code).toBe("task_not_found");
    const edit = await other.call("edit_image", { ...SMALL, images: [task_id] });
    expect(edit.error.code).toBe("task_not_found");
    const own = await other.call("generate_image", SMALL);
    expect(own.structured.balance_left).toBe("0.990000");
    await other.stop();
  });

  test("is counted against the key's requests, as creates are, and reading is not", async () => {
    const key = await makeKey(service, { name: "slow", requests_per_minute: 2 });
    const slow = await connectAgent(service, key);
    for (let i = 0; i < 3; i++) await slow.client.listTools();
    const { structured } = await slow.call("generate_image", SMALL);
    await slow.call("generate_image", SMALL);
    const { error } = await slow.call("generate_image", SMALL);
    expect(error).toMatchObject({ code: "rate_limit_exceeded", retry_after_seconds: expect.any(Number) });
    expect((await slow.call("get_task", { task_id: String(structured.task_id) })).isError).toBe(false);
    await slow.stop();
  });
});

test("a client without a valid key does not get in, and one whose key is revoked is not waited for", async () => {
  await expect(connectAgent(service, "sk-svc-none")).rejects.toThrow("invalid_api_key");
  const { id, key } = await ask(service, service.token, "/admin/v1/keys", { name: "revoked" });
  const revoked = await connectAgent(service, String(key));
  const call = revoked.call("generate_image", LASTING);
  while (((await ask(service, String(key), "/v1/tasks?status=processing")).tasks as unknown[]).length === 0)
    await Bun.sleep(10);
  await ask(service, service.token, `/admin/v1/keys/${id}/revoke`, {});
  const { error } = await call;
  expect(error.code).toBe("invalid_api_key");
  await revoked.stop();
});

test("a call with the same idempotency_key gives the same task, and costs nothing more", async () => {
  const key = await makeKey(service, { name: "again" });
  const again = await connectAgent(service, key);
  const args = { ...SMALL, idempotency_key: "one" };
  const first = await again.call("generate_image", args);
  const second = await again.call("generate_image", { ...args, wait: 0, max_cost: "5" });
  expect(second.structured).toMatchObject({ task_id: String(first.structured.task_id), replayed: true });
  const other = await again.call("generate_image", { ...args, prompt: "A hen" });
  expect(other.error.code).toBe("idempotency_conflict");
  await again.stop();
});

describe("a client that goes", () => {
  const statusOf = async (id: string) =>
    (await agent.call("get_task", { task_id: id, wait: 20 })).structured.status;
  const newest = async (key: string) => {
    for (;;) {
      const [task] = (await ask(service, key, "/v1/tasks?limit=1")).tasks as JsonObject[];
      if (task !== undefined) return String(task.task_id);
      await Bun.sleep(10);
    }
  };

  test("by cancelling its call has the task cancelled, and no other client's", async () => {
    const account = await ask(service, service.token, "/admin/v1/accounts", { name: "two", credit: "1" });
    const key = await makeKey(service, { name: "two", account: String(account.id) });
    // Both count their requests alike, and have the same key.
    const [one, other] = await Promise.all([connectAgent(service, key), connectAgent(service, key)]);
    const controller = new AbortController();
    const ends = one.call("generate_image", LASTING, { signal: controller.signal });
    ends.catch(() => {});
    const id = await newest(key);
    // Begun later, under the same number.
    const stays = other.call("generate_image", { ...SMALL, sandbox: { delay_ms: 1500 } });
    while (((await ask(service, key, "/v1/tasks")).tasks as unknown[]).length < 2) await Bun.sleep(10);
    controller.abort();
    await expect(ends).rejects.toThrow();
    const watched = await connectAgent(service, key);
    expect((await watched.call("get_task", { task_id: id, wait: 20 })).structured.status).toBe("cancelled");
    expect((await stays).structured.status).toBe("completed");
    await Promise.all([one.stop(), other.stop(), watched.stop()]);
  });

  test("by losing its connection leaves its task, which goes on", async () => {
    const gone = await connectAgent(service, service.key);
    const before = await newest(service.key);
    const lost = gone.call("generate_image", { ...SMALL, sandbox: { delay_ms: 700 } });
    lost.catch(() => {});
    while ((await newest(service.key)) === before) await Bun.sleep(10);
    const id = await newest(service.key);
    await gone.stop();
    await expect(lost).rejects.toThrow();
    expect(await statusOf(id)).toBe("completed");
  });
});

describe("many agents at once", () => {
  test("all get their picture, and the sums are right", async () => {
    const account = await ask(service, service.token, "/admin/v1/accounts", { name: "many", credit: "5" });
    const key = await makeKey(service, { name: "many", account: String(account.id) });
    const agents = await Promise.all(Array.from({ length: 100 }, () => connectAgent(service, key)));
    const made = await Promise.all(
      agents.map((each) => each.call("generate_image", { ...SMALL, size: "16x16" })),
    );
    expect(made.filter(({ structured }) => structured.status === "completed")).toHaveLength(100);
    expect(new Set(made.map(({ structured }) => structured.task_id)).size).toBe(100);
    const { balance } = await ask(service, key, "/v1/account/status");
    expect(JSON.stringify(balance)).toContain("4.000000");
    await Promise.all(agents.map((each) => each.stop()));
  });

  test("never spend more than the key's quota", async () => {
    const key = await makeKey(service, { name: "few", quota: { limit: "0.070000", reset: "total" } });
    const few = await connectAgent(service, key);
    const calls = Array.from({ length: 100 }, () => few.call("generate_image", { ...SMALL, size: "16x16" }));
    const made = await Promise.all(calls);
    expect(made.filter(({ isError }) => !isError)).toHaveLength(7);
    const refused = made.filter(({ isError }) => isError);
    expect(new Set(refused.map(({ error }) => error.code))).toEqual(new Set(["insufficient_quota"]));
    const { structured } = await few.call("estimate", { model: "sandbox-image" });
    expect(structured.key_quota_left).toBe("0.000000");
    await few.stop();
  });
});
