import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/domain/json.ts";
import { emptyFolder, type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi, download } from "./support/api.ts";
import { dataUri, plainImage } from "./support/pictures.ts";
import { boxesOf, probe } from "./support/videos.ts";

setDefaultTimeout(120_000);

const QUICK = { delay_ms: 0 };
/** The fewest pixels there are. */
const SMALL = { duration: 1, aspect_ratio: "1:1" };
const FFPROBE = Bun.which("ffprobe");

let server: Server;
let api: Api;
/** A film of one second, which the tests share. */
let source: Uint8Array<ArrayBuffer>;
let sourceUrl = "";

beforeAll(async () => {
  server = await startServer();
  api = createApi(server.url, server.firstKey());
  const task = await api.make({ model: "sandbox-video", prompt: "waves", duration: 1, sandbox: QUICK });
  sourceUrl = task.result?.[0] ?? "";
  source = await download(sourceUrl);
});

afterAll(stopServers);

const image = async () => dataUri(await plainImage(64, 64));

describe("a video task", () => {
  test("ends with H.264 in an MP4 that is as long as asked for", async () => {
    expect(await probe(source)).toMatchObject({ codec: "avc", width: 640, height: 360, durationSec: 1 });
  });

  test("can be played while it is still on its way: moov comes before mdat", () => {
    const boxes = boxesOf(source);
    expect(boxes[0]).toBe("ftyp");
    expect(boxes.indexOf("moov")).toBeGreaterThan(0);
    expect(boxes.indexOf("moov")).toBeLessThan(boxes.indexOf("mdat"));
  });

  test.skipIf(FFPROBE === null)("is the same to another prober, which decodes every frame", async () => {
    const file = join(emptyFolder("video"), "video.mp4");
    writeFileSync(file, source);
    const fields = "stream=codec_name,width,height,nb_read_frames:format=duration";
    const command = [
      "-v",
      "error",
      "-count_frames",
      "-select_streams",
      "v",
      "-show_entries",
      fields,
      "-of",
      "json",
      file,
    ];
    const child = Bun.spawn([FFPROBE ?? "", ...command], { stdout: "pipe", stderr: "pipe" });
    const [text, errors] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    expect(errors).toBe("");
    const found: unknown = JSON.parse(text);
    expect(found).toMatchObject({
      streams: [{ codec_name: "h264", width: 640, height: 360 }],
      format: { duration: expect.stringMatching(/^1\.0/) },
    });
  });

  test("costs by the second, and its failure is worded in `error`", async () => {
    const created = await api.create({
      model: "sandbox-video",
      prompt: "x",
      duration: 3,
      sandbox: { ...QUICK, outcome: "failed" },
    });
    expect(created.headers.get("x-request-cost")).toBe("0.060000");
    const task = await api.wait(created.data.task_id ?? "", "video");
    expect(task).toMatchObject({ status: "failed", error_code: "UPSTREAM_ERROR", error: expect.any(String) });
    expect(task.error_message).toBeUndefined();
  });

  test("animates one result of an earlier image task, named by task_id and index", async () => {
    const earlier = await api.make({
      model: "sandbox-image",
      prompt: "boats",
      n: 2,
      size: "64x64",
      sandbox: QUICK,
    });
    const request = {
      model: "sandbox-video",
      ...SMALL,
      prompt: "sail",
      sandbox: QUICK,
      task_id: earlier.task_id,
    };
    expect((await api.make({ ...request, index: 1 })).status).toBe("completed");
    const beyond = await api.create({ ...request, index: 2 });
    expect([beyond.status, beyond.data.param]).toEqual([400, "index"]);
    const unknown = await api.create({ ...request, task_id: earlier.task_id.replace(/.{4}$/, "0000") });
    expect([unknown.status, unknown.data.param]).toEqual([400, "task_id"]);
  });
});

describe("every model of the sandbox", () => {
  const REQUESTS: Record<string, () => Promise<JsonObject>> = {
    "sandbox-image": async () => ({ prompt: "x", size: "32x32" }),
    "sandbox-upscale": async () => ({ image_url: await image() }),
    "sandbox-video": async () => ({ ...SMALL, prompt: "x", image_url: await image() }),
    "sandbox-video-frames": async () => ({
      ...SMALL,
      first_frame_url: await image(),
      last_frame_url: await image(),
    }),
    "sandbox-video-reference": async () => ({
      ...SMALL,
      prompt: "x",
      reference_image_urls: [await image(), await image()],
    }),
    "sandbox-video-edit": async () => ({ prompt: "x", video_url: sourceUrl }),
    "sandbox-video-motion": async () => ({
      aspect_ratio: "1:1",
      image_url: await image(),
      motion_video_url: dataUri(source, "video/mp4"),
    }),
  };

  test("is among those tried here", async () => {
    const { data } = await api.send("/v1/models");
    expect(data.models?.map(({ id }) => id).sort()).toEqual(Object.keys(REQUESTS).sort());
  });

  test.each(Object.keys(REQUESTS))(
    "%s completes with a file of its kind",
    async (model) => {
      const task = await api.make({ model, ...(await REQUESTS[model]?.()), sandbox: QUICK });
      expect(task.status).toBe("completed");
      const bytes = await download(task.result?.[0]);
      if (!model.includes("video")) expect(task.result?.[0]).toEndWith(".png");
      else expect(await probe(bytes)).toMatchObject({ codec: "avc", durationSec: expect.any(Number) });
    },
    60_000,
  );
});
