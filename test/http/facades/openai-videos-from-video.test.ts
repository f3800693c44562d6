import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../src/domain/json.ts";
import { png } from "../../helpers/media.ts";
import {
  type Answer,
  errorOf,
  expectPublished,
  form,
  inPublishedSize,
  startVideosApi,
  type VideosApi,
} from "./videos-api.ts";

// It waits for videos.
setDefaultTimeout(30_000);

const SOON = { delay_ms: 0 };
const MODEL = "sandbox-video-edit";
/** Ends by being cancelled alone. */
const LASTING = { model: MODEL, prompt: "At night", sandbox: { outcome: "hang" } };

let api: VideosApi;
/** A video of a model that makes none from others, and its file. */
let id: string;
let film: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  api = await startVideosApi({ SVC_ALIASES: "sora-2=sandbox-video" });
  const made = { prompt: "A fox", size: "640x360", seconds: "1", sandbox: SOON };
  id = String((await api.call("", { body: made })).body.id);
  await api.ended(id);
  film = (await api.call(`/${id}/content`)).bytes;
});

afterAll(() => api.service.stop());

/** What the service knows of a task that goes on; ends it. */
async function storyOf({ body }: Answer): Promise<JsonObject> {
  const story = await api.native(`/tasks/${body.id}`);
  await api.native(`/tasks/${body.id}/cancel`, "POST");
  return story;
}

const STORED = [{ field: "video_url", media_type: "video/mp4", width: 640, height: 360 }];

describe.each([
  ["edits", "remix", { remixed_from_video_id: (): unknown => id }, {}],
  ["extensions", "extend", { remixed_from_video_id: () => null }, { parameters: { operation: "extend" } }],
])("%s", (path, relation, { remixed_from_video_id }, parameters) => {
  const ask = (body: JsonObject | FormData) => api.call(`/${path}`, { body });

  test("take a video by its id, in JSON and in a form", async () => {
    const fields = { model: MODEL, prompt: "At night", "video[id]": id, "sandbox[outcome]": "hang" };
    for (const body of [{ ...LASTING, video: { id } }, form(fields)]) {
      const answer = await ask(body);
      expect(answer.headers.get("x-request-cost")).toMatch(/^0\.\d+$/);
      expectPublished("VideoResource", inPublishedSize(answer.body));
      expect(answer.body).toMatchObject({
        ...{ model: MODEL, status: "queued", prompt: "At night" },
        remixed_from_video_id: remixed_from_video_id(),
      });
      const { tasks } = (await api.native(`/tasks/${id}/tree`)) as { tasks: JsonObject[] };
      const member = tasks.find(({ task_id }) => task_id === answer.body.id);
      expect(member).toMatchObject({ parent_id: id, relation });
      expect((await storyOf(answer)).request).toMatchObject({ inputs: STORED, ...parameters });
    }
  });

  test("take a video as a file, which has no parent", async () => {
    const fields = { model: MODEL, prompt: "At night", video: new Blob([film]), "sandbox[outcome]": "hang" };
    const answer = await ask(form(fields));
    expect(answer.body).toMatchObject({ model: MODEL, remixed_from_video_id: null });
    const story = await storyOf(answer);
    expect(story.request).toMatchObject({ inputs: STORED, ...parameters });
    expect(story.parent_id).toBeUndefined();
  });

  test("are made by the model of the video, if that one can", async () => {
    const { body } = await ask({ ...LASTING, sandbox: SOON, video: { id } });
    expect(await api.ended(body.id)).toMatchObject({ status: "completed", size: "640x360" });
    const { model: _, ...again } = LASTING;
    const next = await ask({ ...again, video: { id: String(body.id) } });
    expect(next.body).toMatchObject({ model: MODEL });
    expect(await storyOf(next)).toMatchObject({ parent_id: body.id });
  });

  test("name the models that can, where the one of the video cannot", async () => {
    const { model: _, ...body } = LASTING;
    for (const video of [{ id }, "https://example.com/a.mp4"]) {
      const refusal = errorOf(await ask({ ...body, video }));
      expect(refusal).toMatchObject({ status: 400, param: "model" });
      expect(refusal.message).toStartWith("sandbox-video cannot ");
      expect(refusal.message).toEndWith(`${MODEL}.`);
    }
  });

  test("sent again with their key are one video, and another body is a conflict", async () => {
    const headers = { "Idempotency-Key": `${path}-1` };
    const send = (prompt: string) =>
      api.call(`/${path}`, { headers, body: { ...LASTING, prompt, video: { id } } });
    const [first, second] = [await send("At night"), await send("At night")];
    expect(second.headers.get("x-idempotent-replay")).toBe("true");
    expect(second.body.id).toBe(first.body.id);
    expect((await send("At noon")).status).toBe(409);
    await storyOf(first);
  });

  test.each([
    ["no video", {}, "video"],
    ["a video without an id", { video: { file_id: "x" } }, "video"],
    ["no prompt", { video: { id: "" }, prompt: null }, "prompt"],
    ["an address inside", { video: "http://127.0.0.1/a.mp4" }, "video"],
    ["a picture", { video: "data:image/png;base64,AAAA" }, "video"],
    ["a length that the model cannot make", { video: { id: "" }, seconds: "soon" }, "seconds"],
  ] as const)("with %s are refused by the field", async (_, fields, param) => {
    const { video } = fields as { video?: unknown };
    const own = typeof video === "object" && "id" in (video as object) ? { video: { id } } : {};
    const body = { ...LASTING, ...fields, ...own } as JsonObject;
    expect(errorOf(await ask(body))).toMatchObject({ status: 400, param });
  });

  test("with a picture as a file are refused, and nothing is kept", async () => {
    const body = form({ model: MODEL, prompt: "At night", video: new Blob([await png(64, 64)]) });
    expect(errorOf(await ask(body))).toMatchObject({ status: 400, param: "video" });
    const twice = { model: MODEL, prompt: "x", video: new Blob([film]), "video[id]": id };
    expect(errorOf(await ask(form(twice)))).toMatchObject({ status: 400, param: "video" });
  });

  test("of a video that is not made yet, or not there, are refused", async () => {
    const live = await ask({ ...LASTING, video: { id } });
    const early = await ask({ ...LASTING, video: { id: String(live.body.id) } });
    expect(errorOf(early)).toMatchObject({ status: 400, param: "video.id" });
    await storyOf(live);
    expect(errorOf(await ask({ ...LASTING, video: { id: "video_1" } }))).toMatchObject({
      ...{ status: 404, code: "task_not_found" },
    });
  });
});
