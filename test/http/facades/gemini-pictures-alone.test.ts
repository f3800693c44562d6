import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Json, JsonObject } from "../../../src/domain/json.ts";
import type { Model } from "../../../src/domain/model/model.ts";
import { addEnlarging } from "../../../src/http/facades/gemini/enlarging.ts";
import { wanted } from "../../../src/http/facades/gemini/parameters.ts";
import { decode } from "../../e2e/support/pictures.ts";
import { MODEL } from "../../helpers/engine.ts";
import { png } from "../../helpers/media.ts";
import { createAnswerCheck } from "../../helpers/openapi.ts";
import { openPublished } from "../../helpers/published.ts";
import { type PublishedService, startPublished } from "../openapi-service.ts";

// It waits for pictures.
setDefaultTimeout(30_000);

/** What is known of the bodies that Google's document leaves open; checked 2026-11-27. */
const transcribed = openPublished("gemini/media.transcribed.openapi.json");
let service: PublishedService;
let picture: string;

beforeAll(async () => {
  service = await startPublished();
  picture = Buffer.from(await png(64, 32)).toString("base64");
});

afterAll(() => service.stop());

/** A request below the base, whose answer is what the service's own document says. */
async function call(path: string, body: JsonObject) {
  const target = `/gemini/v1beta/${path}`;
  const headers = { "x-goog-api-key": service.key, "Content-Type": "application/json" };
  const response = await fetch(service.url + target, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  createAnswerCheck(service.document)("POST", target, response.status, response.headers, text);
  return { status: response.status, headers: response.headers, body: JSON.parse(text) as Answer };
}

interface Answer {
  readonly candidates?: readonly { content: { parts: readonly { inlineData: { data: string } }[] } }[];
  readonly predictions?: readonly { bytesBase64Encoded: string; mimeType: string }[];
  readonly steps?: readonly { content: readonly { data: string }[] }[];
  readonly error?: { code: number; message: string };
}

const sizeOf = async (base64: string | undefined) => {
  const { width, height } = await decode(Buffer.from(base64 ?? "", "base64"));
  return `${width}x${height}`;
};
const PREDICTED = [
  ...["paths", "/models/{model}:predict", "post", "responses", "200"],
  ...["content", "application/json", "schema"],
];
const inline = () => ({ inlineData: { mimeType: "image/png", data: picture } });
const upscale = (parameters: JsonObject, model = "sandbox-upscale") =>
  call(`models/${model}:predict`, {
    instances: [{ image: { bytesBase64Encoded: picture, mimeType: "image/png" } }],
    parameters,
  });

test("a picture alone is enough for a model that needs no prompt", async () => {
  const path = "models/sandbox-upscale:generateContent";
  for (const parts of [[inline()], [{ text: " " }, inline()]]) {
    const { status, body } = await call(path, { contents: [{ role: "user", parts }] });
    expect(status).toBe(200);
    expect(await sizeOf(body.candidates?.[0]?.content.parts[0]?.inlineData.data)).toBe("128x64");
  }
  const input = [{ type: "image", data: picture, mime_type: "image/png" }];
  const made = await call("interactions", { model: "sandbox-upscale", input });
  expect(await sizeOf(made.body.steps?.[0]?.content[0]?.data)).toBe("128x64");
});

test("a picture alone is not enough for a model that needs a prompt, and nothing is not for any", async () => {
  const of = async (model: string, parts: readonly JsonObject[]) => {
    const { status, body } = await call(`models/${model}:generateContent`, { contents: [{ parts }] });
    return [status, body.error?.message];
  };
  expect(await of("sandbox-image", [inline()])).toEqual([400, "contents is required."]);
  expect(await of("sandbox-upscale", [{ text: "" }])).toEqual([
    400,
    "contents must have 1 to 4000 characters, got 0.",
  ]);
});

test("upscaleImage makes a picture larger by the factor that is asked for", async () => {
  const sizes: Record<string, string> = {};
  for (const upscaleFactor of ["x2", "x4"]) {
    const { headers, body } = await upscale({
      mode: "upscale",
      sampleCount: 1,
      upscaleConfig: { upscaleFactor },
    });
    expect(transcribed.problems(PREDICTED, body as JsonObject)).toEqual([]);
    expect(headers.get("x-svc-adjusted")).toBeNull();
    sizes[upscaleFactor] = await sizeOf(body.predictions?.[0]?.bytesBase64Encoded);
  }
  expect(sizes).toEqual({ x2: "128x64", x4: "256x128" });
});

test("what cannot be made larger so is refused by its path", async () => {
  const refused: [JsonObject, string, string?][] = [
    [{ mode: "upscale", upscaleConfig: { upscaleFactor: "x3" } }, "parameters.upscaleConfig.upscaleFactor"],
    [
      { mode: "upscale", upscaleConfig: { upscaleFactor: "a lot" } },
      "parameters.upscaleConfig.upscaleFactor",
    ],
    [
      { mode: "upscale", upscaleConfig: { enhanceInputImage: true } },
      "parameters.upscaleConfig.enhanceInputImage",
    ],
    [{ mode: "FOREGROUND" }, "parameters.mode"],
    [{ mode: "upscale" }, "parameters.mode", "sandbox-image"],
    [{ upscaleConfig: { upscaleFactor: "x2" } }, "parameters.upscaleConfig", "sandbox-image"],
  ];
  for (const [parameters, field, model] of refused) {
    const { status, body } = await upscale(parameters, model);
    expect([status, body.error?.message.split(" ")[0]]).toEqual([400, field]);
  }
});

test("a factor is told as adjusted where the model decides how large its picture becomes", () => {
  const of = (properties: JsonObject, factor: Json) => {
    const upscale = { detail: "high" };
    const model: Model = { ...MODEL, schema: { type: "object", properties }, followUps: { upscale } };
    const to = wanted();
    const parameters = { mode: "upscale", upscaleConfig: { upscaleFactor: factor } };
    return { unmet: addEnlarging(model, to, parameters, "parameters")?.unmet, body: to.body };
  };
  expect(of({ detail: {} }, "x2")).toEqual({ unmet: "upscaleFactor", body: { detail: "high" } });
  expect(of({ scale: {} }, "x2")).toEqual({ unmet: undefined, body: { scale: 2, detail: "high" } });
});
