import { afterAll, beforeAll, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/domain/json.ts";
import { type FakeS3, KEYS, startFakeS3 } from "../../helpers/fake-s3.ts";
import { png } from "../../helpers/media.ts";
import { mp4 } from "../../helpers/media-video.ts";
import { type PublishedService, startPublished } from "../openapi-service.ts";

let s3: FakeS3;
let service: PublishedService;

beforeAll(async () => {
  s3 = await startFakeS3();
  service = await startPublished({
    SVC_ASSETS_STORE: "s3",
    SVC_ASSETS_BUCKET: "media",
    SVC_ASSETS_ENDPOINT: s3.endpoint,
    SVC_ASSETS_REGION: s3.region,
    SVC_ASSETS_KEY_ENV: "BUCKET_ID,BUCKET_SECRET",
    BUCKET_ID: KEYS.accessKeyId,
    BUCKET_SECRET: KEYS.secretAccessKey,
  });
});
afterAll(async () => {
  await service.stop();
  s3.stop();
});

const auth = () => ({ Authorization: `Bearer ${service.key}` });

/** The ids of all videos, the newest first. */
async function videos(): Promise<string[]> {
  const response = await fetch(`${service.url}/v1/tasks?kind=video&limit=100`, { headers: auth() });
  const { data } = (await response.json()) as { data: { tasks: { task_id: string }[] } };
  return data.tasks.map(({ task_id }) => task_id);
}

type Body = JsonObject | FormData;

function send(path: string, body: Body, signal?: AbortSignal): Promise<Response> {
  const isForm = body instanceof FormData;
  return fetch(service.url + path, {
    method: "POST",
    headers: { ...auth(), ...(!isForm && { "Content-Type": "application/json" }) },
    body: isForm ? body : JSON.stringify(body),
    keepalive: false,
    ...(signal && { signal }),
  });
}

/** Sends a request, and leaves while a file of it is stored. Resolves once its video is there, and nobody has got the answer. */
async function leave(path: string, body: Body): Promise<void> {
  const before = (await videos()).length;
  const isStored = Promise.withResolvers<void>();
  s3.fault = ({ method }) => {
    if (method !== "PUT") return undefined;
    isStored.resolve();
    return { delayMs: 500 };
  };
  const leaving = new AbortController();
  const left = send(path, body, leaving.signal).catch(() => "left");
  await isStored.promise;
  leaving.abort();
  expect(await left).toBe("left");
  while ((await videos()).length === before) await Bun.sleep(20);
  // That nobody got the answer is noted a moment later.
  await Bun.sleep(50);
  s3.fault = () => undefined;
}

const dataUri = (type: string, bytes: Uint8Array) =>
  `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;

/** A picture of its own for each way, so that each is stored. */
const WAYS: Readonly<Record<string, (picture: Uint8Array<ArrayBuffer>) => readonly [path: string, Body]>> = {
  "a form of OpenAI's": (picture) => {
    const body = new FormData();
    for (const [name, value] of Object.entries(FIELDS)) body.append(name, value);
    body.append("input_reference", new Blob([picture]), "a.png");
    return ["/compat/v1/videos", body];
  },
  "JSON of OpenAI's": (picture) => {
    const image_url = dataUri("image/png", picture);
    return ["/compat/v1/videos", { ...FIELDS, input_reference: { image_url } }];
  },
  "a film of Google's": (picture) => {
    const bytesBase64Encoded = Buffer.from(picture).toString("base64");
    const instance = { prompt: "A fox", image: { mimeType: "image/png", bytesBase64Encoded } };
    return ["/gemini/v1beta/models/sandbox-video:predictLongRunning", { instances: [instance] }];
  },
  "an interaction of Google's": (picture) => {
    const data = Buffer.from(picture).toString("base64");
    const input = [
      { type: "text", text: "A fox" },
      { type: "image", mime_type: "image/png", data },
    ];
    return ["/gemini/v1beta/interactions", { model: "sandbox-video", input, background: true }];
  },
  "a request in fal's queue": (picture) => [
    "/fal/queue/svc/sandbox-video",
    { prompt: "A fox", image_url: dataUri("image/png", picture) },
  ],
};
const FIELDS = { model: "sandbox-video", prompt: "A fox", seconds: "1" };

test.each(Object.keys(WAYS))(
  "%s whose caller left before its answer is one video when it is sent again",
  async (way) => {
    const picture = await png(64, 16 * (1 + Object.keys(WAYS).indexOf(way)));
    const asked = (): readonly [path: string, Body] => WAYS[way]?.(picture) ?? ["", {}];
    await leave(...asked());
    const [id = "", ...before] = await videos();
    const again = await send(...asked());
    expect([again.status, again.headers.get("x-request-cost")]).toEqual([
      200,
      expect.stringMatching(/^0\.\d{6}$/),
    ]);
    expect(await again.text()).toContain(id);
    expect(await videos()).toEqual([id, ...before]);
    // The next one is meant as another.
    expect(await (await send(...asked())).text()).not.toContain(id);
  },
);

test.each([
  ["edits", 640],
  ["extensions", 320],
])("%s whose caller left before the answer are one video when they are sent again", async (way, width) => {
  const film = await mp4({ width });
  const fields = { model: "sandbox-video-edit", prompt: "At night", video: dataUri("video/mp4", film) };
  const path = `/compat/v1/videos/${way}`;
  await leave(path, fields);
  const [id] = await videos();
  const again = await send(path, fields);
  expect(await again.json()).toMatchObject({ id, object: "video" });
  expect(await (await send(path, fields)).json()).not.toMatchObject({ id });
});
