import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../src/domain/json.ts";
import { ESTIMATE } from "../../src/http/pricing/wire.ts";
import { check } from "../../src/http/wire/check.ts";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi, kindOf } from "./support/api.ts";
import { keyIn, prepaidKey, svc, svcJson } from "./support/command.ts";
import { stateOf } from "./support/database.ts";

setDefaultTimeout(120_000);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "8x8", sandbox: { delay_ms: 0 } };
const PATH = "/v1/pricing/estimate";

let server: Server;
let api: Api;

beforeAll(async () => {
  server = await startServer();
  api = createApi(server.url, server.firstKey());
});
afterAll(stopServers);

/** `data` of an estimate, which must be what the published schema says. */
async function estimate(body: JsonObject, of: Api = api): Promise<JsonObject> {
  const { status, text } = await of.send(PATH, { body });
  expect([status, text]).toEqual([200, text]);
  const { data } = JSON.parse(text);
  check(ESTIMATE, data);
  return data;
}

describe("an estimate", () => {
  test.each<JsonObject>([
    { ...IMAGE, n: 4 },
    {
      model: "sandbox-video",
      prompt: "x",
      resolution: "720p",
      duration: 3,
      sandbox: { delay_ms: 0, outcome: "failed" },
    },
    { model: "sandbox-video", prompt: "x", sandbox: { delay_ms: 0, outcome: "failed" } },
  ])("of a create's body is what the create says it costs: %j", async (body) => {
    const { headers, data } = await api.create(body);
    // Nothing is to end later, beside other tests.
    await api.wait(data.task_id ?? "", kindOf(body.model));
    const { status, max_cost, min_cost, estimated_cost, missing } = await estimate(body);
    expect([status, missing]).toEqual(["exact", []]);
    expect([max_cost, min_cost, estimated_cost]).toEqual(Array(3).fill(headers.get("x-request-cost")));
  });

  test("of a synchronous call takes that API's fields, ignores unknown ones, and is what the call costs", async () => {
    const request = {
      model: "sandbox-image",
      prompt: "x",
      size: "8x8",
      n: 2,
      quality: "hd",
      user: "u",
      unknown: 1,
    };
    const endpoint = "/compat/v1/images/generations";
    const call = await api.send(endpoint, { body: request });
    expect(call.status).toBe(200);
    expect(await estimate({ endpoint, request })).toMatchObject({
      endpoint,
      status: "exact",
      max_cost: call.headers.get("x-request-cost"),
    });
  });

  test("of an edit needs no image, and says so", async () => {
    const endpoint = "/compat/v1/images/edits";
    expect(await estimate({ endpoint, request: { model: "sandbox-image" }, quantity: 7 })).toMatchObject({
      max_cost: "0.070000",
      assumptions: [
        { field: "mode", value: "image-to-image", source: "inferred" },
        { field: "n", value: 1, source: "default" },
      ],
      missing: ["image", "prompt"],
    });
  });

  test("leaves no task, hold, file or ledger row behind, and needs no money", async () => {
    const poor = createApi(server.url, await prepaidKey(server.dataDir, "poor", "0.03"));
    const before = stateOf(server.dataDir);
    const body = { ...IMAGE, image_url: "data:image/png;base64,AAAA" };
    expect(await estimate({ request: body, quantity: 3 }, poor)).toMatchObject({
      affordable: true,
      limited_by: null,
    });
    expect(await estimate({ request: body, quantity: 4 }, poor)).toMatchObject({
      affordable: false,
      limited_by: "balance",
      max_cost: "0.040000",
    });
    expect(stateOf(server.dataDir)).toEqual(before);
  });

  test("counts as no request of a limited key", async () => {
    const name = ["keys", "create", "--name", "one", "--rpm", "1", "--data-dir", server.dataDir];
    const limited = createApi(server.url, keyIn(await svcJson(name)));
    for (let i = 0; i < 5; i++) await estimate(IMAGE, limited);
    expect((await limited.create(IMAGE)).status).toBe(200);
  });

  test("tells a key that may name routes which can do it, and checks the one that is named", async () => {
    const name = ["keys", "create", "--name", "routes", "--named-routes", "allowed"];
    const key = keyIn(await svcJson([...name, "--data-dir", server.dataDir]));
    const own = createApi(server.url, key);
    expect((await estimate(IMAGE, own)).routes).toEqual([{ route: "sandbox:picture", max_cost: "0.010000" }]);
    expect(await estimate(IMAGE)).not.toHaveProperty("routes");
    const table = await svc(["estimate", "-m", "sandbox-image", "--server", server.url, "--key", key]);
    expect(table.stdout).toContain("sandbox:picture\t0.010000");
    const asking = { body: IMAGE, headers: { "X-Route": "nowhere" } };
    const [allowed, other] = [await own.send(PATH, asking), await api.send(PATH, asking)];
    expect([allowed.status, other.status]).toEqual([400, 403]);
  });

  test("tells how long the model's own tasks took, once five of them are completed", async () => {
    // A server of its own, for what is usual is looked up once in a few seconds.
    const other = await startServer();
    const own = createApi(other.url, other.firstKey());
    const body = { ...IMAGE, sandbox: { delay_ms: 300 } };
    await Promise.all(Array.from({ length: 5 }, () => own.make(body)));
    const seconds = (await estimate(body, own)).estimated_seconds as { p50: number; p90: number };
    expect(seconds.p50).toBeGreaterThanOrEqual(0.3);
    expect(seconds.p90).toBeGreaterThanOrEqual(seconds.p50);
    expect(seconds.p90).toBeLessThan(60);
    expect((await estimate({ model: "sandbox-video" }, own)).estimated_seconds).toBeNull();
  });
});

describe("an estimate is refused", () => {
  test.each<[JsonObject, number, string, string]>([
    [{}, 400, "invalid_request", "model"],
    [{ prompt: "x" }, 400, "invalid_request", "model"],
    [{ request: "x" }, 400, "invalid_request", "request"],
    [{ request: {} }, 400, "invalid_request", "request.model"],
    [{ request: IMAGE, quantity: 0 }, 400, "invalid_request", "quantity"],
    [{ request: IMAGE, quantity: 1001 }, 400, "invalid_request", "quantity"],
    [{ request: IMAGE, quantity: 1.5 }, 400, "invalid_request", "quantity"],
    [{ request: IMAGE, endpoint: "/v1/tasks" }, 400, "invalid_request", "endpoint"],
    [{ request: IMAGE, quantty: 2 }, 400, "invalid_request", "quantty"],
    [{ request: { ...IMAGE, n: 99 } }, 400, "invalid_request", "request.n"],
    [{ ...IMAGE, n: 99 }, 400, "invalid_request", "n"],
    [{ ...IMAGE, quantity: 2 }, 400, "invalid_request", "quantity"],
    [{ ...IMAGE, model: "none" }, 404, "model_not_available", "model"],
    [{ request: IMAGE, endpoint: "/v1/videos/generations" }, 404, "model_not_available", "request.model"],
    [
      { request: { model: "none" }, endpoint: "/compat/v1/images/edits" },
      404,
      "model_not_found",
      "request.model",
    ],
  ])("%j: %i %s for %s", async (body, status, code, param) => {
    const answer = await api.send(PATH, { body });
    expect([answer.status, answer.data.error_code, answer.data.param]).toEqual([status, code, param]);
  });
});
