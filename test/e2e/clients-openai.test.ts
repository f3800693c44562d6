import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import OpenAI, { AzureOpenAI, toFile } from "openai";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { createApi, download } from "./support/api.ts";
import { ALIASES, type Customer, createCustomer } from "./support/customer.ts";
import { colourAt, decode, leftHalfMask, plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const MODEL = "gpt-image-1";
const BLUE = [0x33, 0x66, 0xcc];
const CENT = 10_000;

let server: Server;
let openai: OpenAI;

beforeAll(async () => {
  server = await startServer({ args: ALIASES });
  openai = new OpenAI({ baseURL: `${server.url}/compat/v1`, apiKey: server.firstKey() });
});

afterAll(stopServers);

const clientOf = (customer: Customer) => new OpenAI({ baseURL: customer.baseUrl, apiKey: customer.key });

type Images = { readonly data?: readonly { readonly b64_json?: string; readonly url?: string }[] };

/** The pictures of an answer, each of which must be inline. */
function inline({ data = [] }: Images) {
  return Promise.all(
    data.map((image) => {
      expect(Object.keys(image)).toEqual(["b64_json"]);
      return decode(Buffer.from(image.b64_json ?? "", "base64"));
    }),
  );
}

async function png(width: number, height: number, colour = "#3366cc") {
  return toFile(await plainImage(width, height, { colour }), "picture.png", { type: "image/png" });
}

describe("images.generate", () => {
  test("gives a PNG of the size asked for, and figures that add up", async () => {
    const answer = await openai.images.generate({ model: MODEL, prompt: "a fox", size: "256x256" });
    expect(await inline(answer)).toMatchObject([{ format: "png", width: 256, height: 256 }]);
    expect(Math.abs(answer.created - Date.now() / 1000)).toBeLessThan(60);
    const { input_tokens, output_tokens, total_tokens } = answer.usage ?? {};
    expect(total_tokens).toBe((input_tokens ?? Number.NaN) + (output_tokens ?? Number.NaN));
  });

  test("and images.edit are answered to the client for Azure, whose deployments are models", async () => {
    const customer = await createCustomer(server);
    const options = { apiKey: customer.key, apiVersion: "2025-04-01-preview", endpoint: customer.baseUrl };
    const azure = new AzureOpenAI(options);
    const prompt = "a fox";
    expect(await inline(await azure.images.generate({ model: MODEL, prompt, size: "256x256" }))).toHaveLength(
      1,
    );
    const image = await png(64, 64);
    expect(await inline(await azure.images.edit({ model: MODEL, prompt, image }))).toHaveLength(1);
    const deployed = new AzureOpenAI({ ...options, deployment: MODEL });
    expect(await inline(await deployed.images.generate({ prompt, size: "256x256" }))).toHaveLength(1);
    expect(customer.charged()).toBe(3 * CENT);
  });

  test("gives as many different pictures as asked for", async () => {
    const answer = await openai.images.generate({ model: MODEL, prompt: "boats", n: 3, size: "256x256" });
    expect(await inline(answer)).toHaveLength(3);
    expect(new Set(answer.data?.map((image) => image.b64_json)).size).toBe(3);
  });

  test("gives URLs at the address it was asked at when asked for them", async () => {
    const answer = await openai.images.generate({
      model: "dall-e-3",
      prompt: "a fox",
      n: 2,
      size: "256x256",
      response_format: "url",
    });
    expect(answer.data?.map((image) => Object.keys(image))).toEqual([["url"], ["url"]]);
    for (const { url } of answer.data ?? []) {
      expect(url).toStartWith(`${server.url}/assets/`);
      expect(await decode(await download(url))).toMatchObject({ format: "png", width: 256, height: 256 });
    }
  });

  test("takes auto, hd, null and fields that mean nothing here", async () => {
    const answer = await openai.images.generate({
      model: MODEL,
      prompt: "a fox",
      n: null,
      size: "auto",
      quality: "hd",
      background: "auto",
      output_format: "webp",
      output_compression: 80,
      moderation: "low",
      style: "natural",
      user: "user-17",
      response_format: null,
    });
    expect(await inline(answer)).toMatchObject([{ format: "webp", width: 1024, height: 1024 }]);
  });

  test("says which request and which task an answer is of", async () => {
    const { request_id, response } = await openai.images
      .generate({ model: MODEL, prompt: "a fox", size: "256x256" })
      .withResponse();
    expect(request_id).toMatch(/^req_/);
    expect(response.headers.get("x-request-id")).toBe(request_id);
    const task = await createApi(server.url, server.firstKey()).wait(response.headers.get("x-task-id") ?? "");
    expect(task).toMatchObject({ status: "completed", model: "sandbox-image" });
  });

  test("sent again with its idempotency key is the same picture, paid once", async () => {
    const customer = await createCustomer(server);
    const client = clientOf(customer);
    const body = { model: MODEL, prompt: "a fox", size: "256x256" } as const;
    const again = () => client.images.generate(body, { headers: { "Idempotency-Key": "order-17" } });
    expect((await again()).data).toEqual((await again()).data ?? []);
    expect(await customer.tasks()).toHaveLength(1);
    expect(customer.charged()).toBe(CENT);
  });
});

describe("images.edit", () => {
  test("of one picture keeps its size and changes what it shows", async () => {
    const answer = await openai.images.edit({ model: MODEL, image: await png(96, 64), prompt: "in autumn" });
    const [picture] = await inline(answer);
    expect(picture).toMatchObject({ format: "png", width: 96, height: 64 });
    expect(picture?.pixels.every((value, i) => value === BLUE[i % 3])).toBe(false);
  });

  test("has what to edit in images.generate, where a program has it from Seedream's API", async () => {
    const image = `data:image/png;base64,${Buffer.from(await (await png(96, 64)).arrayBuffer()).toString("base64")}`;
    const body = { model: MODEL, prompt: "in autumn", image };
    const [picture] = await inline(await openai.images.generate(body));
    expect(picture).toMatchObject({ width: 96, height: 64 });
  });

  test("takes several pictures, and numbers as text", async () => {
    const image = [await png(64, 64, "red"), await png(64, 64, "lime"), await png(48, 64, "blue")];
    const answer = await openai.images.edit({
      model: MODEL,
      image,
      prompt: "together",
      n: 2,
      size: "256x256",
      quality: "high",
      input_fidelity: "high",
    });
    expect(await inline(answer)).toMatchObject([
      { width: 256, height: 256 },
      { width: 256, height: 256 },
    ]);
  });

  test("changes the transparent part of the mask and leaves the rest as it was", async () => {
    const mask = await toFile(await leftHalfMask(96, 64), "mask.png", { type: "image/png" });
    const [picture] = await inline(
      await openai.images.edit({ model: MODEL, image: await png(96, 64), mask, prompt: "autumn leaves" }),
    );
    if (picture === undefined) throw new Error("There is no picture.");
    expect(colourAt(picture, 80, 20)).toEqual(BLUE);
    const left = Array.from({ length: 40 }, (_, x) => colourAt(picture, x, 30));
    expect(left.some((colour) => colour.join() !== BLUE.join())).toBe(true);
  });
});

describe("images.createVariation", () => {
  test("makes other versions of a picture, in the number, size and form asked for", async () => {
    const answer = await openai.images.createVariation({
      ...{
        image: await png(96, 64),
        model: MODEL,
        n: 2,
        size: "256x256",
        response_format: "b64_json",
        user: "u",
      },
    });
    const pictures = await inline(answer);
    expect(pictures).toMatchObject([
      { format: "png", width: 256, height: 256 },
      { width: 256, height: 256 },
    ]);
    expect(pictures[0]?.pixels).not.toEqual(pictures[1]?.pixels);
  });

  test("goes to the cheapest model that takes a picture where none is named", async () => {
    const image = await png(96, 64);
    const { data = [] } = await openai.images.createVariation({ image, response_format: "url" });
    const picture = await decode(Buffer.from(await (await fetch(data[0]?.url ?? "")).bytes()));
    expect(picture).toMatchObject({ width: 96, height: 64 });
  });
});

describe("stream: true", () => {
  test("ends with one completed event for each picture", async () => {
    const stream = await openai.images.generate({
      model: MODEL,
      prompt: "a fox",
      n: 2,
      size: "256x256",
      stream: true,
    });
    const events = await Array.fromAsync(stream);
    expect(events.map((event) => event.type)).toEqual([
      "image_generation.completed",
      "image_generation.completed",
    ]);
    for (const event of events) {
      expect(event).toMatchObject({
        size: "256x256",
        output_format: "png",
        created_at: expect.any(Number),
        usage: { total_tokens: expect.any(Number) },
      });
      expect(await decode(Buffer.from(event.b64_json, "base64"))).toMatchObject({ width: 256, height: 256 });
    }
  });

  test("of an edit has the events of an edit", async () => {
    const image = await png(96, 64);
    const stream = await openai.images.edit({ model: MODEL, image, prompt: "in autumn", stream: true });
    const events = await Array.fromAsync(stream);
    expect(events.map((event) => event.type)).toEqual(["image_edit.completed"]);
    const [event] = events;
    expect(await decode(Buffer.from(event?.b64_json ?? "", "base64"))).toMatchObject({
      width: 96,
      height: 64,
    });
  });
});

describe("models", () => {
  test("lists the image models and their aliases", async () => {
    const models = await Array.fromAsync(openai.models.list());
    expect(models).toContainEqual({
      id: "sandbox-image",
      object: "model",
      created: expect.any(Number),
      owned_by: "sandbox",
    });
    const ids = models.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(["gpt-image-1", "dall-e-3"]));
    expect(ids).not.toContain("sandbox-video");
  });

  test("tells of one model, and of one that is not there", async () => {
    expect(await openai.models.retrieve(MODEL)).toMatchObject({ id: MODEL, object: "model" });
    expect(await failureOf(openai.models.retrieve("nope"))).toBeInstanceOf(OpenAI.NotFoundError);
  });
});

async function failureOf(call: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof OpenAI.APIError) return error;
  throw new Error(`Expected an APIError, got ${String(error)}`);
}

describe("an error", () => {
  const body = { model: MODEL, prompt: "a fox", size: "256x256" } as const;

  test("about the key is an AuthenticationError", async () => {
    const stranger = new OpenAI({ baseURL: `${server.url}/compat/v1`, apiKey: "sk-svc-nobody" });
    const error = await failureOf(stranger.images.generate(body));
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error).toMatchObject({ status: 401, code: "invalid_api_key", type: "authentication_error" });
  });

  test.each([
    ["n", { n: 11 }],
    ["prompt", { prompt: "" }],
    ["size", { size: "99999x1" as "auto" }],
  ])("about %s is a BadRequestError that names it", async (param, field) => {
    const error = await failureOf(openai.images.generate({ ...body, ...field }));
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ code: "invalid_request", type: "invalid_request_error", param });
    expect(error.message).toContain(param);
    expect(error.requestID).toMatch(/^req_/);
  });

  test("about an unknown model is a NotFoundError", async () => {
    const error = await failureOf(openai.images.generate({ ...body, model: "dall-e-9" }));
    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
    expect(error).toMatchObject({ status: 404, code: "model_not_found", param: "model" });
  });

  test("about a wrong base address says what is there", async () => {
    const failureAt = (path: string) =>
      new OpenAI({ baseURL: server.url + path, apiKey: server.firstKey() }).images
        .generate({ model: "none", prompt: "a fox" })
        .catch((error: Error) => error.message);
    expect(await failureAt("")).toStartWith(
      "404 There is nothing at /images/generations. The base address may lack its end: there is /compat/v1/images/generations",
    );
    expect(await failureAt("/v1")).toStartWith('404 There is no model "none"');
    const meant = await new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.firstKey() }).images
      .generate({ model: "sandbox-image", prompt: "a fox", response_format: "url" })
      .catch((error: Error) => error.message);
    expect(meant).toStartWith('400 Unknown field "response_format". The images API has this field: send its');
    const tail =
      "there is /compat/v1/images/generations (for clients of the images API, with the base address /compat/v1) and /v1/images/generations.";
    expect(await failureAt("/openai/v1")).toBe(
      `404 There is nothing at /openai/v1/images/generations. The base address may be wrong: ${tail}`,
    );
  });

  test("about a model the key may not use is a PermissionDeniedError", async () => {
    const customer = await createCustomer(server, { flags: ["--models", "other-*"] });
    const error = await failureOf(clientOf(customer).images.generate(body));
    expect(error).toBeInstanceOf(OpenAI.PermissionDeniedError);
    expect(error).toMatchObject({ status: 403, code: "permission_denied" });
  });

  test("about money is a 402 that is asked once", async () => {
    const customer = await createCustomer(server, { credit: "0.001" });
    const error = await failureOf(clientOf(customer).images.generate(body));
    expect(error).toMatchObject({ status: 402, code: "insufficient_quota" });
    expect(await customer.requests(1)).toHaveLength(1);
    expect(await customer.tasks()).toHaveLength(0);
  });

  test("about too many requests is a RateLimitError that says when to come again", async () => {
    const customer = await createCustomer(server, { flags: ["--rpm", "1"] });
    const client = clientOf(customer).withOptions({ maxRetries: 0 });
    await client.images.generate(body);
    const error = await failureOf(client.images.generate(body));
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect(error).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
    expect(Number(error.headers?.get("retry-after"))).toBeGreaterThan(0);
    expect(await customer.tasks()).toHaveLength(1);
  });

  test("about a key used for something else is a ConflictError that is asked once", async () => {
    const customer = await createCustomer(server);
    const client = clientOf(customer);
    const options = { headers: { "Idempotency-Key": "order-18" } };
    await client.images.generate(body, options);
    const error = await failureOf(client.images.generate({ ...body, prompt: "a cat" }, options));
    expect(error).toBeInstanceOf(OpenAI.ConflictError);
    expect(error).toMatchObject({ status: 409, code: "idempotency_conflict" });
    expect((await customer.requests(2)).map(({ status }) => status)).toEqual([200, 409]);
  });

  test("after a stream has begun is thrown by the stream", async () => {
    const refused = { ...body, stream: true, sandbox: { delay_ms: 0, outcome: "moderated" } } as const;
    const stream = await openai.images.generate(refused);
    const error = await failureOf(Array.fromAsync(stream));
    expect(error).toMatchObject({ code: "content_policy_violation" });
  });
});
