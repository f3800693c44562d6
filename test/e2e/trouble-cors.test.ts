import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { arranged, keyIn, svc } from "./support/command.ts";

setDefaultTimeout(120_000);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16" };
const ORIGIN = "https://app.example.com";
const OTHER = "https://evil.example.com";

let some: Server;
let any: Server;
let none: Server;
let poorKey: string;
let id: string;

beforeAll(async () => {
  // By variable, so that a build without the setting starts too.
  [some, any, none] = await Promise.all([
    startServer({ env: { SVC_CORS_ORIGINS: `${ORIGIN},http://localhost:3000` } }),
    startServer({ env: { SVC_CORS_ORIGINS: "*" } }),
    startServer(),
  ]);
  const limits = ["--name", "poor", "--rpm", "1", "--data-dir", some.dataDir];
  poorKey = keyIn(await arranged(["keys", "create", ...limits]));
  // The server follows within a second.
  const asPoor = { headers: { Authorization: `Bearer ${poorKey}` } };
  while ((await ask(some, "/v1/models", ORIGIN, asPoor)).status === 401) await Bun.sleep(20);
  id = (await createApi(some.url, some.firstKey()).make(IMAGE)).task_id;
});
afterAll(stopServers);

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: object;
}

function ask(server: Server, path: string, origin: string, { method, headers, body }: Asked = {}) {
  return fetch(server.url + path, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      Origin: origin,
      Authorization: `Bearer ${server.firstKey()}`,
      "Content-Type": "application/json",
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    keepalive: false,
  });
}

/** Headers that every page may read, and those for the browser alone. */
const READ_BY_ALL =
  /^(cache-control|content-type|last-modified|date|vary|transfer-encoding|x-accel-buffering|access-control-.*)$/;

const answers: readonly [string, number, () => Promise<Response>][] = [
  ["models", 200, () => ask(some, "/v1/models", ORIGIN)],
  ["a create", 200, () => ask(some, "/v1/images/generations", ORIGIN, { body: IMAGE })],
  ["a synchronous call", 200, () => ask(some, "/compat/v1/images/generations", ORIGIN, { body: IMAGE })],
  ["events of a task", 200, () => ask(some, `/v1/tasks/${id}/events`, ORIGIN)],
  [
    "a synchronous stream",
    200,
    () => ask(some, "/compat/v1/images/generations", ORIGIN, { body: { ...IMAGE, stream: true } }),
  ],
  [
    "a run of fal's",
    200,
    () => ask(some, "/fal/sandbox-image", ORIGIN, { body: { prompt: "x", image_size: "square" } }),
  ],
  ["a refusal of fal's", 422, () => ask(some, "/fal/sandbox-image", ORIGIN, { body: {} })],
  [
    "where an upload of Gemini's goes on",
    200,
    () =>
      ask(some, "/gemini/upload/v1beta/files", ORIGIN, {
        body: {},
        headers: {
          "X-Goog-Upload-Protocol": "resumable",
          "X-Goog-Upload-Command": "start",
          "X-Goog-Upload-Header-Content-Length": "1",
        },
      }),
  ],
  [
    "the beginning of a session of MCP",
    200,
    () =>
      ask(some, "/mcp", ORIGIN, {
        body: {
          ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
          params: {
            protocolVersion: "2025-06-18",
            capabilities: {},
            clientInfo: { name: "x", version: "1" },
          },
        },
        headers: { Accept: "application/json, text/event-stream" },
      }),
  ],
  ["400", 400, () => ask(some, "/v1/images/generations", ORIGIN, { body: {} })],
  ["401", 401, () => ask(some, "/v1/models", ORIGIN, { headers: { Authorization: "Bearer x" } })],
  ["404", 404, () => ask(some, "/nothing", ORIGIN)],
  ["405", 405, () => ask(some, "/v1/models", ORIGIN, { method: "DELETE" })],
  [
    "413",
    413,
    () => ask(some, "/v1/images/generations", ORIGIN, { body: { ...IMAGE, prompt: "x".repeat(1_100_000) } }),
  ],
  [
    "429",
    429,
    async () => {
      const poor = { body: IMAGE, headers: { Authorization: `Bearer ${poorKey}` } };
      await (await ask(some, "/v1/images/generations", ORIGIN, poor)).text();
      return ask(some, "/v1/images/generations", ORIGIN, poor);
    },
  ],
];

describe("a page of a listed origin", () => {
  test.each(answers)("may read %s", async (_, status, send) => {
    const { status: given, headers, body } = await send();
    await body?.cancel();
    expect(given).toBe(status);
    expect(headers.get("access-control-allow-origin")).toBe(ORIGIN);
    expect(headers.get("vary")).toContain("Origin");
    const exposed = headers.get("access-control-expose-headers")?.toLowerCase() ?? "";
    for (const name of ["x-request-id", "x-request-cost", "retry-after", "ratelimit", "x-task-id", "etag"]) {
      expect(exposed.split(", ")).toContain(name);
    }
    const unread = [...headers.keys()].filter((name) => !exposed.split(", ").includes(name));
    expect(unread.filter((name) => !READ_BY_ALL.test(name))).toEqual([]);
    expect(headers.has("access-control-allow-credentials")).toBe(false);
  });

  test("may read the files of a task, as any page may", async () => {
    const { result } = await createApi(some.url, some.firstKey()).wait(id);
    const { pathname } = new URL(result?.[0] ?? "");
    expect((await ask(some, pathname, ORIGIN)).headers.get("access-control-allow-origin")).toBe(ORIGIN);
    expect((await ask(some, pathname, OTHER)).headers.get("access-control-allow-origin")).toBe("*");
  });

  test("is told beforehand that it may send what it wants to send", async () => {
    const wanted = "authorization,content-type,idempotency-key,x-stainless-os";
    const headers = { "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": wanted };
    for (const path of ["/v1/images/generations", "/compat/v1/images/edits", "/nothing"]) {
      const answer = await ask(some, path, ORIGIN, {
        method: "OPTIONS",
        headers: { ...headers, Authorization: "" },
      });
      expect(answer.status).toBe(204);
      expect(answer.headers.get("access-control-allow-origin")).toBe(ORIGIN);
      expect(answer.headers.get("access-control-allow-headers")).toBe(wanted);
      expect(answer.headers.get("access-control-allow-methods")).toContain("POST");
      expect(answer.headers.has("x-request-id")).toBe(true);
    }
  });
});

test("a page of another origin is told nothing, and neither is any without the setting", async () => {
  const preflight = { method: "OPTIONS", headers: { "Access-Control-Request-Method": "POST" } };
  for (const [server, origin] of [
    [some, OTHER],
    [some, `${ORIGIN}.evil.example`],
    [some, "null"],
    [none, ORIGIN],
  ] as const) {
    for (const asked of [{}, { headers: { Authorization: "" } }, preflight]) {
      const { headers } = await ask(server, "/v1/models", origin, asked);
      expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  }
  expect((await ask(none, "/v1/models", ORIGIN, preflight)).status).toBe(405);
  expect((await ask(some, "/v1/models", OTHER)).headers.get("vary")).toBe("Origin");
});

test("with * any page is allowed", async () => {
  for (const origin of [ORIGIN, OTHER, "null"]) {
    const { headers } = await ask(any, "/v1/models", origin);
    expect([headers.get("access-control-allow-origin"), headers.has("vary")]).toEqual(["*", false]);
  }
});

test.each([
  "app.example.com",
  "https://app.example.com/path",
  "ftp://app.example.com",
  "https://*.example.com",
  "",
])("%j is no origin, and ends the start", async (origin) => {
  const { exitCode, stderr } = await svc(["serve", "--port", "0", "--cors-origins", origin]);
  expect([exitCode, stderr.includes("--cors-origins")]).toEqual([12, true]);
});
