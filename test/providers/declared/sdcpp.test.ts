import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createCatalog } from "../../../src/catalog/catalog.ts";
import { createManifestReader } from "../../../src/catalog/read-manifest.ts";
import { loadConfig } from "../../../src/config/config.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import type { SubmitRequest } from "../../../src/domain/ports/provider.ts";
import { rehearsedProvider, requestOf } from "../../../src/providers/declared/rehearsal/example.ts";
import { createProviders, PROVIDERS } from "../../../src/providers/registry.ts";
import { operationOf, rejection } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { openPublished } from "../../helpers/published.ts";
import { type Scripted, startUpstream } from "../../helpers/scripted-upstream.ts";
import { problemsOf } from "./contracts.ts";
import { builtInForm, run } from "./harness.ts";

const form = builtInForm("sdcpp.yaml");
const contract = openPublished("sdcpp/openapi.json");
const { signal } = new AbortController();
const ACCEPTED: Scripted = {
  status: 202,
  json: { id: "job_1", kind: "img_gen", status: "queued", created: 1 },
};

/** A job that the server took, and what it says of it afterwards. */
async function jobOf(answer: (method: string, path: string) => Scripted) {
  const upstream = await startUpstream(({ method, path }) =>
    path.endsWith("_gen") ? ACCEPTED : answer(method, path),
  );
  const clock = fakeClock();
  const provider = rehearsedProvider(form, upstream.origin, clock);
  const [example] = form.examples ?? [];
  if (example === undefined) throw new Error("The form has no example.");
  const operation = operationOf(await provider.submit(requestOf(example, "sdcpp"), signal));
  return { provider, upstream, clock, operation, poll: async () => provider.poll?.(operation, signal) };
}

test.each((form.examples ?? []).map(({ name }) => name))(
  "what sd-server is sent is in its API: %s",
  async (name) => {
    const { arrived } = await run(form, name);
    for (const { method, path, headers, body } of arrived.filter((each) => each.method === "POST")) {
      const type = headers.get("content-type") ?? "";
      // What the form sends is JSON.
      const json = JSON.parse(new TextDecoder().decode(body)) as JsonObject;
      expect(problemsOf([contract], { method: method.toLowerCase(), path, type, body: json })).toEqual([]);
    }
  },
);

test.each([
  [404, "job not found"],
  [410, "job expired"],
])("a job of which sd-server says %d %s is lost", async (status, error) => {
  const { poll, clock } = await jobOf(() => ({ status, json: { error } }));
  clock.advance(2_000);
  expect(await poll()).toMatchObject({ kind: "failed", code: "UPSTREAM_ERROR", isLost: true });
});

test("a 404 that is not in sd-server's words says nothing of the job", async () => {
  const { poll, clock } = await jobOf(() => ({ status: 404, body: "nginx" }));
  clock.advance(3_600_000);
  const answer = await poll().catch(() => ({ kind: "pending" }));
  expect(answer).toMatchObject({ kind: "pending" });
});

/** A picture that was asked of sd-server, and what it was sent. */
async function draw(change: (request: SubmitRequest) => SubmitRequest) {
  const upstream = await startUpstream(() => ACCEPTED);
  const provider = rehearsedProvider(form, upstream.origin, fakeClock());
  const params = { size: "512x512", negative_prompt: "bad <SD_CPP_extra_args>{}" };
  const request = { model: "x", kind: "image", mode: "text-to-image", prompt: "A fox", params } as const;
  const inputs = ["image", "reference"];
  const example = { name: "", request: { ...request, inputs }, answers: [], ends: "pending" } as const;
  const outcome = await provider
    .submit(change(requestOf(example, "sdcpp")), signal)
    .catch((error: unknown) => error);
  upstream.stop();
  return { outcome, sent: upstream.arrived.map(({ body }) => JSON.parse(body.toString()) as JsonObject) };
}

const asked = (changed: Partial<SubmitRequest["request"]>) => (given: SubmitRequest) => ({
  ...given,
  request: { ...given.request, ...changed },
});
const inWebp = (role: string) => (given: SubmitRequest) => ({
  ...given,
  inputs: given.inputs.map((file) => (file.role === role ? { ...file, type: "image/webp" as const } : file)),
});

test.each([
  ["more images than it makes", asked({ n: 9 }), "makes 8 images at most"],
  ["a width between its sizes", asked({ parameters: { size: "510x512" } }), "multiples of 8"],
  ["a height between its sizes", asked({ parameters: { size: "512x510" } }), "multiples of 8"],
  ["an image that it does not read", inWebp("image"), "reads PNG and JPEG"],
  ["a reference that it does not read", inWebp("reference"), "reads PNG and JPEG"],
] as const)("%s is refused, because sd-server would say nothing", async (_name, change, because) => {
  const { outcome, sent } = await draw(change);
  expect(outcome).toMatchObject({ disposition: "reroute", message: expect.stringContaining(because) });
  expect(sent).toEqual([]);
});

test("a caller's text gives sd-server no arguments", async () => {
  const prompt = 'A fox <sd_cpp_extra_args>{"steps":999}</sd_cpp_extra_args> <lora:x:1> (red:1.2) [a:b:0.5]';
  const { sent } = await draw(asked({ prompt, n: 8 }));
  expect(sent).toEqual([expect.objectContaining({ batch_count: 8 })]);
  expect(sent[0]?.prompt).toBe(
    'A fox < sd_cpp_extra_args>{"steps":999}</sd_cpp_extra_args> < lora:x:1> (red:1.2) [a:b:0.5]',
  );
  const { sent: negative } = await draw((given) => given);
  expect(negative[0]?.negative_prompt).toBe("bad < SD_CPP_extra_args>{}");
});

test("a picture is told with the size that was asked for", async () => {
  const images = [{ index: 0, b64_json: "aGk=" }];
  const body = { id: "job_1", kind: "img_gen", status: "completed", result: { images }, error: null };
  const { poll } = await jobOf(() => ({ json: body }));
  expect(await poll()).toMatchObject({ outputs: [{ kind: "bytes", size: "1024x768" }] });
});

test("a picture of a few kilobytes arrives whole, whatever its length", async () => {
  for (const length of [3_000, 3_072, 3_073, 9_000, 12_288, 60_000]) {
    const bytes = Buffer.from(Array.from({ length }, (_, i) => (i * 89) % 251));
    const images = [1, 2].map((index) => ({ index, b64_json: bytes.toString("base64") }));
    const body = { id: "job_1", kind: "img_gen", status: "completed", result: { images }, error: null };
    const { poll } = await jobOf(() => ({ json: body }));
    const answer = await poll();
    const outputs = answer?.kind === "succeeded" ? answer.outputs : [];
    expect(outputs.map((each) => each.kind === "bytes" && bytes.equals(each.bytes))).toEqual([true, true]);
  }
});

test.each([
  [{}, false],
  [{ SVC_PROVIDERS_SDCPP_RESTARTS: "safe" }, true],
] as const)(
  "what its engine lost is made again where the operator says that it may be: %j",
  async (env, isSafe) => {
    const given = { SVC_PROVIDERS_SDCPP_BASE_URL: "http://127.0.0.1:1234", ...env };
    const config = loadConfig({ cwd: import.meta.dir, env: given, providers: PROVIDERS });
    const providers = await createProviders({ config, clock: fakeClock() });
    expect(providers.find(({ id }) => id === "sdcpp")?.repeatIsSafe).toBe(isSafe);
  },
);

test("a job that waits is cancelled, and one that is being made is not asked to stop", async () => {
  for (const status of ["queued", "generating"]) {
    const { provider, operation, upstream } = await jobOf(() => ({ json: { id: "job_1", status } }));
    await provider.cancel?.(operation, signal).catch(() => undefined);
    const cancels = upstream.arrived.filter(({ path }) => path.endsWith("/cancel"));
    expect(cancels).toHaveLength(status === "queued" ? 1 : 0);
  }
});

test("no number of frames follows from a length that is missing, so nothing is sent", async () => {
  const upstream = await startUpstream(() => ACCEPTED);
  const provider = rehearsedProvider(form, upstream.origin, fakeClock());
  const request = {
    model: "x",
    kind: "video",
    mode: "text-to-video",
    prompt: "A fox",
    params: { size: "832x480" },
  } as const;
  const submission = requestOf({ name: "", request, answers: [], ends: "pending" }, "sdcpp");
  expect(await rejection(provider.submit(submission, signal))).toMatchObject({ disposition: "reroute" });
  expect(upstream.arrived).toEqual([]);
  upstream.stop();
});

test("the manifest in the documents has no problem, and all of its parameters reach sd-server", async () => {
  const page = readFileSync(join(import.meta.dir, "../../../docs/providers-and-models.md"), "utf8");
  const [, text = ""] = /```yaml\n(id: sdxl-turbo\n[^`]*)```/.exec(page) ?? [];
  const model = createManifestReader().read("sdxl-turbo.yaml", text).model;
  const given = { model: model.id, prompt: "A fox", n: 2, steps: 9, seed: 7, output_format: "webp" };
  const { body } = createCatalog({ models: [model] }).validate(model, given) as { body: JsonObject };
  const { prompt: _prompt, n: _n, model: _model, ...params } = body;
  const upstream = await startUpstream(() => ACCEPTED);
  const provider = rehearsedProvider(form, upstream.origin, fakeClock());
  const request = {
    model: "sdxl-turbo",
    kind: "image",
    mode: "image-to-image",
    prompt: "A fox",
    n: 2,
    params,
  } as const;
  const inputs = ["image"];
  const example = { name: "", request: { ...request, inputs }, answers: [], ends: "pending" } as const;
  await provider.submit(requestOf(example, "sdcpp"), signal);
  const sent = JSON.parse(upstream.arrived[0]?.body.toString() ?? "{}") as JsonObject;
  expect(sent).toMatchObject({
    ...{ prompt: "A fox", width: 512, height: 512, seed: 7, batch_count: 2, output_format: "webp" },
    ...{ sample_params: { sample_steps: 9 }, init_image: expect.any(String) },
  });
  upstream.stop();
});
