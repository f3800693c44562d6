import { afterEach, describe, expect, test } from "bun:test";
import { isJsonObject, type Json, type JsonObject } from "../../../src/domain/json.ts";
import { ProviderError, type SubmitRequest } from "../../../src/domain/ports/provider.ts";
import type { MediaInput } from "../../../src/domain/task/request.ts";
import { rejection } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import type { Scripted } from "../../helpers/scripted-upstream.ts";
import { taskId } from "../../helpers/store.ts";
import { inputFile } from "../sandbox/harness.ts";
import {
  accepted,
  createProvider,
  done,
  type Instance,
  refused,
  startInstance,
  submission,
  success,
  task,
} from "./harness.ts";

const signal = new AbortController().signal;
const HOOK = "http://front.example.com:8787/hooks/token";
const started: Instance[] = [];
afterEach(() => {
  for (const instance of started.splice(0)) instance.stop();
});

async function open(plan: (body: JsonObject) => { readonly states: readonly Scripted[] } | Scripted) {
  const instance = await startInstance(plan);
  started.push(instance);
  return { instance, provider: createProvider({ baseUrl: instance.origin, clock: fakeClock() }) };
}

/** What a task's states come to, asked after once. */
async function ended(state: Scripted) {
  const { provider } = await open(() => ({ states: [state] }));
  const taken = await provider.submit(submission(), signal);
  if (taken.kind !== "operation") throw new Error("It is no task.");
  return provider.poll?.(taken.operation, signal);
}

/** The body that a submission sends. */
async function sent(request: SubmitRequest): Promise<JsonObject> {
  const { instance, provider } = await open(() => ({ states: [] }));
  await provider.submit(request, signal);
  return instance.creates[0] ?? {};
}

describe("a create", () => {
  test("has the attempt for its key, and says how many instances have passed it on", async () => {
    const { instance, provider } = await open(() => ({ states: [] }));
    const request = submission({ hops: 2, parameters: { size: "64x64", seed: 0 } });
    const taken = await provider.submit(request, signal);
    expect(taken).toEqual({
      kind: "operation",
      operation: { id: taskId(1), kind: "image" },
      jobId: taskId(1),
      isHooked: false,
    });
    const [{ method, path, headers } = expect.unreachable("Nothing was sent.")] = instance.arrived;
    expect([method, path]).toEqual(["POST", "/v1/images/generations"]);
    expect([headers.get("idempotency-key"), headers.get("x-svc-hops")]).toEqual([request.attempt, "3"]);
    expect(instance.creates).toEqual([{ model: "sandbox-image", prompt: "A fox", size: "64x64", seed: 0 }]);
    expect(provider.submitIsIdempotent).toBe(true);
  });

  test("of a video goes to the path of videos, and n along where it is not one", async () => {
    const { instance, provider } = await open(() => ({ states: [] }));
    await provider.submit(submission({ kind: "video", n: 2 }), signal);
    expect(instance.arrived[0]?.path).toBe("/v1/videos/generations");
    expect(instance.creates[0]).toMatchObject({ n: 2 });
  });

  test("has its files in the fields that the caller gave them in", async () => {
    const given = ["image_urls[0]", "image_urls[1]", "mask_url"].map((param, i): MediaInput => {
      return {
        role: i === 2 ? "mask" : "image",
        param,
        source: { kind: "asset", assetId: "asset_1" as never },
      };
    });
    const inputs = ["one", "two", "three"].map((text, i) =>
      inputFile(i === 2 ? "mask" : "image", new TextEncoder().encode(text)),
    );
    const uri = (text: string) => `data:image/png;base64,${btoa(text)}`;
    expect(await sent(submission({ inputs: given }, { inputs }))).toEqual({
      ...{ model: "sandbox-image", prompt: "A fox" },
      image_urls: [uri("one"), uri("two")],
      mask_url: uri("three"),
    });
    const [first] = inputs;
    const earlier: MediaInput = {
      role: "image",
      param: "task_id",
      source: { kind: "asset", assetId: "a" as never },
    };
    const result = submission({ inputs: [earlier] }, { inputs: first ? [first] : [] });
    expect(await sent(result)).toMatchObject({ image_url: uri("one") });
  });

  test("words fields as its route says", async () => {
    const wording = { parameters: { size: { field: "resolution" } }, constants: { quality: "low" } };
    expect(await sent(submission({ parameters: { size: "64x64" } }, { wording }))).toEqual({
      ...{ model: "sandbox-image", prompt: "A fox" },
      ...{ resolution: "64x64", quality: "low" },
    });
  });

  test("names large files by their addresses, and is not sent where there are none", async () => {
    const param = {
      role: "video",
      param: "video_url",
      source: { kind: "asset", assetId: "a" as never },
    } as const;
    const file = { ...inputFile("video", new Uint8Array([1])), sizeBytes: 20_000_001 };
    const address = "https://front.example.com/inputs/x.mp4";
    const withAddress = submission({ inputs: [param] }, { inputs: [{ ...file, url: () => address }] });
    expect(await sent(withAddress)).toMatchObject({ video_url: address });
    const { instance, provider } = await open(() => ({ states: [] }));
    const error = await rejection(
      provider.submit(submission({ inputs: [param] }, { inputs: [{ ...file, url: undefined }] }), signal),
    );
    expect(error).toMatchObject({ disposition: "reroute" });
    expect(instance.arrived).toEqual([]);
  });
});

describe("where the other instance may call", () => {
  test("is its callback address", async () => {
    const { instance, provider } = await open(() => ({ states: [] }));
    expect(await provider.submit(submission({}, { hookUrl: HOOK }), signal)).toMatchObject({
      isHooked: true,
    });
    expect(instance.creates).toMatchObject([{ callback_url: HOOK }]);
  });

  test.each([
    [
      "it does not call such addresses",
      refused(400, "invalid_request", "callback_url is private.", "callback_url"),
    ],
    ["it has taken the same create without one", refused(409, "idempotency_conflict")],
  ])("is left out when %s", async (_, refusal) => {
    const { instance, provider } = await open((body) => ("callback_url" in body ? refusal : { states: [] }));
    const request = submission({}, { hookUrl: HOOK });
    expect(await provider.submit(request, signal)).toMatchObject({ kind: "operation", isHooked: false });
    expect(instance.creates).toHaveLength(2);
    const keys = instance.arrived.map(({ headers }) => headers.get("idempotency-key"));
    expect(keys).toEqual([request.attempt, request.attempt]);
  });

  test("costs no second create when something else is wrong", async () => {
    const { instance, provider } = await open(() =>
      refused(400, "invalid_request", "size must be one of…", "size"),
    );
    const error = await rejection(provider.submit(submission({}, { hookUrl: HOOK }), signal));
    expect(error).toMatchObject({ disposition: "fail", code: "UPSTREAM_REJECTED" });
    expect(instance.creates).toHaveLength(1);
  });
});

test.each([
  [400, "invalid_request", "fail", "UPSTREAM_REJECTED"],
  [400, "content_policy_violation", "fail", "CONTENT_MODERATED"],
  [401, "invalid_api_key", "reroute", "NO_ROUTE_AVAILABLE"],
  [402, "insufficient_quota", "reroute", "NO_ROUTE_AVAILABLE"],
  [403, "permission_denied", "reroute", "NO_ROUTE_AVAILABLE"],
  [404, "model_not_available", "reroute", "NO_ROUTE_AVAILABLE"],
  [409, "idempotency_in_progress", "unknown", "UPSTREAM_ERROR"],
  [429, "rate_limit_exceeded", "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
  [503, "service_unavailable", "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
  [503, "idempotency_unavailable", "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
  [508, "loop_detected", "reroute", "LOOP_DETECTED"],
  [500, "internal_error", "unknown", "UPSTREAM_ERROR"],
])("a create refused with %i %s is %s", async (status, word, disposition, code) => {
  const { provider } = await open(() => refused(status, word));
  const error = await rejection(provider.submit(submission(), signal));
  expect(error).toBeInstanceOf(ProviderError);
  expect(error).toMatchObject({ disposition, code });
});

test("an error in the envelope of the images API, as every 401 is, is read as well", async () => {
  const error = { message: "No such key.", type: "authentication_error", code: "invalid_api_key" };
  const { provider } = await open(() => ({ status: 401, json: { error } }));
  const refusal = await rejection(provider.submit(submission(), signal));
  expect(refusal).toMatchObject({ disposition: "reroute", details: { refused: "key" } });
  expect((refusal as Error).message).toContain("invalid_api_key");
});

describe("a task there", () => {
  test("that is completed costs what it was charged, and its files are fetched where it was made", async () => {
    const end = await ended(done(2));
    const output = (i: number) => ({
      kind: "remote",
      ref: { path: `/assets/asset_${i}.png`, kind: "image" },
    });
    expect(end).toEqual({ kind: "succeeded", outputs: [output(0), output(1)], costMicros: 80_000 } as never);
    const { provider, instance } = await open(() => ({ states: [] }));
    const file = await provider.fetchOutput?.({ path: "/assets/asset_0.png", kind: "image" }, signal);
    const text = Buffer.concat(await Array.fromAsync(file ?? [])).toString();
    expect(text).toBe("bytes of /assets/asset_0.png");
    // The id in the address is the permission.
    expect(instance.arrived.at(-1)?.headers.get("authorization")).toBeNull();
  });

  test("that lacks some results has gaps at their places", async () => {
    const end = await ended(
      task("completed", {
        result: ["http://a/assets/a.png", "http://a/assets/b.png"],
        result_issues: [
          { index: 3, code: "SOMETHING_NEW", message: "Gone." },
          { index: 1, code: "CONTENT_MODERATED", message: "Withheld." },
        ],
      }),
    );
    const kinds =
      end?.kind === "succeeded" ? end.outputs.map((each) => ("code" in each ? each.code : each.kind)) : [];
    expect(kinds).toEqual(["remote", "CONTENT_MODERATED", "remote", "UPSTREAM_ERROR"]);
  });

  test("of which a file was found damaged since loses none of the others", async () => {
    const end = await ended(
      task("completed", {
        result: ["http://a/assets/a.png", "http://a/assets/b.png"],
        result_issues: [{ index: 0, code: "FILE_DAMAGED", message: "Damaged." }],
      }),
    );
    const outputs = end?.kind === "succeeded" ? end.outputs : [];
    expect(outputs.map((each) => (each.kind === "remote" ? each.ref : each))).toEqual([
      { path: "/assets/a.png", kind: "image" },
      { path: "/assets/b.png", kind: "image" },
    ]);
  });

  test.each([
    ["CONTENT_MODERATED", {}],
    ["UPSTREAM_REJECTED", {}],
    ["INPUT_INVALID", {}],
    ["UPSTREAM_CAPACITY_EXHAUSTED", { mayReroute: true }],
    ["UPSTREAM_TIMEOUT", { mayReroute: true }],
    ["NO_ROUTE_AVAILABLE", { mayReroute: true }],
    ["LOOP_DETECTED", { mayReroute: true }],
  ])("that failed as %s fails as that here, and costs nothing", async (error_code, more) => {
    const end = await ended(task("failed", { error_code, error_message: "Not this time." }));
    expect(end).toMatchObject({ kind: "failed", code: error_code, ...more });
    expect(end).not.toHaveProperty("costMicros");
    expect(end).not.toHaveProperty("isCharged");
    if (!("mayReroute" in more)) {
      expect(end).not.toHaveProperty("mayReroute");
      expect(end).toHaveProperty("message", "Not this time.");
    }
  });

  test("that failed in a way that is not known here is a failure of the provider", async () => {
    const end = await ended(task("failed", { error_code: "NEW_TROUBLE", error: "It fell over." }));
    expect(end).toMatchObject({ kind: "failed", code: "UPSTREAM_ERROR", mayReroute: true });
  });

  test("that was cancelled is cancelled, and one that goes on tells its progress", async () => {
    expect(await ended(task("cancelled"))).toEqual({ kind: "cancelled" });
    expect(await ended(task("processing", { progress: 40 }))).toEqual({ kind: "pending", progress: 40 });
  });

  test.each(["completed", "failed", "cancelled", "processing"])(
    "is none of what is told of another task, %s",
    async (status) => {
      const told = task(status, { task_id: taskId(2), result: ["http://a/assets/a.png"] });
      expect(await rejection(Promise.resolve(ended(told)))).toMatchObject({ disposition: "retry" });
    },
  );

  test("keeps its results whatever places others are said to be missing at", async () => {
    const places = [-1, 0.5, 9, "0", null].map((index) => ({ index, code: "UPSTREAM_ERROR" }));
    const more = { result: ["http://a/assets/a.png"], result_issues: places };
    const end = await ended(task("completed", more));
    const outputs = end?.kind === "succeeded" ? end.outputs : [];
    expect(outputs).toEqual([{ kind: "remote", ref: { path: "/assets/a.png", kind: "image" } }]);
  });

  test("that is unknown there is lost", async () => {
    const { provider } = await open(() => accepted());
    const operation: Json = { id: taskId(7), kind: "video" };
    expect(await provider.poll?.(operation, signal)).toMatchObject({ kind: "failed", isLost: true });
  });

  test.each([
    [{ result: [] }],
    [{ result: ["no address"] }],
    [{ result: ["http://a/elsewhere/a.png"] }],
    [{}],
  ])("that is completed with %j has no usable result", async (more) => {
    expect(await rejection(Promise.resolve(ended(task("completed", more))))).toMatchObject({
      disposition: "unusable",
    });
  });
});

test("a file is asked for below the paths of files alone", async () => {
  const { provider } = await open(() => accepted());
  for (const path of ["/v1/tasks", "//elsewhere.example.com/assets/a.png", "http://a/assets/a.png"])
    expect(
      await rejection(Promise.resolve(provider.fetchOutput?.({ path, kind: "image" }, signal))),
    ).toMatchObject({
      disposition: "fail",
    });
});

test("its models are those that the key may use and that are made there at present", async () => {
  const { provider, instance } = await open(() => accepted());
  const models = [{ id: "one", available: true }, { id: "two", available: false }, { id: 7 }, null];
  instance.answer = ({ path }) => (path === "/v1/models" ? success({ models }) : { status: 404, json: {} });
  expect(await provider.models?.(signal)).toEqual(["one"]);
  instance.answer = () => success({});
  expect(await rejection(Promise.resolve(provider.models?.(signal)))).toMatchObject({ disposition: "retry" });
});

test("a key is proved by what it may do, and tells what is left", async () => {
  const { provider, instance } = await open(() => accepted());
  instance.answer = ({ path }) =>
    path === "/v1/account/status"
      ? success({ balance: { available: "12.500000" } })
      : { status: 404, json: {} };
  expect(await provider.test?.(signal)).toEqual({ kind: "ok", balanceMicros: 12_500_000 } as never);
  instance.answer = () => success({ balance: { available: null } });
  expect(await provider.test?.(signal)).toEqual({ kind: "ok" });
  instance.answer = () => refused(401, "invalid_api_key");
  const refusal = await provider.test?.(signal);
  expect(isJsonObject(refusal) && refusal.kind).toBe("refused");
});
