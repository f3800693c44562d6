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
    BUCKET_ID: KEYS.accessKeyId,
    BUCKET_SECRET: KEYS.secretAccessKey,
  });
});
afterAll(async () => {
  await service.stop();
  s3.stop();
});

const auth = () => ({ Authorization: `Bearer ${service.key}` });

async function videos(): Promise<{ id: string }[]> {
  const response = await fetch(`${service.url}/compat/v1/videos?limit=100`, { headers: auth() });
  return ((await response.json()) as { data: { id: string }[] }).data;
}

test.each(["a form", "JSON"])(
  "a create as %s whose caller left before its answer is one video when it is sent again",
  async (how) => {
    const picture = await png(64, how === "JSON" ? 64 : 32);
    const fields = { model: "sandbox-video", prompt: `A fox as ${how}`, seconds: "1" };
    const body = () => {
      if (how === "JSON") {
        const image_url = `data:image/png;base64,${Buffer.from(picture).toString("base64")}`;
        return JSON.stringify({ ...fields, input_reference: { image_url } });
      }
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.append(name, value);
      form.append("input_reference", new Blob([picture]), "a.png");
      return form;
    };
    const send = (signal?: AbortSignal) =>
      fetch(`${service.url}/compat/v1/videos`, {
        method: "POST",
        headers: { ...auth(), ...(how === "JSON" && { "Content-Type": "application/json" }) },
        body: body(),
        keepalive: false,
        ...(signal && { signal }),
      });
    const before = (await videos()).length;
    const isStored = Promise.withResolvers<void>();
    s3.fault = ({ method }) => {
      if (method !== "PUT") return undefined;
      isStored.resolve();
      return { delayMs: 500 };
    };
    const leaving = new AbortController();
    const left = send(leaving.signal).catch(() => "left");
    await isStored.promise;
    leaving.abort();
    expect(await left).toBe("left");
    while ((await videos()).length === before) await Bun.sleep(20);
    // That nobody got the answer is noted a moment later.
    await Bun.sleep(50);
    s3.fault = () => undefined;
    const [{ id } = { id: "" }] = await videos();
    const again = await send();
    expect([again.status, again.headers.get("x-request-cost")]).toEqual([200, "0.020000"]);
    expect(await again.json()).toMatchObject({ id, object: "video" });
    expect((await videos()).length).toBe(before + 1);
    // The next one is meant as another.
    expect(await (await send()).json()).not.toMatchObject({ id });
  },
);
