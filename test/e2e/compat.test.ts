import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Answer, type Api, createApi, download } from "./support/api.ts";
import { formOf } from "./support/forms.ts";
import { colourAt, dataUri, decode, leftHalfMask, plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const GENERATIONS = "/compat/v1/images/generations";
const EDITS = "/compat/v1/images/edits";
const SMALL = { model: "sandbox-image", prompt: "x", size: "32x16", sandbox: { delay_ms: 0 } };
const BLUE = [0x33, 0x66, 0xcc];

let server: Server;
let api: Api;

beforeAll(async () => {
  server = await startServer({ args: ["--alias", "gpt-image-1=sandbox-image", "--long-port", "0"] });
  api = createApi(server.url, server.firstKey());
});

afterAll(stopServers);

/** What the images API answers. */
interface Images {
  readonly created: number;
  readonly data: readonly { readonly b64_json?: string; readonly url?: string }[];
  readonly usage: Readonly<Record<string, unknown>>;
}

const imagesOf = (answer: Answer): Images => {
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return JSON.parse(answer.text) as Images;
};
const bytesOf = (image: Images["data"][number] | undefined) =>
  new Uint8Array(Buffer.from(image?.b64_json ?? "", "base64"));
const generate = (body: object, headers?: Record<string, string>, query = "") =>
  api.send(GENERATIONS + query, { body: { ...SMALL, ...body }, ...(headers && { headers }) });
const errorOf = ({ status, body }: Answer) => [status, body.error?.code, body.error?.param];
const taskCount = async () => (await api.send("/v1/tasks?limit=100")).data.tasks?.length;

const edit = async (form: ReturnType<typeof formOf>): Promise<Answer> => api.send(EDITS, await form);

describe("a generation", () => {
  test("answers with the image itself, the price settled, and usage under both generations of names", async () => {
    const answer = await generate({});
    const { created, data, usage } = imagesOf(answer);
    expect(Math.abs(created - Date.now() / 1000)).toBeLessThan(60);
    expect(data.map((each) => Object.keys(each))).toEqual([["b64_json"]]);
    expect(await decode(bytesOf(data[0]))).toMatchObject({ format: "png", width: 32, height: 16 });
    expect(answer.headers.get("x-request-cost")).toBe("0.010000");
    expect(answer.headers.get("x-task-id")).toMatch(/^task_/);
    expect(usage).toMatchObject({
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      input_tokens: 0,
      output_tokens: 0,
    });
    const task = await api.wait(answer.headers.get("x-task-id") ?? "");
    expect([task.status, task.result?.length]).toEqual(["completed", 1]);
  });

  test("answers with as many images as asked for, by URL when asked for in body or query", async () => {
    for (const answer of [
      await generate({ n: 3, response_format: "url" }),
      await generate({ n: 3 }, undefined, "?response_format=url&api-version=1"),
    ]) {
      const { data } = imagesOf(answer);
      expect(data.map((each) => Object.keys(each))).toEqual([["url"], ["url"], ["url"]]);
      for (const { url } of data) {
        expect(url).toStartWith(`${server.url}/assets/`);
        expect(await decode(await download(url))).toMatchObject({ width: 32, height: 16 });
      }
    }
  });

  test("takes what clients of that API send: null, auto, hd, unknown fields, an alias, two slashes", async () => {
    const body = {
      ...SMALL,
      model: "gpt-image-1",
      n: null,
      quality: "hd",
      background: "auto",
      style: "vivid",
      user: null,
    };
    const { data } = imagesOf(
      await api.send(`/compat/v1//images/generations`, { body: { ...body, output_format: "webp" } }),
    );
    expect((await decode(bytesOf(data[0]))).format).toBe("webp");
    expect((await decode(bytesOf(imagesOf(await generate({ size: "auto" })).data[0]))).width).toBe(1024);
  });

  test("streams an answer too large to hold, byte for byte that of the files", async () => {
    const { data } = imagesOf(await generate({ size: "1024x1024", n: 4 }));
    for (const image of data)
      expect(await decode(bytesOf(image))).toMatchObject({ width: 1024, height: 1024 });
  });

  test("is refused in the compatible envelope, naming the field", async () => {
    expect(errorOf(await generate({ prompt: undefined }))).toEqual([400, "invalid_request", "prompt"]);
    expect(errorOf(await generate({ prompt: "x".repeat(4001) }))).toEqual([400, "invalid_request", "prompt"]);
    expect(errorOf(await generate({ n: 11 }))).toEqual([400, "invalid_request", "n"]);
    expect(errorOf(await generate({ size: "0x0" }))).toEqual([400, "invalid_request", "size"]);
    expect(errorOf(await generate({ background: "transparent" }))).toEqual([
      400,
      "invalid_request",
      "background",
    ]);
    expect(errorOf(await generate({ response_format: "png" }))).toEqual([
      400,
      "invalid_request",
      "response_format",
    ]);
    expect(errorOf(await generate({}, undefined, "?response_format=png"))).toEqual([
      400,
      "invalid_request",
      "response_format",
    ]);
    expect(errorOf(await generate({ stream: "yes" }))).toEqual([400, "invalid_request", "stream"]);
    expect(errorOf(await generate({ model: "no-such-model" }))).toEqual([404, "model_not_found", "model"]);
    expect(errorOf(await generate({ model: "sandbox-video" }))).toEqual([404, "model_not_found", "model"]);
  });

  test("tells whose fault a failed task was, and names the task", async () => {
    const failing = (error_code: string) =>
      generate({ sandbox: { delay_ms: 0, outcome: "failed", error_code } });
    const expected = {
      CONTENT_MODERATED: [400, "content_policy_violation", "false"],
      INPUT_INVALID: [400, "invalid_request", "false"],
      UPSTREAM_REJECTED: [400, "invalid_request", "false"],
      UPSTREAM_CAPACITY_EXHAUSTED: [503, "service_unavailable", "true"],
      UPSTREAM_ERROR: [500, "internal_error", "false"],
      DEADLINE_EXCEEDED: [500, "internal_error", "false"],
    };
    for (const [code, [status, error, retry]] of Object.entries(expected)) {
      const answer = await failing(code);
      expect([answer.status, answer.body.error?.code, answer.headers.get("x-should-retry")]).toEqual([
        status,
        error,
        retry,
      ]);
      expect(answer.body.error?.message).toContain(answer.headers.get("x-task-id") ?? "no task");
    }
  });
});

describe("stream: true", () => {
  const events = async (answer: Answer) =>
    answer.text.split("\n\n").flatMap((block) => {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/m.exec(block) ?? [];
      return name === undefined ? [] : [{ name, data: JSON.parse(data ?? "") as Record<string, unknown> }];
    });

  test("answers with one completed event for each image", async () => {
    const answer = await generate({ stream: true, n: 2 });
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    const [first, second, ...others] = await events(answer);
    expect([first?.name, second?.name, others]).toEqual([
      "image_generation.completed",
      "image_generation.completed",
      [],
    ]);
    expect(first?.data).toMatchObject({
      type: "image_generation.completed",
      size: "32x16",
      output_format: "png",
    });
    expect(await decode(Buffer.from(String(first?.data.b64_json), "base64"))).toMatchObject({
      width: 32,
      height: 16,
    });
  });

  test("tells a failure as an event, and a refused request as an ordinary error", async () => {
    const failed = await events(
      await generate({ stream: true, sandbox: { delay_ms: 0, outcome: "moderated" } }),
    );
    expect(failed).toMatchObject([{ name: "error", data: { error: { code: "content_policy_violation" } } }]);
    expect(errorOf(await generate({ stream: true, n: 0 }))).toEqual([400, "invalid_request", "n"]);
  });
});

describe("an edit", () => {
  const blue = () => plainImage(40, 20);

  test("of an uploaded image under a mask leaves what the mask covers as it was", async () => {
    const form = formOf({ model: "sandbox-image", prompt: "x", sandbox: '{"delay_ms":0}' }, [
      ["image", await blue()],
      ["mask", await leftHalfMask(40, 20)],
    ]);
    const picture = await decode(bytesOf(imagesOf(await edit(form)).data[0]));
    expect([picture.width, picture.height]).toEqual([40, 20]);
    expect(colourAt(picture, 35, 10)).toEqual(BLUE);
    expect(colourAt(picture, 2, 10)).not.toEqual(BLUE);
  });

  test("takes several images, repeated or with brackets, and scalars as text", async () => {
    for (const name of ["image", "image[]"]) {
      const form = formOf(
        { model: "gpt-image-1", prompt: "x", n: "2", size: "24x24", response_format: "url", stream: "false" },
        [
          [name, await blue()],
          [name, await plainImage(40, 20, { colour: "#ff0000", format: "jpeg" })],
        ],
      );
      const { data } = imagesOf(await edit(form));
      expect(data).toHaveLength(2);
      expect(await decode(await download(data[1]?.url))).toMatchObject({ width: 24, height: 24 });
    }
  });

  test("takes JSON with images by address, data URI or result of an earlier call", async () => {
    const first = imagesOf(await generate({ response_format: "url" })).data[0]?.url ?? "";
    const body = { ...SMALL, images: [{ image_url: dataUri(await blue()) }, { image_url: first }] };
    expect(imagesOf(await api.send(EDITS, { body })).data).toHaveLength(1);
    expect(imagesOf(await api.send(EDITS, { body: { ...SMALL, image: first } })).data).toHaveLength(1);
  });

  test("is refused naming the file at fault, and leaves neither a task nor a file", async () => {
    const tasks = await taskCount();
    const image = await blue();
    const mask = await leftHalfMask(40, 20);
    const fields = { model: "sandbox-image", prompt: "x" };
    const eleven = Array.from({ length: 11 }, () => ["image", image] as const);
    const cases: [ReturnType<typeof formOf>, string][] = [
      [formOf(fields, []), "image"],
      [
        formOf(fields, [
          ["image", image],
          ["image", Buffer.from("text")],
        ]),
        "image[1]",
      ],
      [formOf(fields, eleven), "image"],
      [
        formOf(fields, [
          ["image", image],
          ["mask", await plainImage(40, 20)],
        ]),
        "mask",
      ],
      [
        formOf(fields, [
          ["image", image],
          ["mask", await plainImage(40, 20, { format: "jpeg" })],
        ]),
        "mask",
      ],
      [
        formOf(fields, [
          ["image", image],
          ["mask", await leftHalfMask(41, 20)],
        ]),
        "mask",
      ],
      [
        formOf(fields, [
          ["image", image],
          ["mask", mask],
          ["mask", mask],
        ]),
        "mask",
      ],
      [formOf({ ...fields, n: "11" }, [["image", image]]), "n"],
      [formOf({ model: "sandbox-image" }, [["image", image]]), "prompt"],
    ];
    for (const [form, param] of cases)
      expect(errorOf(await edit(form))).toEqual([400, "invalid_request", param]);
    expect(errorOf(await edit(formOf({ ...fields, model: "nope" }, [["image", image]])))).toEqual([
      404,
      "model_not_found",
      "model",
    ]);
    expect(await taskCount()).toBe(tasks);
  });
});

describe("GET /compat/v1/models", () => {
  test("lists image models and their aliases in that API's shape", async () => {
    const list = JSON.parse((await api.send("/compat/v1/models")).text) as {
      object: string;
      data: { id: string }[];
    };
    expect(list.object).toBe("list");
    const ids = list.data.map(({ id }) => id);
    expect(ids).toContain("sandbox-image");
    expect(ids).toContain("gpt-image-1");
    expect(ids).not.toContain("sandbox-video");
    const one = JSON.parse((await api.send("/compat/v1/models/gpt-image-1")).text) as object;
    expect(one).toEqual({
      id: "gpt-image-1",
      object: "model",
      created: expect.any(Number),
      owned_by: "sandbox",
    });
    expect(errorOf(await api.send("/compat/v1/models/nope"))).toEqual([404, "model_not_found", "model"]);
  });
});
