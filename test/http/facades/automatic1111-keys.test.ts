import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import sharp from "sharp";
import { isJsonObject, type Json, type JsonObject } from "../../../src/domain/json.ts";
import { openPublished } from "../../helpers/published.ts";
import {
  type Answer,
  type Call,
  type Engine,
  imagesOf,
  infoOf,
  OWN_MODEL,
  objectOf,
  startEngine,
} from "./automatic1111-service.ts";

// It waits for pictures.
setDefaultTimeout(30_000);

/** Transcribed from the code of that API; checked 2026-11-27. */
const published = openPublished("a1111/openapi.json");
const SMALL = { prompt: "A fox", width: 32, height: 32 };
const SOON = { ...SMALL, sandbox: { delay_ms: 0 } };
const LASTING = { ...SMALL, sandbox: { outcome: "hang" } };
let engine: Engine;

beforeAll(async () => {
  engine = await startEngine({ SVC_ALIASES: "my-alias=sandbox-image" }, { "my-engine": OWN_MODEL });
});
afterAll(() => engine.stop());

const call = (path: string, given?: Call) => engine.call(`/sdapi/v1/${path}`, given);

function expectPublished(path: string, method: string, answer: Answer): void {
  const place = [
    "paths",
    `/sdapi/v1/${path}`,
    method,
    "responses",
    "200",
    "content",
    "application/json",
    "schema",
  ];
  expect(published.problems(place, answer.body)).toEqual([]);
}

/** A key of its own, of the first account. */
async function newKey(policy: JsonObject = {}, account?: JsonObject): Promise<string> {
  const managed = async (path: string, body: JsonObject): Promise<JsonObject> => {
    const response = await fetch(`${engine.url}/admin/v1${path}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${engine.token}`, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const { data, message } = (await response.json()) as {
      readonly data: JsonObject;
      readonly message: string;
    };
    if (!response.ok) throw new Error(message);
    return data;
  };
  const name = `key ${Math.random()}`;
  const owner = account && String((await managed("/accounts", { name, ...account })).id);
  const made = await managed("/keys", { name, ...policy, ...(owner && { account: owner }) });
  return String(made.secret ?? made.key);
}

/** Waits until the key's own call runs, and tells how far it is. */
async function running(key?: string): Promise<JsonObject> {
  for (;;) {
    const { body } = await call("progress", key === undefined ? {} : { key });
    if (objectOf(objectOf(body).state).job_count !== 0) return objectOf(body);
    await Bun.sleep(10);
  }
}

describe("the model of a key", () => {
  test("is the cheapest until it chooses, then the chosen one, for that key alone", async () => {
    const [one, other] = [await newKey(), await newKey()];
    const titleOf = async (key: string) =>
      objectOf((await call("options", { key })).body).sd_model_checkpoint;
    expect(await titleOf(one)).toBe("sandbox-image");
    const options = objectOf((await call("options", { key: one })).body);
    expectPublished("options", "get", await call("options", { key: one }));
    // Clients send back all that they have read.
    const set = await call("options", {
      key: one,
      body: { ...options, sd_model_checkpoint: "my-engine [0123456789]" },
    });
    expect([set.status, set.body]).toEqual([200, null]);
    expect([await titleOf(one), await titleOf(other)]).toEqual(["my-engine", "sandbox-image"]);
    const drawn = await call("txt2img", { key: one, body: SOON });
    expect(infoOf(drawn).sd_model_name).toBe("my-engine");
    expect(drawn.headers.get("x-request-cost")).toBe("0.020000");
    await call("options", { key: one, body: { sd_model_checkpoint: "my-alias" } });
    expect(await titleOf(one)).toBe("my-alias");
    const unknown = await call("options", { key: one, body: { sd_model_checkpoint: "dreamshaper_8" } });
    expect([unknown.status, await titleOf(one)]).toEqual([404, "my-alias"]);
    expect(objectOf(unknown.body)).toMatchObject({
      error: "model_not_found",
      detail: expect.stringContaining("dreamshaper_8"),
    });
    expect((await call("options", { key: one, body: { sd_model_checkpoint: "sandbox-video" } })).status).toBe(
      404,
    );
    expect((await call("options", { key: one, body: { sd_model_checkpoint: 7 } })).status).toBe(422);
  });

  test.each(["[", " "])(
    "is refused without delay where its title is of many %j",
    async (text) => {
      const body = { sd_model_checkpoint: `a${text.repeat(300_000)}a` };
      expect((await call("options", { key: await newKey(), body })).status).toBe(422);
    },
    5_000,
  );

  test("is that of the request where it names one, and stays the key's where the request says so", async () => {
    const key = await newKey();
    const title = async () => objectOf((await call("options", { key })).body).sd_model_checkpoint;
    const override_settings = { sd_model_checkpoint: "my-engine" };
    expect(infoOf(await call("txt2img", { key, body: { ...SOON, override_settings } })).sd_model_name).toBe(
      "my-engine",
    );
    expect(await title()).toBe("sandbox-image");
    await call("txt2img", {
      key,
      body: { ...SOON, override_settings, override_settings_restore_afterwards: false },
    });
    expect(await title()).toBe("my-engine");
    const unknown = { ...SOON, override_settings: { sd_model_checkpoint: "sd_xl_base_1.0.safetensors" } };
    expect((await call("txt2img", { key, body: unknown })).status).toBe(404);
  });

  test("has its parameters under that API's names: numbers within its limits, samplers however they are written", async () => {
    const override_settings = { sd_model_checkpoint: "my-engine" };
    const body = {
      ...SOON,
      override_settings,
      steps: 50,
      cfg_scale: 7,
      sampler_name: "Euler a",
      negative_prompt: "blurry",
      eta: 0.5,
    };
    const drawn = await call("txt2img", { body });
    const { request } = await engine.native(`/tasks/${drawn.headers.get("x-task-id")}`);
    const { seed, ...parameters } = objectOf(objectOf(request).parameters ?? request);
    expect(parameters).toMatchObject({
      steps: 30,
      guidance_scale: 5,
      sampler: "euler_a",
      negative_prompt: "blurry",
      aspect_ratio: "1:1",
    });
    expect(Number(seed)).toBeGreaterThanOrEqual(0);
    expect(drawn.headers.get("x-svc-adjusted")).toBe("steps, cfg_scale, width, height");
    expect(objectOf(infoOf(drawn).svc).ignored).toEqual(["eta"]);
    expect(String((infoOf(drawn).infotexts as Json[])[0])).toContain(
      "Steps: 30, Sampler: euler_a, CFG scale: 5",
    );
    const wrong = await call("txt2img", { body: { ...body, sampler_name: "UniPC" } });
    expect([wrong.status, objectOf((objectOf(wrong.body).detail as Json[])[0]).loc]).toEqual([
      422,
      ["body", "sampler_name"],
    ]);
    const key = await newKey();
    await call("options", { key, body: { sd_model_checkpoint: "my-engine" } });
    const samplers = (await call("samplers", { key })).body as JsonObject[];
    expect(samplers.map(({ name }) => name)).toEqual(["euler_a", "dpmpp_2m"]);
    const two = await call("txt2img", { body: { ...SOON, override_settings, batch_size: 2 } });
    expect([two.status, objectOf((objectOf(two.body).detail as Json[])[0]).loc]).toEqual([
      422,
      ["body", "batch_size"],
    ]);
  });
});

test("lists have the forms of that API", async () => {
  for (const path of ["sd-models", "samplers", "schedulers", "upscalers", "memory"])
    expectPublished(path, "get", await call(path));
  const models = (await call("sd-models")).body as JsonObject[];
  expect(models.map(({ title }) => title)).toEqual(
    expect.arrayContaining(["sandbox-image", "my-engine", "my-alias"]),
  );
  expect(models.map(({ title }) => title)).not.toContain("sandbox-video");
  // It draws nothing, and is among the upscalers.
  expect(models.map(({ title }) => title)).not.toContain("sandbox-upscale");
  expect(((await call("upscalers")).body as JsonObject[]).map(({ name }) => name)).toEqual([
    "None",
    "sandbox-upscale",
  ]);
});

describe("a call that runs", () => {
  test("is seen and interrupted from a second connection, by its own key alone, and costs nothing", async () => {
    const key = await newKey();
    const drawing = call("txt2img", {
      key,
      body: { ...LASTING, n_iter: 2, steps: 20, force_task_id: "mine" },
    });
    const now = await running(key);
    expectPublished("progress", "get", await call("progress", { key }));
    expect(now.state).toMatchObject({
      job: "scripts_txt2img",
      job_count: 2,
      sampling_steps: 20,
      interrupted: false,
    });
    expect(Number(now.progress)).toBeGreaterThan(0);
    const idle = { progress: 0, state: { job: "", job_count: 0 }, current_image: null };
    expect((await call("progress")).body).toMatchObject(idle);
    const own = (k: string, id_task: string) =>
      engine.call("/internal/progress", { key: k, body: { id_task, live_preview: false } });
    for (;;) {
      const { active } = objectOf((await own(key, "mine")).body);
      if (active === true) break;
      await Bun.sleep(10);
    }
    expect((await own(engine.key, "mine")).body).toMatchObject({
      active: false,
      queued: false,
      completed: false,
    });
    expect(objectOf((await engine.call("/queue/status", { key })).body).queue_size).toBe(1);

    // Another key ends nothing.
    expect((await call("interrupt", { method: "POST" })).body).toEqual({});
    expect(objectOf(objectOf((await call("progress", { key })).body).state).job_count).toBe(2);
    expect((await call("interrupt", { method: "POST", key })).status).toBe(200);
    const answer = await drawing;
    expect([answer.status, objectOf(answer.body).images]).toEqual([200, []]);
    expect(answer.headers.get("x-request-cost")).toBe("0.000000");
    const after = objectOf((await call("progress", { key })).body);
    expect(after).toMatchObject({ progress: 0, state: { job: "", interrupted: true } });
    expect((await own(key, "mine")).body).toMatchObject({ active: false, completed: true });
    await call("txt2img", { key, body: SOON });
    expect(objectOf(objectOf((await call("progress", { key })).body).state).interrupted).toBeFalse();
  });

  test("is skipped alone: others of its key go on", async () => {
    const key = await newKey();
    const first = call("txt2img", { key, body: { ...LASTING, force_task_id: "first" } });
    await running(key);
    const second = call("txt2img", { key, body: { ...LASTING, prompt: "Another" } });
    while (objectOf((await engine.call("/queue/status", { key })).body).queue_size !== 2) await Bun.sleep(10);
    expect((await call("skip", { method: "POST", key })).body).toBeNull();
    expect(objectOf((await first).body).images).toEqual([]);
    expect(objectOf((await engine.call("/queue/status", { key })).body).queue_size).toBe(1);
    await call("interrupt", { method: "POST", key });
    expect(objectOf((await second).body).images).toEqual([]);
  });

  test("with a key of idempotency is answered again, and with another body refused", async () => {
    const headers = { "Idempotency-Key": "order 1" };
    const [first, second] = [
      await call("txt2img", { body: SOON, headers }),
      await call("txt2img", { body: SOON, headers }),
    ];
    expect(second.headers.get("x-task-id")).toBe(first.headers.get("x-task-id"));
    expect(second.headers.get("x-idempotent-replay")).toBe("true");
    expect(objectOf(second.body).images).toEqual(objectOf(first.body).images!);
    expect(infoOf(second).seed).toBe(infoOf(first).seed!);
    expect((await call("txt2img", { body: { ...SOON, seed: 3 }, headers })).status).toBe(409);
  });

  // Those that take long run together, and with that of larger pictures.
  test.concurrent("shows early versions where they cost nothing", async () => {
    const key = await newKey();
    const sandbox = { outcome: "hang", delay_ms: 400 };
    const drawing = call("txt2img", { key, body: { ...SMALL, sandbox } });
    let image: Json | undefined;
    while (typeof image !== "string") {
      image = (await running(key)).current_image;
      await Bun.sleep(10);
    }
    expect(Buffer.from(image, "base64").length).toBeGreaterThan(50);
    expect(objectOf((await call("progress?skip_current_image=true", { key })).body).current_image).toBeNull();
    await call("interrupt", { method: "POST", key });
    expect(imagesOf(await drawing)).toHaveLength(0);
    const drawn = await call("txt2img", { key, body: { ...SMALL, sandbox: { delay_ms: 40 } } });
    expect(imagesOf(drawn)).toHaveLength(1);
  });

  test.concurrent("that lost its caller is joined by the same request, whatever it is called, and is charged once", async () => {
    // Of an account of its own, which has no other tasks.
    const key = await newKey({}, { mode: "unlimited" });
    const body = { ...SMALL, prompt: "Lost", sandbox: { delay_ms: 700 } };
    const leaving = new AbortController();
    const left = call("txt2img", {
      key,
      body: { ...body, force_task_id: "one" },
      signal: leaving.signal,
    }).catch(() => "left");
    await running(key);
    leaving.abort();
    expect(await left).toBe("left");
    // The service notices a moment later that the caller is gone.
    await Bun.sleep(100);
    const again = await call("txt2img", { key, body: { ...body, force_task_id: "two" } });
    expect(again.status).toBe(200);
    const id = again.headers.get("x-task-id");
    const tasks = (await engine.native("/tasks", key)).tasks as JsonObject[];
    expect(tasks.map(({ task_id }) => task_id)).toEqual([id]);
    const { request } = await engine.native(`/tasks/${id}`, key);
    expect(infoOf(again).seed).toBe(objectOf(objectOf(request).parameters ?? request).seed!);
  });
});

describe("larger pictures", () => {
  test.concurrent("are made by a model for it, each as a task, and by nothing else", async () => {
    const [drawn] = imagesOf(await call("txt2img", { body: SOON }));
    const image = Buffer.from(drawn!).toString("base64");
    const asked = { image, upscaler_1: "sandbox-upscale", upscaling_resize: 4, upscaling_resize_w: 99 };
    const imageList = [image, image].map((data, i) => ({ data, name: `${i}.png` }));
    const [one, two] = await Promise.all([
      call("extra-single-image", { body: asked }),
      call("extra-batch-images", { body: { imageList, upscaler_1: "sandbox-upscale" } }),
    ]);
    expectPublished("extra-single-image", "post", one);
    expect(one.headers.get("x-request-cost")).toBe("0.010000");
    expect(objectOf(one.body).html_info).toBe("<p>Made by sandbox-upscale. Ignored: upscaling_resize_w.</p>");
    const larger = Buffer.from(String(objectOf(one.body).image), "base64");
    expect(await sharp(larger).metadata()).toMatchObject({ width: 128, height: 128 });
    expect([(objectOf(two.body).images as Json[]).length, two.headers.get("x-request-cost")]).toEqual([
      2,
      "0.020000",
    ]);
    for (const [field, given] of [
      ["upscaler_1", { upscaler_1: "None" }],
      ["upscaler_1", {}],
      ["upscaling_resize", { upscaler_1: "sandbox-upscale", upscaling_resize: 3 }],
      ["gfpgan_visibility", { upscaler_1: "sandbox-upscale", gfpgan_visibility: 1 }],
      ["image", { upscaler_1: "sandbox-upscale", image: "~" }],
    ] as const) {
      const answer = await call("extra-single-image", { body: { image, ...given } });
      const [detail] = objectOf(answer.body).detail as Json[];
      expect([answer.status, objectOf(detail).loc]).toEqual([422, ["body", field]]);
    }
  });
});

test("pictures of which the money suffices for some alone are refused, and none of them is made", async () => {
  const image = Buffer.from(
    await sharp({ create: { width: 32, height: 32, channels: 3, background: "red" } })
      .png()
      .toBuffer(),
  );
  const body = {
    imageList: Array(3).fill({ data: image.toString("base64"), name: "x" }),
    upscaler_1: "sandbox-upscale",
  };
  const busy = await startEngine({ SVC_SANDBOX_CONCURRENCY: "1" });
  const managed = async (path: string, asked: JsonObject) => {
    const headers = { Authorization: `Bearer ${busy.token}`, "Content-Type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(asked) };
    return ((await (await fetch(`${busy.url}/admin/v1${path}`, init)).json()) as { data: JsonObject }).data;
  };
  const { id } = await managed("/accounts", { name: "poor", mode: "prepaid", credit: "0.02" });
  const { key } = await managed("/keys", { name: "poor", account: String(id) });
  const holding = busy.call("/sdapi/v1/txt2img", { body: LASTING }).catch(() => undefined);
  for (let processing = 0; processing === 0; )
    processing = Number(objectOf((await busy.native("/account/status")).tasks).processing);
  const answer = await busy.call("/sdapi/v1/extra-batch-images", { key: String(key), body });
  expect(answer.status).toBe(402);
  const tasks = (await busy.native("/tasks", String(key))).tasks as JsonObject[];
  expect(tasks.map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
  const { balance } = await busy.native("/account/status", String(key));
  expect(objectOf(balance)).toMatchObject({ total: "0.020000", reserved: "0.000000" });
  await busy.stop();
  await holding;
});

test("no picture is decoded for a key that cannot pay for one, and none is made where one cannot be decoded", async () => {
  const whole = await sharp({ create: { width: 32, height: 32, channels: 3, background: "red" } })
    .png()
    .toBuffer();
  const body = {
    // The second is cut short, which only decoding shows.
    imageList: [whole, whole.subarray(0, -20)].map((data) => ({ data: data.toString("base64"), name: "x" })),
    upscaler_1: "sandbox-upscale",
  };
  const poor = await newKey({ quota: { limit: "0.000001", reset: "total" } });
  expect((await call("extra-batch-images", { key: poor, body })).status).toBe(402);
  const key = await newKey({}, { mode: "unlimited" });
  const answer = await call("extra-batch-images", { key, body });
  const [detail] = objectOf(answer.body).detail as Json[];
  expect([answer.status, objectOf(detail).loc]).toEqual([422, ["body", "imageList", 1, "data"]]);
  expect((await engine.native("/tasks", key)).tasks).toEqual([]);
});

describe("what goes wrong is told in that API's form", () => {
  const failing = (sandbox: JsonObject) =>
    call("txt2img", { body: { ...SMALL, sandbox: { delay_ms: 0, ...sandbox } } });

  test.each([
    ["a provider's failure", { outcome: "failed" }, 500, "internal_error"],
    ["a refusal of its content", { outcome: "moderated" }, 400, "content_policy_violation"],
    [
      "no capacity",
      { outcome: "failed", error_code: "UPSTREAM_CAPACITY_EXHAUSTED" },
      503,
      "service_unavailable",
    ],
  ] as const)("%s", async (_, sandbox, status, error) => {
    const answer = await failing(sandbox);
    expect(answer.status).toBe(status);
    expect(published.problems(["components", "schemas", "ApiError"], answer.body)).toEqual([]);
    expect(answer.body).toMatchObject({ error, body: "", errors: objectOf(answer.body).detail! });
  });

  test("a missing and a wrong credential, of both schemes", async () => {
    for (const headers of [
      { Authorization: "" },
      { Authorization: "Bearer sk-svc-none" },
      { Authorization: "Basic bm9uZQ==" },
    ]) {
      const answer = await call("options", { headers });
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toStartWith("Basic");
      expect(published.problems(["components", "schemas", "Detail"], answer.body)).toEqual([]);
    }
    const name = Buffer.from(`${engine.key}:`).toString("base64");
    for (const Authorization of [`Bearer ${engine.key}`, `Basic ${name}`])
      expect((await call("options", { headers: { Authorization } })).status).toBe(200);
  });

  test("no money, too many requests, a key that may not, and what is not there", async () => {
    const poor = await newKey({}, { mode: "prepaid" });
    const broke = await call("txt2img", { key: poor, body: SOON });
    expect([broke.status, objectOf(broke.body).error]).toEqual([402, "insufficient_quota"]);
    // Pictures are decoded for those alone that can pay.
    const noPictures = { prompt: "A fox", init_images: ["AAAA"], mask: "AAAA" };
    expect((await call("img2img", { key: poor, body: noPictures })).status).toBe(402);
    const slow = await newKey({ requests_per_minute: 1 });
    await call("txt2img", { key: slow, body: SOON });
    const limited = await call("txt2img", { key: slow, body: SOON });
    expect([limited.status, limited.headers.has("retry-after")]).toEqual([429, true]);
    const other = await newKey({ features: ["images"] });
    expect((await call("txt2img", { key: other, body: SOON })).status).toBe(403);
    const none = await call("interrogate", { method: "POST", body: {} });
    expect([none.status, isJsonObject(none.body) && none.body.error]).toEqual([404, "not_found"]);
    expect((await call("txt2img")).status).toBe(405);
  });
});

test("what clients ask for to see whether a server is there is there", async () => {
  for (const [path, body] of [
    ["/internal/ping", {}],
    ["/sdapi/v1/sd-modules", []],
    ["/sdapi/v1/sd-vae", []],
    ["/sdapi/v1/extensions", []],
  ] as const)
    expect([path, await engine.call(path)]).toMatchObject([path, { status: 200, body }]);
  expect((await engine.call("/internal/ping", { key: "none" })).status).toBe(401);
});

test("without the facade, its paths are unknown", async () => {
  const without = await startEngine({ SVC_FACADES: "openai-videos" });
  for (const path of ["/sdapi/v1/options", "/queue/status", "/internal/ping"]) {
    const answer = await fetch(without.url + path, { headers: { Authorization: `Bearer ${without.key}` } });
    expect(answer.status).toBe(404);
  }
  await without.stop();
});
