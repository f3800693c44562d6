import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../src/domain/json.ts";
import { type Scripted, type ScriptedUpstream, startUpstream } from "../helpers/scripted-upstream.ts";
import { startServer, stopServers } from "../helpers/server.ts";
import { type Answer, type Api, createApi } from "./support/api.ts";
import { plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const GENERATIONS = "/compat/v1/images/generations";

/** What the upstream says that it made, by the prompt. */
const SAID: Record<string, JsonObject> = {
  "low and wide": { size: "1536x1024", quality: "low", background: "opaque" },
  "medium and square": { size: "1024x1024", quality: "medium" },
  "nothing said": {},
  "a size without a price": { size: "1254x1254", quality: "low" },
  "words unheard of": { size: "huge", quality: "finest" },
};

let openai: ScriptedUpstream;
let api: Api;
/** The last request of each prompt. */
const asked = new Map<string, JsonObject>();

beforeAll(async () => {
  const square = Buffer.from(await plainImage(64, 64)).toString("base64");
  openai = await startUpstream(({ body }): Scripted => {
    const request = JSON.parse(body.toString()) as JsonObject & { prompt: string };
    asked.set(request.prompt, request);
    const { prompt, n } = request;
    const data = Array.from({ length: Number(n) }, () => ({ b64_json: square }));
    return { json: { created: 1, data, size: request.size ?? "auto", ...SAID[prompt] } };
  });
  const server = await startServer({
    env: { OPENAI_API_KEY: "sk-upstream-0123456789", SVC_PROVIDERS_OPENAI_BASE_URL: openai.origin },
  });
  api = createApi(server.url, server.firstKey());
});
afterAll(async () => {
  openai.stop();
  await stopServers();
});

const made = (answer: Answer) => {
  const { size, quality, background, output_format } = JSON.parse(answer.text) as JsonObject;
  return { size, quality, background, output_format };
};
const adjusted = (answer: Answer) => answer.headers.get("x-svc-adjusted");

describe("a size or quality that the model does not have", () => {
  const sandbox = { model: "sandbox-image", prompt: "x", sandbox: { delay_ms: 0 } };

  test.each([
    [{ size: "64x32" }, "64x32", "auto", null],
    [{ size: "64x32", quality: "low" }, "64x32", "low", null],
    [{ size: "64x32", quality: "max" }, "64x32", "high", "quality"],
    [{ size: "64x32", quality: "finest" }, "64x32", "auto", "quality"],
    [{ size: "64x32", output_format: "webp", background: "opaque" }, "64x32", "auto", null],
  ] as [JsonObject, string, string, string | null][])(
    "%j of a model with free sizes",
    async (fields, size, quality, header) => {
      const answer = await api.send(GENERATIONS, { body: { ...sandbox, ...fields } });
      expect([answer.status, adjusted(answer)]).toEqual([200, header]);
      const output_format = fields.output_format ?? "png";
      expect(made(answer)).toMatchObject({ size, quality, output_format });
    },
  );

  test.each([
    ["1792x1024", "1536x1024"],
    ["512x512", "1024x1024"],
    ["300x900", "1024x1536"],
    ["1024x1024", "1024x1024"],
  ])("%s becomes the nearest of a list, %s", async (size, sent) => {
    const body = { model: "gpt-image-2", prompt: "nothing said", quality: "hd", size };
    const answer = await api.send(GENERATIONS, { body });
    expect(answer.status).toBe(200);
    expect(asked.get("nothing said")).toMatchObject({ size: sent, quality: "high" });
    // The upstream of this test draws small squares, whatever it is asked for.
    expect([made(answer).size, adjusted(answer)]).toEqual(["64x64", "size, quality"]);
  });

  test("is told in the events of a stream as well", async () => {
    const body = { ...sandbox, size: "64x32", quality: "finest", stream: true };
    const { text } = await api.send(GENERATIONS, { body });
    const data = /^event: image_generation.completed\ndata: (.*)$/m.exec(text)?.[1] ?? "{}";
    expect(JSON.parse(data)).toMatchObject({ size: "64x32", quality: "auto", adjusted: ["quality"] });
  });

  test("is refused below /v1, where nothing is adjusted", async () => {
    for (const wrong of [{ size: "512x512" }, { quality: "finest" }]) {
      const { status, data } = await api.create({ model: "gpt-image-2", prompt: "nothing said", ...wrong });
      expect([status, data.param]).toEqual([400, Object.keys(wrong)[0]]);
    }
  });
});

describe("the price of automatic sizes and qualities", () => {
  test.each([
    ["low and wide", {}, "0.211000", "0.005000"],
    ["medium and square", {}, "0.211000", "0.053000"],
    ["nothing said", {}, "0.211000", "0.211000"],
    ["a size without a price", {}, "0.211000", "0.006000"],
    ["words unheard of", {}, "0.211000", "0.211000"],
    ["low and wide", { quality: "low" }, "0.006000", "0.005000"],
    ["low and wide", { quality: "high", size: "1024x1024" }, "0.211000", "0.211000"],
    ["medium and square", { n: 2 }, "0.422000", "0.106000"],
  ])("%s, %j: %s is held, %s is charged", async (prompt, fields, held, charged) => {
    const created = await api.create({ model: "gpt-image-2", prompt, ...fields });
    expect(created.headers.get("x-request-cost")).toBe(held);
    const task = await api.wait(created.data.task_id ?? "");
    expect([task.status, task.usage?.cost]).toEqual(["completed", charged]);
  });

  test("is estimated as a range, up to what is held", async () => {
    const estimate = async (fields: JsonObject) => {
      const body = { model: "gpt-image-2", ...fields };
      const { data } = JSON.parse((await api.send("/v1/pricing/estimate", { body })).text) as {
        data: JsonObject;
      };
      return [data.status, data.min_cost, data.max_cost];
    };
    expect(await estimate({})).toEqual(["range", "0.005000", "0.211000"]);
    expect(await estimate({ quality: "high" })).toEqual(["range", "0.165000", "0.211000"]);
    expect(await estimate({ quality: "high", size: "1024x1024" })).toEqual(["exact", "0.211000", "0.211000"]);
  });

  test("comes with what was made in the synchronous answer", async () => {
    const answer = await api.send(GENERATIONS, { body: { model: "gpt-image-2", prompt: "low and wide" } });
    expect(answer.headers.get("x-request-cost")).toBe("0.005000");
    expect(made(answer)).toEqual({
      size: "64x64",
      quality: "low",
      background: "opaque",
      output_format: "png",
    });
    expect(adjusted(answer)).toBeNull();
  });
});
