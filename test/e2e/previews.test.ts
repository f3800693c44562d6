import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import OpenAI, { toFile } from "openai";
import { type ScriptedUpstream, startUpstream } from "../helpers/scripted-upstream.ts";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi, download } from "./support/api.ts";
import { createCustomer } from "./support/customer.ts";
import { readDatabase } from "./support/database.ts";
import { openEvents } from "./support/event-stream.ts";
import { decode, plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const MODEL = "gpt-image-2";
/** Long enough that two versions are drawn on a busy machine, each before the next. */
const SLOW = { delay_ms: 5_000 };
/** The same for three versions. */
const SLOWER = { delay_ms: 9_000 };
const IMAGE = { model: "sandbox-image", prompt: "dunes", size: "512x256", sandbox: SLOW };

let server: Server;
let api: Api;

beforeAll(async () => {
  server = await startServer({ args: ["--alias", `${MODEL}=sandbox-image`] });
  api = createApi(server.url, server.firstKey());
  // The first picture of a process takes longest.
  await api.make({ ...IMAGE, sandbox: { delay_ms: 0 } });
});

afterAll(stopServers);

interface Preview {
  readonly task_id: string;
  readonly index: number;
  readonly output_index?: number;
  readonly media_type: string;
  readonly b64_json: string;
}

/** The events of a task from now on, checked against the document by `send`. */
async function follow(id: string, from: Api = api) {
  const { text } = await from.send(`/v1/tasks/${id}/events`);
  const events = text
    .split("\n\n")
    .filter((block) => block.includes("event: "))
    .map((block) => ({
      id: /^id: (.*)$/m.exec(block)?.[1],
      name: /^event: (.*)$/m.exec(block)?.[1] ?? "",
      data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? "null"),
    }));
  return {
    events,
    previews: events.flatMap(({ name, data }) => (name === "preview" ? [data as Preview] : [])),
  };
}

const pictureOf = ({ b64_json }: { b64_json?: string }) => decode(Buffer.from(b64_json ?? "", "base64"));

describe("the events of a task", () => {
  test.concurrent("show early versions when it was made with partial_images, without an id, between its states", async () => {
    const id = await api.accept({ ...IMAGE, partial_images: 3, sandbox: SLOWER });
    const { events, previews } = await follow(id);
    expect(events.at(-1)?.name).toBe("completed");
    expect(previews.map(({ b64_json: _, ...rest }) => rest)).toEqual(
      [0, 1, 2].map((index) => ({ task_id: id, index, output_index: 0, media_type: "image/png" })),
    );
    const sizes = await Promise.all(previews.map(pictureOf));
    expect(sizes.map(({ width, height }) => [width, height])).toEqual([
      [96, 48],
      [192, 96],
      [384, 192],
    ]);
    expect(events.filter(({ id: number }) => number === undefined)).toHaveLength(3);
    const numbers = events.flatMap(({ id: number }) => (number === undefined ? [] : [Number(number)]));
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    // Whoever comes later gets none.
    expect((await follow(id)).events.map(({ name }) => name)).toEqual(["completed"]);
  });

  test.concurrent("show the same versions of the same request, and none unasked", async () => {
    const made = await Promise.all(
      [{ partial_images: 1 }, { partial_images: 1 }, { partial_images: 0 }, {}].map(async (wish) =>
        follow(await api.accept({ ...IMAGE, ...wish })),
      ),
    );
    const [first, second, third, fourth] = made.map(({ previews }) =>
      previews.map(({ b64_json }) => b64_json),
    );
    expect(first).toHaveLength(1);
    expect(second).toEqual(first ?? []);
    expect([third, fourth]).toEqual([[], []]);
  });

  test.concurrent("of a task cancelled after one end with that, and show no further", async () => {
    const id = await api.accept({ ...IMAGE, partial_images: 2, sandbox: { ...SLOW, outcome: "hang" } });
    const headers = { Authorization: `Bearer ${api.key}` };
    const { body } = await fetch(`${api.url}/v1/tasks/${id}/events`, { headers, keepalive: false });
    let text = "";
    for await (const piece of body ?? []) {
      const isFirst = !text.includes("event: preview");
      text += Buffer.from(piece).toString();
      if (isFirst && text.includes("event: preview"))
        await api.send(`/v1/tasks/${id}/cancel`, { method: "POST" });
    }
    const names = [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
    // The request to cancel is a state of its own, which a slow reader may miss.
    const states = names.slice(names.lastIndexOf("preview") + 1);
    expect(states.filter((name) => name !== "processing")).toEqual(["cancelled"]);
    expect(names.filter((name) => name === "preview")).toHaveLength(1);
  });

  test.concurrent("are refused more than three, by name", async () => {
    for (const wish of [4, -1, 1.5, "2"]) {
      const { status, data } = await api.create({ ...IMAGE, partial_images: wish });
      expect([status, data.param]).toEqual([400, "partial_images"]);
    }
  });
});

test.concurrent("early versions are kept nowhere", async () => {
  const other = await startServer();
  const client = createApi(other.url, other.firstKey());
  const id = await client.accept({ ...IMAGE, partial_images: 2 });
  const { previews } = await follow(id, client);
  expect(previews).toHaveLength(2);
  const files = readdirSync(join(other.dataDir, "assets", "sha256"), {
    recursive: true,
    withFileTypes: true,
  });
  expect(files.filter((file) => file.isFile())).toHaveLength(1);
  expect(readdirSync(join(other.dataDir, "sandbox", "files"))).toEqual([]);
});

describe("the openai client", () => {
  const body = { model: MODEL, prompt: "dunes", size: "512x256" as "512x512", sandbox: SLOW };

  test.concurrent("reads them of a generation, and then the picture", async () => {
    const openai = new OpenAI({ baseURL: `${server.url}/compat/v1`, apiKey: server.firstKey() });
    const stream = await openai.images.generate({ ...body, stream: true, partial_images: 2 });
    const events = await Array.fromAsync(stream);
    expect(events.map(({ type }) => type)).toEqual([
      "image_generation.partial_image",
      "image_generation.partial_image",
      "image_generation.completed",
    ]);
    const partial = events.flatMap((event) =>
      event.type === "image_generation.partial_image" ? [event] : [],
    );
    expect(partial.map((event) => event.partial_image_index)).toEqual([0, 1]);
    expect(partial[0]).toMatchObject({
      ...{ size: "512x256", quality: "auto", background: "auto", output_format: "png" },
      created_at: expect.any(Number),
    });
    const pictures = await Promise.all(events.map(pictureOf));
    expect(pictures.map(({ width }) => width)).toEqual([96, 192, 512]);
  });

  test.concurrent("reads them of an edit", async () => {
    const openai = new OpenAI({ baseURL: `${server.url}/compat/v1`, apiKey: server.firstKey() });
    const image = await toFile(await plainImage(300, 150), "picture.png", { type: "image/png" });
    const stream = await openai.images.edit({
      ...{ model: MODEL, image, prompt: "in winter", stream: true, partial_images: 1 },
      ...{ sandbox: JSON.stringify(SLOW) },
    });
    const events = await Array.fromAsync(stream as AsyncIterable<OpenAI.ImageEditStreamEvent>);
    expect(events.map(({ type }) => type)).toEqual(["image_edit.partial_image", "image_edit.completed"]);
    const pictures = await Promise.all(events.map(pictureOf));
    expect(pictures.map(({ width, height }) => [width, height])).toEqual([
      [96, 48],
      [300, 150],
    ]);
  });

  test.concurrent("is refused more than three, and is asked nothing about them when nothing is streamed", async () => {
    const openai = new OpenAI({
      baseURL: `${server.url}/compat/v1`,
      apiKey: server.firstKey(),
      maxRetries: 0,
    });
    const quick = { ...body, sandbox: { delay_ms: 0 } };
    const refused = await openai.images
      .generate({ ...quick, stream: true, partial_images: 4 })
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 400, param: "partial_images" });
    const answer = await openai.images.generate({ ...quick, partial_images: 2 });
    expect(answer.data).toHaveLength(1);
  });
});

describe("through a provider of the images API", () => {
  const request = { model: MODEL, prompt: "dunes", size: "1024x1024", quality: "low", partial_images: 2 };

  test.concurrent("they come from one instance to the other, and are paid for by the one who asked", async () => {
    const behind = await createCustomer(server);
    const front = await startServer({
      env: { OPENAI_API_KEY: behind.key, OPENAI_BASE_URL: behind.baseUrl },
      args: ["--no-sandbox", "--openai-idempotent"],
    });
    const customer = await createCustomer(front);
    const id = await customer.api.accept(request);
    const { events, previews } = await follow(id, customer.api);
    expect(events.at(-1)).toMatchObject({ name: "completed", data: { usage: { cost: "0.012000" } } });
    // How many of them are ready before the picture, which takes a moment only, is another matter.
    expect(previews.length).toBeLessThanOrEqual(2);
    for (const preview of previews) expect(await pictureOf(preview)).toMatchObject({ format: "png" });
    const wishes = readDatabase<{ wish: number }>(
      server.dataDir,
      `SELECT json_extract(request, '$.parameters.partial_images') AS wish FROM task JOIN account ON account.id = account_id
       WHERE account.name = '${behind.name}'`,
    );
    expect(wishes).toEqual([{ wish: 2 }]);
    expect([customer.charged(), customer.held()]).toEqual([12_000, 0]);
    expect(await behind.tasks()).toHaveLength(1);
    const unasked = await customer.api.accept({ ...request, partial_images: 0 });
    expect((await follow(unasked, customer.api)).previews).toEqual([]);
    expect(customer.charged()).toBe(18_000);
  });

  describe("that misbehaves", () => {
    let upstream: ScriptedUpstream;
    let front: Api;
    let picture: string;
    /** What is shown before the picture. */
    let early: string[] = [];
    let isCut = false;
    let watched = Promise.withResolvers<void>();

    /** The events of a task whose upstream shows nothing before they are watched. */
    async function followFromStart() {
      watched = Promise.withResolvers<void>();
      const id = await front.accept(request);
      const following = follow(id, front);
      // Asked for later: when this stream has begun, so has the other one.
      const second = await openEvents(front, `/v1/tasks/${id}/events`);
      await second.next();
      second.cut();
      watched.resolve();
      return await following;
    }

    beforeAll(async () => {
      picture = Buffer.from(await plainImage(64, 64)).toString("base64");
      upstream = await startUpstream(() => async (socket) => {
        socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n");
        await watched.promise;
        for (const event of early) {
          socket.write(event);
          await Bun.sleep(100);
        }
        socket.end(isCut ? "event: image_gen" : sse("image_generation.completed", { b64_json: picture }));
      });
      const { url, firstKey } = await startServer({
        env: { OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: upstream.origin },
        args: ["--no-sandbox"],
      });
      front = createApi(url, firstKey());
    });
    afterAll(() => upstream.stop());

    const sse = (type: string, data: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
    const partial = (index: unknown, b64_json: unknown) =>
      sse("image_generation.partial_image", { partial_image_index: index, b64_json });

    test("what is no image, too large or numbered wrongly is not shown, and harms nothing", async () => {
      const large = Buffer.alloc(8 * 1024 * 1024 + 1);
      large.set(Buffer.from(picture, "base64"));
      early = [
        partial(0, btoa("<svg onload='alert(1)'/>")),
        partial(1, large.toString("base64")),
        partial(7, picture),
        partial("x", picture),
        "data: {\n\n",
        partial(1, picture),
      ];
      const { events, previews } = await followFromStart();
      expect(events.at(-1)?.name).toBe("completed");
      expect(previews.map(({ index, b64_json }) => [index, b64_json])).toEqual([[1, picture]]);
      const [url] = events.at(-1)?.data.result ?? [];
      expect(Buffer.from(await download(url)).toString("base64")).toBe(picture);
    });

    test("a stream that ends after an early version is not sent again, and costs its caller nothing", async () => {
      early = [partial(0, picture)];
      isCut = true;
      const before = upstream.arrived.length;
      const { events, previews } = await followFromStart();
      isCut = false;
      expect(events.at(-1)).toMatchObject({ name: "failed", data: { error_code: "OUTCOME_UNKNOWN" } });
      expect(previews).toHaveLength(1);
      expect(upstream.arrived).toHaveLength(before + 1);
    });
  });
});
