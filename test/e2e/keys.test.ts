import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { formatCredential } from "../../src/domain/access/credential.ts";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Answer, createApi } from "./support/api.ts";
import { keyIn, svcJson } from "./support/command.ts";
import { stateOf } from "./support/database.ts";
import { FOLLOWS_WITHIN_MS, untilFollowed } from "./support/follows.ts";
import { sendRaw } from "./support/raw.ts";

setDefaultTimeout(120_000);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };
/** A task that stays under way until it is cancelled. */
const HANGING = { ...IMAGE, sandbox: { outcome: "hang" } };
const VIDEO = { model: "sandbox-video", prompt: "x", duration: 1, sandbox: { delay_ms: 0 } };
/** What a change by another process may take to show. */

const server: Server = await startServer({ args: ["--trusted-proxies", "127.0.0.1/32"] });

afterAll(stopServers);

const local = (...args: string[]) => svcJson([...args, "--data-dir", server.dataDir]);
const unknownKey = formatCredential("api_key", "0".repeat(32));
let made = 0;

/** A key of its own account, so that nothing but its own limits refuses it. */
async function newKey(...limits: string[]) {
  const name = `key ${++made}`;
  const key = keyIn(await local("keys", "create", "--name", name, ...limits));
  return { name, key, api: createApi(server.url, key) };
}

const codeOf = ({ status, body }: Answer) => [status, body.error?.code ?? body.data?.error_code];
const REFUSED = [401, "invalid_api_key"];

/** Resolves once the answers have this status, which a change may take a second for. */
const untilStatus = (ask: () => Promise<Answer>, expected: number) =>
  untilFollowed(ask, ({ status }) => status === expected);

describe("a credential", () => {
  test("is judged before the body is read", async () => {
    const head = `POST /v1/images/generations HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\nAuthorization: Bearer ${unknownKey}\r\n\r\n{`;
    expect(await sendRaw(server.port, head)).toMatch(/^HTTP\/1\.1 401 [\s\S]*"code":"invalid_api_key"/);
  });

  test.each([
    [
      "one of two Authorization headers that differ",
      (key: string) => [`Authorization: Bearer ${key}`, `Authorization: Bearer ${key}x`],
    ],
    ["nothing but an empty Authorization header", () => ["Authorization:"]],
    [
      "one of two x-api-key headers that differ",
      (key: string) => [`x-api-key: ${key}`, `x-api-key: ${key}x`],
    ],
    ["api-key on the asynchronous API", (key: string) => [`api-key: ${key}`]],
  ])("is refused when it is %s", async (_, headers) => {
    const lines = ["GET /v1/models HTTP/1.1", "Host: x", "Connection: close", ...headers(server.firstKey())];
    const answer = await sendRaw(server.port, `${lines.join("\r\n")}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 401 [\s\S]*"code":"invalid_api_key"/);
  });

  test("may stand in api-key on the synchronous images API", async () => {
    const response = await fetch(`${server.url}/compat/v1/models`, {
      headers: { "api-key": server.firstKey() },
      keepalive: false,
    });
    expect(response.status).toBe(200);
  });
});

describe("a key with a limit of live tasks", () => {
  test("has exactly as many accepted of fifty creates at once, and another when one ends", async () => {
    const { api } = await newKey("--concurrency", "4");
    const before = stateOf(server.dataDir);
    const answers = await Promise.all(Array.from({ length: 50 }, () => api.create(HANGING)));
    const accepted = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status !== 200);
    expect([accepted.length, refused.length]).toEqual([4, 46]);
    for (const answer of refused) {
      expect(codeOf(answer)).toEqual([429, "rate_limit_exceeded"]);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(answer.body.message).toContain("may have 4 tasks at once");
    }
    expect(stateOf(server.dataDir).tasks).toBe(before.tasks + 4);
    await api.send(`/v1/tasks/${accepted[0]?.data.task_id}/cancel`, { method: "POST" });
    await untilStatus(() => api.create(HANGING), 200);
    const { tasks = [] } = (await api.send("/v1/tasks?limit=100")).data;
    for (const { task_id, status } of tasks) {
      if (status !== "cancelled") await api.send(`/v1/tasks/${task_id}/cancel`, { method: "POST" });
    }
  });
});

describe("a key with a rate limit", () => {
  test("has exactly as many creates taken of twenty at once, and all its reads", async () => {
    const { api } = await newKey("--rpm", "5");
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.create(IMAGE)));
    const taken = answers.filter(({ status }) => status === 200);
    expect(taken).toHaveLength(5);
    expect(taken.map(({ headers }) => headers.get("ratelimit")?.replace(/t=\d+/, "t=…")).sort()).toEqual(
      [0, 1, 2, 3, 4].map((left) => `"requests";r=${left};t=…`),
    );
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expect(codeOf(answer)).toEqual([429, "rate_limit_exceeded"]);
      const waitSec = Number(answer.headers.get("retry-after"));
      const waitMs = Number(answer.headers.get("retry-after-ms"));
      expect(waitSec).toBe(Math.ceil(waitMs / 1000));
      expect(waitMs).toBeGreaterThan(50_000);
      expect(answer.headers.get("ratelimit-policy")).toBe('"requests";q=5;w=60');
    }
    const id = taken[0]?.data.task_id ?? "";
    expect((await api.wait(id)).status).toBe("completed");
    expect((await api.send("/v1/models")).status).toBe(200);
  });
});

describe("a key that may not do everything", () => {
  test("is refused other features and models by name, and sees its own models alone", async () => {
    const { api } = await newKey("--features", "images", "--models", "sandbox-video*");
    const video = await api.create(VIDEO);
    expect([...codeOf(video), video.body.message]).toEqual([
      403,
      "permission_denied",
      'This API key may not create videos: it lacks the feature "videos".',
    ]);
    const image = await api.create(IMAGE);
    expect([...codeOf(image), image.body.message]).toEqual([
      403,
      "permission_denied",
      'This API key may not use the model "sandbox-image".',
    ]);
    const listed = (await api.send("/v1/models")).data.models?.map(({ id }) => id) ?? [];
    expect(listed).not.toBeEmpty();
    expect(listed.every((id) => id.startsWith("sandbox-video"))).toBe(true);
    expect(codeOf(await api.send("/v1/models/sandbox-image"))).toEqual([403, "permission_denied"]);
  });

  test("may use a model by the key's own name for it, which no other key has", async () => {
    const { api } = await newKey("--alias", "painter=sandbox-image", "--models", "sandbox-image");
    expect((await api.create({ ...IMAGE, model: "painter" })).status).toBe(200);
    const { api: other } = await newKey();
    expect(codeOf(await other.create({ ...IMAGE, model: "painter" }))).toEqual([404, "model_not_available"]);
  });
});

describe("a key with a list of addresses", () => {
  test("is taken from those alone, as the trusted proxy tells them", async () => {
    const { api } = await newKey("--allow-ip", "203.0.113.0/24", "2001:db8::/32");
    const from = (forwarded: string) => api.send("/v1/models", { headers: { "X-Forwarded-For": forwarded } });
    for (const allowed of [
      "203.0.113.9",
      "203.0.113.9:4711",
      "198.51.100.1, 203.0.113.9",
      "[2001:db8::7]:80",
    ]) {
      expect((await from(allowed)).status).toBe(200);
    }
    for (const forged of ["198.51.100.1", "203.0.113.9, 198.51.100.1", "203.0.113.9, unknown", "unknown"]) {
      const answer = await from(forged);
      expect(codeOf(answer)).toEqual(REFUSED);
      expect(answer.body.error?.message).toBe("The API key may not be used from this address.");
    }
    expect(codeOf(await api.send("/v1/models"))).toEqual(REFUSED);
  });

  test("is refused to whoever forwards an address without being trusted", async () => {
    const untrusting = await startServer();
    const args = ["keys", "create", "--name", "listed", "--allow-ip", "203.0.113.9"];
    const key = keyIn(await svcJson([...args, "--data-dir", untrusting.dataDir]));
    const headers = { "X-Forwarded-For": "203.0.113.9" };
    const answer = await createApi(untrusting.url, key).send("/v1/models", { headers });
    expect(codeOf(answer)).toEqual(REFUSED);
    await untrusting.stop();
  });
});

test("result URLs begin with the address that the trusted proxy was asked by", async () => {
  const api = createApi(server.url, server.firstKey());
  const id = await api.accept(IMAGE);
  await api.wait(id);
  const headers = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "media.example" };
  const { data } = await api.send(`/v1/images/status/${id}`, { headers });
  expect(data.result?.[0]).toStartWith("https://media.example/assets/asset_");
});

describe("a running server follows", () => {
  test("a revocation within a second, under a hundred requests a second", async () => {
    const { api, name } = await newKey();
    const answers: Promise<{ sentAt: number; status: number }>[] = [];
    const send = () => {
      const sentAt = performance.now();
      answers.push(api.create(IMAGE).then(({ status }) => ({ sentAt, status })));
    };
    const timer = setInterval(send, 10);
    let revokedAt = 0;
    try {
      await Bun.sleep(300);
      await local("keys", "revoke", name, "--yes");
      revokedAt = performance.now();
      await Bun.sleep(2 * FOLLOWS_WITHIN_MS);
    } finally {
      clearInterval(timer);
    }
    const sent = await Promise.all(answers);
    const late = sent.filter(({ sentAt }) => sentAt > revokedAt + FOLLOWS_WITHIN_MS);
    expect(sent.filter(({ status }) => status === 200).length).toBeGreaterThan(10);
    expect(late.length).toBeGreaterThan(20);
    expect(late.every(({ status }) => status === 401)).toBe(true);
  });

  test("changed limits within a second", async () => {
    const { api, name } = await newKey();
    expect((await api.create(IMAGE)).headers.get("ratelimit")).toBeNull();
    await local("keys", "update", name, "--features", "videos");
    await untilStatus(() => api.create(IMAGE), 403);
    await local("keys", "update", name, "--features", "any", "--rpm", "1000");
    await untilStatus(() => api.create(IMAGE), 200);
    expect((await api.create(IMAGE)).headers.get("ratelimit-policy")).toBe('"requests";q=1000;w=60');
    await local("keys", "update", name, "--expires", "1s");
    await Bun.sleep(1_000);
    await untilStatus(() => api.create(IMAGE), 401);
  });

  test("a rotation within a second, and a grace to its end", async () => {
    const { api, name } = await newKey();
    const second = createApi(server.url, keyIn(await local("keys", "rotate", name)));
    expect((await second.send("/v1/models")).status).toBe(200);
    await untilStatus(() => api.send("/v1/models"), 401);
    // The grace begins between these two.
    const beforeMs = performance.now();
    const third = createApi(server.url, keyIn(await local("keys", "rotate", name, "--grace", "3s")));
    const afterMs = performance.now();
    expect((await third.send("/v1/models")).status).toBe(200);
    const statuses: number[] = [];
    for (;;) {
      const { status } = await second.send("/v1/models");
      if (performance.now() - beforeMs > 3_000) break;
      statuses.push(status);
      await Bun.sleep(20);
    }
    expect(new Set(statuses)).toEqual(new Set([200]));
    await Bun.sleep(Math.max(0, afterMs + 3_000 - performance.now()));
    const { status, body } = await second.send("/v1/models");
    expect([status, body.error?.message]).toEqual([401, "The API key has expired."]);
    expect((await third.send("/v1/models")).status).toBe(200);
  });
});

test("no credential, wherever it is sent, reaches a log line or the database", async () => {
  const sent = (letter: string) => [
    formatCredential("api_key", letter.repeat(32)),
    formatCredential("management_token", letter.repeat(32)),
    `sk-svc-${letter.repeat(37)}!`,
  ];
  const secrets = [...sent("a"), ...sent("b"), server.firstKey(), (await newKey()).key];
  for (const secret of secrets) {
    const ways: [string, Record<string, string>][] = [
      ["", { Authorization: `Bearer ${secret}` }],
      ["", { Authorization: secret }],
      ["", { "x-api-key": secret }],
      ["", { "x-goog-api-key": secret }],
      ["", { "api-key": secret }],
      [`?key=${secret}`, {}],
      [`/${secret}?key=${secret}`, { "X-Request-ID": "canary" }],
    ];
    for (const [suffix, headers] of ways) {
      for (const path of ["/v1/models", "/compat/v1/models", "/admin/v1/keys"]) {
        const response = await fetch(server.url + path + suffix, { headers, keepalive: false });
        expect(await response.text()).not.toContain(secret);
      }
    }
  }
  const files = readdirSync(server.dataDir).filter((name) => name.startsWith("svc.db"));
  const kept = [server.stdout(), server.stderr()].concat(
    files.map((name) => readFileSync(join(server.dataDir, name), "latin1")),
  );
  expect(files).not.toBeEmpty();
  for (const secret of secrets) expect(kept.some((text) => text.includes(secret.slice(7, 39)))).toBe(false);
});
