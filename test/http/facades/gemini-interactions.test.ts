import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../../../src/domain/json.ts";
import { png } from "../../helpers/media.ts";
import { mp4 } from "../../helpers/media-video.ts";
import { type CheckAnswer, createAnswerCheck } from "../../helpers/openapi.ts";
import { openPublished } from "../../helpers/published.ts";
import { type PublishedService, startPublished } from "../openapi-service.ts";

// It waits for pictures and films.
setDefaultTimeout(30_000);

/** What is known of Google's bodies; checked 2026-11-29. */
const transcribed = openPublished("gemini/media.transcribed.openapi.json");
let service: PublishedService;
let checkAnswer: CheckAnswer;
let picture: string;

beforeAll(async () => {
  service = await startPublished({ SVC_ALIASES: "fox=sandbox-image" });
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

/** Sends a request, and checks the answer by the service's own document and by what is known of Google's. */
async function call(path = "", { body, headers = {}, key = service.key, ...more }: Call = {}) {
  const target = `/gemini/v1beta/interactions${path}`;
  const method = more.method ?? (body === undefined ? "GET" : "POST");
  const response = await fetch(service.url + target, {
    ...{ method, headers: { "x-goog-api-key": key, "Content-Type": "application/json", ...headers } },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  checkAnswer(method, target, response.status, response.headers, text);
  const parsed: unknown = response.headers.get("content-type") === "application/json" ? JSON.parse(text) : {};
  const answer: Answer = {
    ...{ status: response.status, headers: response.headers, text },
    body: isJsonObject(parsed) ? parsed : {},
  };
  if (answer.status >= 400) expectTranscribed("ErrorEnvelope", answer.body);
  else if ("status" in answer.body) expectTranscribed("Interaction", answer.body);
  return answer;
}

const expectTranscribed = (name: string, value: JsonObject) =>
  expect(transcribed.problems(["components", "schemas", name], value)).toEqual([]);

const SOON = { delay_ms: 0 };
/** Ends by being cancelled alone. */
const LASTING = { outcome: "hang" };
const SIZE = { type: "image", image_size: "512" };

/** A body that makes a picture at once. */
const asked = (more: JsonObject = {}, sandbox: JsonObject = SOON): JsonObject => ({
  ...{ model: "sandbox-image", input: "A fox", response_format: SIZE, generation_config: { sandbox } },
  ...more,
});
const film = (more: JsonObject = {}, sandbox: JsonObject = SOON) =>
  asked({ model: "sandbox-video", response_format: { type: "video", duration: "1s" }, ...more }, sandbox);
const create = (body: JsonObject, more: Call = {}) => call("", { ...more, body });

const contentOf = ({ body }: Answer) => {
  const steps = body.steps as { readonly type: string; readonly content: JsonObject[] }[];
  return steps.flatMap(({ type, content }) => (type === "model_output" ? content : []));
};
const bytesOf = (content: JsonObject | undefined) => Buffer.from(String(content?.data ?? ""), "base64");

const errorOf = ({ status, body }: Answer) => {
  const { details, ...error } = isJsonObject(body.error) ? body.error : {};
  const [, violation] = Array.isArray(details) ? details : [];
  const [first] =
    isJsonObject(violation) && Array.isArray(violation.fieldViolations) ? violation.fieldViolations : [];
  return { status, word: error.status, field: isJsonObject(first) ? first.field : undefined };
};

/** The data of an answer of the service's own API. */
async function native(path: string, body?: JsonObject, key = service.key): Promise<JsonObject> {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(`${service.url}${path}`, { headers, ...sent });
  return ((await response.json()) as { readonly data: JsonObject }).data;
}

const requestOf = async ({ headers }: Answer) =>
  (await native(`/v1/tasks/${headers.get("x-task-id")}`)).request as JsonObject;

/** An interaction once its task has ended. */
async function ended({ body }: Answer): Promise<Answer> {
  await service.untilEnded(String(body.id));
  return call(`/${body.id}`);
}

let accounts = 0;
/** A key of an account of its own. */
async function keyOf(account: JsonObject, more: JsonObject = {}): Promise<string> {
  accounts += 1;
  const name = `interactions-${accounts}`;
  await native("/admin/v1/accounts", { name, mode: "prepaid", ...account }, service.token);
  return String((await native("/admin/v1/keys", { name, account: name, ...more }, service.token)).key);
}

const image = () => ({ type: "image", data: picture, mime_type: "image/png" });

describe("a picture that is waited for", () => {
  test("is in the answer, in the size that is asked for", async () => {
    const made = await create(asked({ response_format: { ...SIZE, aspect_ratio: "16:9" }, seed: 7 }));
    const [content, ...others] = contentOf(made);
    const bytes = bytesOf(content);
    expect([content?.type, content?.mime_type, content?.uri, others]).toEqual([
      ...["image", "image/png", undefined, []],
    ]);
    expect(Math.round((bytes.readUInt32BE(16) / bytes.readUInt32BE(20)) * 9)).toBe(16);
    const { id, status, model, usage } = made.body;
    expect({ id, status, model, usage }).toEqual({
      ...{ id: made.headers.get("x-task-id"), status: "completed", model: "sandbox-image" },
      usage: { total_input_tokens: 0, total_output_tokens: 0, total_tokens: 0 },
    });
    expect(made.headers.get("x-request-cost")).toBe("0.010000");
    expect(await requestOf(made)).toMatchObject({ prompt: "A fox", parameters: { seed: 7 } });
  });

  test("is at an address if that is asked for, and in another format", async () => {
    const delivery = { delivery: "uri", mime_type: "image/jpeg" };
    const [content] = contentOf(
      await create(asked({ response_format: [{ type: "text" }, { ...SIZE, ...delivery }] })),
    );
    expect(content).toEqual({ type: "image", mime_type: "image/jpeg", uri: expect.any(String) });
    const headers = { "x-goog-api-key": service.key };
    const read = await fetch(String(content?.uri), { headers });
    expect([read.status, read.headers.get("content-type")]).toEqual([200, "image/jpeg"]);
    const again = await create(asked({ input: ["Blue", { type: "image", uri: content?.uri ?? "" }] }));
    expect((await requestOf(again)).mode).toBe("image-to-image");
  });

  test("is of the last turn of the user, and of the pictures of a turn before", async () => {
    const content = [{ type: "text", text: "Make it blue" }];
    for (const input of [
      [
        { type: "user_input", content: [{ type: "text", text: "A fox" }] },
        { type: "thought", summary: [{ type: "text", text: "Hm." }] },
        { type: "model_output", content: [image()] },
        { type: "user_input", content },
      ],
      [
        { role: "user", content: "A fox" },
        { role: "model", content: [image()] },
        { role: "user", content },
      ],
      [...content, image()],
    ]) {
      const made = await create(asked({ input, system_instruction: "Draw with ink." }));
      expect(await requestOf(made)).toMatchObject({
        ...{ prompt: "Draw with ink.\nMake it blue", mode: "image-to-image", inputs: [{ width: 64 }] },
      });
    }
    const one = await create(asked({ input: { type: "text", text: "A hare" } }));
    expect((await requestOf(one)).prompt).toBe("A hare");
  });

  test("is made of what the previous interaction made, unless the input has pictures", async () => {
    const first = await create(asked());
    const previous_interaction_id = String(first.body.id);
    const second = await create(asked({ input: "Make it blue", previous_interaction_id }));
    const { inputs, mode } = await requestOf(second);
    const made = bytesOf(contentOf(first)[0]);
    expect({ inputs, mode }).toMatchObject({
      ...{ mode: "image-to-image", inputs: [{ width: made.readUInt32BE(16) }] },
    });
    const third = await create(asked({ input: ["Blue", image()], previous_interaction_id }));
    expect((await requestOf(third)).inputs).toMatchObject([{ width: 64 }]);
    const key = await keyOf({ credit: "1.00" });
    expect(errorOf(await create(asked({ previous_interaction_id }), { key })).status).toBe(404);
    const lasting = await create(asked({ background: true }, LASTING));
    const early = await create(asked({ previous_interaction_id: lasting.body.id ?? "" }));
    expect(errorOf(early)).toMatchObject({ status: 400, field: "previous_interaction_id" });
  });

  test("has no id where it is not to be stored, and is kept as a task", async () => {
    const made = await create(asked({ store: false }));
    expect([made.body.id, made.body.status]).toEqual([undefined, "completed"]);
    expect((await call(`/${made.headers.get("x-task-id")}`)).status).toBe(200);
  });

  test("fails as an interaction, at no cost", async () => {
    for (const [outcome, code] of [
      ["failed", "UPSTREAM_ERROR"],
      ["moderated", "CONTENT_MODERATED"],
    ] as const) {
      const failed = await create(asked({}, { ...SOON, outcome }));
      expect(failed.headers.get("x-request-cost")).toBe("0.000000");
      const { status, steps, errors } = failed.body;
      expect({ status, steps, errors }).toEqual({
        ...{ status: "failed", steps: [], errors: [{ code, message: expect.any(String) }] },
      });
      expect((await call(`/${failed.body.id}`)).body).toEqual(failed.body);
    }
  });

  test("is polled where the wait has ended, also if it is not stored", async () => {
    const headers = { Prefer: "wait=0" };
    const late = await create(asked({ store: false }, LASTING), { headers });
    expect(late.body).toMatchObject({ id: late.headers.get("x-task-id"), status: "in_progress", steps: [] });
    expect(late.headers.get("x-request-cost")).toBe("0.010000");
    expect((await call(`/${late.body.id}`)).body).toEqual(late.body);
  });

  test("is one with its idempotency key", async () => {
    const headers = { "Idempotency-Key": "picture-1" };
    const [first, second] = [await create(asked(), { headers }), await create(asked(), { headers })];
    expect([second.body.id, second.headers.get("x-idempotent-replay")]).toEqual([first.body.id, "true"]);
    const other = await create(asked({ input: "A hare" }), { headers });
    expect(errorOf(other)).toMatchObject({ status: 409, word: "ABORTED" });
  });
});

/** The events of a stream, with their names. */
const eventsIn = ({ text }: Answer) =>
  [...text.matchAll(/^event: (.*)\ndata: (.*)$/gm)].map(([, name, data = ""]) => {
    const fields = data === "[DONE]" ? {} : (JSON.parse(data) as JsonObject);
    return [name, fields] as const;
  });

describe("a stream", () => {
  test("tells of the interaction, its picture and its end", async () => {
    const made = await create(asked({ stream: true, background: true }));
    expect(made.headers.get("content-type")).toBe("text/event-stream");
    const id = made.headers.get("x-task-id");
    const events = eventsIn(made);
    expect(events.map(([name]) => name)).toEqual([
      ...["interaction.created", "interaction.status_update", "step.start", "step.delta", "step.stop"],
      ...["interaction.completed", "done"],
    ]);
    for (const [name, { event_type }] of events.slice(0, -1)) expect(event_type).toBe(String(name));
    const [created, , , delta, , completed] = events.map(([, fields]) => fields);
    expect(created?.interaction).toEqual({
      ...{ id, object: "interaction", model: "sandbox-image", status: "in_progress" },
    });
    const content = delta?.delta as JsonObject;
    expect(content).toMatchObject({ type: "image", mime_type: "image/png" });
    expect(bytesOf(content).toString("latin1", 1, 4)).toBe("PNG");
    expect(completed?.interaction).toMatchObject({ id, status: "completed" });
  });

  test("ends with what became of a task that failed", async () => {
    const failed = eventsIn(await create(asked({ stream: true }, { ...SOON, outcome: "failed" })));
    expect(failed.slice(2)).toMatchObject([
      ["error", { error: { code: "UPSTREAM_ERROR" } }],
      ["interaction.completed", { interaction: { status: "failed" } }],
      ["done", {}],
    ]);
  });

  test("ends with an error where the task goes on", async () => {
    const headers = { Prefer: "wait=0" };
    const late = eventsIn(
      await create(asked({ stream: true, input: "A late fox" }, { delay_ms: 500 }), { headers }),
    );
    expect(late.slice(2)).toMatchObject([
      ["error", { error: { code: "SYNC_IMAGE_TIMEOUT" } }],
      ["done", {}],
    ]);
  });
});

describe("in the background", () => {
  test("a picture is begun, read once it is made, and deleted", async () => {
    const begun = await create(
      asked({ background: true, response_format: { ...SIZE, aspect_ratio: "3:4" } }),
    );
    expect(begun.body).toMatchObject({ status: "in_progress", model: "sandbox-image", steps: [] });
    expect(begun.headers.get("x-request-cost")).toBe("0.010000");
    const read = await ended(begun);
    const [content] = contentOf(read);
    expect(Object.keys(content ?? {})).toEqual(["type", "mime_type", "uri", "data"]);
    expect(read.body).toMatchObject({ id: begun.body.id, status: "completed" });
    expect((await call(`/${begun.body.id}`, { method: "DELETE" })).body).toEqual({});
    expect(errorOf(await call(`/${begun.body.id}`))).toMatchObject({ status: 404, word: "NOT_FOUND" });
  });

  test("a task whose file is lost is read with its address alone", async () => {
    const begun = await create(asked({ background: true, input: "A fox that is lost" }));
    const bytes = bytesOf(contentOf(await ended(begun))[0]);
    const sha256 = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
    const folder = join(service.dataDir, "assets", "sha256", sha256.slice(0, 2));
    rmSync(join(folder, sha256));
    const read = await call(`/${begun.body.id}`);
    expect(read.body.status).toBe("completed");
    expect(Object.keys(contentOf(read)[0] ?? {})).toEqual(["type", "mime_type", "uri"]);
  });

  test("a video is made as its format says, without being told to", async () => {
    const format = {
      type: "video",
      aspect_ratio: "9:16",
      resolution: "360p",
      duration: "1s",
      delivery: "uri",
    };
    const begun = await create(film({ response_format: format }));
    expect(begun.body.status).toBe("in_progress");
    expect((await requestOf(begun)).parameters).toMatchObject({
      ...{ duration: 1, aspect_ratio: "9:16", resolution: "360p" },
    });
    const [content] = contentOf(await ended(begun));
    expect(content).toMatchObject({ type: "video", mime_type: "video/mp4" });
    const headers = { "x-goog-api-key": service.key };
    const bytes = await (await fetch(String(content?.uri), { headers })).bytes();
    expect(Buffer.from(bytes)).toEqual(bytesOf(content));
  });

  test("a video takes pictures and videos by what they are for", async () => {
    const clip = { type: "video", data: Buffer.from(await mp4()).toString("base64"), mime_type: "video/mp4" };
    const task = (name: string) => ({ generation_config: { sandbox: SOON, video_config: { task: name } } });
    const none = { response_format: { type: "video" } };
    for (const [model, files, more, mode] of [
      ["sandbox-video", [image()], {}, "image-to-video"],
      ["sandbox-video", [image(), image()], {}, "image-to-video"],
      ["sandbox-video-frames", [image(), image()], {}, "first-last-frame"],
      ["sandbox-video-reference", [image()], task("reference_to_video"), "reference-to-video"],
      ["sandbox-video-edit", [clip], none, "video-edit"],
      ["sandbox-video-edit", [clip], { ...task("extend"), response_format: { type: "video" } }, "video-edit"],
    ] as const) {
      const begun = await create(film({ model, input: ["Waves", ...files], ...more }));
      expect((await requestOf(begun)).mode).toBe(mode);
    }
  });

  test("a video goes on with what an interaction made", async () => {
    const still = await create(asked());
    const moving = await create(film({ previous_interaction_id: still.body.id ?? "" }));
    expect((await requestOf(moving)).mode).toBe("image-to-video");
    await service.untilEnded(String(moving.body.id));
    const restyled = await create(
      film({
        ...{ model: "sandbox-video-edit", response_format: { type: "video" } },
        previous_interaction_id: moving.body.id ?? "",
      }),
    );
    expect((await requestOf(restyled)).mode).toBe("video-edit");
    const drawn = await create(asked({ previous_interaction_id: moving.body.id ?? "" }));
    expect(errorOf(drawn)).toMatchObject({ status: 400, field: "previous_interaction_id" });
  });

  test("a task is cancelled, and told as cancelled", async () => {
    const begun = await create(film({}, LASTING));
    expect(errorOf(await call(`/${begun.body.id}`, { method: "DELETE" }))).toMatchObject({
      ...{ status: 400, word: "FAILED_PRECONDITION" },
    });
    const cancelled = await call(`/${begun.body.id}/cancel`, { body: {} });
    expect(cancelled.body.id).toBe(begun.body.id ?? "");
    const read = await ended(begun);
    expect(read.body).toMatchObject({ status: "cancelled", steps: [], errors: [{ code: "CANCELLED" }] });
    expect(read.headers.get("x-request-cost")).toBe("0.000000");
  });

  test("a task is one with its idempotency key, as it stands", async () => {
    const headers = { "Idempotency-Key": "film-1" };
    const first = await create(film(), { headers });
    await service.untilEnded(String(first.body.id));
    const second = await create(film(), { headers });
    expect(second.headers.get("x-idempotent-replay")).toBe("true");
    expect(second.body).toMatchObject({ id: first.body.id, status: "completed" });
  });

  test("a task that came by another API is found, and one of another account is not", async () => {
    const { task_id } = await native("/v1/videos/generations", {
      ...{ model: "sandbox-video", prompt: "A fox", duration: 1, sandbox: SOON },
    });
    await service.untilEnded(String(task_id));
    expect(contentOf(await call(`/${task_id}`))).toHaveLength(1);
    const key = await keyOf({ credit: "1.00" });
    for (const [path, more] of [
      ...[[`/${task_id}`, {}] as const, ["/x", {}] as const, [`/${task_id}/cancel`, { body: {} }] as const],
      [`/${task_id}`, { method: "DELETE" }] as const,
    ])
      expect(errorOf(await call(path, { ...more, key }))).toMatchObject({ status: 404, word: "NOT_FOUND" });
  });
});

describe("is refused, naming the field:", () => {
  const format = (more: JsonObject) => ({ response_format: { type: "image", ...more } });
  test.each([
    [asked({ agent: "deep-research" }), "agent"],
    [asked({ tools: [{ type: "google_search" }] }), "tools"],
    [asked({ response_modalities: ["text"] }), "response_modalities"],
    [asked({ response_format: { type: "text" } }), "response_format.type"],
    [asked(format({ image_size: "9K" })), "response_format.image_size"],
    [asked(format({ delivery: "post" })), "response_format.delivery"],
    [asked(format({ duration: "8s" })), "response_format.duration"],
    [
      asked({ generation_config: { image_config: { image_size: "9K" } }, response_format: null }),
      "generation_config.image_config.image_size",
    ],
    [asked({ generation_config: { loudness: 3 } }), "generation_config.loudness"],
    [asked({ webhook_config: { uris: ["https://a.example"] } }), "webhook_config"],
    [asked({ input: [{ type: "audio", data: "AAAA" }] }), "input[0].type"],
    [asked({ input: [{ type: "function_result", content: "x" }] }), "input[0].type"],
    [asked({ input: ["Hop", { type: "video", data: "AAAA" }] }), "input[1].data"],
    [asked({ input: ["Hop", { type: "image", data: "AAAA" }] }), "input[1].data"],
    [asked({ input: ["Hop", { type: "image", mime_type: "image/png" }] }), "input[1].data"],
    [asked({ background: true, callback_url: "http://127.0.0.1/" }), "callback_url"],
    [asked({ input: "" }), "input"],
    [asked({ input: [] }), "input"],
    [asked({ model: "" }), "model"],
    [asked({ background: "yes" }), "background"],
    [asked({ background: true, store: false }), "store"],
    [asked({ background: true, ...format({ image_size: "9K" }) }), "response_format.image_size"],
    [film({ store: false }), "store"],
    [film({ stream: true }), "stream"],
    [film({ response_format: { type: "video", duration: "99s" } }), "response_format.duration"],
    [film({ model: "sandbox-video-frames" }), "input"],
    [
      film({ generation_config: { video_config: { task: "extend" } } }),
      "generation_config.video_config.task",
    ],
    [
      film({ generation_config: { video_config: { task: "upscale" } } }),
      "generation_config.video_config.task",
    ],
  ])("%j", async (body, field) => {
    expect(errorOf(await create(body))).toEqual({ status: 400, word: "INVALID_ARGUMENT", field });
  });

  test("a stream of what was", async () => {
    expect(errorOf(await call("/x?stream=true"))).toMatchObject({ status: 400, field: "stream" });
  });
});

describe("is refused in Google's words:", () => {
  test("a key that is unknown, poor, or not for it, and a model that is not there", async () => {
    expect(errorOf(await create(asked(), { key: "sk-svc-nobody" }))).toMatchObject({
      ...{ status: 401, word: "UNAUTHENTICATED" },
    });
    const poor = await keyOf({ credit: "0.001" });
    for (const body of [asked(), asked({ background: true }), film()])
      expect(errorOf(await create(body, { key: poor }))).toMatchObject({
        ...{ status: 402, word: "RESOURCE_EXHAUSTED" },
      });
    const images = await keyOf({ credit: "1.00" }, { features: ["images"] });
    for (const body of [asked(), film()])
      expect(errorOf(await create(body, { key: images }))).toMatchObject({
        ...{ status: 403, word: "PERMISSION_DENIED" },
      });
    expect((await create(asked({ background: true }), { key: images })).status).toBe(200);
    expect(errorOf(await create(asked({ model: "nope" })))).toMatchObject({ status: 404, word: "NOT_FOUND" });
  });

  test.each(["fox", "models/sandbox-image", "gemini-sandbox-image"])("but not the name %s", async (model) => {
    expect((await create(asked({ model }))).body.model).toBe("sandbox-image");
  });
});
