import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateImage } from "ai";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { download } from "./support/api.ts";
import { ALIASES, createCustomer } from "./support/customer.ts";
import { colourAt, dataUri, decode, leftHalfMask, plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const BLUE = [0x33, 0x66, 0xcc];
const CENT = 10_000;
const SIZE = "256x256";
const OF_SIZE = { format: "png", width: 256, height: 256 };

let server: Server;

beforeAll(async () => {
  server = await startServer({ args: [...ALIASES, "--log-level", "debug"] });
});

afterAll(stopServers);

const address = () => ({ baseURL: `${server.url}/compat/v1`, apiKey: server.firstKey() });
const decodeAll = (images: readonly { readonly uint8Array: Uint8Array }[]) =>
  Promise.all(images.map(({ uint8Array }) => decode(uint8Array)));

describe("generateImage with @ai-sdk/openai", () => {
  test("makes n images of a model it does not know by n equal calls at once, each a task of its own", async () => {
    const customer = await createCustomer(server);
    const model = createOpenAI({ baseURL: customer.baseUrl, apiKey: customer.key }).image("sandbox-image");
    const { images } = await generateImage({ model, prompt: "three boats", n: 3, size: SIZE });
    expect(await decodeAll(images)).toMatchObject([OF_SIZE, OF_SIZE, OF_SIZE]);
    const requests = await customer.requests(3);
    expect(new Set(requests.map(({ task }) => task)).size).toBe(3);
    expect(await customer.tasks()).toHaveLength(3);
    expect(customer.charged()).toBe(3 * CENT);
  });

  test("makes n images of a model it knows by one call", async () => {
    const customer = await createCustomer(server);
    const model = createOpenAI({ baseURL: customer.baseUrl, apiKey: customer.key }).image("gpt-image-1");
    const { images, usage, responses } = await generateImage({
      model,
      prompt: "two boats",
      n: 2,
      size: SIZE,
      providerOptions: { openai: { quality: "hd", background: "auto", outputFormat: "webp" } },
    });
    const webp = { ...OF_SIZE, format: "webp" };
    expect(await decodeAll(images)).toMatchObject([webp, webp]);
    expect(usage).toMatchObject({ inputTokens: 0, outputTokens: 0, totalTokens: 0 });
    expect(responses[0]?.headers?.["x-request-cost"]).toBe("0.020000");
    expect(await customer.requests(1)).toHaveLength(1);
    expect(await customer.tasks()).toHaveLength(1);
    expect(customer.charged()).toBe(2 * CENT);
  });

  test("edits images, and keeps what the mask covers", async () => {
    const model = createOpenAI(address()).image("gpt-image-1");
    const images = [await plainImage(96, 64)];
    const mask = await leftHalfMask(96, 64);
    const { image } = await generateImage({ model, prompt: { text: "autumn leaves", images, mask } });
    const picture = await decode(image.uint8Array);
    expect(picture).toMatchObject({ format: "png", width: 96, height: 64 });
    expect(colourAt(picture, 80, 20)).toEqual(BLUE);
    const left = Array.from({ length: 40 }, (_, x) => colourAt(picture, x, 30));
    expect(left.some((colour) => colour.join() !== BLUE.join())).toBe(true);
  });

  test("tells what is wrong in the server's words, and does not ask again", async () => {
    const customer = await createCustomer(server);
    const model = createOpenAI({ baseURL: customer.baseUrl, apiKey: customer.key }).image("gpt-image-1");
    const error = await generateImage({ model, prompt: "x", size: "5000x1" }).catch((reason) => reason);
    // Each provider may have its own copy of the class.
    expect(APICallError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ statusCode: 400, message: expect.stringContaining("size") });
    expect(await customer.requests(1)).toHaveLength(1);
  });
});

describe("generateImage with @ai-sdk/openai-compatible", () => {
  const modelAt = (settings: { baseURL: string; apiKey: string }, name = "sandbox-image") =>
    createOpenAICompatible({ name: "svc", ...settings }).imageModel(name);

  test("takes images from inside the answer", async () => {
    const { images, usage } = await generateImage({
      model: modelAt(address()),
      prompt: "two boats",
      n: 2,
      size: SIZE,
    });
    expect(await decodeAll(images)).toMatchObject([OF_SIZE, OF_SIZE]);
    expect(usage).toMatchObject({ inputTokens: 0, outputTokens: 0, totalTokens: 0 });
  });

  test("fetches images by their URLs where the key's answers have those", async () => {
    const customer = await createCustomer(server, { flags: ["--compat-response-format", "url"] });
    const model = modelAt({ baseURL: customer.baseUrl, apiKey: customer.key });
    const { image } = await generateImage({ model, prompt: "a boat", size: SIZE });
    expect(await decode(image.uint8Array)).toMatchObject(OF_SIZE);
    const [task] = await customer.tasks();
    const { result = [] } = await customer.api.wait(task?.task_id ?? "");
    const path = new URL(result[0] ?? "").pathname;
    await server.says(new RegExp(`"path":"${path}","status":200`));
    expect(Buffer.compare(image.uint8Array, await download(result[0]))).toBe(0);
  });

  test("passes the model's own fields on", async () => {
    const { image } = await generateImage({
      model: modelAt(address()),
      prompt: "wide",
      providerOptions: { svc: { aspect_ratio: "2:1", resolution: "512", output_format: "jpeg" } },
    });
    const { format, width, height } = await decode(image.uint8Array);
    expect({ format, ratio: Math.round(width / height) }).toEqual({ format: "jpeg", ratio: 2 });
  });

  test("edits several images", async () => {
    const images = [await plainImage(64, 64, { colour: "red" }), dataUri(await plainImage(64, 64))];
    const { image } = await generateImage({
      model: modelAt(address(), "gpt-image-1"),
      prompt: { text: "together", images },
      size: SIZE,
    });
    expect(await decode(image.uint8Array)).toMatchObject(OF_SIZE);
  });
});
