import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import sharp from "sharp";
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

let api: VideosApi;
let service: VideosApi["service"];
let picture: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  api = await startVideosApi({ SVC_ALIASES: "sora-2=sandbox-video" });
  service = api.service;
  picture = await png(64, 64);
});

afterAll(() => service.stop());

const call: VideosApi["call"] = (path, options) => api.call(path, options);
const native: VideosApi["native"] = (path, method) => api.native(path, method);
const ended: VideosApi["ended"] = (id) => api.ended(id);

const SOON = { delay_ms: 0 };
/** Ends by being cancelled alone. */
const LASTING = { model: "sandbox-video", prompt: "A fox", sandbox: { outcome: "hang" } };
const SMALL = { model: "sandbox-video", prompt: "A fox", size: "640x360", seconds: "1", sandbox: SOON };

const cancel = (id: unknown) => native(`/tasks/${id}/cancel`, "POST");

describe("a video", () => {
  let id = "";

  test("is created, made, read and remixed in that API's shapes", async () => {
    const asked = { prompt: "A fox in the snow", size: "360x640", seconds: "1", sandbox: SOON };
    const created = await call("", { body: { ...asked, retain_seconds: 3600 } });
    expect(created.headers.get("x-request-cost")).toBe("0.020000");
    expect(created.headers.get("x-svc-adjusted")).toBeNull();
    expectPublished("VideoResource", inPublishedSize(created.body));
    expect(created.body).toMatchObject({
      ...{ object: "video", model: "sandbox-video", prompt: "A fox in the snow", size: "360x640" },
      ...{ seconds: "1", completed_at: null, expires_at: null, error: null, remixed_from_video_id: null },
    });
    id = String(created.body.id);
    const video = await ended(id);
    expectPublished("VideoResource", inPublishedSize(video));
    expect(video).toMatchObject({ id, status: "completed", progress: 100, size: "360x640", seconds: "1" });
    expect(video.expires_at).toBe(Number(video.completed_at) + 3600);

    const remixed = await call(`/${id}/remix`, { body: { prompt: "A fox in the rain" } });
    expectPublished("VideoResource", inPublishedSize(remixed.body));
    expect(remixed.body).toMatchObject({
      remixed_from_video_id: id,
      prompt: "A fox in the rain",
      seconds: "1",
    });
    const parametersOf = async (task: unknown) => (await native(`/tasks/${task}`)).request as JsonObject;
    const [first, second] = [await parametersOf(id), await parametersOf(remixed.body.id)];
    expect({ ...second, prompt: "" }).toEqual({ ...first, prompt: "" });
    // Two more films would be drawn for nobody.
    await cancel(remixed.body.id);
    const long = `data:image/png;base64,${"A".repeat(20_000)}`;
    for (const body of [{ prompt: long }, form({ prompt: long }), { prompt: 7 }, {}])
      expect(errorOf(await call(`/${id}/remix`, { body }))).toMatchObject({ status: 400, param: "prompt" });
    const again = await call(`/${id}/remix`, { body: form({ prompt: "x", input_reference: "{" }) });
    expect(again.status).toBe(200);
    await cancel(again.body.id);
  });

  test("is read whole, in part, and as a thumbnail", async () => {
    const whole = await call(`/${id}/content`);
    expect([whole.status, whole.headers.get("content-type")]).toEqual([200, "video/mp4"]);
    expect(whole.headers.get("cache-control")).toBe("private, no-cache");
    expect(whole.headers.get("access-control-allow-origin")).toBeNull();
    const named = await call(`/${id}/content?variant=video`, { headers: { Range: "bytes=4-7" } });
    expect([named.status, new TextDecoder().decode(named.bytes)]).toEqual([206, "ftyp"]);
    expect(named.headers.get("content-range")).toBe(`bytes 4-7/${whole.bytes.length}`);
    const etag = whole.headers.get("etag") ?? "";
    expect((await call(`/${id}/content`, { headers: { "If-None-Match": etag } })).status).toBe(304);
    const thumbnail = await call(`/${id}/content?variant=thumbnail`);
    expect([thumbnail.status, thumbnail.headers.get("content-type")]).toEqual([200, "image/webp"]);
    expect(new TextDecoder().decode(thumbnail.bytes.subarray(8, 12))).toBe("WEBP");
  });

  test("has a spritesheet of its pictures, and no other variant, which is said of the parameter", async () => {
    const spritesheet = await call(`/${id}/content?variant=spritesheet`);
    expect([spritesheet.status, spritesheet.headers.get("content-type")]).toEqual([200, "image/webp"]);
    const { width = 0, height = 0 } = await sharp(spritesheet.bytes).metadata();
    const single = await sharp((await call(`/${id}/content?variant=thumbnail`)).bytes).metadata();
    expect(width / 4 / (height / 4)).toBeCloseTo(single.width / single.height, 1);
    const known = { "If-None-Match": spritesheet.headers.get("etag") ?? "" };
    expect((await call(`/${id}/content?variant=spritesheet`, { headers: known })).status).toBe(304);
    expect(errorOf(await call(`/${id}/content?variant=poster`))).toMatchObject({
      status: 400,
      param: "variant",
    });
  });

  test("is gone once it is deleted", async () => {
    const deleted = await call(`/${id}`, { method: "DELETE" });
    expectPublished("DeletedVideoResource", deleted.body);
    expect(deleted.body).toEqual({ id, object: "video.deleted", deleted: true });
    for (const path of [`/${id}`, `/${id}/content`])
      expect(errorOf(await call(path))).toMatchObject({ status: 404, code: "task_not_found" });
    expect((await call(`/${id}`, { method: "DELETE" })).status).toBe(404);
    expect((await call(`/${id}/remix`, { body: { prompt: "x" } })).status).toBe(404);
  });
});

test("a video is listed with the others of its account, in either order, page after page", async () => {
  const made: string[] = [];
  for (let i = 0; i < 3; i += 1) made.push(String((await call("", { body: LASTING })).body.id));
  const idsOf = ({ body }: Answer) => (body.data as JsonObject[]).map((video) => video.id);
  const newest = await call("?limit=2");
  expect(newest.body).toMatchObject({ object: "list", first_id: made[2], last_id: made[1], has_more: true });
  expect(idsOf(newest)).toEqual([made[2], made[1]]);
  expect(idsOf(await call(`?limit=1&after=${made[1]}`))).toEqual([made[0]]);
  const oldest = await call(`?order=asc&after=${made[0]}&project=x`);
  expect([idsOf(oldest), oldest.body.has_more]).toEqual([[made[1], made[2]], false]);
  const none = await call("?limit=0");
  expect(none.body).toEqual({ object: "list", data: [], first_id: null, last_id: null, has_more: true });
  for (const page of [oldest, none]) expectPublished("VideoListResource", { ...page.body, data: [] });
  for (const [query, param] of [
    ["limit=101", "limit"],
    ["order=up", "order"],
    ["after=x", "after"],
  ])
    expect(errorOf(await call(`?${query}`))).toMatchObject({ status: 400, param });
  await Promise.all(made.map(cancel));
});

test("a video that is not made has no content, and says why", async () => {
  const { id } = (await call("", { body: LASTING })).body;
  const unready = errorOf(await call(`/${id}/content`));
  expect(unready).toMatchObject({ status: 404, code: "not_found" });
  expect(unready.message).toContain("once it is completed");
  const live = await call(`/${id}`, { method: "DELETE" });
  // Clients send whatever ends with 409 again, unless they are told not to.
  expect([live.status, live.headers.get("x-should-retry")]).toEqual([409, "false"]);
  expect(errorOf(await call(`/${id}/remix`, { body: { prompt: "x" } }))).toMatchObject({
    ...{ status: 400, param: "video_id" },
  });
  await cancel(id);
  const cancelled = await ended(id);
  expect(cancelled).toMatchObject({ status: "failed", error: { code: "CANCELLED" } });
  const { id: other } = (await call("", { body: { ...SMALL, sandbox: { ...SOON, outcome: "moderated" } } }))
    .body;
  const failed = await ended(other);
  expect(failed).toMatchObject({ status: "failed", error: { code: "CONTENT_MODERATED" } });
  for (const video of [cancelled, failed]) expectPublished("VideoResource", inPublishedSize(video));
  expect(errorOf(await call(`/${other}/content`)).message).toContain("so there is no video");
});

describe("input_reference", () => {
  const inputsOf = async ({ body }: Answer) => {
    const { request } = await native(`/tasks/${body.id}`);
    await cancel(body.id);
    return (request as JsonObject).inputs as JsonObject[];
  };
  const uri = (of = picture) => `data:image/png;base64,${Buffer.from(of).toString("base64")}`;
  const stored = [{ field: "image_url", media_type: "image/png", width: 64, height: 64 }];
  const text = { model: "sandbox-video", prompt: "A fox", seconds: "2", "sandbox[outcome]": "hang" };

  test("is a file of a form, whose texts are read as the model has them", async () => {
    const sent = form({ ...text, input_reference: new Blob([picture]) });
    const answer = await call("", { body: sent });
    expect([answer.status, answer.body.seconds]).toEqual([200, "2"]);
    expect(await inputsOf(answer)).toMatchObject(stored);
  });

  test("is a data URI, however it is sent", async () => {
    const json = { ...LASTING, input_reference: { image_url: uri() } };
    expect(await inputsOf(await call("", { body: json }))).toMatchObject(stored);
    expect(await inputsOf(await call("", { body: { ...LASTING, input_reference: uri() } }))).toMatchObject(
      stored,
    );
    for (const fields of [
      { "input_reference[image_url]": uri() },
      { input_reference: uri() },
      { input_reference: JSON.stringify({ image_url: "https://example.com/a.png" }) },
    ]) {
      const inputs = await inputsOf(await call("", { body: form({ ...text, ...fields }) }));
      expect(inputs).toHaveLength(1);
    }
  });

  test("in a form may be longer than other texts", async () => {
    const large = await png(1600, 1600);
    expect(uri(large).length).toBeGreaterThan(100_000);
    const body = form({ ...text, "input_reference[image_url]": uri(large) });
    expect(await inputsOf(await call("", { body }))).toMatchObject([{ width: 1600, height: 1600 }]);
  });

  test("is an address, which is fetched later", async () => {
    const body = form({ ...text, "input_reference[image_url]": "https://example.com/a.png" });
    expect(await inputsOf(await call("", { body }))).toEqual([
      { field: "image_url", url: "https://example.com/a.png" },
    ]);
  });

  test.each([
    ["a file id", { input_reference: { file_id: "file-1" } }, "input_reference.file_id"],
    ["a number", { input_reference: 7 }, "input_reference"],
    ["no base64", { input_reference: "data:image/png;base64,*" }, "input_reference"],
    [
      "no picture",
      { input_reference: { image_url: "data:image/png;base64,AAAA" } },
      "input_reference.image_url",
    ],
    [
      "an address inside",
      { input_reference: { image_url: "http://127.0.0.1/a.png" } },
      "input_reference.image_url",
    ],
    [
      "for a model without pictures",
      { model: "sandbox-video-edit", input_reference: "https://a.example/a.png" },
      "input_reference",
    ],
  ])("that is %s is refused by its name", async (_, fields, param) => {
    expect(errorOf(await call("", { body: { ...LASTING, ...fields } }))).toMatchObject({
      status: 400,
      param,
    });
  });

  test("in a form is refused by its name too", async () => {
    const refused = async (fields: Readonly<Record<string, string | Blob>>) =>
      errorOf(await call("", { body: form({ ...text, ...fields }) }));
    const field = "input_reference[image_url]";
    expect(await refused({ [field]: "data:image/png;base64,*" })).toMatchObject({
      status: 400,
      param: field,
    });
    expect(await refused({ input_reference: new Blob(["x"]) })).toMatchObject({
      status: 400,
      param: "input_reference",
    });
    expect(await refused({ input_reference: "{" })).toMatchObject({ status: 400, param: "input_reference" });
    const twice = { input_reference: new Blob([picture]), [field]: "https://example.com/a.png" };
    expect(await refused(twice)).toMatchObject({ status: 400, param: "input_reference" });
    expect((await refused({ input_reference: "x".repeat(70_000) })).status).toBe(413);
  });
});

test.each([
  ["size", { size: "1000x300" }, 400],
  ["size", { size: 7 }, 400],
  ["seconds", { seconds: "12" }, 400],
  ["seconds", { seconds: "soon" }, 400],
  ["prompt", { prompt: null }, 400],
  ["prompt", { prompt: "  " }, 400],
  ["input_reference", { model: "sandbox-video-reference" }, 400],
  ["model", { model: "sora-9" }, 404],
  ["model", { model: "sandbox-image" }, 404],
  ["sandbox.delay_ms", { sandbox: { delay_ms: -1 } }, 400],
])("what is wrong with %s of %j is said of that field", async (param, fields, status) => {
  const error = errorOf(await call("", { body: { ...LASTING, ...fields } }));
  expect(error).toMatchObject({ status, param });
  expect(error.message).not.toMatch(/aspect_ratio|resolution|duration|image_url/);
});

test("a size that the model has not exactly is made nearly, and the answer says so", async () => {
  const answer = await call("", { body: { ...LASTING, size: "1280x704", n: 3, quality: "standard" } });
  expect([answer.headers.get("x-svc-adjusted"), answer.body.size]).toEqual(["size", "1280x720"]);
  await cancel(answer.body.id);
});

test("a create that is sent again with its key is one video, in JSON and as a form", async () => {
  for (const [name, body] of [
    ["json", () => LASTING],
    ["form", () => form({ model: "sandbox-video", prompt: "x", "sandbox[outcome]": "hang" })],
  ] as const) {
    const again = () => call("", { body: body(), headers: { "Idempotency-Key": name } });
    const [first, second] = [await again(), await again()];
    expect(second.body.id).toBe(first.body.id ?? null);
    expect([first, second].map(({ headers }) => headers.get("x-idempotent-replay"))).toEqual([null, "true"]);
    const other = { ...LASTING, prompt: "another" };
    const conflict = await call("", { body: other, headers: { "Idempotency-Key": name } });
    expect(errorOf(conflict)).toMatchObject({ status: 409, code: "idempotency_conflict" });
    await cancel(first.body.id);
  }
});

const admin = async (path: string, body: JsonObject) => {
  const response = await fetch(`${service.url}/admin/v1/${path}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${service.token}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return ((await response.json()) as { readonly data: { readonly key: string } }).data;
};

test("forms with other pictures are other creates", async () => {
  const sent = async (file: Uint8Array<ArrayBuffer>) => {
    const fields = { model: "sandbox-video", prompt: "x", "sandbox[outcome]": "hang" };
    const body = form({ ...fields, input_reference: new Blob([file]) });
    return call("", { body, headers: { "Idempotency-Key": "picture" } });
  };
  const first = await sent(picture);
  expect((await sent(picture)).body.id).toBe(first.body.id ?? null);
  expect(errorOf(await sent(await png(32, 32)))).toMatchObject({ status: 409, code: "idempotency_conflict" });
  await cancel(first.body.id);
});

test("a key that may make no videos creates none, and one that may needs nothing else", async () => {
  const keyWith = async (features: readonly string[]) =>
    (await admin("keys", { name: features.join("-"), features })).key;
  const refused = await call("", { body: LASTING, key: await keyWith(["images", "compat"]) });
  expect(errorOf(refused)).toMatchObject({ status: 403, code: "permission_denied" });
  const taken = await call("", { body: LASTING, key: await keyWith(["videos"]) });
  expect(taken.status).toBe(200);
  await cancel(taken.body.id);
});

test("the tasks of another account, and those that make images, are no videos", async () => {
  const image = await fetch(`${service.url}/v1/images/generations`, {
    method: "POST",
    headers: { Authorization: `Bearer ${service.key}`, "Content-Type": "application/json" },
    body: JSON.stringify({ model: "sandbox-image", prompt: "x", size: "16x16", sandbox: SOON }),
  });
  const { task_id } = ((await image.json()) as { readonly data: { readonly task_id: string } }).data;
  const { id } = (await call("", { body: LASTING })).body;
  await admin("accounts", { name: "other", mode: "prepaid", credit: "1.00" });
  const { key } = await admin("keys", { name: "other", account: "other" });
  expect((await call("", { key })).body.data).toEqual([]);
  for (const [path, by] of [
    [`/${id}`, key],
    [`/${task_id}`, service.key],
    ["/x", service.key],
  ] as const) {
    const remix = { body: { prompt: "x" }, key: by };
    for (const given of [
      call(path, { key: by }),
      call(`${path}/content`, { key: by }),
      call(path, { key: by, method: "DELETE" }),
      call(`${path}/remix`, remix),
    ])
      expect(errorOf(await given)).toMatchObject({ status: 404, code: "task_not_found" });
  }
  await cancel(id);
});
