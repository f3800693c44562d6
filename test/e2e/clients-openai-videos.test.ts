import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Customer, createCustomer } from "./support/customer.ts";
import { openCuttingProxy } from "./support/cutting-proxy.ts";
import { plainImage } from "./support/pictures.ts";
import { probe } from "./support/videos.ts";

setDefaultTimeout(120_000);

const SECOND = 20_000;
/** One second of the smallest film. Typings list the sizes of models that are gone. */
const BODY = {
  model: "sora-2",
  prompt: "a fox in the snow",
  size: "640x360" as "1280x720",
  seconds: "1" as "4",
  sandbox: { delay_ms: 0 },
};
/** Ends by being cancelled alone. */
const LASTING = { ...BODY, sandbox: { outcome: "hang" } };

let server: Server;
let openai: OpenAI;

beforeAll(async () => {
  server = await startServer({ args: ["--alias", "sora-2=sandbox-video"] });
  openai = new OpenAI({ baseURL: `${server.url}/compat/v1`, apiKey: server.firstKey() });
});

afterAll(stopServers);

const clientOf = (customer: Customer) => new OpenAI({ baseURL: customer.baseUrl, apiKey: customer.key });

/** Reads a video until it has ended, as clients of that API do. */
async function ended(
  client: OpenAI,
  id: string,
  tell: (video: OpenAI.Video) => void = () => {},
): Promise<OpenAI.Video> {
  for (;;) {
    const video = await client.videos.retrieve(id);
    tell(video);
    if (video.status === "completed" || video.status === "failed") return video;
    await Bun.sleep(50);
  }
}

async function failureOf(call: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof OpenAI.APIError) return error;
  throw new Error(`Expected an APIError, got ${String(error)}`);
}

describe("videos", () => {
  test("are created, followed, downloaded, remixed, listed and deleted", async () => {
    const customer = await createCustomer(server);
    const client = clientOf(customer);
    const { data: created, response } = await client.videos.create(BODY).withResponse();
    expect(response.headers.get("x-request-cost")).toBe("0.020000");
    expect(created).toMatchObject({ object: "video", model: "sandbox-video", prompt: BODY.prompt });
    const seen: number[] = [];
    const video = await ended(client, created.id, (each) => void seen.push(each.progress));
    expect(video).toMatchObject({ id: created.id, status: "completed", progress: 100, seconds: "1" });
    expect(seen).toEqual([...seen].sort((one, other) => one - other));

    const content = await client.videos.downloadContent(video.id);
    expect(await probe(new Uint8Array(await content.arrayBuffer()))).toMatchObject({
      codec: "avc",
      width: 640,
      height: 360,
    });
    const thumbnail = await client.videos.downloadContent(video.id, { variant: "thumbnail" });
    const sheet = await client.videos.downloadContent(video.id, { variant: "spritesheet" });
    expect(sheet.headers.get("content-type")).toBe("image/webp");
    expect(thumbnail.headers.get("content-type")).toBe("image/webp");
    const part = await client.videos.downloadContent(video.id, {}, { headers: { Range: "bytes=0-9" } });
    expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 10]);

    const remix = await client.videos.remix(video.id, { prompt: "a fox in the rain" });
    expect(remix).toMatchObject({ remixed_from_video_id: video.id, seconds: "1", size: "640x360" });
    expect((await ended(client, remix.id)).status).toBe("completed");
    expect(customer.charged()).toBe(2 * SECOND);

    const listed = await Array.fromAsync(client.videos.list({ limit: 1 }));
    expect(listed.map(({ id }) => id)).toEqual([remix.id, video.id]);
    const oldest = await Array.fromAsync(client.videos.list({ limit: 1, order: "asc" }));
    expect(oldest.map(({ id }) => id)).toEqual([video.id, remix.id]);

    expect(await client.videos.delete(video.id)).toEqual({
      ...{ id: video.id, object: "video.deleted", deleted: true },
    });
    expect(await failureOf(client.videos.retrieve(video.id))).toBeInstanceOf(OpenAI.NotFoundError);
    expect(customer.charged()).toBe(2 * SECOND);
  });

  test("are edited and extended, by their id and as files", async () => {
    const client = clientOf(await createCustomer(server));
    // That API has no field for the model there; the one of the film is taken unless this is given.
    const editing = { prompt: "the same at night", model: "sandbox-video-edit", sandbox: { delay_ms: 0 } };
    const film = await ended(client, (await client.videos.create(BODY)).id);
    const edit = await client.videos.edit({ ...editing, video: { id: film.id } });
    expect(edit).toMatchObject({ model: "sandbox-video-edit", remixed_from_video_id: film.id });
    expect(await ended(client, edit.id)).toMatchObject({ status: "completed", size: "640x360" });

    const extension = await client.videos.extend({
      ...{ prompt: "and then it rains", video: { id: edit.id }, seconds: "1" as "4" },
    });
    expect(await ended(client, extension.id)).toMatchObject({ status: "completed", model: edit.model });

    const content = await client.videos.downloadContent(extension.id);
    const file = await toFile(await content.arrayBuffer(), "film.mp4", { type: "video/mp4" });
    const again = await client.videos.edit({ ...editing, video: file });
    expect(again).toMatchObject({ model: edit.model, remixed_from_video_id: null });
    const refused = await failureOf(client.videos.edit({ prompt: "x", video: { id: film.id } }));
    expect(refused).toMatchObject({ status: 400, param: "model" });
  });

  test("begin with a picture, as a file, an address or a data URL", async () => {
    const picture = await plainImage(64, 64);
    const uri = `data:image/png;base64,${Buffer.from(picture).toString("base64")}`;
    const file = await toFile(picture, "picture.png", { type: "image/png" });
    const first = await openai.videos.create({ ...LASTING, input_reference: file });
    const second = await openai.videos.create({ ...LASTING, input_reference: { image_url: uri } });
    const api = (id: string, path = "", method = "GET") =>
      fetch(`${server.url}/v1/tasks/${id}${path}`, {
        method,
        headers: { Authorization: `Bearer ${server.firstKey()}` },
      });
    const story = async (id: string) => {
      const { data } = (await (await api(id)).json()) as { data: { request: { inputs: { url: string }[] } } };
      return data.request;
    };
    const { url = "" } = (await story(first.id)).inputs[0] ?? {};
    const third = await openai.videos.create({ ...LASTING, input_reference: { image_url: url } });
    for (const { id } of [first, second, third]) {
      expect(await story(id)).toMatchObject({
        mode: "image-to-video",
        inputs: [{ field: "image_url", media_type: "image/png", width: 64, height: 64 }],
      });
      await api(id, "/cancel", "POST");
      expect(await ended(openai, id)).toMatchObject({ status: "failed", error: { code: "CANCELLED" } });
    }
  });

  test("that fail say why, and cost nothing", async () => {
    const customer = await createCustomer(server);
    const client = clientOf(customer);
    for (const [outcome, code] of [
      ["moderated", "CONTENT_MODERATED"],
      ["failed", "UPSTREAM_ERROR"],
    ]) {
      const { id } = await client.videos.create({
        ...BODY,
        sandbox: { delay_ms: 0, outcome },
      } as typeof BODY);
      const video = await ended(client, id);
      expect(video).toMatchObject({ status: "failed", error: { code } });
      const error = await failureOf(client.videos.downloadContent(id));
      expect(error).toMatchObject({ status: 404, code: "not_found" });
    }
    expect({ charged: customer.charged(), held: customer.held() }).toEqual({ charged: 0, held: 0 });
  });

  test("sent again with their idempotency key, also after an answer that was lost, are one video", async () => {
    const customer = await createCustomer(server);
    const options = { headers: { "Idempotency-Key": "order-17" } };
    const proxy = await openCuttingProxy(server.port, 40);
    const far = new OpenAI({ baseURL: `${proxy.url}/compat/v1`, apiKey: customer.key });
    const lost = await far.videos.create(BODY, options).catch((reason: unknown) => reason);
    expect(lost).toBeInstanceOf(OpenAI.APIConnectionError);
    await proxy.close();
    const client = clientOf(customer);
    const { data: video, response } = await client.videos.create(BODY, options).withResponse();
    expect(response.headers.get("x-idempotent-replay")).toBe("true");
    await ended(client, video.id);
    expect((await customer.tasks()).map(({ task_id }) => task_id)).toEqual([video.id]);
    expect(customer.charged()).toBe(SECOND);
  });
});

describe("an error", () => {
  test("about the key is an AuthenticationError", async () => {
    const stranger = new OpenAI({ baseURL: `${server.url}/compat/v1`, apiKey: "sk-svc-nobody" });
    const { videos } = stranger;
    for (const call of [() => videos.create(BODY), () => videos.retrieve("task_1"), () => videos.list()]) {
      expect(await failureOf(Promise.resolve(call()))).toBeInstanceOf(OpenAI.AuthenticationError);
    }
  });

  test.each([
    ["size", { size: "1000x300" }],
    ["seconds", { seconds: "12" }],
    ["prompt", { prompt: "" }],
    ["input_reference.file_id", { input_reference: { file_id: "file-1" } }],
  ])("about %s is a BadRequestError that names it", async (param, fields) => {
    const error = await failureOf(openai.videos.create({ ...BODY, ...fields } as typeof BODY));
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ code: "invalid_request", param });
    expect(error.message).toContain(param);
  });

  test("about a model that is not there, or makes images, is a NotFoundError", async () => {
    for (const model of ["sora-9", "sandbox-image"]) {
      const error = await failureOf(openai.videos.create({ ...BODY, model }));
      expect(error).toBeInstanceOf(OpenAI.NotFoundError);
      expect(error).toMatchObject({ code: "model_not_found", param: "model" });
    }
  });

  test("about another account's video is that there is none, which is what all say of it", async () => {
    const { id } = await openai.videos.create(LASTING);
    const { videos } = clientOf(await createCustomer(server));
    for (const call of [
      () => videos.retrieve(id),
      () => videos.downloadContent(id),
      () => videos.remix(id, { prompt: "mine" }),
      () => videos.delete(id),
    ])
      expect(await failureOf(Promise.resolve(call()))).toBeInstanceOf(OpenAI.NotFoundError);
    expect(await openai.videos.retrieve(id)).toMatchObject({ id });
  });

  test("about money is a 402 that is asked once", async () => {
    const customer = await createCustomer(server, { credit: "0.001" });
    const error = await failureOf(clientOf(customer).videos.create(BODY));
    expect(error).toMatchObject({ status: 402, code: "insufficient_quota" });
    expect(await customer.requests(1)).toHaveLength(1);
    expect(await customer.tasks()).toHaveLength(0);
  });

  test("about too many requests is a RateLimitError that says when to come again", async () => {
    const customer = await createCustomer(server, { flags: ["--rpm", "1"] });
    const client = clientOf(customer).withOptions({ maxRetries: 0 });
    const { id } = await client.videos.create(BODY);
    const error = await failureOf(client.videos.remix(id, { prompt: "a cat" }));
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect(error).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
    expect(Number(error.headers?.get("retry-after"))).toBeGreaterThan(0);
    expect((await client.videos.retrieve(id)).id).toBe(id);
  });
});
