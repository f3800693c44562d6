import { afterEach, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/domain/json.ts";
import type { PollResult } from "../../../src/domain/ports/provider.ts";
import { fetchAll, operationOf, rejection } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { openPublished } from "../../helpers/published.ts";
import { type Scripted, type ScriptedUpstream, startUpstream } from "../../helpers/scripted-upstream.ts";
import { inputFile } from "../sandbox/harness.ts";
import {
  createProvider,
  fieldsOf,
  refusal,
  type Submission,
  startVideoServer,
  videoSubmission,
} from "./harness.ts";

const signal = new AbortController().signal;
const published = openPublished("openai/openapi.json");

const started: ScriptedUpstream[] = [];
afterEach(() => {
  for (const upstream of started.splice(0)) upstream.stop();
});

const CREATED = { json: { id: "video_1", object: "video", status: "queued", progress: 0 } };

/** A server that takes one job, of which its record says this. */
async function setup(record: Scripted = CREATED, path = "") {
  const upstream = await startUpstream(({ method }) => (method === "POST" ? CREATED : record));
  started.push(upstream);
  const clock = fakeClock();
  return { upstream, clock, provider: createProvider({ baseUrl: `${upstream.origin}${path}`, clock }) };
}

/** A job that was taken, and what is asked of it afterwards. */
async function jobOf(record: Scripted) {
  const { provider, upstream, clock } = await setup(record);
  const operation = operationOf(await provider.submit(videoSubmission(), signal));
  return { provider, upstream, clock, operation, poll: async () => provider.poll?.(operation, signal) };
}

const recordOf = (over: JsonObject): Scripted => ({ json: { id: "video_1", object: "video", ...over } });

/** The form that a submission sends. */
async function sent(given: Submission) {
  const { provider, upstream } = await setup();
  const request = videoSubmission(given);
  await provider.submit(request, signal);
  const [arrived] = upstream.arrived;
  if (arrived === undefined) throw new Error("Nothing was sent.");
  return { ...arrived, fields: await fieldsOf(arrived), request };
}

describe("a video", () => {
  test("is asked for with one form, in the API's own names", async () => {
    const { method, path, headers, fields, request } = await sent({
      parameters: { duration: 8, size: "1280x720" },
    });
    expect([method, path]).toEqual(["POST", "/videos"]);
    expect(fields).toEqual({ model: "wan-2.2", prompt: "A red fox", seconds: "8", size: "1280x720" });
    expect(headers.get("idempotency-key")).toBe(request.attempt);
    expect(headers.get("authorization")).toStartWith("Bearer ");
    const place = ["paths", "/videos", "post", "requestBody", "content", "multipart/form-data", "schema"];
    expect(published.problems(place, fields)).toEqual([]);
  });

  test("can begin with an image, which goes along as a file", async () => {
    const inputs = [inputFile("first_frame", new TextEncoder().encode("first"))];
    const { fields } = await sent({ inputs });
    const { input_reference: file, ...rest } = fields as { input_reference: File };
    expect(rest as object).toEqual({ model: "wan-2.2", prompt: "A red fox" });
    expect([file.type, await file.text(), file.name]).toEqual(["image/png", "first", "input-1.png"]);
  });

  test("is worded as its route says", async () => {
    const { fields } = await sent({
      parameters: { duration: 5, negative_prompt: "", generate_audio: false, size: "wide" },
      inputs: [inputFile("video", new TextEncoder().encode("clip"))],
      wording: {
        parameters: {
          duration: { field: "num_frames", values: { "5": 81 } },
          generate_audio: { field: "generate_sound" },
          size: { values: { wide: "1280x720" } },
        },
        inputs: { video: { field: "input_reference", isList: false } },
        constants: { fps: 16 },
      },
    });
    const { input_reference: file, ...rest } = fields as { input_reference: File };
    const worded = {
      num_frames: "81",
      negative_prompt: "",
      generate_sound: "false",
      size: "1280x720",
      fps: "16",
    };
    expect(rest as object).toEqual({ model: "wan-2.2", prompt: "A red fox", ...worded });
    expect(await file.text()).toBe("clip");
  });

  test.each([
    ["two of them", { n: 2 }],
    ["an input that it has no field for", { inputs: [inputFile("mask", new Uint8Array(1))] }],
  ] as [string, Submission][])(
    "with %s is left to another route, before anything is sent",
    async (_, given) => {
      const { provider, upstream } = await setup();
      const error = await rejection(provider.submit(videoSubmission(given), signal));
      expect(error).toMatchObject({ disposition: "reroute" });
      expect(upstream.arrived).toEqual([]);
    },
  );

  test.each([{}, { id: "" }, { id: 7 }, { id: ".." }, { id: "a\nb" }, { id: "x".repeat(1025) }])(
    "that is taken without an id to ask after cannot be used: %j",
    async (json) => {
      const { provider, upstream } = await setup();
      upstream.answer = () => ({ json });
      const error = await rejection(provider.submit(videoSubmission(), signal));
      expect(error).toMatchObject({ disposition: "unusable" });
    },
  );

  test("is asked after and fetched below the path of the base URL, whatever its id looks like", async () => {
    const { provider, upstream } = await setup(recordOf({ status: "completed" }), "/gateway/v1/");
    upstream.answer = ({ method, path }) => {
      if (method === "POST") return { json: { id: "video_a/b=?", status: "queued" } };
      return path.endsWith("/content") ? { body: "bytes" } : recordOf({ status: "completed" });
    };
    const operation = operationOf(await provider.submit(videoSubmission(), signal));
    const end = await provider.poll?.(operation, signal);
    expect(end).toEqual({ kind: "succeeded", outputs: [{ kind: "remote", ref: { video: "video_a/b=?" } }] });
    expect(Buffer.from(await fetchAll(provider, { video: "video_a/b=?" })).toString()).toBe("bytes");
    const paths = upstream.arrived.map(({ path }) => path);
    const own = "/gateway/v1/videos/video_a%2Fb%3D%3F";
    expect(paths).toEqual(["/gateway/v1/videos", own, `${own}/content`]);
  });

  test("that the server keeps in a bucket is fetched there, without the key", async () => {
    const bucket = "https://bucket.example.com/v.mp4?signature=1";
    const asked: string[] = [];
    const upstream = await startUpstream(() => ({ status: 302, headers: { location: bucket }, body: "" }));
    started.push(upstream);
    const provider = createProvider({
      baseUrl: upstream.origin,
      clock: fakeClock(),
      fetchPublic: async (url) => {
        asked.push(url);
        return new Blob(["bytes"]).stream();
      },
    });
    expect(Buffer.from(await fetchAll(provider, { video: "video_1" })).toString()).toBe("bytes");
    expect([asked, upstream.arrived.length]).toEqual([[bucket], 1]);
  });

  test("is fetched with the key", async () => {
    const server = await startVideoServer(() => ({ records: [{ status: "completed" }] }));
    started.push(server);
    const provider = createProvider({ baseUrl: server.origin, clock: fakeClock() });
    await provider.submit(videoSubmission(), signal);
    expect(Buffer.from(await fetchAll(provider, { video: "video_1" })).toString()).toBe("bytes of video_1");
    expect(server.arrived.at(-1)?.headers.get("authorization")).toStartWith("Bearer ");
  });
});

describe("a job", () => {
  test.each([
    [
      { status: "queued", progress: 0 },
      { kind: "pending", progress: 0 },
    ],
    [
      { status: "in_progress", progress: 61 },
      { kind: "pending", progress: 61 },
    ],
    [{ status: "in_progress", progress: 140 }, { kind: "pending" }],
    [{ status: "in_progress", progress: null }, { kind: "pending" }],
    [{ status: "a_new_word" }, { kind: "pending" }],
    [{ status: "cancelled" }, { kind: "cancelled" }],
  ] as [JsonObject, PollResult][])("of which its record says %j is %j", async (record, result) => {
    const { poll } = await jobOf(recordOf(record));
    expect(await poll()).toEqual(result);
  });

  test.each([
    [{ code: "moderation_blocked", message: "Blocked." }, "CONTENT_MODERATED"],
    [{ code: "content_policy_violation", message: "Blocked." }, "CONTENT_MODERATED"],
    [{ code: "rate_limit_exceeded", message: "Later." }, "UPSTREAM_CAPACITY_EXHAUSTED"],
    [{ code: 400, message: "The width must be a multiple of 16." }, "UPSTREAM_REJECTED"],
    [{ code: 500, message: "CUDA out of memory" }, "UPSTREAM_ERROR"],
    [{ code: "a_new_word", message: "?" }, "UPSTREAM_ERROR"],
    [null, "UPSTREAM_ERROR"],
  ] as const)("that failed with %j has failed as %s", async (error, code) => {
    const { poll } = await jobOf(recordOf({ status: "failed", error }));
    expect(await poll()).toMatchObject({ kind: "failed", code });
  });

  test("is lost when the server no longer knows it, but not just after the submission", async () => {
    const { poll, clock } = await jobOf(refusal(404, { message: "Video not found" }));
    expect(await rejection(poll())).toMatchObject({ disposition: "retry" });
    clock.advance(60_000);
    expect(await poll()).toMatchObject({ kind: "failed", code: "UPSTREAM_ERROR", isLost: true });
  });

  test.each([
    [{ status: 404, body: "nginx" }, false],
    [{ status: 500, json: { error: { message: "oops" } } }, false],
    [{ status: 200, json: { id: "video_1" } }, false],
    [{ status: 200, body: "<html>" }, false],
    [{ status: 401, json: { error: { code: "invalid_api_key" } } }, "key"],
  ] as [Scripted, "key" | false][])(
    "of which there is no word is asked after again: %#",
    async (record, refused) => {
      const { poll, clock } = await jobOf(record);
      clock.advance(3_600_000);
      expect(await rejection(poll())).toMatchObject({
        disposition: "retry",
        details: { refused: refused || undefined },
      });
    },
  );

  test("that runs is deleted to end it", async () => {
    const { provider, operation, upstream } = await jobOf(recordOf({ status: "in_progress" }));
    await provider.cancel?.(operation, signal);
    expect(upstream.arrived.slice(1).map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /videos/video_1",
      "DELETE /videos/video_1",
    ]);
  });

  test("that is over is not deleted, because its video would be", async () => {
    const { provider, operation, upstream } = await jobOf(recordOf({ status: "completed" }));
    await provider.cancel?.(operation, signal);
    expect(upstream.arrived.map(({ method }) => method)).toEqual(["POST", "GET"]);
  });

  test("that cannot be deleted says so, and goes on", async () => {
    const { provider, operation, upstream, poll } = await jobOf(recordOf({ status: "in_progress" }));
    const record = upstream.answer;
    upstream.answer = (request) =>
      request.method === "DELETE" ? { status: 405, body: "" } : record(request);
    expect(await rejection(provider.cancel!(operation, signal))).toMatchObject({ disposition: "retry" });
    expect(await poll()).toEqual({ kind: "pending" });
  });
});
