import { afterAll, beforeAll, expect, test } from "bun:test";
import { type FakeS3, KEYS, startFakeS3 } from "../../helpers/fake-s3.ts";
import { png } from "../../helpers/media.ts";
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
    SVC_ASSETS_SERVE: "presigned",
    BUCKET_ID: KEYS.accessKeyId,
    BUCKET_SECRET: KEYS.secretAccessKey,
  });
});
afterAll(async () => {
  await service.stop();
  s3.stop();
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(service.url + path, {
    redirect: "manual",
    headers: { Authorization: `Bearer ${service.key}`, ...headers },
  });

async function create(path: string, body: object | FormData): Promise<{ id: string }> {
  const isForm = body instanceof FormData;
  const response = await fetch(service.url + path, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${service.key}`,
      ...(!isForm && { "Content-Type": "application/json" }),
    },
    body: isForm ? body : JSON.stringify(body),
  });
  return (await response.json()) as { id: string };
}

test("a video goes to holders of the key from here, whole and in part, where other readers are led to the bucket", async () => {
  const { id } = await create("/compat/v1/videos", {
    ...{ model: "sandbox-video", prompt: "a fox", seconds: "1", sandbox: { delay_ms: 0 } },
  });
  const { result } = await service.untilEnded(id);
  const { pathname } = new URL(String((result as string[])[0]));
  const bytes = await (await fetch(service.url + pathname)).bytes();
  expect((await get(pathname)).status).toBe(302);
  const name = pathname.replace(/^.*_|\.mp4$/g, "");
  for (const path of [`/compat/v1/videos/${id}/content`, `/gemini/v1beta/files/${name}:download?alt=media`]) {
    const whole = await get(path);
    expect([path, whole.status]).toEqual([path, 200]);
    expect(await whole.bytes()).toEqual(bytes);
    const part = await get(path, { Range: "bytes=2-5" });
    expect([path, part.status, await part.bytes()]).toEqual([path, 206, bytes.slice(2, 6)]);
  }
});

test("an uploaded file does so, too", async () => {
  const form = new FormData();
  form.append("content", new Blob([await png(8, 8)]), "fox.png");
  const { id } = await create("/replicate/v1/files", form);
  const answer = await get(`/replicate/v1/files/${id}/download`);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/png"]);
});
