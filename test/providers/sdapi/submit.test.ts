import { afterEach, expect, test } from "bun:test";
import type { InputFile, ProviderError } from "../../../src/domain/ports/provider.ts";
import { rejection } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { inputFile } from "../sandbox/harness.ts";
import { startWebUi, type WebUi } from "./engine.ts";
import { createProvider, type Given, submission } from "./harness.ts";

const signal = new AbortController().signal;
const started: WebUi[] = [];
afterEach(async () => {
  for (const ui of started.splice(0)) await ui.stop();
});

async function setup(apiKey?: string) {
  const ui = await startWebUi();
  started.push(ui);
  const clock = fakeClock();
  const provider = createProvider({ baseUrl: ui.origin, clock, apiKey });
  /** Submits, and lets the server make it at once. */
  const make = async (given: Given = {}) => {
    const submitting = provider.submit(submission(given), signal);
    await ui.until(() => ui.queue.length > 0);
    ui.end();
    return submitting;
  };
  const fail = (given: Given = {}) => rejection(provider.submit(submission(given), signal));
  return { ui, clock, provider, make, fail };
}

const file = (role: "image" | "mask", width: number, height: number): InputFile => ({
  ...inputFile(role, new Uint8Array(1)),
  ...{ width, height },
});
const under = (width: number, height: number) => [file("image", width, height), file("mask", width, height)];

test("a request becomes one for txt2img under the attempt's id, with its checkpoint for it alone", async () => {
  const { ui, make } = await setup();
  const parameters = {
    size: "768x512",
    seed: 0,
    steps: 20,
    sampler: "Euler a",
    cfg_scale: 6.5,
    guidance: 3.5,
    clip_skip: 2,
    negative_prompt: "blurry",
  };
  expect(await make({ n: 2, parameters })).toMatchObject({ kind: "outputs", outputs: [{}, {}] });
  expect(ui.asked).toEqual(["GET /sdapi/v1/sd-models", "POST /sdapi/v1/txt2img", "GET /sdapi/v1/progress"]);
  expect(ui.bodies).toEqual([
    {
      disable_extra_networks: true,
      prompt: "A red fox",
      n_iter: 2,
      ...{ width: 768, height: 512, seed: 0, steps: 20, sampler_name: "Euler a", cfg_scale: 6.5 },
      ...{ distilled_cfg_scale: 3.5, negative_prompt: "blurry" },
      override_settings: {
        return_grid: false,
        sd_model_checkpoint: "v1-5.safetensors [abc]",
        CLIP_stop_at_last_layers: 2,
      },
      force_task_id: expect.stringMatching(/^att_/),
    },
  ]);
});

test("an image is drawn anew in its own size, within a white mask", async () => {
  const { ui, make } = await setup();
  const text = (content: string) => new TextEncoder().encode(content);
  const image = { ...inputFile("image", text("image")), width: 770, height: 511 };
  const mask: InputFile = {
    ...inputFile("mask", text("mask")),
    painted: async (colour) => new Blob([`painted ${colour}`]),
  };
  await make({ inputs: [image, mask], parameters: { strength: 0.75 } });
  expect(ui.bodies[0]).toMatchObject({
    init_images: [btoa("image")],
    mask: btoa("painted white"),
    ...{ width: 768, height: 512, denoising_strength: 0.75 },
  });
  await make({ inputs: [image], parameters: { size: "512x512" } });
  expect(ui.bodies[1]).toMatchObject({ width: 512, height: 512 });
  expect(ui.asked.filter((path) => path === "POST /sdapi/v1/img2img")).toHaveLength(2);
});

test.each([
  ["a request that says it", {}, "512x768"],
  ["one whose pictures are enlarged afterwards", { wording: { constants: { enable_hr: true } } }, undefined],
  ["one for a script", { wording: { constants: { script_name: "SD upscale" } } }, undefined],
  ["one that names it otherwise", { wording: { parameters: { size: { field: "format" } } } }, undefined],
  ["an image drawn anew", { inputs: [file("image", 512, 512)] }, "512x768"],
  ["one under a mask, which may stay as large as it is", { inputs: under(512, 512) }, undefined],
  ["one under a mask in its own size", { inputs: under(512, 768) }, "512x768"],
  ["a request that leaves it open", { parameters: {} }, undefined],
] as const)("pictures must have the size that was asked for: %s", async (_name, given, size) => {
  const { make } = await setup();
  const submitted = await make({ parameters: { size: "512x768" }, ...given });
  expect(submitted).toEqual({ kind: "outputs", outputs: [expect.objectContaining({ kind: "bytes", size })] });
});

test("words in a caller's texts load no files of the server, unless the route lets them", async () => {
  const { ui, make } = await setup();
  const prompt = "A fox <lora:x:1> <Hypernet:y:1> <sd_cpp_extra_args>{} (red:1.2) [a:b:0.5]";
  await make({ prompt, parameters: { negative_prompt: "<LORA:z:1>" } });
  expect(ui.bodies[0]).toMatchObject({
    prompt: "A fox < lora:x:1> < Hypernet:y:1> < sd_cpp_extra_args>{} (red:1.2) [a:b:0.5]",
    negative_prompt: "< LORA:z:1>",
  });
  await make({ prompt, wording: { constants: { disable_extra_networks: false } } });
  expect(ui.bodies[1]?.prompt).toBe(
    "A fox <lora:x:1> <Hypernet:y:1> < sd_cpp_extra_args>{} (red:1.2) [a:b:0.5]",
  );
});

test("what a route says of every request goes along", async () => {
  const { ui, make } = await setup();
  const constants = { override_settings: { sd_vae: "Automatic" }, disable_extra_networks: false, steps: 4 };
  await make({ n: 2, wording: { constants, count: "batch_size" } });
  expect(ui.bodies[0]).toMatchObject({
    ...{ disable_extra_networks: false, steps: 4, batch_size: 2 },
    override_settings: { sd_vae: "Automatic", sd_model_checkpoint: "v1-5.safetensors [abc]" },
  });
});

test.each([
  [{ inputs: [inputFile("reference", new Uint8Array(1))] }],
  [{ inputs: [inputFile("mask", new Uint8Array(1))] }],
  [{ parameters: { size: "large" } }],
  [{ parameters: { size: "513x512" } }],
] as const)("what the API has no words for goes to another route, and nowhere else: %#", async (given) => {
  const { ui, fail } = await setup();
  expect(await fail(given)).toMatchObject({ disposition: "reroute", code: "NO_ROUTE_AVAILABLE" });
  expect(ui.asked).toEqual([]);
});

test("a checkpoint may be called by its name, file or hash", async () => {
  const { ui, make, provider } = await setup();
  for (const upstreamModel of ["v1-5", "v1-5.safetensors", "abc", "xl/base.safetensors", "base", "def"]) {
    expect(await make({ upstreamModel })).toMatchObject({ kind: "outputs" });
    expect(await provider.lacks?.({ upstreamModel }, signal)).toEqual([]);
  }
  const used = ui.bodies.map(({ override_settings: settings }) => settings);
  const titles = [0, 0, 0, 1, 1, 1].map((i) => ui.checkpoints[i]);
  expect(used).toEqual(titles.map((title) => ({ return_grid: false, sd_model_checkpoint: title })));
});

test("a checkpoint that the server does not have is refused before anything is made, and the nearest is named", async () => {
  const { ui, fail, provider } = await setup();
  const error = (await fail({ upstreamModel: "v1-6.safetensors" })) as ProviderError;
  expect(error).toMatchObject({ disposition: "reroute", details: { refused: "route" } });
  expect(error.message).toContain("no checkpoint v1-6.safetensors; did you mean v1-5.safetensors?");
  expect(ui.bodies).toEqual([]);
  expect(await provider.lacks?.({ upstreamModel: "v1-6.safetensors" }, signal)).toEqual([
    "there is no checkpoint v1-6.safetensors; did you mean v1-5.safetensors?",
  ]);
});

test("the list of checkpoints is asked for once a minute, and again for one that it did not have", async () => {
  const { ui, make, clock } = await setup();
  const asked = () => ui.asked.filter((path) => path.endsWith("sd-models")).length;
  await make();
  await make();
  expect(asked()).toBe(1);
  ui.checkpoints.push("new.safetensors [123]");
  await make({ upstreamModel: "new" });
  expect(asked()).toBe(2);
  clock.advance(60_000);
  await make();
  expect(asked()).toBe(3);
});

test("a picture of another checkpoint is no result", async () => {
  const { ui, provider } = await setup();
  ui.instead = (path) => (path.endsWith("sd-models") ? new Response("", { status: 404 }) : undefined);
  const failing = rejection(provider.submit(submission({ upstreamModel: "xl/gone.safetensors" }), signal));
  await ui.until(() => ui.queue.length > 0);
  ui.end();
  const error = (await failing) as ProviderError;
  expect(error).toMatchObject({ disposition: "reroute", details: { refused: "route" } });
  expect(error.message).toContain("used v1-5 instead of the checkpoint xl/gone.safetensors");
});

test("whatever is loaded is used where the route says so", async () => {
  const { ui, make } = await setup();
  await make({ upstreamModel: "current" });
  expect(ui.bodies[0]?.override_settings).toEqual({ return_grid: false });
  expect(ui.asked).not.toContain("GET /sdapi/v1/sd-models");
});

const fourfold = (error: string, detail: string, errors = "") => ({ error, detail, body: "", errors });

test.each([
  [500, fourfold("OutOfMemoryError", "", "CUDA out of memory."), "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
  // Another instance of this service.
  [508, fourfold("loop_detected", "Too many.", "Too many."), "reroute", "LOOP_DETECTED"],
  [400, fourfold("content_policy_violation", "Refused.", "Refused."), "fail", "CONTENT_MODERATED"],
  [402, fourfold("insufficient_quota", "No money.", "No money."), "reroute", "NO_ROUTE_AVAILABLE"],
  [500, fourfold("HTTPException", "Sampler not found"), "fail", "UPSTREAM_REJECTED"],
  [500, { detail: "Invalid encoded image" }, "fail", "UPSTREAM_REJECTED"],
  // sd-server, for want of memory.
  [500, { error: "generate_image returned no results" }, "retry", "UPSTREAM_ERROR"],
  [500, fourfold("NansException", "", "A tensor with all NaNs"), "retry", "UPSTREAM_ERROR"],
  [400, { detail: "Sampler not found" }, "fail", "UPSTREAM_REJECTED"],
  [404, { detail: "Init image not found" }, "fail", "UPSTREAM_REJECTED"],
  [404, { detail: "Not Found" }, "reroute", "NO_ROUTE_AVAILABLE"],
  [422, { detail: "always on script x not found" }, "reroute", "NO_ROUTE_AVAILABLE"],
  [422, { detail: [{ loc: ["body", "steps"], msg: "too many", type: "x" }] }, "fail", "UPSTREAM_REJECTED"],
  [401, { detail: "Incorrect username or password" }, "reroute", "NO_ROUTE_AVAILABLE"],
] as const)("a %d with %j means what it says", async (status, json, disposition, code) => {
  const { ui, fail } = await setup();
  ui.instead = (path) => (path.endsWith("2img") ? Response.json(json, { status }) : undefined);
  expect(await fail()).toMatchObject({ disposition, code });
});

test("a very long text in an error does not hold the process", async () => {
  const { ui, fail } = await setup();
  const json = { detail: `No ${"script ".repeat(100_000)}` };
  ui.instead = (path) => (path.endsWith("2img") ? Response.json(json, { status: 422 }) : undefined);
  expect(await fail()).toMatchObject({ disposition: "fail", code: "UPSTREAM_REJECTED" });
});

test("an exception of a server that says no more has ended the work", async () => {
  const { ui, fail } = await setup();
  ui.instead = (path) =>
    path.endsWith("2img")
      ? new Response("Internal Server Error", { status: 500, headers: { "content-type": "text/plain" } })
      : undefined;
  expect(await fail()).toMatchObject({ disposition: "retry", details: { isFailure: true } });
});

test("a test asks for the checkpoints with the user's name and password", async () => {
  const { ui, provider } = await setup("user:password-of-ours");
  expect(await provider.test?.(signal)).toEqual({ kind: "ok" });
  expect(ui.asked).toEqual(["GET /sdapi/v1/sd-models"]);
  ui.instead = () => Response.json({ detail: "Incorrect username or password" }, { status: 401 });
  expect(await provider.test?.(signal)).toMatchObject({ kind: "refused" });
  ui.instead = () => Response.json({ detail: "Not Found" }, { status: 404 });
  expect(await provider.test?.(signal)).toMatchObject({
    detail: expect.stringContaining("was it started with --api?"),
  });
});
