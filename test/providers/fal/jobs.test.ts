import { afterEach, describe, expect, test } from "bun:test";
import type { PollResult } from "../../../src/domain/ports/provider.ts";
import { fetchAll, operationOf, rejection } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { openPublished } from "../../helpers/published.ts";
import { type Scripted, type ScriptedUpstream, startUpstream } from "../../helpers/scripted-upstream.ts";
import {
  COMPLETED,
  createProvider,
  IN_PROGRESS,
  imagesAt,
  JOB,
  modelError,
  queued,
  startQueue,
  submission,
} from "./harness.ts";

const signal = new AbortController().signal;
const protocol = openPublished("fal/queue.transcribed.openapi.json");

const started: ScriptedUpstream[] = [];
afterEach(() => {
  for (const upstream of started.splice(0)) upstream.stop();
});

async function open(answer: ScriptedUpstream["answer"]) {
  const upstream = await startUpstream(answer);
  started.push(upstream);
  const clock = fakeClock();
  return { upstream, clock, provider: createProvider({ baseUrl: upstream.origin, clock }) };
}

/** How a job ends whose status and result are these. */
async function endOf(
  status: Scripted,
  result: Scripted = { json: {} },
  given = submission(),
): Promise<PollResult> {
  const { provider, upstream } = await open(({ method, path }) => {
    if (method === "POST") return queued(upstream.origin);
    return path.includes("/status") ? status : result;
  });
  const operation = operationOf(await provider.submit(given, signal));
  return (await provider.poll?.(operation, signal)) as PollResult;
}

const uri = (text: string) => `data:image/png;base64,${btoa(text)}`;

test("a file at a host that fal's documentation does not name is fetched as any public file, without the key", async () => {
  const url = "https://storage.example.com/falserverless/a.png";
  const asked: string[] = [];
  const provider = createProvider({
    baseUrl: "https://queue.example.com",
    clock: fakeClock(),
    fetchPublic: async (address) => {
      asked.push(address);
      return new Blob(["bytes"]).stream();
    },
  });
  expect(Buffer.from(await fetchAll(provider, { url, kind: "image" })).toString()).toBe("bytes");
  expect(asked).toEqual([url]);
});

describe("a job", () => {
  test("is asked after at the queue's own addresses, as they were given", async () => {
    const { provider, upstream } = await open(({ method }) =>
      method === "POST"
        ? queued(upstream.origin, JOB, { status_url: `${upstream.origin}/given/status?x=1` })
        : IN_PROGRESS,
    );
    const operation = operationOf(await provider.submit(submission(), signal));
    expect(await provider.poll?.(operation, signal)).toEqual({ kind: "pending" });
    expect(upstream.arrived.map(({ path }) => path)).toEqual(["/fal-ai/flux/dev", "/given/status?x=1"]);
  });

  test("whose addresses are at another host is asked after where its documentation says", async () => {
    const elsewhere = await startUpstream(() => COMPLETED);
    started.push(elsewhere);
    for (const origin of [
      elsewhere.origin,
      "https://queue.fal.run.evil.example",
      "http://user@127.0.0.1",
      "file:///etc",
    ]) {
      const { provider, upstream } = await open(({ method }) =>
        method === "POST" ? queued(origin, JOB) : IN_PROGRESS,
      );
      const operation = operationOf(await provider.submit(submission(), signal));
      await provider.poll?.(operation, signal);
      await provider.cancel?.(operation, signal);
      expect(upstream.arrived.slice(1).map(({ method, path }) => `${method} ${path}`)).toEqual([
        `GET /fal-ai/flux/requests/${JOB}/status`,
        `PUT /fal-ai/flux/requests/${JOB}/cancel`,
      ]);
    }
    expect(elsewhere.arrived).toEqual([]);
  });

  test("stored with addresses elsewhere is none, and gets no key", async () => {
    const elsewhere = await startUpstream(() => COMPLETED);
    started.push(elsewhere);
    const { provider } = await open(() => COMPLETED);
    const at = `${elsewhere.origin}/requests/1`;
    const handle = { request_id: "1", status_url: at, response_url: at, cancel_url: at, submitted_at: 0 };
    for (const ask of [provider.poll, provider.cancel]) {
      expect(await rejection(ask!(handle, signal))).toMatchObject({ disposition: "fail" });
    }
    expect(elsewhere.arrived).toEqual([]);
  });

  test.each([
    [{ json: { status: "COMPLETED", error: "Too slow", error_type: "request_timeout" } }, "UPSTREAM_TIMEOUT"],
    [{ json: { status: "COMPLETED", error_type: "startup_timeout" } }, "UPSTREAM_TIMEOUT"],
    [
      { json: { status: "COMPLETED", error_type: "runner_scheduling_failure" } },
      "UPSTREAM_CAPACITY_EXHAUSTED",
    ],
    [{ json: { status: "COMPLETED", error: "Gone", error_type: "runner_disconnected" } }, "UPSTREAM_ERROR"],
    [{ json: { status: "COMPLETED", error: "?", error_type: "a_new_word" } }, "UPSTREAM_ERROR"],
  ] as [Scripted, string][])(
    "that is over with an error in its status has failed: %#",
    async (status, code) => {
      expect(await endOf(status)).toMatchObject({ kind: "failed", code });
    },
  );

  test.each([
    [422, modelError("content_policy_violation", "Flagged."), "CONTENT_MODERATED"],
    [422, modelError("no_media_generated", "Nothing."), "UPSTREAM_ERROR"],
    [422, modelError("image_too_small", "Too small.", ["body", "image_url"]), "UPSTREAM_REJECTED"],
    [422, modelError("one_of", "Must be one of 1, 2."), "UPSTREAM_REJECTED"],
    [400, modelError("downstream_service_error", "x"), "UPSTREAM_ERROR"],
    [500, modelError("downstream_service_unavailable", "x"), "UPSTREAM_ERROR"],
    [504, modelError("generation_timeout", "x"), "UPSTREAM_TIMEOUT"],
    [503, { detail: "x", error_type: "runner_connection_timeout" }, "UPSTREAM_ERROR"],
    [500, { detail: "x", error_type: "internal_error" }, "UPSTREAM_ERROR"],
  ] as const)("whose result is %d %j has failed as %s", async (status, json, code) => {
    expect(await endOf(COMPLETED, { status, json })).toMatchObject({ kind: "failed", code });
  });

  test("whose status only knows that it failed has the reason its result gives", async () => {
    const status = { json: { status: "COMPLETED", error: "Invalid status code: 422" } };
    const result = { status: 422, json: modelError("content_policy_violation", "Flagged.") };
    const detail = 'fal answered 422 content_policy_violation "prompt: Flagged."';
    expect(await endOf(status, result)).toEqual({ kind: "failed", code: "CONTENT_MODERATED", detail });
  });

  test("whose result is that it was cancelled has been, whatever else is said", async () => {
    for (const json of [{}, { detail: "Cancelled" }, modelError("client_cancelled", "Cancelled")]) {
      expect(await endOf(COMPLETED, { status: 499, json })).toEqual({ kind: "cancelled" });
    }
    const status = { json: { status: "COMPLETED", error: "Cancelled", error_type: "client_cancelled" } };
    expect(await endOf(status)).toEqual({ kind: "cancelled" });
  });

  test("that failed for its input says which field was wrong", async () => {
    const result = { status: 422, json: modelError("image_too_small", "Too small.", ["body", "image_url"]) };
    expect(await endOf(COMPLETED, result)).toEqual({
      kind: "failed",
      code: "UPSTREAM_REJECTED",
      message: "The provider refused this request: image_url: Too small.",
      detail: 'fal answered 422 image_too_small "image_url: Too small."',
    });
  });

  test.each([
    { status: 429, json: { detail: "Too many requests" } },
    { status: 401, json: { detail: "x", error_type: "auth_error" } },
    { status: 403, json: { detail: "User is locked. Reason: Exhausted balance." } },
    { status: 502, body: "" },
    { status: 504, body: "" },
    { status: 400, json: { detail: "Request is still in progress" } },
    { status: 404, json: { detail: "Request not found", error_type: "not_found" } },
  ] as Scripted[])("whose result cannot be had for now has not failed: %#", async (result) => {
    const { provider, upstream } = await open(({ method, path }) => {
      if (method === "POST") return queued(upstream.origin);
      return path.includes("/status") ? COMPLETED : result;
    });
    const operation = operationOf(await provider.submit(submission(), signal));
    expect(await rejection(provider.poll!(operation, signal))).toMatchObject({ disposition: "retry" });
  });

  test("that is done and whose result the queue does not know yet is asked for again, however long ago it began", async () => {
    const { provider, upstream, clock } = await open(({ method, path }) => {
      if (method === "POST") return queued(upstream.origin);
      return path.includes("/status") ? COMPLETED : { status: 404, json: { detail: "Request not found" } };
    });
    const operation = operationOf(await provider.submit(submission(), signal));
    clock.advance(3_600_000);
    expect(await rejection(provider.poll!(operation, signal))).toMatchObject({ disposition: "retry" });
  });

  test.each(["COMPLETED", "IN_QUEUE"])(
    "of which the queue says what another job is, %s, is asked after again",
    async (status) => {
      const json = { status, request_id: "another", error: "It fell over.", error_type: "internal_error" };
      expect(await rejection(endOf({ json }))).toMatchObject({ disposition: "retry" });
    },
  );

  test("whose result is no JSON is done, and asked for again a few times", async () => {
    const { provider, upstream } = await open(({ method, path }) => {
      if (method === "POST") return queued(upstream.origin);
      return path.includes("/status") ? COMPLETED : { status: 200, body: "<html>" };
    });
    const operation = operationOf(await provider.submit(submission(), signal));
    expect(await rejection(provider.poll!(operation, signal))).toMatchObject({ disposition: "unusable" });
  });

  test.each([60_000, -3_600_000])(
    "the queue does not know has failed, once that is certain: after %d ms",
    async (laterMs) => {
      const gone = { status: 404, json: { detail: "Request not found", error_type: "not_found" } };
      const { provider, upstream, clock } = await open(({ method }) =>
        method === "POST" ? queued(upstream.origin) : gone,
      );
      const operation = operationOf(await provider.submit(submission(), signal));
      expect(await rejection(provider.poll!(operation, signal))).toMatchObject({ disposition: "retry" });
      clock.advance(laterMs);
      expect(await provider.poll!(operation, signal)).toMatchObject({
        kind: "failed",
        code: "UPSTREAM_ERROR",
      });
      upstream.answer = () => ({ status: 404, body: "<html>no such site" });
      expect(await rejection(provider.poll!(operation, signal))).toMatchObject({ disposition: "retry" });
    },
  );

  test("that the queue lost word of but has the result of has succeeded", async () => {
    const { provider, upstream, clock } = await open(({ method, path }) => {
      if (method === "POST") return queued(upstream.origin);
      if (path.includes("/status")) return { status: 404, json: { detail: "Request not found" } };
      return imagesAt(() => upstream.origin, 1);
    });
    const operation = operationOf(await provider.submit(submission(), signal));
    clock.advance(60_000);
    expect(await provider.poll!(operation, signal)).toMatchObject({ kind: "succeeded" });
  });

  test.each([
    [200, { success: true }],
    [202, { status: "CANCELLATION_REQUESTED" }],
    [400, { status: "ALREADY_COMPLETED" }],
    [404, { status: "NOT_FOUND" }],
  ])("can be cancelled, whatever the queue says of it: %d", async (status, json) => {
    const { provider, upstream } = await open(({ method }) =>
      method === "POST" ? queued(upstream.origin) : { status, json },
    );
    const operation = operationOf(await provider.submit(submission(), signal));
    await provider.cancel?.(operation, signal);
    expect(upstream.arrived.at(-1)?.method).toBe("PUT");
  });

  test("whose cancelling fails on the way can be cancelled again", async () => {
    const { provider, upstream } = await open(({ method }) =>
      method === "POST" ? queued(upstream.origin) : { status: 503, body: "" },
    );
    const operation = operationOf(await provider.submit(submission(), signal));
    expect(await rejection(provider.cancel!(operation, signal))).toMatchObject({ disposition: "retry" });
  });
});

describe("outputs", () => {
  test.each([
    [{ images: [{ url: "https://v3.fal.media/a.png" }] }, "image"],
    [{ image: { url: "https://v3.fal.media/a.png" } }, "image"],
    [{ video: { url: "https://v3.fal.media/a.mp4" } }, "video"],
    [{ videos: [{ url: "https://v3.fal.media/a.mp4" }] }, "video"],
  ])("are found where models put them: %#", async (json, kind) => {
    expect(await endOf(COMPLETED, { json })).toMatchObject({
      kind: "succeeded",
      outputs: [{ kind: "remote", ref: { kind } }],
    });
  });

  test.each(["image", "video"] as const)("are those of the kind that was asked for: %s", async (kind) => {
    const json = {
      image: { url: "https://v3.fal.media/a.png" },
      video: { url: "https://v3.fal.media/a.mp4" },
    };
    const given = submission();
    const request = { ...given, request: { ...given.request, kind } };
    expect(await endOf(COMPLETED, { json }, request)).toEqual({
      kind: "succeeded",
      outputs: [{ kind: "remote", ref: { url: json[kind].url, kind } }],
    });
  });

  test("that came inline are bytes", async () => {
    const end = await endOf(COMPLETED, { json: { images: [{ url: uri("picture") }] } });
    expect(end).toEqual({ kind: "succeeded", outputs: [{ kind: "bytes", bytes: Buffer.from("picture") }] });
  });

  test("that were blackened are missing, and are moderation when none is left", async () => {
    const result = (flags: boolean[]) =>
      imagesAt(() => "https://v3.fal.media", 2, { has_nsfw_concepts: flags });
    const outputs = [
      { kind: "missing", code: "CONTENT_MODERATED" },
      { kind: "remote", ref: { url: "https://v3.fal.media/files/1.png", kind: "image" } },
    ] as const;
    expect(await endOf(COMPLETED, result([true, false]))).toEqual({ kind: "succeeded", outputs });
    expect(await endOf(COMPLETED, result([true, true]))).toEqual({
      kind: "failed",
      code: "CONTENT_MODERATED",
      isCharged: true,
    });
  });

  test("that another answer takes the place of are asked for again", async () => {
    for (const json of [{}, { status: "error", detail: "temporary" }, { images: [] }, { video: null }])
      await expect(endOf(COMPLETED, { json })).rejects.toMatchObject({ disposition: "unusable" });
  });

  test("without an address are a failure", async () => {
    const json = { images: [{}] };
    expect(await endOf(COMPLETED, { json })).toMatchObject({ kind: "failed", code: "UPSTREAM_ERROR" });
  });

  test("are fetched without the key", async () => {
    const queue = await startQueue(() => ({ statuses: [COMPLETED], result: { json: {} } }));
    started.push(queue);
    const provider = createProvider({ baseUrl: queue.origin, clock: fakeClock() });
    const bytes = await fetchAll(provider, { url: `${queue.origin}/files/0.png`, kind: "image" });
    expect(Buffer.from(bytes).toString()).toBe("bytes of /files/0.png");
    expect(queue.arrived[0]?.headers.get("authorization")).toBeNull();
  });
});

const STATUS = ["paths", "/{owner}/{alias}/requests/{request_id}/status", "get", "responses"];

describe.skipIf(!protocol.isHere)("the queue's own examples", () => {
  test.each([
    ["in-queue", { kind: "pending" }],
    ["in-progress", { kind: "pending" }],
    ["completed", { kind: "succeeded" }],
    ["completed-with-error", { kind: "failed", code: "UPSTREAM_TIMEOUT" }],
  ])("of a status, %s, are understood", async (name, end) => {
    const json = protocol.at([...STATUS, "200", "content", "application/json", "examples", name, "value"]);
    expect(json).toBeDefined();
    expect(
      await endOf(
        { json },
        imagesAt(() => "https://v3.fal.media", 1),
      ),
    ).toMatchObject(end);
  });

  test("of both forms of an error are understood", async () => {
    const example = (name: string) => protocol.at(["components", "schemas", name, "example"]);
    const moderated = await endOf(COMPLETED, { status: 422, json: example("ModelError") });
    expect(moderated).toMatchObject({ kind: "failed", code: "CONTENT_MODERATED" });
    const slow = await endOf(COMPLETED, { status: 504, json: example("RequestError") });
    expect(slow).toMatchObject({ kind: "failed", code: "UPSTREAM_TIMEOUT" });
  });

  test("are what the scripted queue answers", async () => {
    const queue = await startQueue(() => ({ statuses: [IN_PROGRESS], result: { json: {} } }));
    started.push(queue);
    const response = await fetch(`${queue.origin}/fal-ai/flux`, { method: "POST", body: "{}" });
    const schema = (name: string) => ["components", "schemas", name];
    expect(protocol.problems(schema("InQueue"), await response.json())).toEqual([]);
    const status = await fetch(`${queue.origin}/fal-ai/flux/requests/job-1/status`);
    expect(protocol.problems(schema("InProgress"), await status.json())).toEqual([]);
  });
});
