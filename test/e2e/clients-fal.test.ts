import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createPublicKey, verify } from "node:crypto";
import { createFal } from "@ai-sdk/fal";
import { ApiError, createFalClient, type FalClient, type QueueStatus, ValidationError } from "@fal-ai/client";
import { generateImage, experimental_generateVideo as generateVideo } from "ai";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Customer, createCustomer } from "./support/customer.ts";
import { openCuttingProxy } from "./support/cutting-proxy.ts";
import { plainImage as anyPlainImage, decode } from "./support/pictures.ts";
import { probe } from "./support/videos.ts";

setDefaultTimeout(120_000);

const IMAGE = "svc/sandbox-image";
const VIDEO = "svc/sandbox-video";
const CENT = 10_000;
const plainImage = async (...size: [number, number]) => new Uint8Array(await anyPlainImage(...size));
const SOON = { delay_ms: 0 };
const SMALL = { prompt: "a fox in the snow", image_size: { width: 64, height: 64 }, sandbox: SOON };
/** Ends by being cancelled alone. */
const LASTING = { ...SMALL, sandbox: { outcome: "hang" } };

let server: Server;

beforeAll(async () => {
  server = await startServer({ args: ["--egress-allow", "127.0.0.1", "--callbacks-delays-seconds", "1"] });
});

afterAll(stopServers);

/** The client as its users set it up: a key, and the one option that leads it here. */
const clientOf = (key: string, url = server.url, retries = 0): FalClient =>
  createFalClient({
    credentials: key,
    proxyUrl: { url: `${url}/fal`, when: "always" },
    retry: { maxRetries: retries, baseDelay: 10 },
  });

async function failureOf(call: Promise<unknown>): Promise<ApiError<{ detail: unknown }>> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ApiError) return error;
  throw new Error(`Expected an ApiError, got ${String(error)}`);
}

interface File {
  readonly url: string;
  readonly width: number;
  readonly height: number;
}

const bytesOf = async ({ url }: Pick<File, "url">) => new Uint8Array(await (await fetch(url)).arrayBuffer());

describe("@fal-ai/client", () => {
  test("runs a model, and is told what it made and what it is called", async () => {
    const customer = await createCustomer(server);
    const { data, requestId } = await clientOf(customer.key).run(IMAGE, { input: { ...SMALL, seed: 7 } });
    const { images, seed } = data as { images: File[]; seed: number };
    expect([images.length, seed, images[0]?.width]).toEqual([1, 7, 64]);
    expect(await decode(await bytesOf(images[0]!))).toMatchObject({ format: "png", width: 64, height: 64 });
    expect((await customer.tasks()).map(({ task_id }) => task_id)).toEqual([requestId]);
    expect(customer.charged()).toBe(CENT);
  });

  test("asks for what a model does anyway, and is refused what it never does", async () => {
    const customer = await createCustomer(server);
    const fal = clientOf(customer.key);
    const input = { prompt: "a fox", duration: "1s", enable_safety_checker: true, negative_prompt: "" };
    await fal.run(VIDEO, { input: { ...input, sandbox: SOON, generate_audio: false } });
    const refused = await failureOf(fal.run(VIDEO, { input: { ...input, generate_audio: true } }));
    expect([refused.status, refused.message]).toEqual([422, "generate_audio must be false, got true."]);
    expect(await customer.tasks()).toHaveLength(1);
  });

  test("subscribes by polling and by a stream, with updates, logs and progress", async () => {
    const customer = await createCustomer(server);
    const fal = clientOf(customer.key);
    const input = { ...SMALL, sandbox: { delay_ms: 600 } };
    for (const mode of ["polling", "streaming"] as const) {
      const updates: QueueStatus[] = [];
      let enqueued = "";
      const { data, requestId } = await fal.subscribe(IMAGE, {
        ...{ input, mode, logs: true, pollInterval: 50 },
        onEnqueue: (id) => {
          enqueued = id;
        },
        onQueueUpdate: (update) => void updates.push(update),
      });
      expect((data as { images: File[] }).images).toHaveLength(1);
      expect(enqueued).toBe(requestId);
      const statuses = new Set(updates.map(({ status }) => status));
      expect([statuses.has("IN_PROGRESS"), updates.at(-1)?.status]).toEqual([true, "COMPLETED"]);
      const logs = updates.flatMap((update) => ("logs" in update ? update.logs : []));
      expect(logs.map(({ message }) => message)).toContain("Started.");
      expect(logs.some(({ message }) => /^\d+ % done\.$/.test(message))).toBe(true);
    }
    expect(customer.charged()).toBe(2 * CENT);
  });

  test("makes an image of another, which it uploads itself, and a video of words", async () => {
    const fal = clientOf(server.firstKey());
    const picture = new Blob([await plainImage(96, 48)], { type: "image/png" });
    const { data } = await fal.subscribe(IMAGE, {
      ...{ pollInterval: 20, input: { prompt: "as oil on canvas", image_url: picture, sandbox: SOON } },
    });
    const { images } = data as { images: File[] };
    expect([images[0]?.width, images[0]?.height]).toEqual([96, 48]);
    const url = await fal.storage.upload(picture, { lifecycle: { expiresIn: "1h" } });
    expect((await bytesOf({ url })).length).toBeGreaterThan(0);
    const made = await fal.subscribe(VIDEO, {
      ...{ pollInterval: 20, input: { prompt: "a fox", duration: "1s", size: "640x360", sandbox: SOON } },
    });
    const { video } = made.data as { video: File };
    expect(await probe(await bytesOf(video))).toMatchObject({ codec: "avc", width: 640, height: 360 });
    const moving = await fal.subscribe(VIDEO, {
      ...{
        pollInterval: 20,
        input: { prompt: "it runs", image_url: picture, duration: "1s", sandbox: SOON },
      },
    });
    expect(await probe(await bytesOf((moving.data as { video: File }).video))).toMatchObject({
      codec: "avc",
    });
  });

  test("streams a result", async () => {
    const stream = await clientOf(server.firstKey()).stream(IMAGE, { input: SMALL });
    const events = await Array.fromAsync(stream as AsyncIterable<{ images: File[] }>);
    expect(events).toHaveLength(1);
    expect((await stream.done()) as { images: File[] }).toEqual(events[0]!);
  });

  test("cancels, and finds what became of it", async () => {
    const customer = await createCustomer(server);
    const { queue } = clientOf(customer.key);
    const { request_id: requestId, status } = await queue.submit(IMAGE, { input: LASTING });
    expect(status).toBe("IN_QUEUE");
    expect(await failureOf(queue.result(IMAGE, { requestId }))).toMatchObject({ status: 400 });
    await queue.cancel(IMAGE, { requestId });
    const last = await queue.subscribeToStatus(IMAGE, { requestId, pollInterval: 20 });
    expect(last.status).toBe("COMPLETED");
    expect(await failureOf(queue.result(IMAGE, { requestId }))).toMatchObject({ status: 499, requestId });
    const again = await failureOf(queue.cancel(IMAGE, { requestId }));
    expect(again).toMatchObject({ status: 400, body: { status: "ALREADY_COMPLETED" } });
    expect({ charged: customer.charged(), held: customer.held() }).toEqual({ charged: 0, held: 0 });
  });

  test("ends what its own time limit cut", async () => {
    const customer = await createCustomer(server);
    const fal = clientOf(customer.key);
    const waited = fal.subscribe(IMAGE, { input: LASTING, pollInterval: 20, timeout: 200 });
    await expect(waited).rejects.toThrow("timed out");
    const [task] = await customer.tasks();
    const id = String(task?.task_id);
    const last = await fal.queue.subscribeToStatus(IMAGE, { requestId: id, pollInterval: 20 });
    expect(last).toMatchObject({ status: "COMPLETED", error_type: "client_cancelled" });
  });

  test("is told of failures and of moderation as fal tells of them", async () => {
    const customer = await createCustomer(server);
    const fal = clientOf(customer.key);
    const failing = (outcome: string) => ({
      input: { ...SMALL, sandbox: { ...SOON, outcome } },
      pollInterval: 20,
    });
    const moderated = await failureOf(fal.subscribe(IMAGE, failing("moderated")));
    expect(moderated).toBeInstanceOf(ValidationError);
    expect((moderated as ValidationError).fieldErrors).toMatchObject([
      { loc: ["body", "prompt"], type: "content_policy_violation" },
    ]);
    const failed = await failureOf(fal.subscribe(IMAGE, failing("failed")));
    expect(failed).toMatchObject({ status: 500 });
    expect(failed.message).toContain("failed");
    expect(customer.charged()).toBe(0);
  });

  test("reads which field is wrong", async () => {
    const error = await failureOf(
      clientOf(server.firstKey()).run(IMAGE, { input: { prompt: "x", loras: [{}] } }),
    );
    expect(error).toBeInstanceOf(ValidationError);
    expect((error as ValidationError).getFieldErrors("loras")).toHaveLength(1);
  });

  test("is told of keys, money, rates and paths, and what costs nothing stays so", async () => {
    expect(await failureOf(clientOf("sk-svc-nobody").run(IMAGE, { input: SMALL }))).toMatchObject({
      status: 401,
    });
    const poor = await createCustomer(server, { credit: "0.001" });
    const locked = await failureOf(clientOf(poor.key).run(IMAGE, { input: SMALL }));
    expect(locked.status).toBe(403);
    expect(locked.message).toContain("Exhausted balance");
    const hasty = await createCustomer(server, { flags: ["--rpm", "1"] });
    const { queue } = clientOf(hasty.key);
    await queue.submit(IMAGE, { input: SMALL });
    // A submission is sent again by the client itself, after a while; a run is not, where it is told so.
    const response = await fetch(`${server.url}/fal/queue/${IMAGE}`, {
      method: "POST",
      headers: { Authorization: `Key ${hasty.key}`, "Content-Type": "application/json" },
      body: JSON.stringify(SMALL),
    });
    expect(response.status).toBe(429);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await failureOf(clientOf(hasty.key).run(IMAGE, { input: SMALL }))).toMatchObject({ status: 429 });
    const far = await failureOf(clientOf(server.firstKey()).run("a/b/c/d/e/f", { input: SMALL }));
    expect(far).toMatchObject({ status: 404, body: { error_type: "url_error" } });
  });

  test("finds no request of another account", async () => {
    const { request_id: requestId } = await clientOf(server.firstKey()).queue.submit(IMAGE, { input: SMALL });
    const stranger = clientOf((await createCustomer(server)).key).queue;
    for (const call of [stranger.status, stranger.result])
      expect(await failureOf(call(IMAGE, { requestId }))).toMatchObject({ status: 404 });
    const cancelled = await failureOf(stranger.cancel(IMAGE, { requestId }));
    expect(cancelled).toMatchObject({ status: 404, body: { status: "NOT_FOUND" } });
  });
});

describe("a connection that breaks", () => {
  async function paid(customer: Customer): Promise<number> {
    const tasks = await customer.tasks();
    const { queue } = clientOf(customer.key);
    for (const { task_id } of tasks)
      await queue.subscribeToStatus(IMAGE, { requestId: String(task_id), pollInterval: 20 });
    return customer.charged();
  }

  test("during a run costs one image, because the same run joins its task", async () => {
    const customer = await createCustomer(server);
    const proxy = await openCuttingProxy(server.port);
    const input = { ...SMALL, sandbox: { delay_ms: 800 } };
    const lost = clientOf(customer.key, proxy.url).run(IMAGE, {
      input,
      abortSignal: AbortSignal.timeout(20_000),
    });
    const [begun] = await customer.tasks(1);
    proxy.cut();
    // The client comes again by itself, or else its user does.
    const { requestId } = await lost.catch(() => clientOf(customer.key).run(IMAGE, { input }));
    await proxy.close();
    expect(requestId).toBe(String(begun?.task_id));
    expect(await customer.tasks()).toHaveLength(1);
    expect(await paid(customer)).toBe(CENT);
  });

  test("before the answer to a submission costs one image where it is sent again with its key", async () => {
    const customer = await createCustomer(server);
    const proxy = await openCuttingProxy(server.port, 40);
    const options = { input: SMALL, headers: { "Idempotency-Key": "order-17" } };
    await expect(clientOf(customer.key, proxy.url).queue.submit(IMAGE, options)).rejects.toThrow();
    await proxy.close();
    const { request_id } = await clientOf(customer.key).queue.submit(IMAGE, options);
    expect((await customer.tasks()).map(({ task_id }) => String(task_id))).toEqual([request_id]);
    expect(await paid(customer)).toBe(CENT);
  });
});

/** A webhook as it came. */
interface Hook {
  readonly headers: Headers;
  readonly body: string;
}

/** Answers the first with 500, so that each webhook comes again. */
function openHooks(refusals: number) {
  const hooks: Hook[] = [];
  const waiting: (() => void)[] = [];
  const receiver = Bun.serve({
    ...{ hostname: "127.0.0.1", port: 0 },
    async fetch(request) {
      hooks.push({ headers: request.headers, body: await request.text() });
      for (const tell of waiting.splice(0)) tell();
      return new Response(null, { status: hooks.length <= refusals ? 500 : 200 });
    },
  });
  return {
    url: `http://127.0.0.1:${receiver.port}/hook?token=7`,
    async received(count: number): Promise<Hook[]> {
      while (hooks.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
      return hooks;
    },
    stop: () => receiver.stop(true),
  };
}

/**
 * What fal tells receivers to do (https://fal.ai/docs/model-endpoints/webhooks, checked 2026-11-27): the four headers, a time of at most
 * five minutes ago, and the signature of request, user, time and the body's hash by any of the keys.
 */
async function isGenuine({ headers, body }: Hook): Promise<boolean> {
  const of = (name: string) => headers.get(`x-fal-webhook-${name}`) ?? "";
  if (Math.abs(Date.now() / 1000 - Number(of("timestamp"))) > 300) return false;
  const hash = new Bun.SHA256().update(body).digest("hex");
  const message = [of("request-id"), of("user-id"), of("timestamp"), hash].join("\n");
  const { keys } = (await (await fetch(`${server.url}/fal/.well-known/jwks.json`)).json()) as {
    readonly keys: readonly { readonly x: string }[];
  };
  return keys.some(({ x }) => {
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    return verify(null, Buffer.from(message), key, Buffer.from(of("signature"), "hex"));
  });
}

describe("a webhook", () => {
  test("comes at the end in fal's shape, again where it is refused, and is verified as fal says", async () => {
    const receiver = openHooks(1);
    const { queue } = clientOf(server.firstKey());
    const submitted = await queue.submit(IMAGE, { input: SMALL, webhookUrl: receiver.url });
    const [first, second] = await receiver.received(2);
    expect(second!.body).toBe(first!.body);
    const payload = JSON.parse(first!.body);
    expect(payload).toMatchObject({ request_id: submitted.request_id, status: "OK" });
    expect(payload.payload.images).toHaveLength(1);
    for (const hook of [first!, second!]) expect(await isGenuine(hook)).toBe(true);
    expect(await isGenuine({ ...first!, body: `${first!.body} ` })).toBe(false);
    receiver.stop();
  });

  test("tells of a failure and of a cancellation", async () => {
    const receiver = openHooks(0);
    const { queue } = clientOf(server.firstKey());
    const input = { ...SMALL, sandbox: { ...SOON, outcome: "moderated" } };
    await queue.submit(IMAGE, { input, webhookUrl: receiver.url });
    const [failed] = await receiver.received(1);
    expect(JSON.parse(failed!.body)).toMatchObject({
      ...{ status: "ERROR", error: "Invalid status code: 422" },
      payload: { detail: [{ type: "content_policy_violation" }] },
    });
    const { request_id: requestId } = await queue.submit(IMAGE, { input: LASTING, webhookUrl: receiver.url });
    await queue.cancel(IMAGE, { requestId });
    const [, cancelled] = await receiver.received(2);
    expect(JSON.parse(cancelled!.body)).toMatchObject({ request_id: requestId, status: "ERROR" });
    expect(await isGenuine(cancelled!)).toBe(true);
    receiver.stop();
  });
});

test("a request that has not started in the client's time is told as fal tells it, also when the server was killed meanwhile", async () => {
  const receiver = openHooks(0);
  const args = ["--egress-allow", "127.0.0.1", "--scheduler-concurrency", "1"];
  const first = await startServer({ args });
  const { queue } = clientOf(first.firstKey(), first.url);
  const running = await queue.submit(IMAGE, { input: LASTING, startTimeout: 2 });
  const options = { input: SMALL, startTimeout: 2, webhookUrl: receiver.url };
  const late = await queue.submit(IMAGE, options);
  first.signal("SIGKILL");
  await first.exited;
  const second = await startServer({ args, folder: first.folder, port: first.port });
  const [hook] = await receiver.received(1);
  expect(JSON.parse(hook!.body)).toMatchObject({
    ...{ request_id: late.request_id, status: "ERROR", error: "Invalid status code: 504" },
    payload: { error_type: "request_timeout" },
  });
  const failure = await failureOf(queue.result(IMAGE, { requestId: late.request_id }));
  expect([failure.status, failure.isUserTimeout]).toEqual([504, true]);
  expect(await queue.status(IMAGE, { requestId: running.request_id })).toMatchObject({
    status: "IN_PROGRESS",
  });
  receiver.stop();
  await second.stop();
});

describe("@ai-sdk/fal", () => {
  test("makes and edits images with a base URL and a key", async () => {
    const fal = createFal({ apiKey: server.firstKey(), baseURL: `${server.url}/fal` });
    const model = fal.image("sandbox-image");
    const { images } = await generateImage({ model, prompt: "two boats", n: 2, size: "64x64" });
    expect(await decode(images[0]!.uint8Array)).toMatchObject({ width: 64, height: 64 });
    expect(images).toHaveLength(2);
    const prompt = { text: "as oil", images: [await plainImage(48, 48)] };
    const edited = await generateImage({ model, prompt });
    expect(await decode(edited.images[0]!.uint8Array)).toMatchObject({ width: 48, height: 48 });
    const wide = await generateImage({ model, prompt: "a boat", aspectRatio: "16:9" });
    expect(await decode(wide.images[0]!.uint8Array)).toMatchObject({ width: 1024, height: 576 });
  });

  test("is told what is wrong", async () => {
    const fal = createFal({ apiKey: server.firstKey(), baseURL: `${server.url}/fal` });
    const model = fal.image("sandbox-image");
    const refused = generateImage({ model, prompt: "x", providerOptions: { fal: { guidanceScale: 3 } } });
    await expect(refused).rejects.toThrow("guidance_scale");
  });

  const filmingFal = () => {
    const base = `${server.url}/fal`;
    const redirected = (url: unknown, init: RequestInit = {}) => {
      if (!String(url).startsWith("https://queue.fal.run/")) return fetch(String(url), init);
      const headers = new Headers(init.headers);
      headers.set("x-fal-target-url", String(url));
      return fetch(base, { ...init, headers });
    };
    return createFal({ apiKey: server.firstKey(), baseURL: base, fetch: redirected as typeof fetch });
  };

  test("is told in words why a video is refused, or failed", async () => {
    // The two packages have types of their own for the same.
    const model = filmingFal().video("sandbox-video") as unknown as string;
    const film = (options: Readonly<Record<string, string | { outcome: string }>>) =>
      generateVideo({
        model,
        prompt: "a fox",
        duration: 1,
        maxRetries: 0,
        providerOptions: { fal: options },
      });
    await expect(film({ colour: "red" })).rejects.toThrow('Unknown field "colour".');
    await expect(film({ sandbox: { outcome: "moderated" } })).rejects.toThrow("content policy");
  });

  test("makes videos of words and of a picture where its fetch sends fal's queue here", async () => {
    const fal = filmingFal();
    const picture = new Uint8Array(await plainImage(64, 64));
    for (const prompt of ["a fox", { text: "it runs", image: picture }]) {
      const { video } = await generateVideo({
        // The two packages have types of their own for the same.
        model: fal.video("sandbox-video") as unknown as string,
        prompt,
        duration: 1,
        download: async ({ url }) => ({ data: await bytesOf({ url: url.href }), mediaType: "video/mp4" }),
      });
      expect(await probe(new Uint8Array(video.uint8Array))).toMatchObject({ codec: "avc" });
    }
  });
});

test("a facade that is off has no paths", async () => {
  const off = await startServer({ args: ["--facades", "openai-videos"] });
  const response = await fetch(`${off.url}/fal/${IMAGE}`, { method: "POST", body: "{}" });
  expect(response.status).toBe(404);
});
