import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createReplicate } from "@ai-sdk/replicate";
import { generateImage, experimental_generateVideo as generateVideo } from "ai";
import Replicate, { type Prediction, parseProgressFromLogs, validateWebhook } from "replicate";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Customer, createCustomer } from "./support/customer.ts";
import { openCuttingProxy } from "./support/cutting-proxy.ts";
import { dataUri, decode, leftHalfMask, plainImage } from "./support/pictures.ts";
import { probe } from "./support/videos.ts";

setDefaultTimeout(120_000);

const IMAGE = "svc/sandbox-image";
const VIDEO = "svc/sandbox-video";
const CENT = 10_000;
const SOON = { delay_ms: 0 };
const SMALL = { prompt: "a fox in the snow", width: 64, height: 64, sandbox: SOON };
const FILM = { prompt: "a fox in the snow", duration: 1, size: "640x360", sandbox: SOON };
/** Ends by being cancelled alone. */
const LASTING = { ...SMALL, sandbox: { outcome: "hang" } };

let server: Server;

beforeAll(async () => {
  const aliases = ["--alias", "google/veo-3=sandbox-video", "--alias", "acme/fox=sandbox-image"];
  server = await startServer({ args: [...aliases, "--egress-allow", "127.0.0.1"] });
});

afterAll(stopServers);

/** The client as its users set it up: another base URL and key. */
const clientOf = (auth: string, url = server.url): Replicate =>
  new Replicate({ auth, baseUrl: `${url}/replicate/v1` });

const bytesOf = async (address: unknown) =>
  new Uint8Array(await (await fetch(String(address))).arrayBuffer());

interface Failure {
  readonly status: number;
  readonly body: { title?: string; detail?: string; invalid_fields?: { field: string }[] };
}

/** The error of a call, as the client throws it: with the answer in its message. */
async function failureOf(call: Promise<unknown>): Promise<Failure> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error) || !("response" in error))
    throw new Error(`Expected an ApiError, got ${error}`);
  const [, text = "{}"] = /(\{.*\})\.$/s.exec(error.message) ?? [];
  return { status: (error.response as Response).status, body: JSON.parse(text) };
}

describe("replicate", () => {
  test("runs text to image, image to image and text to video", async () => {
    const customer = await createCustomer(server);
    const replicate = clientOf(customer.key);
    const output = (await replicate.run(IMAGE, { input: { ...SMALL, num_outputs: 2 } })) as string[];
    expect(output).toHaveLength(2);
    expect(await decode(await bytesOf(output[0]))).toMatchObject({ format: "png", width: 64, height: 64 });

    const picture = new Blob([new Uint8Array(await plainImage(64, 64))], { type: "image/png" });
    const edited = (await replicate.run(IMAGE, {
      input: { prompt: "red", image: picture, sandbox: SOON },
    })) as string[];
    expect(await decode(await bytesOf(edited[0]))).toMatchObject({ width: 64, height: 64 });
    const uri = dataUri(await plainImage(64, 64));
    const again = (await replicate.run(IMAGE, {
      input: { prompt: "red", image: uri, sandbox: SOON },
    })) as string[];
    expect(again).toHaveLength(1);

    const film = await replicate.run("google/veo-3", { input: FILM });
    expect(await probe(await bytesOf(film))).toMatchObject({ codec: "avc", width: 640, height: 360 });
    const moving = await replicate.run(VIDEO, { input: { ...FILM, image: picture } });
    expect(await probe(await bytesOf(moving))).toMatchObject({ codec: "avc" });
    expect(customer.charged()).toBe(4 * CENT + 2 * 2 * CENT);
  });

  test("makes pictures by a deployment, whose name is an alias", async () => {
    const customer = await createCustomer(server);
    const { deployments } = clientOf(customer.key);
    const { current_release: release } = await deployments.get("acme", "fox");
    expect(release?.model).toBe(IMAGE);
    const made = await deployments.predictions.create("acme", "fox", { input: SMALL, wait: true });
    expect(made).toMatchObject({ status: "succeeded", version: release?.version });
    expect(customer.charged()).toBe(CENT);
  });

  test("polls, and tells of progress", async () => {
    const replicate = clientOf(server.firstKey());
    const seen: Prediction[] = [];
    const input = { ...SMALL, sandbox: { delay_ms: 900 } };
    const output = await replicate.run(
      IMAGE,
      { input, wait: { mode: "poll", interval: 50 } },
      (prediction) => {
        seen.push(structuredClone(prediction));
      },
    );
    expect(output).toBeArrayOfSize(1);
    // It may have begun by the time it is answered.
    const states = new Set(seen.map(({ status }) => status));
    expect([...states].filter((status) => status !== "starting")).toEqual(["processing", "succeeded"]);
    const bars = seen.map((prediction) => parseProgressFromLogs(prediction)?.percentage ?? 0);
    expect(bars).toEqual([...bars].sort((one, other) => one - other));
    expect(bars.at(-1)).toBe(1);
  });

  test("goes on to poll where it has waited long enough", async () => {
    const input = { ...SMALL, sandbox: { delay_ms: 1_500 } };
    const wait = { mode: "block", timeout: 1 } as const;
    expect(await clientOf(server.firstKey()).run(IMAGE, { input, wait })).toBeArrayOfSize(1);
  });

  test("gives files as streams where the service is reached by https", async () => {
    const address = "https://media.example.com";
    const far = await startServer({ args: ["--public-url", address] });
    const replicate = new Replicate({
      auth: far.firstKey(),
      baseUrl: `${address}/replicate/v1`,
      // In place of a proxy.
      fetch: (input: Request | string | URL, init?: RequestInit) =>
        fetch(String(input).replace(address, far.url), init),
    });
    const [file] = (await replicate.run(IMAGE, { input: SMALL })) as { url(): URL; blob(): Promise<Blob> }[];
    expect(file?.url().href).toStartWith(`${address}/assets/`);
    const blob = await file?.blob();
    expect(await decode(new Uint8Array((await blob?.arrayBuffer()) ?? new ArrayBuffer(0)))).toMatchObject({
      width: 64,
    });
  });

  test("cancels by a signal and by id, and reads and lists predictions", async () => {
    const customer = await createCustomer(server);
    const replicate = clientOf(customer.key);
    const stop = new AbortController();
    const states: string[] = [];
    const wait = { mode: "poll", interval: 20 } as const;
    const run = replicate.run(IMAGE, { input: LASTING, wait, signal: stop.signal }, ({ status }) => {
      states.push(status);
      if (status === "processing") stop.abort();
    });
    expect(await run).toBeNull();
    const other = await replicate.predictions.create({ model: IMAGE, input: LASTING });
    await replicate.predictions.cancel(other.id);
    expect(await replicate.wait(other, { interval: 20 })).toMatchObject({ id: other.id, status: "canceled" });
    const pages: Prediction[] = [];
    for await (const page of replicate.paginate(replicate.predictions.list)) pages.push(...page);
    expect(pages.map(({ id }) => id)).toEqual((await customer.tasks()).map(({ task_id }) => String(task_id)));
    expect(pages).toHaveLength(2);
    while (customer.held() > 0) await Bun.sleep(20);
    expect(customer.charged()).toBe(0);
  });

  test("is told why a prediction failed, and that costs nothing", async () => {
    const customer = await createCustomer(server);
    const replicate = clientOf(customer.key);
    for (const [outcome, why] of [
      ["failed", "The provider failed"],
      ["moderated", "content policy"],
    ] as const) {
      const input = { ...SMALL, sandbox: { ...SOON, outcome } };
      const error = await replicate.run(IMAGE, { input }).catch((reason: unknown) => reason);
      expect(String(error)).toContain("Prediction failed: ");
      expect(String(error)).toContain(why);
    }
    expect({ charged: customer.charged(), held: customer.held() }).toEqual({ charged: 0, held: 0 });
  });

  test("streams a prediction by its address", async () => {
    const replicate = clientOf(server.firstKey());
    const events: { event: string; data: string }[] = [];
    for await (const { event, data } of replicate.stream(IMAGE, { input: SMALL }))
      events.push({ event, data });
    const output = events.find(({ event }) => event === "output");
    expect(await decode(await bytesOf(output?.data))).toMatchObject({ width: 64 });
    expect(events.at(-1)).toEqual({ event: "done", data: "{}" });
    const failing = async () => {
      const input = { ...SMALL, sandbox: { ...SOON, outcome: "failed" } };
      for await (const _ of replicate.stream(IMAGE, { input }));
    };
    await expect(failing()).rejects.toThrow("The provider failed");
  });

  test("keeps files, reads models, versions and collections", async () => {
    const customer = await createCustomer(server);
    const replicate = clientOf(customer.key);
    const picture = Buffer.from(await plainImage(64, 64));
    const file = await replicate.files.create(picture, { order: 7 });
    expect(file).toMatchObject({ content_type: "image/png", metadata: { order: 7 } });
    expect((await replicate.files.list()).results.map(({ id }) => id)).toEqual([file.id]);
    const input = { prompt: "red", input_image: file.urls.get, sandbox: SOON };
    expect(await replicate.run(IMAGE, { input })).toBeArrayOfSize(1);
    expect((await replicate.files.get(file.id)).id).toBe(file.id);
    expect(await replicate.files.delete(file.id)).toBe(true);

    const model = await replicate.models.get("svc", "sandbox-image");
    const { id = "" } = model.latest_version ?? {};
    const versions = (await replicate.models.versions.list("svc", "sandbox-image")) as unknown as {
      results: { id: string }[];
    };
    expect(versions.results.map((version) => version.id)).toEqual([id]);
    expect((await replicate.models.versions.get("svc", "sandbox-image", id)).id).toBe(id);
    expect(await replicate.run(`svc/sandbox-image:${id}`, { input: SMALL })).toBeArrayOfSize(1);
    expect((await replicate.models.list()).results.map(({ name }) => name)).toContain("sandbox-video");
    expect((await replicate.models.search("sandbox video")).results.map(({ name }) => name)).toContain(
      "sandbox-video",
    );
    expect((await replicate.collections.get("text-to-video")).models?.map(({ name }) => name)).toContain(
      "sandbox-video",
    );
    expect((await replicate.collections.list()).results.length).toBeGreaterThan(1);
    expect((await replicate.accounts.current()).username).toBe(customer.name);
    expect(await replicate.hardware.list()).toHaveLength(1);
  });
});

/** Keeps what is posted to it. */
function openHooks() {
  const hooks: Request[] = [];
  const waiting: (() => void)[] = [];
  const receiver = Bun.serve({
    ...{ hostname: "127.0.0.1", port: 0 },
    async fetch(request) {
      hooks.push(
        new Request(request.url, { method: "POST", headers: request.headers, body: await request.text() }),
      );
      for (const tell of waiting.splice(0)) tell();
      return new Response();
    },
  });
  return {
    url: `http://127.0.0.1:${receiver.port}/hook`,
    async received(count: number): Promise<Request[]> {
      while (hooks.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
      return hooks;
    },
    stop: () => receiver.stop(true),
  };
}

/** By the client's own helper, as a receiver calls it. */
async function isGenuine(request: Request, secret: string): Promise<boolean> {
  const of = (name: string) => request.headers.get(`webhook-${name}`) ?? "";
  const body = await request.clone().text();
  return validateWebhook({
    id: of("id"),
    timestamp: of("timestamp"),
    signature: of("signature"),
    body,
    secret,
  });
}

describe("a webhook", () => {
  test("tells what was asked for, and the client's own helper verifies it", async () => {
    const hooks = openHooks();
    const replicate = clientOf(server.firstKey());
    const { key } = await replicate.webhooks.default.secret.get();
    const { id } = await replicate.predictions.create({
      ...{ model: IMAGE, input: SMALL, webhook: hooks.url, webhook_events_filter: ["start", "completed"] },
    });
    const posted = await hooks.received(2);
    const told = await Promise.all(posted.map((request) => request.clone().json() as Promise<Prediction>));
    expect(told.map((prediction) => prediction.id)).toEqual([id, id]);
    expect(new Set(told.map(({ status }) => status))).toEqual(new Set(["processing", "succeeded"]));
    const [first] = posted;
    expect(await isGenuine(first!, key)).toBe(true);
    const text = await first!.clone().text();
    const forged = new Request(hooks.url, { method: "POST", headers: first!.headers, body: `${text} ` });
    expect(await isGenuine(forged, key)).toBe(false);
    hooks.stop();
  });

  test("is signed by a key's own secret as well, where it has one", async () => {
    const hooks = openHooks();
    const customer = await createCustomer(server, { flags: ["--callback-secret", "new"] });
    const replicate = clientOf(customer.key);
    const { key } = await replicate.webhooks.default.secret.get();
    await replicate.predictions
      .create({ model: IMAGE, input: LASTING, webhook: hooks.url })
      .then(({ id }) => replicate.predictions.cancel(id));
    const [posted] = await hooks.received(1);
    expect(await isGenuine(posted!, key)).toBe(true);
    expect(((await posted!.json()) as Prediction).status).toBe("canceled");
    hooks.stop();
  });
});

describe("a lost connection", () => {
  test("of a run that waits leads to no second charge: the client sends it again by itself", async () => {
    const customer = await createCustomer(server);
    const proxy = await openCuttingProxy(server.port);
    // Long enough for a slow machine: an answer that is lost once it is sent is paid for again.
    const input = { ...SMALL, sandbox: { delay_ms: 4_000 } };
    const run = clientOf(customer.key, proxy.url).run(IMAGE, { input });
    const [task] = await customer.tasks(1);
    await customer.api.underWay(String(task?.task_id));
    proxy.cut();
    expect(await run).toBeArrayOfSize(1);
    expect(await customer.tasks()).toHaveLength(1);
    expect(customer.charged()).toBe(CENT);
    await proxy.close();
  });

  test("after the answer was sent leads to none with an idempotency key, which its fetch can add", async () => {
    const customer = await createCustomer(server);
    const proxy = await openCuttingProxy(server.port, 40);
    const lossy = new Replicate({
      auth: customer.key,
      baseUrl: `${proxy.url}/replicate/v1`,
      fetch: (input: Request | string | URL, init?: RequestInit) =>
        fetch(input, { ...init, headers: { ...init?.headers, "Idempotency-Key": "order-17" } }),
    });
    expect(await lossy.predictions.create({ model: IMAGE, input: SMALL }).catch(() => "lost")).toBe("lost");
    await customer.tasks(1);
    await proxy.close();
    const tasks = await customer.tasks();
    expect(tasks).toHaveLength(1);
    await clientOf(customer.key).wait({ id: String(tasks[0]?.task_id) } as Prediction, { interval: 20 });
    expect(customer.charged()).toBe(CENT);
  });
});

test("Cancel-After holds after the server was killed", async () => {
  const first = await startServer();
  const create = (url: string) =>
    fetch(`${url}/replicate/v1/models/svc/sandbox-image/predictions`, {
      method: "POST",
      headers: {
        ...{ Authorization: `Bearer ${first.firstKey()}`, "Content-Type": "application/json" },
        "Cancel-After": "5s",
      },
      body: JSON.stringify({ input: LASTING }),
    });
  const made = (await (await create(first.url)).json()) as Prediction;
  first.signal("SIGKILL");
  await first.exited;
  const next = await startServer({ folder: first.folder, dataDir: first.dataDir });
  const replicate = clientOf(first.firstKey(), next.url);
  expect(await replicate.wait(made, { interval: 100 })).toMatchObject({ id: made.id, status: "canceled" });
});

describe("an error", () => {
  test("about the key is a 401", async () => {
    const stranger = clientOf("sk-svc-nobody");
    for (const call of [
      () => stranger.predictions.create({ model: IMAGE, input: SMALL }),
      () => stranger.accounts.current(),
    ])
      expect(await failureOf(call())).toMatchObject({ status: 401, body: { title: "Unauthenticated" } });
  });

  test("about money is a 402, and makes nothing", async () => {
    const customer = await createCustomer(server, { credit: "0.001" });
    const failure = await failureOf(clientOf(customer.key).run(IMAGE, { input: SMALL }));
    expect(failure).toMatchObject({ status: 402, body: { title: "Insufficient credit" } });
    expect(await customer.tasks()).toHaveLength(0);
  });

  test("about too many requests is a 429 that says when to come again", async () => {
    const customer = await createCustomer(server, { flags: ["--rpm", "1"] });
    const replicate = clientOf(customer.key);
    const { id } = await replicate.predictions.create({ model: IMAGE, input: SMALL });
    const failure = await failureOf(replicate.predictions.create({ model: IMAGE, input: SMALL }));
    expect(failure).toMatchObject({ status: 429, body: { retry_after: expect.any(Number) } });
    expect((await replicate.predictions.get(id)).id).toBe(id);
  });

  test("about an input, a version or a model names it", async () => {
    const replicate = clientOf(server.firstKey());
    expect(await failureOf(replicate.run(IMAGE, { input: { ...SMALL, gibberish: 1 } }))).toMatchObject({
      ...{ status: 422, body: { invalid_fields: [{ field: "input.gibberish" }] } },
    });
    expect(
      await failureOf(replicate.run(`svc/sandbox-image:${"f".repeat(64)}`, { input: SMALL })),
    ).toMatchObject({
      ...{ status: 422, body: { title: "Invalid version or not permitted" } },
    });
    expect(await failureOf(replicate.run("google/nothing", { input: SMALL }))).toMatchObject({ status: 404 });
  });

  test("about the client's own settings, which it sends instead of an input, says how to have it send the input", async () => {
    const auth = server.firstKey();
    const settings = {
      auth,
      baseUrl: `${server.url}/replicate/v1`,
      fileEncodingStrategy: "data-uri",
    } as const;
    const failure = await failureOf(new Replicate(settings).run(IMAGE, { input: SMALL }));
    expect(failure).toMatchObject({ status: 422, body: { invalid_fields: [{ field: "input" }] } });
    const told = JSON.stringify(failure.body);
    expect(told).toContain("fileEncodingStrategy");
    expect(told).not.toContain(auth);
  });

  test("about another account's prediction is that there is none", async () => {
    const { id } = await clientOf(server.firstKey()).predictions.create({ model: IMAGE, input: SMALL });
    const other = clientOf((await createCustomer(server)).key);
    for (const call of [() => other.predictions.get(id), () => other.predictions.cancel(id)])
      expect(await failureOf(call())).toMatchObject({
        ...{ status: 404, body: { detail: "The requested resource could not be found." } },
      });
  });

  test("about a facade that is off is a 404", async () => {
    const without = await startServer({ args: ["--facades", "openai-videos"] });
    const replicate = clientOf(without.firstKey(), without.url);
    expect((await failureOf(replicate.predictions.create({ model: IMAGE, input: SMALL }))).status).toBe(404);
  });
});

describe("@ai-sdk/replicate", () => {
  const providerOf = ({ key }: Pick<Customer, "key">) =>
    createReplicate({ apiToken: key, baseURL: `${server.url}/replicate/v1` });
  const sandbox = { replicate: { sandbox: SOON } };

  test("makes and edits pictures", async () => {
    const customer = await createCustomer(server);
    const model = providerOf(customer).image(IMAGE);
    const { image } = await generateImage({
      model,
      prompt: "a fox",
      size: "64x64",
      seed: 7,
      providerOptions: sandbox,
    });
    expect(await decode(image.uint8Array)).toMatchObject({ width: 64, height: 64 });
    const picture = new Uint8Array(await plainImage(64, 64));
    const mask = new Uint8Array(await leftHalfMask(64, 64));
    const prompt = { text: "red", images: [picture], mask };
    const edited = await generateImage({ model, prompt, providerOptions: sandbox });
    expect(await decode(edited.image.uint8Array)).toMatchObject({ width: 64, height: 64 });
    const wide = await generateImage({
      model,
      prompt: "a fox",
      aspectRatio: "16:9",
      providerOptions: sandbox,
    });
    expect((await decode(wide.image.uint8Array)).width).toBeGreaterThan(1_000);
    expect(customer.charged()).toBe(3 * CENT);
  });

  test("makes films of words and of a picture, whose create has a key", async () => {
    const customer = await createCustomer(server);
    const model = providerOf(customer).video(VIDEO);
    const picture = new Uint8Array(await plainImage(64, 64));
    for (const prompt of ["a fox", { text: "it runs", image: picture }]) {
      const { video } = await generateVideo({
        ...{ model, prompt, duration: 1, resolution: "640x360", providerOptions: sandbox },
        // It loads nothing from addresses of this machine by itself.
        download: async ({ url }) => ({ data: await bytesOf(url), mediaType: "video/mp4" }),
      });
      const made = await probe(new Uint8Array(video.uint8Array));
      expect(made).toMatchObject({ codec: "avc", width: 640, height: 360 });
    }
    expect(customer.charged()).toBe(2 * 2 * CENT);
  });

  test("is told of a failure", async () => {
    const model = providerOf({ key: server.firstKey() }).image(IMAGE);
    const providerOptions = { replicate: { sandbox: { ...SOON, outcome: "moderated" } } };
    const failed = generateImage({ model, prompt: "a fox", size: "64x64", providerOptions, maxRetries: 0 });
    await expect(failed).rejects.toThrow("content policy");
  });
});
