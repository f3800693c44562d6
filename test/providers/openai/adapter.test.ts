import { afterEach, describe, expect, test } from "bun:test";
import { createCatalog } from "../../../src/catalog/catalog.ts";
import type { Json, JsonObject } from "../../../src/domain/json.ts";
import { EgressError } from "../../../src/domain/ports/egress.ts";
import type { ProviderError } from "../../../src/domain/ports/provider.ts";
import type { OpenAiDeps } from "../../../src/providers/openai/adapter.ts";
import { fetchAll, rejection } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { openPublished } from "../../helpers/published.ts";
import { type Scripted, type ScriptedUpstream, startUpstream } from "../../helpers/scripted-upstream.ts";
import { inputFile } from "../sandbox/harness.ts";
import { createProvider, fieldsOf, pictures, refusal, type Submission, submission } from "./harness.ts";

const signal = new AbortController().signal;
const published = openPublished("openai/openapi.json");
const models = createCatalog()
  .models()
  .filter((model) => model.routes.some((route) => route.provider === ("openai" as never)));

const started: ScriptedUpstream[] = [];
afterEach(() => {
  for (const upstream of started.splice(0)) upstream.stop();
});

async function setup(
  answer: Scripted = pictures(1),
  { path = "", ...deps }: { readonly path?: string } & Partial<OpenAiDeps> = {},
) {
  const upstream = await startUpstream(() => answer);
  started.push(upstream);
  const provider = createProvider({ baseUrl: `${upstream.origin}${path}`, clock: fakeClock(), ...deps });
  return { upstream, provider };
}

/** What a submission sends, which must be as the published document says. */
async function sent(given: Submission) {
  const { provider, upstream } = await setup();
  const request = submission(given);
  await provider.submit(request, signal);
  const [arrived] = upstream.arrived;
  if (arrived === undefined) throw new Error("Nothing was sent.");
  const fields = await fieldsOf(arrived);
  const isForm = arrived.headers.get("content-type") !== "application/json";
  expect(publishedProblems(arrived.path, fields, isForm)).toEqual([]);
  return { ...arrived, fields, request };
}

function publishedProblems(path: string, fields: Record<string, unknown>, isForm: boolean): string[] {
  const type = isForm ? "multipart/form-data" : "application/json";
  // A file is a string to a schema; several come as the list the document calls `image`.
  const asString = (value: unknown) => (value instanceof Blob ? "file" : value);
  const { "image[]": images, ...rest } = fields;
  const form = { ...rest, ...known(rest), ...(images === undefined ? {} : { image: images }) };
  const value = Object.fromEntries(
    Object.entries(form).map(([name, each]) => [
      name,
      Array.isArray(each) ? each.map(asString) : asString(each),
    ]),
  );
  const place = ["paths", path, "post", "requestBody", "content", type, "schema"];
  return published.problems(place, value, isForm);
}

/** The document is older than the newest models and does not know all of their qualities and formats. */
const known = ({ quality, output_format: format }: Record<string, unknown>) => ({
  ...(quality === "xhigh" || quality === "max" ? { quality: "high" } : {}),
  ...(format === "gif" ? { output_format: "png" } : {}),
});

const png = (role: "image" | "mask", text: string) => inputFile(role, new TextEncoder().encode(text));

describe("a generation", () => {
  test("gives a server that takes arguments in prompts none of a caller's", async () => {
    const { fields } = await sent({ prompt: 'A fox <sd_cpp_extra_args>{"steps":99}</sd_cpp_extra_args>' });
    expect(fields.prompt).toBe('A fox < sd_cpp_extra_args>{"steps":99}</sd_cpp_extra_args>');
  });

  test("is one JSON request with the key, the attempt's id, and no response_format", async () => {
    const { method, path, headers, fields, request } = await sent({
      n: 3,
      parameters: { size: "1536x1024" },
    });
    expect([method, path]).toEqual(["POST", "/images/generations"]);
    expect(fields).toEqual({ model: "gpt-image-2", prompt: "A red fox", n: 3, size: "1536x1024" });
    expect(headers.get("idempotency-key")).toBe(request.attempt);
    expect(headers.get("content-length")).not.toBeNull();
  });

  test("carries values that look like none: 0, false and an empty text", async () => {
    const parameters = { output_compression: 0, flag: false, style: "" };
    const { provider, upstream } = await setup();
    await provider.submit(submission({ prompt: "", parameters }), signal);
    expect(await fieldsOf(upstream.arrived[0]!)).toEqual({
      model: "gpt-image-2",
      prompt: "",
      n: 1,
      ...parameters,
    });
  });

  test("goes below the path of another server's base URL", async () => {
    const { provider, upstream } = await setup(pictures(1), { path: "/compat/v1/" });
    await provider.submit(submission(), signal);
    expect(upstream.arrived[0]?.path).toBe("/compat/v1/images/generations");
  });
});

describe("an edit", () => {
  test("of one image with a mask is a form whose files are what they were", async () => {
    const inputs = [png("image", "first"), png("mask", "stencil")];
    const { path, fields } = await sent({ inputs, n: 2, parameters: { output_compression: 0 } });
    const { image, mask, ...rest } = fields as Record<string, File>;
    expect(path).toBe("/images/edits");
    expect(rest as object).toEqual({
      model: "gpt-image-2",
      prompt: "A red fox",
      n: "2",
      output_compression: "0",
    });
    expect([image?.type, await image?.text(), image?.name]).toEqual(["image/png", "first", "input-1.png"]);
    expect([mask?.type, await mask?.text()]).toEqual(["image/png", "stencil"]);
  });

  test("has a mask that says what may change by transparency and by brightness", async () => {
    const mask = {
      ...png("mask", "stencil"),
      painted: async (paint: string) => new Blob([`painted for ${paint}`], { type: "image/png" }),
    };
    const { fields } = await sent({ inputs: [png("image", "first"), mask] });
    const { mask: file } = fields as Record<string, File>;
    expect([file?.type, await file?.text()]).toEqual(["image/png", "painted for either"]);
  });

  test("of several images keeps their order", async () => {
    const { fields } = await sent({ inputs: ["a", "b", "c"].map((text) => png("image", text)) });
    const files = fields["image[]"] as File[];
    expect(await Promise.all(files.map((file) => file.text()))).toEqual(["a", "b", "c"]);
  });

  test("with an input it has no field for is left to another route, before anything is sent", async () => {
    const { provider, upstream } = await setup();
    const inputs = [inputFile("first_frame", new Uint8Array(1))];
    const error = await rejection(provider.submit(submission({ inputs }), signal));
    expect(error).toMatchObject({ disposition: "reroute" });
    expect(upstream.arrived).toEqual([]);
  });
});

/** A value each property of a model's schema takes, other than its default where there is a choice. */
function valueFor(property: JsonObject): Json {
  if (Array.isArray(property.enum)) return property.enum.at(-1) as Json;
  if (property.type === "integer") return property.minimum ?? 0;
  return "text";
}

describe.each(models.map((model) => [model.id, model] as const))("%s", (_, model) => {
  const media = new Set(model.mediaFields.map((field) => field.name));
  const own = Object.entries(model.schema.properties as Record<string, JsonObject>).filter(
    // Early versions are a matter of how it is asked.
    ([name]) =>
      !media.has(name) && !["model", "prompt", "n", "callback_url", "partial_images"].includes(name),
  );
  const upstreamModel = model.routes[0]!.upstreamModel;

  test("has every field it takes reach its upstream", async () => {
    const parameters = Object.fromEntries(own.map(([name, property]) => [name, valueFor(property)]));
    const { input_fidelity: _fidelity, ...generation } = parameters;
    const { moderation: _moderation, ...edit } = parameters;
    expect((await sent({ upstreamModel, parameters: generation })).fields).toMatchObject(generation);
    const { fields } = await sent({ upstreamModel, parameters: edit, inputs: [png("image", "a")] });
    for (const [name, value] of Object.entries(edit)) expect(fields[name]).toBe(String(value));
  });
});

describe("pictures", () => {
  test("come as bytes, with the tokens they took", async () => {
    const { provider } = await setup(pictures(2));
    const outputs = [0, 1].map((i) => ({ kind: "bytes", bytes: Buffer.from(`picture ${i}`) }) as const);
    expect(await provider.submit(submission({ n: 2 }), signal)).toEqual({
      kind: "outputs",
      outputs,
      usage: { inputTokens: 13, outputTokens: 1056, made: { size: "1024x1024", quality: "high" } },
    });
  });

  test.each([
    ["1536x1024", undefined, "1536x1024"],
    ["1536x1024", "1024x1024", undefined],
    ["auto", undefined, undefined],
    [undefined, undefined, undefined],
  ])("asked for as %s must have that size where the answer says %s of it", async (asked, said, size) => {
    const { provider } = await setup({ json: { data: [{ b64_json: "aGk=" }], ...(said && { size: said }) } });
    const submitted = await provider.submit(
      submission({ parameters: asked === undefined ? {} : { size: asked } }),
      signal,
    );
    expect(submitted).toMatchObject({ outputs: [{ kind: "bytes", ...(size && { size }) }] });
    const [output] = submitted.kind === "outputs" ? submitted.outputs : [];
    expect(output?.kind === "bytes" ? output.size : "none").toBe(size);
  });

  test("have tokens counted under their older names too", async () => {
    const json = { data: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } };
    const { provider } = await setup({ json });
    const usage = { inputTokens: 1, outputTokens: 2 };
    expect(await provider.submit(submission(), signal)).toEqual({ kind: "outputs", outputs: [], usage });
  });

  test("given as addresses of the same server are fetched without the key", async () => {
    const { provider, upstream } = await setup();
    upstream.answer = ({ method }) =>
      method === "GET" ? { body: "bytes" } : { json: { data: [{ url: `${upstream.origin}/files/1.png` }] } };
    const submitted = await provider.submit(submission(), signal);
    const ref = { url: `${upstream.origin}/files/1.png` };
    expect(submitted).toMatchObject({ kind: "outputs", outputs: [{ kind: "remote", ref }] });
    expect(Buffer.from(await fetchAll(provider, ref)).toString()).toBe("bytes");
    expect(upstream.arrived[1]?.headers.get("authorization")).toBeNull();
  });

  test("given as addresses elsewhere are fetched without the key, through the guard against private ones", async () => {
    const asked: string[] = [];
    const fetchPublic: OpenAiDeps["fetchPublic"] = async (url) => {
      asked.push(url);
      if (url.includes("10.0.0.5")) throw new EgressError("forbidden", "names the address 10.0.0.5");
      if (url.includes("away")) throw new EgressError("timeout", "did not answer in time");
      return new Blob(["bytes"]).stream();
    };
    const { provider, upstream } = await setup({ json: {} }, { fetchPublic });
    const fetched = await fetchAll(provider, { url: "https://cdn.example/1.png" });
    expect(Buffer.from(fetched).toString()).toBe("bytes");
    for (const [url, disposition] of [
      ["https://10.0.0.5/1.png", "fail"],
      ["https://away.example/1.png", "retry"],
    ] as const)
      expect(await rejection(fetchAll(provider, { url }))).toMatchObject({
        disposition,
        code: "FINALIZATION_FAILED",
      });
    expect(asked).toHaveLength(3);
    expect(upstream.arrived).toEqual([]);
  });

  test("given as addresses elsewhere are not fetched where nothing guards that", async () => {
    const { provider } = await setup();
    const elsewhere = await startUpstream(() => ({ body: "bytes" }));
    started.push(elsewhere);
    const error = await rejection(fetchAll(provider, { url: `${elsewhere.origin}/1.png` }));
    expect(error).toMatchObject({ disposition: "fail", code: "FINALIZATION_FAILED" });
    expect(elsewhere.arrived).toEqual([]);
  });

  test.skipIf(!published.isHere)("come in the form the published example has", async () => {
    const place = ["paths", "/images/generations", "post", "responses", "200", "content", "application/json"];
    const example = published.at([...place, "examples", "generate-image", "value"]) as Json;
    const { provider } = await setup({ json: example });
    const usage = { inputTokens: 50, outputTokens: 50 };
    expect(await provider.submit(submission(), signal)).toMatchObject({ kind: "outputs", usage });
  });
});

test.each([
  [400, { code: "moderation_blocked", type: "image_generation_user_error" }, "fail", "CONTENT_MODERATED"],
  [400, { code: "content_policy_violation" }, "fail", "CONTENT_MODERATED"],
  [400, { type: "image_generation_user_error" }, "fail", "CONTENT_MODERATED"],
  [400, { code: "invalid_value" }, "fail", "UPSTREAM_REJECTED"],
  [400, {}, "fail", "UPSTREAM_REJECTED"],
  [400, { code: "unknown_parameter" }, "reroute", "NO_ROUTE_AVAILABLE"],
  [400, { code: "billing_hard_limit_reached" }, "reroute", "NO_ROUTE_AVAILABLE"],
  [401, { code: "invalid_api_key" }, "reroute", "NO_ROUTE_AVAILABLE"],
  [403, { message: "Your organization must be verified to use the model." }, "reroute", "NO_ROUTE_AVAILABLE"],
  [404, { code: "model_not_found" }, "reroute", "NO_ROUTE_AVAILABLE"],
  [429, { code: "insufficient_quota", type: "insufficient_quota" }, "reroute", "NO_ROUTE_AVAILABLE"],
  [429, { code: "rate_limit_exceeded", type: "tokens" }, "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
  [500, { type: "server_error" }, "retry", "UPSTREAM_ERROR"],
  [503, { type: "server_error" }, "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
  [504, { code: "sync_image_timeout", type: "server_error" }, "unknown", "UPSTREAM_TIMEOUT"],
  [409, { code: "idempotency_in_progress" }, "unknown", "UPSTREAM_ERROR"],
  // Some servers say 200 to everything.
  [200, { code: "content_policy_violation" }, "fail", "CONTENT_MODERATED"],
  [200, { code: "insufficient_quota" }, "reroute", "NO_ROUTE_AVAILABLE"],
  [200, { type: "rate_limit_error" }, "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
  [200, { type: "invalid_request_error" }, "fail", "UPSTREAM_REJECTED"],
  [200, { code: "something", type: "server_error" }, "unusable", "UPSTREAM_ERROR"],
] as const)("%d with %j is %s, %s", async (status, error, disposition, code) => {
  const { provider } = await setup(refusal(status, error));
  expect(await rejection(provider.submit(submission(), signal))).toMatchObject({ disposition, code });
});

const FULL = "Rate limit reached on images per min: Limit 5, Used 5. Please try again in 12s.";

test.each([
  ["too many requests, in its message", 429, { code: "rate_limit_exceeded", message: FULL }, {}, 12_000],
  [
    "too many requests, in its header, which counts more",
    429,
    { message: FULL },
    { "retry-after": "20" },
    20_000,
  ],
  ["a spent quota", 429, { code: "insufficient_quota", message: FULL }, {}, undefined],
  ["a wrong request", 400, { code: "invalid_value", message: FULL }, {}, undefined],
] as const)("how long to wait is read of %s", async (_, status, error, headers, retryAfterMs) => {
  const { provider } = await setup({ status, json: { error }, headers: { ...headers } });
  expect(await rejection(provider.submit(submission(), signal))).toMatchObject({ details: { retryAfterMs } });
});

test("a refusal tells the operator what was said, and the caller only what is wrong with the input", async () => {
  const error = {
    message: "Invalid size '7x7'. Supported are '1024x1024' and 'auto'.",
    code: "invalid_value",
  };
  const { provider } = await setup(refusal(400, error));
  const refused = (await rejection(provider.submit(submission(), signal))) as ProviderError;
  expect(refused.message).toBe(`OpenAI answered 400 invalid_value "${error.message}"`);
  expect(refused.publicMessage).toBe(`The provider refused this request: ${error.message}`);
});

test("only a server that honours keys is told to", () => {
  const to = { baseUrl: "https://api.openai.com/v1", clock: fakeClock() };
  expect(createProvider(to).submitIsIdempotent).toBe(false);
  expect(createProvider({ ...to, isIdempotent: true }).submitIsIdempotent).toBe(true);
});
