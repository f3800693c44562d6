import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { isJsonObject, type JsonObject } from "../../../src/domain/json.ts";
import { picture as coloured, png } from "../../helpers/media.ts";
import { mp4 } from "../../helpers/media-video.ts";
import { type CheckAnswer, createAnswerCheck } from "../../helpers/openapi.ts";
import { openPublished } from "../../helpers/published.ts";
import { type PublishedService, startPublished } from "../openapi-service.ts";

// It waits for pictures and films.
setDefaultTimeout(30_000);

/** What Google publishes of its API, and what is known of the bodies that it leaves open; checked 2026-11-27. */
const published = openPublished("gemini/openapi.json");
const transcribed = openPublished("gemini/media.transcribed.openapi.json");
let service: PublishedService;
let checkAnswer: CheckAnswer;
let picture: string;

beforeAll(async () => {
  service = await startPublished({ SVC_ALIASES: "fox=sandbox-image", GEMINI_API_KEY: "unused" });
  checkAnswer = createAnswerCheck(service.document);
  picture = Buffer.from(await png(64, 64)).toString("base64");
});

afterAll(() => service.stop());

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: JsonObject;
}

interface Call {
  readonly method?: string;
  readonly body?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string;
}

/** Sends a request below the base, and checks the answer by the service's own document, where its path is in there. */
async function call(path: string, { body, method = "GET", headers = {}, key = service.key }: Call = {}) {
  const target = `/gemini/v1beta/${path}`;
  const asked = body === undefined ? method : "POST";
  const response = await fetch(service.url + target, {
    method: asked,
    headers: {
      "x-goog-api-key": key,
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  checkAnswer(asked, target, response.status, response.headers, text);
  const parsed: unknown = response.headers.get("content-type") === "application/json" ? JSON.parse(text) : {};
  const answer: Answer = {
    ...{ status: response.status, headers: response.headers, text },
    body: isJsonObject(parsed) ? parsed : {},
  };
  if (answer.status >= 400) expectTranscribed("ErrorEnvelope", answer.body);
  return answer;
}

const expectPublished = (name: string, value: JsonObject) =>
  expect(published.problems(["components", "schemas", name], value)).toEqual([]);
const expectTranscribed = (name: string, value: JsonObject) =>
  expect(transcribed.problems(["components", "schemas", name], value)).toEqual([]);

const SOON = { delay_ms: 0 };
/** Ends by being cancelled alone. */
const LASTING = { outcome: "hang" };

/** A body of generateContent. */
const content = (config: JsonObject = {}, parts: readonly JsonObject[] = []): JsonObject => ({
  contents: [{ role: "user", parts: [{ text: "A fox" }, ...parts] }],
  generationConfig: { sandbox: SOON, imageConfig: { imageSize: "512" }, ...config },
});
/** A body of predict or predictLongRunning. */
const instance = (parameters: JsonObject = {}, fields: JsonObject = {}): JsonObject => ({
  instances: [{ prompt: "A fox", ...fields }],
  parameters: { sandbox: SOON, ...parameters },
});

const generate = (body: JsonObject, model = "sandbox-image", more: Call = {}) =>
  call(`models/${model}:generateContent`, { ...more, body });
const predict = (body: JsonObject, model = "sandbox-image") => call(`models/${model}:predict`, { body });
const film = (body: JsonObject, model = "sandbox-video", more: Call = {}) =>
  call(`models/${model}:predictLongRunning`, { ...more, body });

/** The data of an answer of the service's own API. */
async function native(
  path: string,
  { body, method = "GET", key = service.key }: Call = {},
): Promise<JsonObject> {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const asked = body === undefined ? { method } : { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(`${service.url}${path}`, { headers, ...asked });
  return ((await response.json()) as { readonly data: JsonObject }).data;
}

const requestOf = async (task: unknown) => (await native(`/v1/tasks/${task}`)).request as JsonObject;
const taskIn = (name: unknown) => String(name).split("/").at(-1) ?? "";

/** An operation once its task has ended. */
async function ended(name: unknown): Promise<JsonObject> {
  await service.untilEnded(taskIn(name));
  const { body } = await call(String(name));
  expectPublished("Operation", body);
  expectTranscribed("VeoOperation", body);
  return body;
}

const errorOf = ({ status, body }: Answer) => {
  const { details, ...error } = isJsonObject(body.error) ? body.error : {};
  const [, violation] = Array.isArray(details) ? details : [];
  const [first] =
    isJsonObject(violation) && Array.isArray(violation.fieldViolations) ? violation.fieldViolations : [];
  return {
    status,
    word: error.status,
    field: isJsonObject(first) ? first.field : undefined,
    message: String(error.message),
  };
};

function candidatesOf({ body }: Answer): JsonObject[] {
  expectPublished("GenerateContentResponse", body);
  return (body.candidates as JsonObject[] | undefined) ?? [];
}

const sizeOf = (candidate: JsonObject | undefined) => {
  const { parts } = (candidate?.content ?? { parts: [] }) as {
    readonly parts: { inlineData: { mimeType: string; data: string } }[];
  };
  const bytes = Buffer.from(parts[0]?.inlineData.data ?? "", "base64");
  return [parts[0]?.inlineData.mimeType, bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
};

const admin = async (path: string, body: JsonObject) =>
  native(`/admin/v1/${path}`, { body, key: service.token });
let accounts = 0;
/** A key of an account of its own. */
async function keyOf(account: JsonObject, more: JsonObject = {}): Promise<string> {
  accounts += 1;
  const name = `gemini-${accounts}`;
  await admin("accounts", { name, mode: "prepaid", ...account });
  return String((await admin("keys", { name, account: name, ...more })).key);
}

describe("generateContent", () => {
  test("makes a picture for each candidate, in the size that is asked for", async () => {
    const made = await generate(
      content({ candidateCount: 2, imageConfig: { aspectRatio: "16:9", imageSize: "512" }, seed: 7 }),
    );
    expect(made.headers.get("x-request-cost")).toBe("0.020000");
    expect(made.headers.get("x-svc-adjusted")).toBeNull();
    const candidates = candidatesOf(made);
    expect(candidates.map(({ finishReason, index }) => [finishReason, index])).toEqual([
      ["STOP", 0],
      ["STOP", 1],
    ]);
    const [type, width, height] = sizeOf(candidates[0]);
    expect([type, Math.round((Number(width) / Number(height)) * 9)]).toEqual(["image/png", 16]);
    expect(made.body).toMatchObject({ modelVersion: "sandbox-image", usageMetadata: { totalTokenCount: 0 } });
    expect(made.headers.get("x-task-id")).toBe(String(made.body.responseId));
    expect((await requestOf(made.body.responseId)).parameters).toMatchObject({
      seed: 7,
      resolution: "512",
    });
  });

  test("edits the pictures of the last turn, else of the one before that has some", async () => {
    const inlineData = { mimeType: "image/png", data: picture };
    const edited = await generate(
      content({}, [{ inlineData }, { inline_data: { mime_type: "image/png", data: picture } }]),
    );
    expect(candidatesOf(edited)).toHaveLength(1);
    expect(await requestOf(edited.body.responseId)).toMatchObject({
      mode: "image-to-image",
      inputs: [{}, {}],
    });
    const chat = {
      ...content(),
      systemInstruction: { parts: [{ text: "Draw with ink." }] },
      contents: [
        { role: "user", parts: [{ text: "A fox" }] },
        {
          role: "model",
          parts: [
            { text: "Hm.", thought: true },
            { inlineData, thoughtSignature: "x" },
          ],
        },
        { role: "user", parts: [{ text: "Make it blue" }] },
      ],
    };
    const again = await generate(chat);
    expect(await requestOf(again.body.responseId)).toMatchObject({
      ...{ prompt: "Draw with ink.\nMake it blue", mode: "image-to-image", inputs: [{}] },
    });
  });

  test("takes content as Google's client for Python writes it, in the alphabet of URLs", async () => {
    for (const side of [32, 128]) {
      const sent = await coloured(side, side).png({ compressionLevel: 0 }).toBuffer();
      const data = sent.toString("base64").replaceAll("+", "-").replaceAll("/", "_");
      expect(data).toMatch(/-.*_|_.*-/);
      const edited = await generate(content({}, [{ inlineData: { mimeType: "image/png", data } }]));
      const { inputs } = await requestOf(edited.body.responseId);
      expect(inputs).toMatchObject([{ width: side, height: side }]);
    }
  });

  test("takes what it has made as a file", async () => {
    const first = await generate(content());
    const operation = await call(`operations/${first.body.responseId}`);
    expectPublished("Operation", operation.body);
    const { candidates } = operation.body.response as {
      candidates: { content: { parts: { fileData: JsonObject }[] } }[];
    };
    const { fileData } = candidates[0]?.content.parts[0] ?? {};
    const uri = String(fileData?.fileUri);
    for (const fileUri of [uri, uri.replace(/:download.*/, ""), /files\/[a-z0-9]+/.exec(uri)?.[0] ?? ""]) {
      const second = await generate(content({}, [{ fileData: { fileUri } }]));
      expect((await requestOf(second.body.responseId)).mode).toBe("image-to-image");
    }
    const key = await keyOf({ credit: "1.00" });
    const stranger = await generate(content({}, [{ fileData: { fileUri: uri } }]), "sandbox-image", { key });
    expect(errorOf(stranger)).toMatchObject({ status: 400, field: "contents[0].parts[1].fileData.fileUri" });
  });

  test("refuses an address of many names of files without delay", async () => {
    const fileUri = `${"/files/a?".repeat(50_000)}\n`;
    const refused = await generate(content({}, [{ fileData: { fileUri } }]));
    expect(errorOf(refused)).toMatchObject({ status: 400, field: "contents[0].parts[1].fileData.fileUri" });
  }, 5_000);

  test("streams one answer, as an event or as a list", async () => {
    const path = "models/sandbox-image:streamGenerateContent";
    const events = await call(`${path}?alt=sse`, { body: content() });
    expect(events.headers.get("content-type")).toBe("text/event-stream");
    // Google's clients for Python and Go take every line that is not empty for data.
    const [data = "", ...more] = events.text.split("\n").filter((line) => line !== "");
    expect([data.slice(0, 6), more]).toEqual(["data: ", []]);
    expectPublished("GenerateContentResponse", JSON.parse(data.slice(6)));
    const list = await call(path, { body: content() });
    const [only, ...others] = JSON.parse(list.text) as JsonObject[];
    expect(others).toEqual([]);
    expectPublished("GenerateContentResponse", only ?? {});
    const failed = await call(`${path}?alt=sse`, {
      body: content({ sandbox: { ...SOON, outcome: "failed" } }),
    });
    expect(failed.status).toBe(200);
    expect(failed.text).toContain('data: {"error":{"code":500,');
  });

  test("says of content that is refused that it is, at no cost", async () => {
    for (const form of ["generateContent", "streamGenerateContent", "streamGenerateContent?alt=sse"]) {
      const body = content({ sandbox: { ...SOON, outcome: "moderated" } });
      const refused = await call(`models/sandbox-image:${form}`, { body });
      expect(refused.status).toBe(200);
      const text = refused.text.replace(/^[\s\S]*data: /, "");
      const told = [JSON.parse(text)].flat()[0] as JsonObject;
      expectPublished("GenerateContentResponse", told);
      expect(told.candidates).toEqual([
        {
          finishReason: "IMAGE_SAFETY",
          finishMessage: "The provider's content policy refused this request.",
          index: 0,
        },
      ]);
    }
  });

  test("that its caller has left is joined by an equal request, and charged once", async () => {
    const key = await keyOf({ credit: "1.00" });
    const body = content({ sandbox: { delay_ms: 300 } });
    const left = await generate(body, "sandbox-image", { key, headers: { Prefer: "wait=0" } });
    expect(errorOf(left)).toMatchObject({ status: 504, word: "DEADLINE_EXCEEDED" });
    const joined = await generate(body, "sandbox-image", { key });
    expect(joined.headers.get("x-request-cost")).toBe("0.010000");
    const { tasks } = (await native("/v1/tasks", { key })) as { readonly tasks: JsonObject[] };
    expect(tasks.map(({ task_id }) => task_id)).toEqual([joined.body.responseId]);
  });
});

describe("predict", () => {
  test("makes so many pictures, in the size that is asked for", async () => {
    const made = await predict(
      instance({
        sampleCount: 2,
        aspectRatio: "3:4",
        sampleImageSize: "1K",
        outputOptions: { mimeType: "image/jpeg" },
      }),
    );
    const place = [
      "paths",
      "/models/{model}:predict",
      "post",
      "responses",
      "200",
      "content",
      "application/json",
      "schema",
    ];
    expect(transcribed.problems(place, made.body)).toEqual([]);
    const predictions = made.body.predictions as JsonObject[];
    expect(predictions.map(({ mimeType }) => mimeType)).toEqual(["image/jpeg", "image/jpeg"]);
    expect(made.headers.get("x-request-cost")).toBe("0.020000");
  });

  test("edits pictures where a mask says so, and says what it withheld", async () => {
    const reference = (referenceType: string) => ({
      referenceType,
      referenceImage: { bytesBase64Encoded: picture, mimeType: "image/png" },
    });
    const referenceImages = [reference("REFERENCE_TYPE_RAW"), reference("REFERENCE_TYPE_MASK")];
    const made = await predict(instance({ editMode: "EDIT_MODE_INPAINT_INSERTION" }, { referenceImages }));
    expect(await requestOf(made.headers.get("x-task-id"))).toMatchObject({
      mode: "image-to-image-with-mask",
    });
    const broken = { referenceType: "REFERENCE_TYPE_MASK", referenceImage: { bytesBase64Encoded: "AAAA" } };
    const body = instance({}, { referenceImages: [reference("REFERENCE_TYPE_RAW"), broken] });
    expect((await predict(body)).status).toBe(400);
    // Masks are decoded for those alone that can pay.
    const poor = await call("models/sandbox-image:predict", { body, key: await keyOf({}) });
    expect(poor.status).toBe(402);
    const misspelt = await predict({ ...instance(), paramters: { sampleCount: 2 } });
    expect([misspelt.status, JSON.stringify(misspelt.body)]).toEqual([
      400,
      expect.stringContaining('"field":"paramters"'),
    ]);
    const refused = await predict(instance({ sandbox: { ...SOON, outcome: "moderated" } }));
    expect(refused.body).toEqual({
      predictions: [{ raiFilteredReason: "The provider's content policy refused this request." }],
    });
    expect(refused.headers.get("x-request-cost")).toBe("0.000000");
  });
});

describe("a film", () => {
  test("is an operation, whose film is read with the key", async () => {
    const asked = { durationSeconds: 1, aspectRatio: "9:16", sampleCount: 2, seed: 3 };
    const large = await film(instance({ ...asked, resolution: "720P", sandbox: { outcome: "hang" } }));
    expect(large.headers.get("x-request-cost")).toBe("0.080000");
    await call(`${large.body.name}:cancel`, { body: {} });
    const begun = await film(instance(asked));
    expect(Object.keys(begun.body)).toEqual(["name"]);
    expect(begun.headers.get("x-request-cost")).toBe("0.040000");
    const name = String(begun.body.name);
    const under = await call(name);
    expectTranscribed("VeoOperation", under.body);
    expect([under.body.done, under.headers.get("x-request-cost")]).toEqual([undefined, "0.040000"]);
    const operation = await ended(name);
    expect(operation).toMatchObject({
      name,
      done: true,
      metadata: { state: "SUCCEEDED", progressPercent: 100 },
    });
    expect((await call(`operations/${taskIn(name)}`)).body).toEqual(operation);
    const { generateVideoResponse } = operation.response as {
      generateVideoResponse: { generatedSamples: { video: { uri: string } }[] };
    };
    const [first, second] = generateVideoResponse.generatedSamples;
    expect(second).toBeDefined();
    const { pathname, search } = new URL(first?.video.uri ?? "");
    const path = pathname.replace("/gemini/v1beta/", "");
    const whole = await call(path + search);
    expect([whole.status, whole.headers.get("content-type")]).toEqual([200, "video/mp4"]);
    const part = await call(path + search, { headers: { Range: "bytes=0-9" } });
    expect([part.status, part.text.length <= 10]).toEqual([206, true]);
    const byQuery = await fetch(`${first?.video.uri}&key=${service.key}`);
    expect(byQuery.status).toBe(200);
    expect((await fetch(first?.video.uri ?? "")).status).toBe(401);
    const file = await call(path.replace(":download", ""));
    expectPublished("File", file.body);
    expect(file.body).toMatchObject({
      mimeType: "video/mp4",
      source: "GENERATED",
      downloadUri: first?.video.uri,
    });
    const stranger = await call(path + search, { key: await keyOf({ credit: "1.00" }) });
    expect(errorOf(stranger)).toMatchObject({ status: 404, word: "NOT_FOUND" });
    expect(errorOf(await call(`${path}?alt=json`))).toMatchObject({ status: 400, word: "INVALID_ARGUMENT" });
  });

  test("begins and ends with pictures, shows them, or changes another film", async () => {
    const image = { bytesBase64Encoded: picture, mimeType: "image/png" };
    const clip = Buffer.from(await mp4()).toString("base64");
    const cases: [string, JsonObject, string][] = [
      ["sandbox-video", { image }, "image-to-video"],
      [
        "sandbox-video",
        { image: { inlineData: { mimeType: "image/png", data: picture } } },
        "image-to-video",
      ],
      ["sandbox-video-frames", { image, lastFrame: image }, "first-last-frame"],
      [
        "sandbox-video-reference",
        { referenceImages: [{ image, referenceType: "asset" }, { image }] },
        "reference-to-video",
      ],
      ["sandbox-video-edit", { video: { encodedVideo: clip, encoding: "video/mp4" } }, "video-edit"],
    ];
    for (const [model, media, mode] of cases) {
      const { body } = await film(instance({ sandbox: LASTING }, media), model);
      expect(await requestOf(taskIn(body.name))).toMatchObject({ mode });
      expect((await call(`${body.name}:cancel`, { body: {} })).body).toEqual({});
      expect(await ended(body.name)).toMatchObject({
        done: true,
        metadata: { state: "CANCELLED" },
        error: { code: 1 },
      });
    }
  });

  test("that fails or is withheld says why, and costs nothing", async () => {
    const moderated = await film(instance({ sandbox: { ...SOON, outcome: "moderated" } }));
    const withheld = await ended(moderated.body.name);
    expect(withheld.response).toMatchObject({
      generateVideoResponse: {
        raiMediaFilteredCount: 1,
        raiMediaFilteredReasons: ["The provider's content policy refused this request."],
      },
    });
    expect((await call(String(moderated.body.name))).headers.get("x-request-cost")).toBe("0.000000");
    const failing = await film(instance({ sandbox: { ...SOON, outcome: "failed" } }));
    const failed = await ended(failing.body.name);
    expect(failed).toMatchObject({ done: true, error: { code: 13 } });
    expect(failed.response).toBeUndefined();
    const over = await call(`${failing.body.name}:cancel`, { body: {} });
    expect(errorOf(over)).toMatchObject({ status: 400, word: "FAILED_PRECONDITION" });
  });

  test("is read by clients of the enterprise edition with the film itself", async () => {
    const path = "/gemini/v1beta1/publishers/google/models/sandbox-video:predictLongRunning";
    const headers = { "x-goog-api-key": service.key, "Content-Type": "application/json" };
    const body = JSON.stringify(instance({ durationSeconds: 1 }));
    const begun = (await (
      await fetch(service.url + path, { method: "POST", headers, body })
    ).json()) as JsonObject;
    await ended(begun.name);
    const { body: operation } = await call("models/sandbox-video:fetchPredictOperation", {
      body: { operationName: begun.name ?? "" },
    });
    const { videos: films } = operation.response as { readonly videos: { bytesBase64Encoded: string }[] };
    expect(Buffer.from(films[0]?.bytesBase64Encoded ?? "", "base64").toString("latin1", 4, 8)).toBe("ftyp");
  });

  test("that another API has asked for is found, and one of another account is not", async () => {
    const { task_id } = await native("/v1/videos/generations", {
      body: { model: "sandbox-video", prompt: "A fox", duration: 1, sandbox: SOON },
    });
    expect(await ended(`models/sandbox-video/operations/${task_id}`)).toMatchObject({ done: true });
    const key = await keyOf({ credit: "1.00" });
    for (const name of [
      `operations/${task_id}`,
      `models/sandbox-video/operations/${task_id}`,
      "operations/x",
    ])
      expect(errorOf(await call(name, { key }))).toMatchObject({ status: 404, word: "NOT_FOUND" });
    expect(errorOf(await call(`operations/${task_id}:cancel`, { key, body: {} }))).toMatchObject({
      status: 404,
    });
  });

  test("sent again with its idempotency key is one film", async () => {
    const headers = { "Idempotency-Key": "film-1" };
    const [first, second] = [
      await film(instance(), "sandbox-video", { headers }),
      await film(instance(), "sandbox-video", { headers }),
    ];
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("x-idempotent-replay")).toBe("true");
    const other = await film(instance({ durationSeconds: 2 }), "sandbox-video", { headers });
    expect(errorOf(other)).toMatchObject({ status: 409, word: "ABORTED" });
  });
});

describe("models", () => {
  test("are listed page by page with what they can be asked for", async () => {
    const all = await call("models?pageSize=1000");
    expectPublished("ListModelsResponse", all.body);
    const models = all.body.models as JsonObject[];
    const methods = Object.fromEntries(models.map((model) => [model.name, model.supportedGenerationMethods]));
    expect(methods["models/fox"]).toEqual(["generateContent", "streamGenerateContent", "predict"]);
    expect(methods["models/veo3.1"]).toEqual(["predictLongRunning"]);
    expect(methods["models/sandbox-video-motion"]).toBeUndefined();
    const found: JsonObject[] = [];
    for (let token: string | undefined = ""; token !== undefined; ) {
      const { body } = await call(`models?pageSize=5&pageToken=${token}`);
      found.push(...(body.models as JsonObject[]));
      token = body.nextPageToken as string | undefined;
    }
    expect(found).toEqual(models);
    expect(errorOf(await call("models?pageSize=x"))).toMatchObject({ status: 400 });
    expect(errorOf(await call("models?pageToken=x"))).toMatchObject({ status: 400 });
  });

  test("are found by id, alias, Google's own name, and id after gemini-", async () => {
    const baseOf = async (name: string) => (await call(`models/${name}`)).body.baseModelId;
    expect(await baseOf("sandbox-image")).toBe("sandbox-image");
    expect(await baseOf("fox")).toBe("sandbox-image");
    expect(await baseOf("gemini-sandbox-image")).toBe("sandbox-image");
    expect(await baseOf("gemini-3.1-flash-image")).toBe("nano-banana-2");
    expect(await baseOf("veo-3.1-generate-preview")).toBe("veo3.1");
    expect(errorOf(await call("models/gemini-9"))).toMatchObject({ status: 404, word: "NOT_FOUND" });
    expect(errorOf(await generate(content(), "sandbox-video"))).toMatchObject({
      status: 404,
      word: "NOT_FOUND",
    });
    expect(errorOf(await film(instance(), "sandbox-image"))).toMatchObject({
      status: 404,
      word: "NOT_FOUND",
    });
  });
});

describe("an error names the caller's own field", () => {
  const image = { bytesBase64Encoded: "AAAA", mimeType: "image/png" };
  test.each([
    ["generationConfig.imageConfig.imageSize", content({ imageConfig: { imageSize: "9K" } })],
    ["generationConfig.imageConfig.imageSize", content({ imageConfig: { imageSize: "constructor" } })],
    ["generationConfig.imageConfig.imageSize", content({ imageConfig: { imageSize: { toString: [] } } })],
    ["generationConfig.imageConfig.aspectRatio", content({ imageConfig: { aspectRatio: { toString: [] } } })],
    [
      "generationConfig.image_config.aspect_ratio",
      content({ image_config: { aspect_ratio: "7:1" }, imageConfig: null }),
    ],
    ["generationConfig.candidateCount", content({ candidateCount: 99 })],
    ["generationConfig.seed", content({ seed: "x" })],
    ["generationConfig.responseModalities", content({ responseModalities: ["TEXT"] })],
    ["generationConfig.speechConfig", content({ speechConfig: {} })],
    ["tools", { ...content(), tools: [{ googleSearch: {} }] }],
    ["cachedContent", { ...content(), cachedContent: "x" }],
    ["contents", { generationConfig: {} }],
    ["contents", { contents: [{ parts: [] }] }],
    ["contents[0].parts[0]", { contents: [{ parts: [{ functionCall: {} }] }] }],
    ["contents[0].parts[0].text", { contents: [{ parts: [{ text: 7 }] }] }],
    ["contents[0].parts[1].inlineData.data", content({}, [{ inlineData: {} }])],
    ["contents[0].parts[1].fileData.fileUri", content({}, [{ fileData: {} }])],
    [
      "contents[0].parts[1].inlineData.data",
      content({}, [{ inlineData: { mimeType: "image/png", data: "?" } }]),
    ],
    [
      "contents[0].parts[2].inlineData.data",
      content({}, [{ text: "x" }, { inlineData: { mimeType: "image/png", data: "AAAA" } }]),
    ],
    ["contents[0].parts[1].fileData.fileUri", content({}, [{ fileData: { fileUri: "gs://x/y" } }])],
    ["labels.sandbox", { ...content(), labels: { sandbox: "{" } }],
    ["generationConfig", { ...content(), generationConfig: [] }],
  ])("%s in generateContent", async (field, body) => {
    expect(errorOf(await generate(body))).toMatchObject({ status: 400, word: "INVALID_ARGUMENT", field });
  });

  test.each([
    ["instances", {}],
    ["instances", { instances: [{}, {}] }],
    ["instances[0].prompt", instance({}, { prompt: "" })],
    ["parameters.durationSeconds", instance({ durationSeconds: 99 })],
    ["parameters.durationSeconds", instance({ durationSeconds: "x" })],
    ["parameters.aspectRatio", instance({ aspectRatio: "7:1" })],
    // What cannot be made text.
    ["parameters.resolution", instance({ resolution: { toString: [] } })],
    ["parameters.aspectRatio", instance({ aspectRatio: { toString: 1, valueOf: 1 } })],
    ["parameters.resolution", instance({ resolution: "4k" })],
    ["parameters.sampleCount", instance({ sampleCount: 9 })],
    ["parameters.negativePrompt", instance({ negativePrompt: "x" })],
    ["parameters.generateAudio", instance({ generateAudio: true })],
    ["parameters.storageUri", instance({ storageUri: "gs://x" })],
    ["instances[0].lastFrame.bytesBase64Encoded", instance({}, { lastFrame: image })],
    ["instances[0].video.bytesBase64Encoded", instance({}, { video: image })],
    ["instances[0].mask.bytesBase64Encoded", instance({}, { mask: image })],
    [
      "instances[0].referenceImages[0].image.bytesBase64Encoded",
      instance({}, { referenceImages: [{ image }] }),
    ],
    ["instances[0].image.bytesBase64Encoded", instance({}, { image })],
    ["webhookConfig", { ...instance(), webhookConfig: { uris: [] } }],
  ])("%s in predictLongRunning", async (field, body) => {
    expect(errorOf(await film(body))).toMatchObject({ status: 400, word: "INVALID_ARGUMENT", field });
  });

  test("nothing that is empty, as programs send what was not filled in", async () => {
    const begun = await film(
      instance({ negativePrompt: "", safetySettings: [], extras: [], durationSeconds: 1 }),
    );
    expect(begun.status).toBe(200);
    await call(`${begun.body.name}:cancel`, { body: {} });
  });

  test("instances[0].image where a model needs one", async () => {
    expect(errorOf(await film(instance(), "sandbox-video-frames"))).toMatchObject({
      status: 400,
      field: "instances[0].image",
    });
  });
});

describe("an error has Google's words", () => {
  test("for a key that is absent, wrong, or may not do it", async () => {
    const response = await fetch(`${service.url}/gemini/v1beta/models`);
    expect(await response.json()).toMatchObject({ error: { code: 401, status: "UNAUTHENTICATED" } });
    const wrong = await generate(content(), "sandbox-image", { key: "x" });
    expect(errorOf(wrong)).toMatchObject({ status: 401, word: "UNAUTHENTICATED" });
    expect(JSON.stringify(wrong.body)).toContain('"reason":"API_KEY_INVALID"');
    const key = await keyOf({ credit: "1.00" }, { features: ["images"] });
    expect(errorOf(await film(instance(), "sandbox-video", { key }))).toMatchObject({
      status: 403,
      word: "PERMISSION_DENIED",
    });
  });

  test("for a balance that does not suffice, and for too many requests", async () => {
    const poor = await keyOf({});
    expect(errorOf(await film(instance(), "sandbox-video", { key: poor }))).toMatchObject({
      status: 402,
      word: "RESOURCE_EXHAUSTED",
    });
    const key = await keyOf({ credit: "1.00" }, { requests_per_minute: 1 });
    await film(instance(), "sandbox-video", { key });
    const often = await film(instance(), "sandbox-video", { key });
    expect(errorOf(often)).toMatchObject({ status: 429, word: "RESOURCE_EXHAUSTED" });
    const { details } = often.body.error as { readonly details: JsonObject[] };
    expect(details.at(-1)).toEqual({
      "@type": "type.googleapis.com/google.rpc.RetryInfo",
      retryDelay: `${often.headers.get("retry-after")}s`,
    });
  });

  test("for paths and methods that are not there, and bodies that are not JSON", async () => {
    expect(errorOf(await call("nothing"))).toMatchObject({ status: 404, word: "NOT_FOUND" });
    expect(errorOf(await call("models", { method: "DELETE" }))).toMatchObject({
      status: 405,
      word: "UNIMPLEMENTED",
    });
    const headers = { "Content-Type": "text/plain" };
    expect(errorOf(await generate(content(), "sandbox-image", { headers }))).toMatchObject({ status: 415 });
  });
});

test("other versions of the API are the same, and without the facade nothing is there", async () => {
  const headers = { "x-goog-api-key": service.key };
  for (const version of ["v1", "v1alpha", "v1beta1", "v1beta1/publishers/google"]) {
    const response = await fetch(`${service.url}/gemini/${version}/models/sandbox-image`, { headers });
    expect(await response.json()).toMatchObject({ name: "models/sandbox-image" });
  }
  const without = await startPublished({ SVC_FACADES: "openai-videos" });
  try {
    const response = await fetch(`${without.url}/gemini/v1beta/models`, {
      headers: { "x-goog-api-key": without.key },
    });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 404, status: "NOT_FOUND" } });
  } finally {
    await without.stop();
  }
});
