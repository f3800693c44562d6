import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi, download } from "./support/api.ts";
import { colourAt, dataUri, decode, leftHalfMask, plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const MODEL = "sandbox-image";
const QUICK = { delay_ms: 0 };
const BLUE = [0x33, 0x66, 0xcc];

let server: Server;
let api: Api;

beforeAll(async () => {
  server = await startServer();
  api = createApi(server.url, server.firstKey());
});

afterAll(stopServers);

const hash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

describe("an image task", () => {
  test("ends with a PNG of the size asked for and the price that was promised", async () => {
    const created = await api.create({
      model: MODEL,
      prompt: "a lighthouse at dusk",
      size: "320x192",
      sandbox: QUICK,
    });
    expect(created.status).toBe(200);
    expect(created.body).toEqual({
      code: 200,
      message: "success",
      data: { task_id: expect.stringMatching(/^task_[0-9a-z]{26}$/) },
    });
    expect(created.headers.get("x-request-cost")).toBe("0.010000");
    expect(created.headers.get("x-request-id")).toMatch(/^req_[0-9a-z]{26}$/);

    const task = await api.wait(created.data.task_id ?? "");
    expect(task).toEqual({
      task_id: created.data.task_id ?? "",
      status: "completed",
      progress: 100,
      model: MODEL,
      created_at: expect.any(Number),
      completed_at: expect.any(Number),
      result: [expect.stringMatching(new RegExp(`^${server.url}/assets/asset_[0-9a-z]{26}\\.png$`))],
      usage: { cost: "0.010000", currency: "USD" },
    });
    const picture = await decode(await download(task.result?.[0]));
    expect({ ...picture, pixels: picture.pixels.length }).toEqual({
      format: "png",
      width: 320,
      height: 192,
      pixels: 320 * 192 * 3,
    });
    expect(new Set(picture.pixels).size).toBeGreaterThan(16);
  });

  test.each([
    ["jpeg", "jpg"],
    ["webp", "webp"],
  ])("gives a %s when asked for one", async (output_format, extension) => {
    const task = await api.make({
      model: MODEL,
      prompt: "a fox",
      size: "96x64",
      output_format,
      sandbox: QUICK,
    });
    expect(task.result?.[0]).toEndWith(`.${extension}`);
    expect(await decode(await download(task.result?.[0]))).toMatchObject({
      format: output_format,
      width: 96,
      height: 64,
    });
  });

  test("gives as many pictures as asked for, each its own, in the same order every time", async () => {
    const request = { model: MODEL, prompt: "three boats", n: 3, size: "64x64", seed: 7, sandbox: QUICK };
    const [first, second] = await Promise.all([api.make(request), api.make(request)]);
    const hashes = async (urls: readonly string[] = []) =>
      Promise.all(urls.map(async (url) => hash(await download(url))));
    const pictures = await hashes(first.result);
    expect(new Set(pictures).size).toBe(3);
    expect(await hashes(second.result)).toEqual(pictures);
    expect(first.usage).toEqual({ cost: "0.030000", currency: "USD" });
  });

  test("takes proportions and resolution in place of a size", async () => {
    const task = await api.make({
      model: MODEL,
      prompt: "wide",
      aspect_ratio: "2:1",
      resolution: "512",
      sandbox: QUICK,
    });
    const { width, height } = await decode(await download(task.result?.[0]));
    expect(width / height).toBeCloseTo(2, 1);
    expect(width * height).toBeGreaterThan(0.9 * 512 * 512);
  });

  test("is pending or processing until its end, and its progress is below 100", async () => {
    const id = await api.accept({ model: MODEL, prompt: "slow", size: "32x32", sandbox: { delay_ms: 400 } });
    const seen = await api.wait(id, "image", 0);
    expect(["pending", "processing"]).toContain(seen.status ?? "");
    expect(seen.progress).toBeLessThan(100);
    expect(seen.result).toBeUndefined();
    expect((await api.wait(id)).status).toBe("completed");
  });
});

describe("an edit", () => {
  test("of an earlier result takes its own address and keeps its size", async () => {
    const original = await api.make({ model: MODEL, prompt: "a house", size: "80x48", sandbox: QUICK });
    const [image_url = ""] = original.result ?? [];
    const edited = await api.make({ model: MODEL, prompt: "in watercolour", image_url, sandbox: QUICK });
    const [before, after] = await Promise.all([download(image_url), download(edited.result?.[0])]);
    expect(await decode(after)).toMatchObject({ format: "png", width: 80, height: 48 });
    expect(hash(after)).not.toBe(hash(before));
  });

  test.each(["png", "jpeg", "webp"] as const)("takes a %s in a data URI", async (format) => {
    const image_url = dataUri(await plainImage(40, 24, { format }), `image/${format}`);
    const task = await api.make({ model: MODEL, prompt: "as a drawing", image_url, sandbox: QUICK });
    expect(task.status).toBe("completed");
    expect(await decode(await download(task.result?.[0]))).toMatchObject({ width: 40, height: 24 });
  });

  test("takes several images at once", async () => {
    const images = await Promise.all([
      plainImage(32, 32, { colour: "red" }),
      plainImage(32, 32, { colour: "lime" }),
    ]);
    const image_urls = images.map((image) => dataUri(image));
    expect((await api.make({ model: MODEL, prompt: "together", image_urls, sandbox: QUICK })).status).toBe(
      "completed",
    );
  });

  test("with a mask changes the transparent part and leaves the rest as it was", async () => {
    const image_url = dataUri(await plainImage(96, 64));
    const mask_url = dataUri(await leftHalfMask(96, 64));
    const task = await api.make({
      model: MODEL,
      prompt: "autumn leaves",
      image_url,
      mask_url,
      sandbox: QUICK,
    });
    const picture = await decode(await download(task.result?.[0]));
    expect(colourAt(picture, 80, 20)).toEqual(BLUE);
    expect(colourAt(picture, 60, 20)).toEqual(BLUE);
    const left = Array.from({ length: 40 }, (_, x) => colourAt(picture, x, 30));
    expect(left.some((colour) => colour.join() !== BLUE.join())).toBe(true);
  });
});

describe("a rehearsed end", () => {
  test("failed: the task says so, with a code and words, and costs nothing", async () => {
    const task = await api.make({
      model: MODEL,
      prompt: "x",
      size: "16x16",
      sandbox: { ...QUICK, outcome: "failed" },
    });
    expect(task).toMatchObject({
      status: "failed",
      error_code: "UPSTREAM_ERROR",
      error_message: expect.any(String),
    });
    expect(task.usage).toEqual({ cost: "0.000000", currency: "USD" });
    expect(task.result).toBeUndefined();
  });

  test.each([
    [{ outcome: "moderated" }, "CONTENT_MODERATED"],
    [{ outcome: "failed", error_code: "UPSTREAM_CAPACITY_EXHAUSTED" }, "UPSTREAM_CAPACITY_EXHAUSTED"],
    [{ outputs_lost: true }, "FINALIZATION_FAILED"],
  ])("%j ends as %s", async (rehearsal, code) => {
    const task = await api.make({
      model: MODEL,
      prompt: "x",
      size: "16x16",
      sandbox: { ...QUICK, ...rehearsal },
    });
    expect(task).toMatchObject({ status: "failed", error_code: code });
  });

  test("a submission refused for want of capacity is tried again and completes", async () => {
    const task = await api.make({
      model: MODEL,
      prompt: "x",
      size: "16x16",
      sandbox: { ...QUICK, fail_times: 2 },
    });
    expect(task.status).toBe("completed");
  });

  test("hang: a cancel ends it, and the second one is refused", async () => {
    const id = await api.accept({ model: MODEL, prompt: "x", size: "16x16", sandbox: { outcome: "hang" } });
    expect((await api.send(`/v1/tasks/${id}/cancel`, { method: "POST" })).status).toBe(200);
    const task = await api.wait(id);
    expect(task).toMatchObject({ status: "cancelled", usage: { cost: "0.000000" } });
    const again = await api.send(`/v1/tasks/${id}/cancel`, { method: "POST" });
    expect([again.status, again.data.error_code]).toEqual([409, "task_not_cancellable"]);
  });
});
