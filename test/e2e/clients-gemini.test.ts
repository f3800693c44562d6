import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { createGoogle } from "@ai-sdk/google";
import { ApiError, GenerateVideosOperation, GoogleGenAI, RawReferenceImage } from "@google/genai";
import { APICallError, generateImage, experimental_generateVideo as generateVideo } from "ai";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Customer, createCustomer } from "./support/customer.ts";
import { openCuttingProxy } from "./support/cutting-proxy.ts";
import { decode, plainImage } from "./support/pictures.ts";
import { probe } from "./support/videos.ts";

setDefaultTimeout(120_000);

const CENT = 10_000;
const SECOND = 20_000;
const SOON = { delay_ms: 0 };
const PROMPT = "a fox in the snow";
const UPSCALER = "sandbox-upscale";

let server: Server;
let base: string;
let picture: string;

beforeAll(async () => {
  server = await startServer({ args: ["--alias", "gemini-2.5-flash-image=sandbox-image"] });
  base = `${server.url}/gemini`;
  picture = Buffer.from(await plainImage(64, 64)).toString("base64");
});

afterAll(stopServers);

type Sandbox = Readonly<Record<string, string | number>>;

/** The developers' edition; `sandbox` goes where that API has settings. */
const clientOf = (apiKey: string, sandbox: Sandbox = SOON, baseUrl = base) =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl, extraBody: { generationConfig: { sandbox } } } });
/** The same without further settings, for reads: the client sends those with every request. */
const readerOf = (apiKey: string) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: base } });
/** The enterprise edition, which alone has Imagen and videos in this version of the client. */
const enterpriseOf = (apiKey: string, sandbox: Sandbox = SOON) =>
  new GoogleGenAI({
    vertexai: true,
    apiKey,
    httpOptions: { baseUrl: base, extraBody: { parameters: { sandbox } } },
  });
const aiSdkOf = ({ key: apiKey }: Pick<Customer, "key">) =>
  createGoogle({ baseURL: `${base}/v1beta`, apiKey });

const inlineData = () => ({ mimeType: "image/png", data: picture });

async function failureOf(call: Promise<unknown>): Promise<ApiError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ApiError) return error;
  throw new Error(`Expected an ApiError, got ${String(error)}`);
}

const request = async (customer: Customer, id = "") =>
  (await customer.api.send(`/v1/tasks/${id}`)).data as { readonly request?: { readonly mode: string } };

describe("@google/genai", () => {
  test("makes and edits pictures, and streams one answer", async () => {
    const customer = await createCustomer(server);
    const { models } = clientOf(customer.key);
    const imageConfig = { aspectRatio: "16:9", imageSize: "512" };
    const made = await models.generateContent({
      model: "sandbox-image",
      contents: PROMPT,
      config: { imageConfig },
    });
    expect(made.sdkHttpResponse?.headers?.["x-request-cost"]).toBe("0.010000");
    const { width, height } = await decode(Buffer.from(made.data ?? "", "base64"));
    expect(Math.round((width / height) * 9)).toBe(16);
    const contents = [{ text: "make it blue" }, { inlineData: inlineData() }];
    const edited = await models.generateContent({ model: "models/sandbox-image", contents });
    expect((await request(customer, edited.responseId)).request?.mode).toBe("image-to-image");
    const stream = await models.generateContentStream({ model: "sandbox-image", contents: PROMPT });
    const chunks = await Array.fromAsync(stream);
    expect(chunks.map(({ candidates }) => candidates?.[0]?.finishReason)).toEqual(["STOP" as never]);
    expect(customer.charged()).toBe(3 * CENT);
  });

  test("makes and edits pictures as Imagen does", async () => {
    const customer = await createCustomer(server);
    const { models } = enterpriseOf(customer.key);
    const config = { numberOfImages: 2, aspectRatio: "3:4" };
    const { generatedImages } = await models.generateImages({
      model: "sandbox-image",
      prompt: PROMPT,
      config,
    });
    for (const { image } of generatedImages ?? [])
      expect(await decode(Buffer.from(image?.imageBytes ?? "", "base64"))).toMatchObject({ format: "png" });
    expect(generatedImages).toHaveLength(2);
    const raw = new RawReferenceImage();
    raw.referenceImage = { imageBytes: picture, mimeType: "image/png" };
    const edited = await models.editImage({ model: "sandbox-image", prompt: PROMPT, referenceImages: [raw] });
    expect(edited.generatedImages).toHaveLength(1);
    const [task] = await customer.tasks();
    expect((await request(customer, task?.task_id)).request?.mode).toBe("image-to-image");
  });

  test("makes a picture larger, which has no prompt", async () => {
    const customer = await createCustomer(server);
    const { models } = enterpriseOf(customer.key);
    const image = { imageBytes: picture, mimeType: "image/png" };
    const { generatedImages } = await models.upscaleImage({ model: UPSCALER, image, upscaleFactor: "x2" });
    expect(generatedImages).toHaveLength(1);
    const alone = await clientOf(customer.key).models.generateContent({
      model: UPSCALER,
      contents: [{ inlineData: inlineData() }],
    });
    const larger = await decode(Buffer.from(alone.data ?? "", "base64"));
    expect(larger).toMatchObject({ width: 128, height: 128 });
    expect(customer.charged()).toBe(2 * CENT);
  });

  test("makes a video of a prompt or a picture, follows it, and downloads it", async () => {
    const customer = await createCustomer(server);
    const enterprise = enterpriseOf(customer.key);
    const source = { prompt: PROMPT, image: { imageBytes: picture, mimeType: "image/png" } };
    const config = { durationSeconds: 1, aspectRatio: "9:16" };
    let operation = await enterprise.models.generateVideos({ model: "sandbox-video", source, config });
    while (!operation.done) {
      await Bun.sleep(50);
      operation = await enterprise.operations.getVideosOperation({ operation });
    }
    expect(operation.metadata).toMatchObject({ progressPercent: 100 });
    const bytes = Buffer.from(operation.response?.generatedVideos?.[0]?.video?.videoBytes ?? "", "base64");
    expect(await probe(new Uint8Array(bytes))).toMatchObject({ codec: "avc", width: 360, height: 640 });

    // The developers' edition finds the same operation, and the address of the video.
    const client = readerOf(customer.key);
    const known = Object.assign(new GenerateVideosOperation(), { name: operation.name });
    const found = await client.operations.getVideosOperation({ operation: known });
    const video = found.response?.generatedVideos?.[0];
    if (video === undefined) throw new Error("There is no video.");
    const downloadPath = join(server.dataDir, "..", `video-${crypto.randomUUID()}.mp4`);
    await client.files.download({ file: video, downloadPath });
    const file = Bun.file(downloadPath);
    expect(Buffer.from(await file.bytes())).toEqual(bytes);
    await file.delete();
    const [task] = await customer.tasks();
    expect((await request(customer, task?.task_id)).request?.mode).toBe("image-to-video");
    expect(customer.charged()).toBe(SECOND);
  });

  test("uploads a file, uses it, lists and deletes it", async () => {
    const customer = await createCustomer(server);
    const client = readerOf(customer.key);
    const blob = new Blob([Buffer.from(picture, "base64")], { type: "image/png" });
    const file = await client.files.upload({ file: blob, config: { displayName: "a fox" } });
    expect(file).toMatchObject({ displayName: "a fox", mimeType: "image/png", state: "ACTIVE" });
    const fileData = { fileUri: file.uri ?? "", mimeType: "image/png" };
    const contents = [{ text: PROMPT }, { fileData }];
    const made = await clientOf(customer.key).models.generateContent({ model: "sandbox-image", contents });
    expect((await request(customer, made.responseId)).request?.mode).toBe("image-to-image");
    const name = file.name ?? "";
    expect(await client.files.get({ name })).toMatchObject({ name });
    expect((await Array.fromAsync(await client.files.list())).map((each) => each.name)).toEqual([name]);
    await client.files.delete({ name });
    expect((await failureOf(client.files.get({ name }))).status).toBe(404);
  });

  test("lists and reads models", async () => {
    const { models } = readerOf(server.firstKey());
    const listed = await Array.fromAsync(await models.list({ config: { pageSize: 2 } }));
    expect(listed.map(({ name }) => name)).toContain("models/gemini-2.5-flash-image");
    const model = await models.get({ model: "sandbox-video" });
    expect(model).toMatchObject({ name: "models/sandbox-video", supportedActions: ["predictLongRunning"] });
  });

  test("is told of content that is refused, and of failures, which cost nothing", async () => {
    const customer = await createCustomer(server);
    const moderated = { ...SOON, outcome: "moderated" };
    const chat = clientOf(customer.key, moderated);
    const { candidates } = await chat.models.generateContent({ model: "sandbox-image", contents: PROMPT });
    expect(candidates?.map(({ finishReason }) => finishReason)).toEqual(["IMAGE_SAFETY" as never]);
    const enterprise = enterpriseOf(customer.key, moderated);
    const { generatedImages } = await enterprise.models.generateImages({
      model: "sandbox-image",
      prompt: PROMPT,
    });
    expect(generatedImages?.[0]?.raiFilteredReason).toContain("content policy");
    let operation = await enterprise.models.generateVideos({
      model: "sandbox-video",
      source: { prompt: PROMPT },
    });
    while (!operation.done) operation = await enterprise.operations.getVideosOperation({ operation });
    expect(operation.response?.raiMediaFilteredCount).toBe(1);
    const failing = clientOf(customer.key, { ...SOON, outcome: "failed" });
    const call = failing.models.generateContent({ model: "sandbox-image", contents: PROMPT });
    expect((await failureOf(call)).status).toBe(500);
    expect({ charged: customer.charged(), held: customer.held() }).toEqual({ charged: 0, held: 0 });
  });

  test("whose connection is cut sends the call again, and is charged once", async () => {
    const customer = await createCustomer(server);
    const proxy = await openCuttingProxy(server.port);
    const asked = { model: "sandbox-image", contents: PROMPT };
    const sandbox = { delay_ms: 1_000 };
    const lost = clientOf(customer.key, sandbox, `${proxy.url}/gemini`)
      .models.generateContent(asked)
      .catch((reason: unknown) => reason);
    const [task] = await customer.tasks(1);
    proxy.cut();
    expect(await lost).toBeInstanceOf(Error);
    await customer.requests(1);
    const made = await clientOf(customer.key, sandbox).models.generateContent(asked);
    expect(made.responseId).toBe(task?.task_id);
    expect(await customer.tasks()).toHaveLength(1);
    expect(customer.charged()).toBe(CENT);
    await proxy.close();
  });

  test("sends a video again with its idempotency key, and is charged once", async () => {
    const customer = await createCustomer(server);
    const { models, operations } = enterpriseOf(customer.key);
    const config = { durationSeconds: 1, httpOptions: { headers: { "Idempotency-Key": "video-1" } } };
    const begin = () => models.generateVideos({ model: "sandbox-video", source: { prompt: PROMPT }, config });
    const [first, second] = [await begin(), await begin()];
    expect(second.name).toBe(first.name);
    let operation = first;
    while (!operation.done) operation = await operations.getVideosOperation({ operation });
    expect(customer.charged()).toBe(SECOND);
  });

  test("finds no operation and no file of another account", async () => {
    const { models } = enterpriseOf(server.firstKey(), { outcome: "hang" });
    const { name } = await models.generateVideos({ model: "sandbox-video", source: { prompt: PROMPT } });
    const stranger = readerOf((await createCustomer(server)).key);
    const operation = Object.assign(new GenerateVideosOperation(), { name });
    expect((await failureOf(stranger.operations.getVideosOperation({ operation }))).status).toBe(404);
    const blob = new Blob([Buffer.from(picture, "base64")], { type: "image/png" });
    const file = await readerOf(server.firstKey()).files.upload({ file: blob });
    const theirs = { name: file.name ?? "" };
    expect((await failureOf(stranger.files.get(theirs))).status).toBe(404);
    expect((await failureOf(stranger.files.delete(theirs))).status).toBe(404);
  });

  test("gets ApiErrors with the status and Google's words", async () => {
    const ask = (key: string, config = {}) =>
      failureOf(clientOf(key).models.generateContent({ model: "sandbox-image", contents: PROMPT, config }));
    const wordOf = ({ message }: ApiError) =>
      (JSON.parse(message) as { error: { status: string } }).error.status;
    const unknown = await ask("sk-svc-nobody");
    expect([unknown.status, wordOf(unknown)]).toEqual([401, "UNAUTHENTICATED"]);
    const poor = await createCustomer(server, { credit: "0.001" });
    const unpaid = await ask(poor.key);
    expect([unpaid.status, wordOf(unpaid)]).toEqual([402, "RESOURCE_EXHAUSTED"]);
    expect(await poor.tasks()).toHaveLength(0);
    const hasty = await createCustomer(server, { flags: ["--rpm", "1"] });
    await clientOf(hasty.key).models.generateContent({ model: "sandbox-image", contents: PROMPT });
    const often = await ask(hasty.key);
    expect([often.status, wordOf(often)]).toEqual([429, "RESOURCE_EXHAUSTED"]);
    const wrong = await ask(server.firstKey(), { imageConfig: { imageSize: "9K" } });
    expect([wrong.status, wordOf(wrong)]).toEqual([400, "INVALID_ARGUMENT"]);
    expect(wrong.message).toContain("generationConfig.imageConfig.imageSize");
  });

  test("is told what there is where it asks for what is not spoken here", async () => {
    const { models, fileSearchStores } = clientOf(server.firstKey());
    const counted = await failureOf(models.countTokens({ model: "sandbox-image", contents: PROMPT }));
    expect([counted.status, counted.message]).toEqual([
      404,
      expect.stringContaining(
        "/models/sandbox-image has :fetchPredictOperation, :generateContent, :predict,",
      ),
    ]);
    const created = await failureOf(fileSearchStores.create({}));
    expect([created.status, created.message]).toEqual([
      404,
      expect.stringContaining("has files, interactions, models, operations."),
    ]);
  });
});

describe("@ai-sdk/google", () => {
  const labels = (sandbox: Sandbox) => ({ google: { labels: { sandbox: JSON.stringify(sandbox) } } });

  test("makes and edits pictures", async () => {
    const customer = await createCustomer(server);
    const google = aiSdkOf(customer);
    const providerOptions = labels(SOON);
    const made = await generateImage({
      ...{
        model: google.image("gemini-sandbox-image"),
        prompt: PROMPT,
        aspectRatio: "16:9",
        seed: 7,
        providerOptions,
      },
    });
    const { width, height } = await decode(made.image.uint8Array);
    expect(Math.round((width / height) * 9)).toBe(16);
    const model = google.image("gemini-2.5-flash-image");
    const prompt = { text: "make it blue", images: [Buffer.from(picture, "base64")] };
    await generateImage({ model, prompt, providerOptions });
    const [task] = await customer.tasks();
    expect((await request(customer, task?.task_id)).request?.mode).toBe("image-to-image");
    expect(customer.charged()).toBe(2 * CENT);
  });

  test("is told of content that is refused, of failures and of money", async () => {
    const customer = await createCustomer(server);
    const ask = (sandbox: Sandbox, { key }: Customer = customer) => {
      const model = aiSdkOf({ key }).image("gemini-sandbox-image");
      return generateImage({ model, prompt: PROMPT, maxRetries: 0, providerOptions: labels(sandbox) });
    };
    await expect(ask({ ...SOON, outcome: "moderated" })).rejects.toMatchObject({
      name: "AI_NoImageGeneratedError",
    });
    const failed = await ask({ ...SOON, outcome: "failed" }).catch((reason: unknown) => reason);
    expect(failed).toMatchObject({ statusCode: 500 });
    expect(APICallError.isInstance(failed)).toBe(true);
    const poor = await createCustomer(server, { credit: "0.001" });
    const unpaid = await ask(SOON, poor).catch((reason: unknown) => reason);
    expect(unpaid).toMatchObject({ statusCode: 402, isRetryable: false });
    expect(customer.charged()).toBe(0);
  });

  test("makes a video of a prompt and of a picture", async () => {
    const customer = await createCustomer(server);
    const model = aiSdkOf(customer).video("sandbox-video");
    const providerOptions = { google: { pollIntervalMs: 50, sandbox: SOON } };
    // The client's own download takes no address of this machine.
    const download = async ({ url }: { readonly url: URL }) => ({
      data: await (await fetch(url)).bytes(),
      mediaType: "video/mp4",
    });
    const poll = { intervalMs: 50 };
    for (const prompt of [PROMPT, { text: PROMPT, image: Buffer.from(picture, "base64") }]) {
      const { video } = await generateVideo({
        ...{ model, prompt, duration: 1, aspectRatio: "16:9", providerOptions, download, poll },
      });
      expect(await probe(new Uint8Array(video.uint8Array))).toMatchObject({ codec: "avc", width: 640 });
    }
    const modes = await Promise.all(
      (await customer.tasks()).map(async ({ task_id }) => (await request(customer, task_id)).request?.mode),
    );
    expect(modes).toEqual(["image-to-video", "text-to-video"]);
    expect(customer.charged()).toBe(2 * SECOND);
  });

  test("uploads a file", async () => {
    const { uploadFile } = await import("ai");
    const customer = await createCustomer(server);
    const api = aiSdkOf(customer).files();
    const { mediaType } = await uploadFile({
      api,
      data: Buffer.from(picture, "base64"),
      mediaType: "image/png",
    });
    expect(mediaType).toBe("image/png");
  });
});
