import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  type Arrived,
  type Scripted,
  type ScriptedUpstream,
  startUpstream,
} from "../helpers/scripted-upstream.ts";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { arranged, svc, svcJson } from "./support/command.ts";
import { plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const SMALL = { size: "1024x1024", quality: "low" };

/** What the upstream answers, by the prompt that it is sent. */
const scripts = new Map<string, Scripted>();
let openai: ScriptedUpstream;
let server: Server;
let api: Api;
let token: string;

const answerTo = ({ body }: Arrived): Scripted => {
  const { prompt } = JSON.parse(body.toString() || "{}") as { prompt?: string };
  return scripts.get(prompt ?? "") ?? { status: 404, json: { error: { message: "no such script" } } };
};

beforeAll(async () => {
  openai = await startUpstream(answerTo);
  server = await startServer({
    env: {
      OPENAI_API_KEY: "sk-upstream-0123456789",
      SVC_PROVIDERS_OPENAI_BASE_URL: openai.origin,
    },
  });
  api = createApi(server.url, server.firstKey());
  const made = await arranged(["tokens", "create", "--name", "operator", "--data-dir", server.dataDir]);
  ({ token } = made as { token: string });
});
const allow = () => svcJson(["routes", "allow", "openai", "--server", server.url, "--token", token]);
// What one test finds of the account says nothing to the next one.
beforeEach(async () => {
  await allow();
});
afterAll(async () => {
  openai.stop();
  await stopServers();
});

const refusal = (status: number, error: object): Scripted => ({ status, json: { error } });

describe("whose fault it is", () => {
  const OPERATORS = [503, "service_unavailable", null, "NO_ROUTE_AVAILABLE"] as const;
  test.each([
    ["our key", refusal(401, { code: "invalid_api_key", message: "Incorrect API key." }), ...OPERATORS],
    ["our organization", refusal(403, { message: "Your organization must be verified." }), ...OPERATORS],
    ["our country", refusal(403, { code: "unsupported_country_region_territory" }), ...OPERATORS],
    [
      "the route's model",
      refusal(404, { code: "model_not_found", type: "invalid_request_error" }),
      ...OPERATORS,
    ],
    ["our quota there", refusal(429, { code: "insufficient_quota", message: "You exceeded." }), ...OPERATORS],
    ["our limit there", refusal(400, { code: "billing_hard_limit_reached" }), ...OPERATORS],
    ["our field", refusal(400, { code: "unknown_parameter", message: "Unknown parameter." }), ...OPERATORS],
    [
      "a proxy that waited",
      { status: 504, body: "<h1>504</h1>" },
      ...[504, "upstream_timeout", "false", "UPSTREAM_TIMEOUT"],
    ],
    [
      "the upstream's own wait",
      refusal(504, { code: "upstream_timeout" }),
      ...[504, "upstream_timeout", "false", "UPSTREAM_TIMEOUT"],
    ],
    [
      "the caller's size",
      refusal(400, { code: "invalid_value", message: "Invalid size." }),
      ...[400, "invalid_request", "false", "UPSTREAM_REJECTED"],
    ],
  ] as [string, Scripted, number, string, string | null, string][])(
    "%s",
    async (prompt, script, status, code, shouldRetry, taskCode) => {
      scripts.set(prompt, script);
      const answer = await api.send("/compat/v1/images/generations", {
        body: { model: "gpt-image-2", prompt, ...SMALL },
      });
      expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
      expect([answer.headers.get("x-should-retry"), answer.headers.get("retry-after")]).toEqual([
        shouldRetry,
        null,
      ]);
      const task = await api.wait(answer.headers.get("x-task-id") ?? "");
      expect([task.status, task.error_code, task.usage?.cost]).toEqual(["failed", taskCode, "0.000000"]);
      expect(answer.text).not.toMatch(/interrupted|quota|billing|api key|organization/i);
    },
  );
});

describe("a route whose provider refuses us", () => {
  const modelsOf = async () => {
    const { stdout } = await svc(["models", "list", "--data-dir", server.dataDir], {
      env: { OPENAI_API_KEY: "sk-upstream-0123456789" },
    });
    return stdout.split("\n").find((line) => line.includes("gpt-image-1-mini")) ?? "";
  };
  const make = async (prompt: string) =>
    (await api.make({ model: "gpt-image-1-mini", prompt, ...SMALL })).status;

  test("is told to the operator, in the log once and in the list of models until it works again", async () => {
    const picture = Buffer.from(await plainImage(8, 8)).toString("base64");
    scripts.set("refused", refusal(401, { code: "invalid_api_key", message: "Incorrect API key." }));
    scripts.set("taken", { json: { created: 1, data: [{ b64_json: picture }], size: "1024x1024" } });
    expect(await modelsOf()).toContain("ready");
    const refusals = () => server.stderr().match(/openai refuses us; it gets no tasks/g)?.length ?? 0;
    const before = refusals();
    expect([await make("refused"), await make("refused")]).toEqual(["failed", "failed"]);
    expect(await modelsOf()).toContain("refused by openai");
    expect(refusals()).toBe(before + 1);
    const told = await svcJson(["models", "show", "gpt-image-1-mini", "--data-dir", server.dataDir]);
    expect(told).toMatchObject({ routes: [{ provider: "openai", refused: expect.stringContaining("401") }] });
    const seen = await api.send("/v1/models/gpt-image-1-mini");
    expect(seen.text).not.toContain("refused");
    await allow();
    expect(await make("taken")).toBe("completed");
    expect(await modelsOf()).toContain("ready");
  });
});
