import { afterEach, describe, expect, test } from "bun:test";
import { createManifestReader } from "../../../src/catalog/read-manifest.ts";
import type { Json, JsonObject } from "../../../src/domain/json.ts";
import type { ProviderError } from "../../../src/domain/ports/provider.ts";
import type { InputRole } from "../../../src/domain/task/request.ts";
import { FAL } from "../../../src/providers/fal/settings.ts";
import { rejection } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { openPublished } from "../../helpers/published.ts";
import { type ScriptedUpstream, startUpstream } from "../../helpers/scripted-upstream.ts";
import { inputFile } from "../sandbox/harness.ts";
import { createProvider, FAL_MODELS, modelError, queued, type Submission, submission } from "./harness.ts";

const signal = new AbortController().signal;
const official = openPublished("fal/openapi.json");

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

/** What a submission sends, which must be as the published documents say where they know the endpoint. */
async function sent(given: Submission) {
  const { provider, upstream } = await open(() => queued(upstream.origin));
  await provider.submit(submission(given), signal);
  const [arrived] = upstream.arrived;
  if (arrived === undefined) throw new Error("Nothing was sent.");
  const input = JSON.parse(arrived.body.toString()) as JsonObject;
  const place = ["paths", arrived.path, "post", "requestBody", "content", "application/json", "schema"];
  if (official.at(place) !== undefined) expect(official.problems(place, input)).toEqual([]);
  return { ...arrived, input };
}

const image = (role: InputRole, text: string) => inputFile(role, new TextEncoder().encode(text));
const uri = (text: string) => `data:image/png;base64,${btoa(text)}`;

describe("a submission", () => {
  test("tells the queue where to call, and says so", async () => {
    const { provider, upstream } = await open(() => queued(upstream.origin));
    const hookUrl = "https://svc.example.com/hooks/token?a=b&c";
    const taken = await provider.submit({ ...submission(), hookUrl }, signal);
    const silent = await provider.submit(submission(), signal);
    expect([taken, silent]).toMatchObject([{ isHooked: true }, { isHooked: false }]);
    const [told, untold] = upstream.arrived.map(({ path }) => new URL(path, upstream.origin));
    expect([told?.pathname, told?.searchParams.get("fal_webhook")]).toEqual(["/fal-ai/flux/dev", hookUrl]);
    expect(untold?.search).toBe("");
  });

  test("is one POST to the model's endpoint with the key in fal's own form", async () => {
    const { method, path, headers, input } = await sent({
      n: 2,
      parameters: { seed: 0, aspect_ratio: "16:9" },
    });
    expect([method, path]).toEqual(["POST", "/fal-ai/flux/dev"]);
    expect(headers.get("authorization")).toStartWith("Key ");
    const image_size = { width: 1280, height: 720 };
    expect(input).toEqual({ prompt: "A red fox", num_images: 2, seed: 0, image_size });
  });

  test.each([
    ["fal-ai/flux-pro/kontext", ["image"], "/fal-ai/flux-pro/kontext", { image_url: uri("0") }],
    ["fal-ai/nano-banana", [], "/fal-ai/nano-banana", {}],
    [
      "fal-ai/nano-banana",
      ["image", "image"],
      "/fal-ai/nano-banana/edit",
      { image_urls: [uri("0"), uri("1")] },
    ],
    ["fal-ai/kling-video/v3/standard", [], "/fal-ai/kling-video/v3/standard/text-to-video", {}],
    [
      "fal-ai/kling-video/v3/standard",
      ["first_frame", "last_frame"],
      "/fal-ai/kling-video/v3/standard/image-to-video",
      { start_image_url: uri("0"), end_image_url: uri("1") },
    ],
    [
      "fal-ai/kling-video/v3/pro",
      ["first_frame"],
      "/fal-ai/kling-video/v3/pro/image-to-video",
      { start_image_url: uri("0") },
    ],
    ["fal-ai/veo3", [], "/fal-ai/veo3", {}],
    ["fal-ai/veo3", ["first_frame"], "/fal-ai/veo3/image-to-video", { image_url: uri("0") }],
  ] as const)("to %s with inputs %j goes to %s", async (upstreamModel, roles, path, fields) => {
    const inputs = roles.map((role, i) => image(role, String(i)));
    const { input, ...arrived } = await sent({ upstreamModel, inputs });
    expect(arrived.path).toBe(path);
    expect(input).toMatchObject(fields);
  });

  test.each([
    ["fal-ai/kling-video/v3/standard", { duration: 15 }, { duration: "15" }],
    ["fal-ai/veo3", { duration: 4 }, { duration: "4s" }],
    ["fal-ai/flux/schnell", { aspect_ratio: "9:21" }, { image_size: { width: 576, height: 1344 } }],
  ] as const)("to %s says %j as %j", async (upstreamModel, parameters, fields) => {
    expect((await sent({ upstreamModel, parameters })).input).toMatchObject(fields);
  });

  test.each([
    ["fal-ai/flux/dev", []],
    ["fal-ai/flux/schnell", []],
    ["fal-ai/flux-pro/kontext", ["image"]],
    ["fal-ai/nano-banana", []],
  ] as const)("to %s says how many images to make", async (upstreamModel, roles) => {
    const inputs = roles.map((role) => image(role, role));
    expect((await sent({ upstreamModel, inputs, n: 3 })).input.num_images).toBe(3);
  });

  test("carries values that look like none: 0, false and an empty text", async () => {
    const parameters = { cfg_scale: 0, generate_audio: false, negative_prompt: "" };
    const { input } = await sent({ upstreamModel: "fal-ai/kling-video/v3/standard", prompt: "", parameters });
    expect(input).toEqual({ prompt: "", ...parameters });
  });

  test.each([
    [{ upstreamModel: "fal-ai/unheard-of", inputs: [image("image", "a")] }],
    [{ upstreamModel: "fal-ai/unheard-of", n: 2 }],
    [{ inputs: [image("image", "a")] }],
    [{ upstreamModel: "fal-ai/veo3", n: 2 }],
    [{ upstreamModel: "fal-ai/flux-pro/kontext", inputs: [image("image", "a"), image("image", "b")] }],
    [
      {
        upstreamModel: "fal-ai/nano-banana",
        inputs: [{ ...image("image", "a"), sizeBytes: 50 * 1024 * 1024 }],
      },
    ],
    [{ parameters: { aspect_ratio: "7:1" } }],
  ] as Submission[][])(
    "that cannot be said to the endpoint is left to another route, before anything is sent: %#",
    async (given) => {
      const { provider, upstream } = await open(() => queued(upstream.origin));
      const error = await rejection(provider.submit(submission(given), signal));
      expect(error).toMatchObject({ disposition: "reroute" });
      expect(upstream.arrived).toEqual([]);
    },
  );

  test.each([
    [403, { detail: "User is locked. Reason: Exhausted balance." }, "reroute", "NO_ROUTE_AVAILABLE"],
    [403, { detail: "Forbidden", error_type: "auth_error" }, "reroute", "NO_ROUTE_AVAILABLE"],
    [401, { detail: "No user found for Key ID and Secret" }, "reroute", "NO_ROUTE_AVAILABLE"],
    [404, { detail: "Application not found" }, "reroute", "NO_ROUTE_AVAILABLE"],
    [422, modelError("missing", "field required"), "fail", "UPSTREAM_REJECTED"],
    [422, modelError("content_policy_violation", "Flagged."), "fail", "CONTENT_MODERATED"],
    [429, { detail: "Too many requests" }, "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
    [503, { detail: "x", error_type: "runner_scheduling_failure" }, "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
    [500, { detail: "x", error_type: "internal_error" }, "unknown", "UPSTREAM_ERROR"],
    [504, { detail: "x", error_type: "startup_timeout" }, "unknown", "UPSTREAM_TIMEOUT"],
  ] as const)("answered %d %j is %s, %s", async (status, json, disposition, code) => {
    const { provider } = await open(() => ({ status, json }));
    expect(await rejection(provider.submit(submission(), signal))).toMatchObject({ disposition, code });
  });

  test("answered without the job's id was taken, and cannot be asked after", async () => {
    for (const json of [{}, { status: "IN_QUEUE" }, { request_id: 7 }, { request_id: "../../admin" }]) {
      const { provider } = await open(() => ({ json }));
      expect(await rejection(provider.submit(submission(), signal))).toMatchObject({
        disposition: "unusable",
      });
    }
  });
});

/** A value each property of a model's schema takes, other than its default where there is a choice. */
function valueFor(property: JsonObject): Json {
  if (Array.isArray(property.enum)) return property.enum.at(-1) as Json;
  if (property.type === "integer" || property.type === "number") return property.minimum ?? 0;
  return property.type === "boolean" ? false : "text";
}

describe.each(FAL_MODELS.map((model) => [model.id, model] as const))("%s", (_, model) => {
  const media = new Set(model.mediaFields.map((field) => field.name));
  const {
    upstreamModel,
    only = {},
    wording = {},
  } = model.routes.find(({ provider }) => provider === FAL.id)!;
  const own = Object.entries(model.schema.properties as Record<string, JsonObject>)
    .filter(([name]) => !media.has(name) && !["model", "prompt", "n", "callback_url"].includes(name))
    .filter(([name]) => only[name] !== false)
    .map(([name, property]) => [name, { ...property, ...only[name] }] as const);

  test("has every field it takes reach its upstream", async () => {
    const parameters = Object.fromEntries(own.map(([name, property]) => [name, valueFor(property)]));
    for (const mode of model.modes) {
      const inputs = mode.requires.map((role) => image(role, role));
      const { input } = await sent({ upstreamModel, parameters, inputs });
      for (const [name, value] of Object.entries(parameters)) {
        const { field = name, values, template } = wording.parameters?.[name] ?? {};
        expect(Object.keys(input)).toContain(field);
        if (values === undefined && template === undefined) expect(input[field]).toBe(value);
      }
      for (const file of inputs) expect(JSON.stringify(input)).toContain(uri(file.role));
    }
  });

  test("says how many to make, where it makes several", async () => {
    const hasCount = Object.hasOwn(model.schema.properties as object, "n");
    const inputs = model.modes[0]!.requires.map((role) => image(role, role));
    const { input } = await sent({ upstreamModel, inputs, n: hasCount ? 4 : 1 });
    expect(wording.count !== undefined).toBe(hasCount);
    if (wording.count !== undefined) expect(input[wording.count]).toBe(4);
  });
});

const UPSCALER = `
id: clarity
kind: image
name: Clarity
description: Enlarges an image.
modes:
  - { id: enlarge, requires: [image] }
schema:
  required: [image_url]
  properties:
    image_url: { description: The image to enlarge. }
    prompt: { type: string }
    factor: { type: integer, minimum: 2, maximum: 4 }
    style: { type: string, enum: [plain, vivid] }
    n: { type: integer }
media:
  image_url: { role: image, media: image }
price:
  lines:
    - { sku: clarity, unit: output, amount: "0.05" }
deadline_seconds: 60
routes:
  - provider: fal
    upstream_model: fal-ai/clarity
    wording:
      endpoints: { enlarge: someone-else/clarity-v2/enlarge }
      prompt: text
      count: samples
      parameters:
        factor: { field: upscale_factor, template: "x\${value}" }
        style: { values: { plain: 0, vivid: { saturation: 2 } } }
      inputs:
        image: { field: images, list: true }
      constants: { enable_safety_checker: false }
`;

test("any endpoint of the queue is a model by its manifest alone", async () => {
  const model = createManifestReader().read("clarity.yaml", UPSCALER).model;
  const given = {
    ...{ model, upstreamModel: "fal-ai/clarity", prompt: "", n: 3 },
    parameters: { factor: 2, style: "plain", seed: 0 },
    inputs: [image("image", "a")],
  };
  const { path, input } = await sent(given);
  expect(path).toBe("/someone-else/clarity-v2/enlarge");
  expect(input).toEqual({
    enable_safety_checker: false,
    text: "",
    samples: 3,
    upscale_factor: "x2",
    style: 0,
    images: [uri("a")],
    seed: 0,
  });
});

test("a mask is white and transparent where it may change, because fal's models look at either", async () => {
  const masked = UPSCALER.replace("requires: [image]", "requires: [image, mask]")
    .replace("required: [image_url]", "required: [image_url, mask_url]")
    .replace("    prompt:", "    mask_url: { description: What may change. }\n    prompt:")
    .replace("price:", "  mask_url: { role: mask, media: image }\nprice:")
    .replace("constants:", "  mask: { field: mask_url }\n      constants:");
  const model = createManifestReader().read("clarity.yaml", masked).model;
  const mask = { ...image("mask", "m"), painted: async (paint: string) => new Blob([`${paint} m`]) };
  const inputs = [image("image", "a"), mask];
  const { input } = await sent({ model, upstreamModel: "fal-ai/clarity", prompt: "", inputs });
  expect([input.images, input.mask_url]).toEqual([[uri("a")], uri("either m")]);
});

test("what the operator is told of a refusal has no key in it", async () => {
  const { provider } = await open(() => ({ status: 403, json: { detail: "User is locked." } }));
  const error = (await rejection(provider.submit(submission(), signal))) as ProviderError;
  expect(error.message).toBe('fal answered 403 "User is locked."');
});

test("a refused submission is reported with fal's own request id", async () => {
  const { provider } = await open(() => ({
    status: 503,
    headers: { "x-fal-request-id": "r-17" },
    json: {},
  }));
  const error = await rejection(provider.submit(submission(), signal));
  expect((error as ProviderError).message).toBe("fal answered 503 (request r-17)");
});
