import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../src/domain/json.ts";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Answer, type Api, createApi, type WireData } from "./support/api.ts";
import { keyIn, svc, svcJson } from "./support/command.ts";
import { stateOf } from "./support/database.ts";
import { untilFollowed } from "./support/follows.ts";

setDefaultTimeout(120_000);

/** Costs 0.01 for each image. */
const IMAGE = { model: "sandbox-image", prompt: "x", size: "8x8", sandbox: { delay_ms: 0 } };
const HANGING = { ...IMAGE, sandbox: { outcome: "hang" } };

let server: Server;
let folder: readonly string[];

beforeAll(async () => {
  server = await startServer();
  folder = ["--data-dir", server.dataDir];
});
afterAll(stopServers);

/** What a command that must succeed prints. */
async function run(...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await svc([...args, ...folder]);
  if (exitCode !== 0) throw new Error(`svc ${args.join(" ")} ended with ${exitCode}.\n${stdout}${stderr}`);
  return stdout;
}

const json = (...args: string[]) => svcJson([...args, ...folder]);

/** A prepaid account with a credit and a key of the same name. */
async function customer(name: string, credit: string, ...keyFlags: string[]): Promise<Api> {
  await json("accounts", "create", name, "--credit", credit);
  const printed = await json("keys", "create", "--name", name, "--account", name, ...keyFlags);
  return createApi(server.url, keyIn(printed));
}

/** Asks again until the answer has a status, which a change made by another process takes a second for at the most. */
const within1s = (ask: () => Promise<Answer>, expected: number) =>
  untilFollowed(ask, ({ status }) => status === expected);

const balanceOf = async (name: string) => {
  const { balance, held, available } = (await json("accounts", "show", name)) as JsonObject;
  return { balance, held, available };
};
const costOf = ({ headers }: Answer) => headers.get("x-request-cost");
const problemOf = ({ status, body }: Answer) => [status, body.data?.error_code, body.message];

test("a customer spends, runs out, is topped up and goes on, and every figure is told to the micro-unit", async () => {
  await run("accounts", "create", "studio", "--credit", "0.05");
  const key = await run(
    ...["keys", "create", "--name", "shop", "--account", "studio"],
    ...["--quota", "0.08", "--quota-reset", "monthly", "--show-secret-only"],
  );
  const api = createApi(server.url, keyIn(key));
  const three = { ...IMAGE, n: 3 };
  const first = await api.make(three);
  expect(first.usage).toEqual({ cost: "0.030000", currency: "USD" });

  expect(problemOf(await api.create(three))).toEqual([
    402,
    "insufficient_quota",
    "This request needs 0.030000 USD; the account has 0.020000 available.",
  ]);
  expect(await run("accounts", "credit", "studio", "1.00", "--reason", "invoice 12")).toBe("1.020000\n");
  await api.make(three);
  expect(problemOf(await api.create(three))).toEqual([
    402,
    "insufficient_quota",
    "This request needs 0.030000 USD; the quota of this API key has 0.020000 available.",
  ]);
  await run("keys", "update", "shop", "--quota", "0.50");
  const third = await within1s(() => api.create(three), 200);
  await api.wait(third.data.task_id ?? "");
  await api.make({ ...IMAGE, sandbox: { delay_ms: 0, outcome: "failed" } });
  expect(
    await run("accounts", "refund", first.task_id, "--amount", "0.01", "--reason", "one was blurred"),
  ).toBe("0.010000\n");

  expect(await balanceOf("studio")).toEqual({ balance: "0.970000", held: "0.000000", available: "0.970000" });
  const sum = { completed: 3, failed: 1, cancelled: 0, outputs: 9, charged: "0.090000" };
  for (const [by, named] of [
    ["key", { account: "studio", key: "shop" }],
    ["model", { model: "sandbox-image" }],
    ["day", { day: new Date().toISOString().slice(0, 10) }],
  ] as const) {
    const usage = (await json("usage", "--by", by, "--account", "studio")) as {
      rows: JsonObject[];
      total: JsonObject;
    };
    expect([usage.rows.length, usage.rows[0], usage.total]).toMatchObject([1, { ...named, ...sum }, sum]);
  }
  const { entries } = (await json("ledger", "studio")) as { entries: JsonObject[] };
  const { id: keyId } = (await json("keys", "show", "shop")) as JsonObject;
  expect(entries.map((row) => [row.kind, row.balance_delta, row.held_delta, row.balance, row.actor])).toEqual(
    [
      ["refund", "0.010000", "0.000000", "0.970000", "operator"],
      ["release", "0.000000", "-0.010000", "0.960000", "system"],
      ["hold", "0.000000", "0.010000", "0.960000", keyId ?? ""],
      ["capture", "-0.030000", "-0.030000", "0.960000", "system"],
      ["hold", "0.000000", "0.030000", "0.990000", keyId ?? ""],
      ["capture", "-0.030000", "-0.030000", "0.990000", "system"],
      ["hold", "0.000000", "0.030000", "1.020000", keyId ?? ""],
      ["credit", "1.000000", "0.000000", "1.020000", "operator"],
      ["capture", "-0.030000", "-0.030000", "0.020000", "system"],
      ["hold", "0.000000", "0.030000", "0.050000", keyId ?? ""],
      ["credit", "0.050000", "0.000000", "0.050000", "operator"],
    ],
  );
  expect(entries.filter((row) => row.task_id === first.task_id).map((row) => row.reason)).toEqual([
    "one was blurred",
    "task completed",
    "task accepted",
  ]);
});

describe("a request that costs more than is left is refused with 402, both figures, and nothing kept:", () => {
  test.each([
    ["the balance", "0.015", [], "the account has 0.015000 available"],
    ["the quota", "5", ["--quota", "0.012"], "the quota of this API key has 0.012000 available"],
    [
      "the quota as the smaller",
      "0.015",
      ["--quota", "0.01"],
      "the quota of this API key has 0.010000 available",
    ],
    ["the balance as the smaller", "0.01", ["--quota", "0.015"], "the account has 0.010000 available"],
  ] as const)("%s", async (name, credit, flags, says) => {
    const api = await customer(name, credit, ...flags);
    const before = stateOf(server.dataDir);
    const message = `This request needs 0.020000 USD; ${says}.`;
    const body = { ...IMAGE, n: 2 };
    const standard = await api.create(body, { "Idempotency-Key": name });
    expect([standard.status, standard.body]).toEqual([
      402,
      {
        code: 402,
        message,
        data: { type: "insufficient_quota_error", error_code: "insufficient_quota" },
      } as Answer["body"],
    ]);
    const compatible = await api.send("/compat/v1/images/generations", {
      body: { model: "sandbox-image", prompt: "x", size: "8x8", n: 2 },
    });
    expect([compatible.status, compatible.body]).toEqual([
      402,
      { error: { message, type: "insufficient_quota_error", code: "insufficient_quota" } },
    ]);
    expect([standard, compatible].map(({ headers }) => headers.get("x-should-retry"))).toEqual([
      "false",
      "false",
    ]);
    expect(stateOf(server.dataDir)).toEqual(before);
    const estimate = await api.send("/v1/pricing/estimate", { body });
    expect([estimate.status, estimate.data]).toMatchObject([
      200,
      { affordable: false, limited_by: says.startsWith("the account") ? "balance" : "key_quota" },
    ]);
    // The very request fits once there is enough.
    await json("accounts", "credit", name, "5");
    await json("keys", "update", name, "--quota", "0.02");
    const { data } = await within1s(() => api.create(body, { "Idempotency-Key": name }), 200);
    // Its end changes what the next one compares.
    expect((await api.wait(data.task_id ?? "")).status).toBe("completed");
  });

  test("as often as creates come at once", async () => {
    const api = await customer("crowd", "5", "--quota", "0.05", "--quota-reset", "daily");
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.create(HANGING)));
    const accepted = answers.flatMap(({ data }: { data: WireData }) => data.task_id ?? []);
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array(5).fill(200),
      ...Array(15).fill(402),
    ]);
    for (const id of accepted) await api.send(`/v1/tasks/${id}/cancel`, { method: "POST" });
    for (const id of accepted) expect((await api.wait(id)).status).toBe("cancelled");
    expect(await balanceOf("crowd")).toEqual({
      balance: "5.000000",
      held: "0.000000",
      available: "5.000000",
    });
  });
});

test("what people named is no formula in comma-separated usage", async () => {
  const api = await customer("=1+1", "1");
  await api.make(IMAGE);
  const { id } = (await json("keys", "show", "=1+1")) as JsonObject;
  expect(await run("usage", "--by", "key", "--account", "=1+1", "--csv")).toBe(
    `account,key_id,key,completed,failed,cancelled,outputs,charged,upstream_cost,margin,resubmitted\r\n'=1+1,${id},'=1+1,1,0,0,1,0.010000,,,0\r\n`,
  );
});

test("a credit limit lets a prepaid account go below zero, and no further", async () => {
  const api = await customer("trusted", "0.01");
  await json("accounts", "update", "trusted", "--credit-limit", "0.02");
  await api.make({ ...IMAGE, n: 3 });
  expect(await balanceOf("trusted")).toEqual({
    balance: "-0.020000",
    held: "0.000000",
    available: "0.000000",
  });
  expect(problemOf(await api.create(IMAGE))[2]).toBe(
    "This request needs 0.010000 USD; the account has 0.000000 available.",
  );
  const lower = await svc(["accounts", "update", "trusted", "--credit-limit", "0.01", ...folder]);
  expect([lower.exitCode, lower.stderr]).toEqual([
    2,
    "error: --credit-limit must be at least 0.020000 for this account to be prepaid, got 0.010000: it has -0.020000 USD with 0.000000 held. Credit 0.010000 first, or raise the limit.\n",
  ]);
});

test("a multiplier makes what is estimated, held and charged dearer; the key's counts before the account's", async () => {
  const api = await customer("resold", "1");
  const held = await api.create(HANGING);
  expect(costOf(held)).toBe("0.010000");
  await json("accounts", "update", "resold", "--price-multiplier", "1.234567");
  const estimate = async (body: JsonObject) =>
    (await api.send("/v1/pricing/estimate", { body })).data as { max_cost?: string };
  await untilFollowed(
    () => estimate(IMAGE),
    ({ max_cost }) => max_cost === "0.012346",
  );
  const next = await api.create(IMAGE);
  expect(costOf(next)).toBe("0.012346");
  expect((await api.wait(next.data.task_id ?? "")).usage?.cost).toBe("0.012346");
  // 3 × 0.01 × 1.234567, rounded up once.
  expect((await estimate({ ...IMAGE, n: 3 })).max_cost).toBe("0.037038");
  const printed = await json(
    ...["keys", "create", "--name", "cheap", "--account", "resold", "--price-multiplier", "0.5"],
  );
  expect(costOf(await createApi(server.url, keyIn(printed)).create(IMAGE))).toBe("0.005000");
  await api.send(`/v1/tasks/${held.data.task_id}/cancel`, { method: "POST" });
});

test("the keys of a suspended account are refused within a second, its tasks go on, and taken again", async () => {
  const api = await customer("paused", "1");
  const id = await api.accept({ ...IMAGE, sandbox: { delay_ms: 1_500 } });
  await json("accounts", "suspend", "paused", "--yes");
  const { body } = await within1s(() => api.send("/v1/models"), 401);
  expect(body.error?.message).toContain("suspended");
  await json("accounts", "activate", "paused");
  await within1s(() => api.send("/v1/models"), 200);
  expect((await api.wait(id)).status).toBe("completed");
});

test("a low balance is warned of once for each time it comes about, without a secret", async () => {
  const api = await customer("low", "0.06");
  const { id } = (await json("accounts", "update", "low", "--low-balance", "0.05")) as JsonObject;
  const warnings = () =>
    server
      .stderr()
      .split("\n")
      .filter((line) => line.includes("low on balance") && line.includes(String(id)))
      .map((line) => JSON.parse(line) as JsonObject);
  const told = async (count: number) => {
    const deadline = performance.now() + 30_000;
    while (warnings().length < count && performance.now() < deadline) await Bun.sleep(5);
    return warnings().map(({ level, account_name, available, threshold }) => ({
      level,
      account_name,
      available,
      threshold,
    }));
  };
  // Exactly the threshold is not below it.
  await api.make(IMAGE);
  await api.make(IMAGE);
  await api.make(IMAGE);
  const warning = { level: expect.anything(), account_name: "low", threshold: "0.050000" };
  expect(await told(1)).toEqual([{ ...warning, available: "0.040000" }]);
  await json("accounts", "credit", "low", "0.02");
  await api.make(IMAGE);
  expect(await told(2)).toEqual([
    { ...warning, available: "0.040000" },
    { ...warning, available: "0.040000" },
  ]);
  expect(JSON.stringify(warnings())).not.toContain(api.key);
});
