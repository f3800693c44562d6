import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi, download } from "./support/api.ts";
import { formOf } from "./support/forms.ts";
import { colourAt, decode, leftHalfMask, plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const MODEL = "gpt-image-2";
const BLUE = [0x33, 0x66, 0xcc];

/** The one that draws, and the one that knows it as its provider by base URL and key. */
let behind: Api;
let front: Api;

beforeAll(async () => {
  const drawing = await startServer({ args: ["--alias", `${MODEL}=sandbox-image`] });
  behind = createApi(drawing.url, drawing.firstKey());
  const asking = await startServer({
    env: { OPENAI_API_KEY: behind.key, OPENAI_BASE_URL: `${drawing.url}/compat/v1` },
    args: ["--no-sandbox", "--openai-idempotent"],
  });
  front = createApi(asking.url, asking.firstKey());
});
afterAll(stopServers);

test("a task of one instance is made by the other, and its files are its own", async () => {
  const task = await front.make({
    model: MODEL,
    prompt: "a lighthouse",
    n: 2,
    size: "1024x1024",
    quality: "low",
  });
  expect([task.status, task.result?.length]).toEqual(["completed", 2]);
  for (const url of task.result ?? []) {
    expect(url).toStartWith(front.url);
    expect(await decode(await download(url))).toMatchObject({ format: "png", width: 1024, height: 1024 });
  }
  const made = (await behind.send("/v1/tasks")).data.tasks ?? [];
  expect(made.map(({ status, model }) => [status, model])).toEqual([["completed", "sandbox-image"]]);
});

test("a synchronous edit with a mask goes through both", async () => {
  const answer = await front.send(
    "/compat/v1/images/edits",
    await formOf({ model: MODEL, prompt: "x", quality: "low" }, [
      ["image", await plainImage(64, 32)],
      ["mask", await leftHalfMask(64, 32)],
    ]),
  );
  const { data } = JSON.parse(answer.text) as { data: { b64_json: string }[] };
  const picture = await decode(Buffer.from(data[0]?.b64_json ?? "", "base64"));
  expect(colourAt(picture, picture.width - 2, picture.height / 2)).toEqual(BLUE);
});

test("a provider that refuses our own key fails the task without saying so to the caller", async () => {
  const asking = await startServer({
    env: { OPENAI_API_KEY: `${behind.key.slice(0, -6)}000000`, OPENAI_BASE_URL: `${behind.url}/compat/v1` },
    args: ["--no-sandbox"],
  });
  const api = createApi(asking.url, asking.firstKey());
  const task = await api.make({ model: MODEL, prompt: "x", size: "1024x1024", quality: "low" });
  expect(task.status).toBe("failed");
  expect(task.error_code).not.toBe("CONTENT_MODERATED");
  expect(`${task.error_message}`).not.toMatch(/key|credential|sk-svc/i);
  expect(asking.stderr() + asking.stdout()).not.toContain(behind.key.slice(0, -6));
});
