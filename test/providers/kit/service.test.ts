import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApp } from "../../../src/app/app.ts";
import { readConfig } from "../../../src/app/settings.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import type { Log } from "../../../src/domain/ports/runtime.ts";
import { png } from "../../helpers/media.ts";
import { type Scripted, startUpstream } from "../../helpers/scripted-upstream.ts";
import { startQueue } from "../fal/harness.ts";
import { KEY } from "./http-contract.ts";

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** The whole service with nothing but these variables, and every line it logs. */
async function serve(env: Record<string, string>) {
  const cwd = mkdtempSync(join(tmpdir(), "svc-providers-"));
  closing.push(() => rmSync(cwd, { recursive: true }));
  const lines: string[] = [];
  const note = (fields: object, message: string) => {
    lines.push(`${message} ${Bun.inspect(fields, { depth: 9 })} ${JSON.stringify(fields)}`);
  };
  const log: Log = { debug: note, info: note, warn: note, error: note };
  const config = readConfig({ cwd, env, flags: { port: "0", sandbox: false } });
  const app = createApp(config, { log });
  closing.push(() => app.stop({ force: true }));
  const { urls, firstKey, models } = await app.start();
  const call = async (path: string, body?: JsonObject): Promise<JsonObject> => {
    const response = await fetch(urls.api + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { Authorization: `Bearer ${firstKey}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    lines.push(text);
    return JSON.parse(text);
  };
  const run = async (body: JsonObject): Promise<JsonObject> => {
    const created = (await call("/v1/images/generations", body)).data as JsonObject;
    for (;;) {
      const { data } = await call(`/v1/images/status/${created.task_id}?wait=20`);
      if (/completed|failed|cancelled/.test(String((data as JsonObject).status))) return data as JsonObject;
    }
  };
  return { models: models.map(({ id }) => id), lines, run };
}

test("without keys there are no models but the service's own, and the start says what to do", async () => {
  const { models, lines } = await serve({});
  expect(models).toEqual([]);
  const told = lines.find((line) => line.startsWith("no provider is switched on"));
  for (const name of ["sandbox.enabled", "OPENAI_API_KEY", "FAL_KEY"]) expect(told).toContain(name);
});

test("a key in the environment is all it takes, for each provider", async () => {
  const { models } = await serve({ OPENAI_API_KEY: KEY });
  expect(models).toContain("gpt-image-2");
  expect(models).not.toContain("flux-dev");
  const fal = await serve({ FAL_KEY: KEY });
  expect(fal.models).toContain("flux-dev");
  expect(fal.models).not.toContain("gpt-image-2");
});

test("an image is made through the images API, and no refusal puts the key into a log or an answer", async () => {
  const picture = Buffer.from(await png(8, 8)).toString("base64");
  const answers: Record<string, Scripted> = {
    made: {
      json: {
        ...{ created: 1, data: [{ b64_json: picture }], size: "1024x1024" },
        usage: { input_tokens: 1, output_tokens: 2 },
      },
    },
  };
  const echo = { message: `Incorrect API key provided: ${KEY}`, type: KEY, param: null, code: KEY };
  for (const status of [400, 401, 403, 422]) {
    answers[status] = { status, headers: { "x-request-id": KEY }, json: { error: echo } };
  }
  // A key that is refused is proved at once, by a request without a body.
  const promptOf = (body: Buffer) => (body.length === 0 ? 401 : JSON.parse(body.toString()).prompt);
  const upstream = await startUpstream(({ body }) => answers[promptOf(body)] ?? { json: {} });
  closing.push(() => upstream.stop());
  const { run, lines } = await serve({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: upstream.origin });

  const made = await run({ model: "gpt-image-2", prompt: "made", quality: "low", size: "1024x1024" });
  expect(made).toMatchObject({ status: "completed", result: [expect.any(String)] });
  expect(upstream.arrived[0]?.headers.get("authorization")).toBe(`Bearer ${KEY}`);

  for (const prompt of ["400", "422"])
    expect(await run({ model: "gpt-image-2", prompt })).toMatchObject({ error_code: "UPSTREAM_REJECTED" });
  expect(await run({ model: "gpt-image-2", prompt: "no words" })).toMatchObject({
    error_code: "UPSTREAM_ERROR",
    error_message: "The provider answered without a usable result.",
  });
  for (const prompt of ["401", "403"])
    expect(await run({ model: "gpt-image-2", prompt })).toMatchObject({ error_code: "NO_ROUTE_AVAILABLE" });
  // The account is out of use since the first of them.
  expect(upstream.arrived.filter(({ body }) => body.length > 0)).toHaveLength(5);

  expect(lines.join("\n")).toContain("submission failed");
  for (const piece of [KEY, KEY.slice(0, 12), KEY.slice(-12)]) expect(lines.join("\n")).not.toContain(piece);
});

test("an image is made through the queue", async () => {
  const bytes = await png(8, 8);
  const queue = await startQueue(() => ({
    statuses: [{ json: { status: "IN_PROGRESS" } }, { json: { status: "COMPLETED" } }],
    result: { json: { images: [{ url: `data:image/png;base64,${Buffer.from(bytes).toString("base64")}` }] } },
  }));
  closing.push(() => queue.stop());
  const { run } = await serve({ FAL_KEY: KEY, SVC_PROVIDERS_FAL_BASE_URL: queue.origin });
  const made = await run({ model: "flux-schnell", prompt: "A red fox" });
  expect(made).toMatchObject({ status: "completed", result: [expect.any(String)] });
});
