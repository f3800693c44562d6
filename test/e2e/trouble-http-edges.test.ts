import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { VERSION } from "../../src/version.ts";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { sendRaw } from "./support/raw.ts";

setDefaultTimeout(120_000);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16" };

let server: Server;
let api: Api;

beforeAll(async () => {
  server = await startServer();
  api = createApi(server.url, server.firstKey());
});
afterAll(stopServers);

interface Read {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Sends headers as they are, repeated ones too, and reads the answer. */
async function raw(
  line: string,
  headers: readonly (readonly [string, string])[],
  body: object | string = "",
): Promise<Read> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const all = [
    ["Host", `127.0.0.1:${server.port}`],
    ...headers,
    ["Content-Length", String(Buffer.byteLength(text))],
    ["Content-Type", "application/json"],
    ["Connection", "close"],
  ];
  const lines = all.map(([name, value]) => `${name}: ${value}\r\n`);
  const answer = await sendRaw(server.port, `${line} HTTP/1.1\r\n${lines.join("")}\r\n${text}`);
  const [head = "", ...rest] = answer.split("\r\n\r\n");
  const [first = "", ...fields] = head.split("\r\n");
  const given = new Headers(
    fields.map((field): [string, string] => [
      /^[^:]*/.exec(field)?.[0] ?? "",
      field.replace(/^[^:]*:\s*/, ""),
    ]),
  );
  return { status: Number(first.split(" ")[1]), headers: given, text: rest.join("\r\n\r\n") };
}

const bearer = () => ["Authorization", `Bearer ${api.key}`] as const;

describe("an Idempotency-Key", () => {
  const CREATE = "POST /v1/images/generations";
  test.each([
    ["twice, and different", ["a-1", "a-2"], 400],
    ["three times, one different", ["b-1", "b-1", "b-2"], 400],
    ["once, with a comma and a space", ["c-1, c-2"], 400],
    ["twice, and equal", ["d-1", "d-1"], 200],
    ["once, with a comma", ["e-1,e-2"], 200],
  ])("given %s", async (_, keys, status) => {
    for (const path of [CREATE, "POST /compat/v1/images/generations"]) {
      const headers = keys.map((key) => ["Idempotency-Key", key] as const);
      const answer = await raw(path, [bearer(), ...headers], IMAGE);
      expect(answer.status).toBe(status);
      if (status === 400) expect(answer.text).toContain("invalid_idempotency_key");
    }
  });

  test("given twice is the key that is given once", async () => {
    const once = await raw(CREATE, [bearer(), ["Idempotency-Key", "f-1"]], IMAGE);
    const twice = await raw(
      CREATE,
      [bearer(), ["Idempotency-Key", "f-1"], ["Idempotency-Key", "f-1"]],
      IMAGE,
    );
    expect(twice.headers.get("x-idempotent-replay")).toBe("true");
    expect(twice.text).toBe(once.text);
  });
});

describe("credentials", () => {
  const OTHER = `sk-svc-${"0".repeat(38)}`;
  test.each<[string, (key: string) => readonly (readonly [string, string])[], string, number]>([
    ["an empty Authorization, and a key in the query", () => [["Authorization", ""]], "?key=<key>", 200],
    ["a Bearer without a key, and one in the query", () => [["Authorization", "Bearer "]], "?key=<key>", 200],
    [
      "an empty x-api-key, and a bearer",
      (key) => [
        ["X-Api-Key", ""],
        ["Authorization", `Bearer ${key}`],
      ],
      "",
      200,
    ],
    ["a vendor's header with hyphens", (key) => [["x-my-vendor-api-key", key]], "", 200],
    [
      "the same one in three forms",
      (key) => [
        ["Authorization", `Bearer ${key}`],
        ["x-api-key", key],
      ],
      "?key=<key>",
      200,
    ],
    [
      "Authorization twice, and equal",
      (key) => [
        ["Authorization", `Bearer ${key}`],
        ["Authorization", `Bearer ${key}`],
      ],
      "",
      200,
    ],
    [
      "Authorization twice, and different",
      (key) => [
        ["Authorization", `Bearer ${key}`],
        ["Authorization", `Bearer ${OTHER}`],
      ],
      "",
      401,
    ],
    [
      "a bearer and another x-api-key",
      (key) => [
        ["Authorization", `Bearer ${key}`],
        ["x-api-key", OTHER],
      ],
      "",
      401,
    ],
    [
      "a bearer and another key in the query",
      (key) => [["Authorization", `Bearer ${key}`]],
      `?key=${OTHER}`,
      401,
    ],
    [
      "two vendors' headers that differ",
      (key) => [
        ["x-a-api-key", key],
        ["x-b-api-key", OTHER],
      ],
      "",
      401,
    ],
    [
      "none that is not empty",
      () => [
        ["Authorization", ""],
        ["x-api-key", ""],
      ],
      "?key=",
      401,
    ],
  ])("%s", async (_, headers, query, status) => {
    const answer = await raw(`GET /v1/models${query.replace("<key>", api.key)}`, headers(api.key));
    expect(answer.status).toBe(status);
    if (status === 401) expect(JSON.parse(answer.text).error.code).toBe("invalid_api_key");
  });
});

/** docs/api.md 1.8 lists these. */
describe("the HTTP layer answers by itself", () => {
  const HOST = "Host: a\r\n";
  test.each([
    ["no HTTP", "GARBAGE\r\n\r\n", 400],
    ["no Host", "GET / HTTP/1.1\r\n\r\n", 400],
    [
      "two ways to tell a length",
      `POST / HTTP/1.1\r\n${HOST}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n`,
      400,
    ],
    ["a transfer coding", `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: gzip\r\n\r\n`, 400],
    ["OPTIONS *", `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`, 400],
    ["257 MB", `POST /v1/tasks HTTP/1.1\r\n${HOST}Content-Length: 269484032\r\n\r\n`, 413],
    ["a long line", `GET /${"y".repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`, 431],
    ["long headers", `GET / HTTP/1.1\r\n${HOST}X: ${"y".repeat(20_000)}\r\n\r\n`, 431],
    ["another version", `GET / HTTP/2.0\r\n${HOST}\r\n`, 505],
    ["another method", `BREW / HTTP/1.1\r\n${HOST}\r\n`, undefined],
  ])("%s", async (_, request, status) => {
    const answer = await sendRaw(server.port, request);
    if (status === undefined) expect(answer).toBe("");
    else
      expect(answer).toMatch(
        new RegExp(`^HTTP/1.1 ${status} [A-Za-z ]+\\r\\nConnection: close\\r\\n\\r\\n$`),
      );
  });

  test("and all else has a request id", async () => {
    const requests = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "PROPFIND"].map(
      (method) => `${method} /x`,
    );
    for (const line of [...requests, "GET http://b/x", "GET /%zz", "GET /assets/x", "GET /assets/asset_0"]) {
      const { headers } = await raw(line, [bearer()]);
      expect(headers.get("x-request-id"), line).toMatch(/^req_/);
    }
  });
});

describe("what is harmless is taken", () => {
  test.each(["/v1/models/", "/v1/models/sandbox-image/", "/healthz/", "/docs/", "/compat/v1/models/"])(
    "%s has a slash too many",
    async (path) => {
      const [slashed, plain] = await Promise.all([api.send(path), api.send(path.slice(0, -1))]);
      expect([slashed.status, plain.status]).toEqual([200, 200]);
      if (path !== "/docs/") expect(slashed.text).toBe(plain.text);
    },
  );

  test("the page below /docs/ finds its script", async () => {
    const page = await api.send("/docs/");
    const script = /<script src="([^"]+)"/.exec(page.text)?.[1] ?? "";
    const found = await fetch(new URL(script, `${server.url}/docs/`), { method: "HEAD" });
    expect(found.status).toBe(200);
  });

  test("a create's path with a slash too many is the same to an idempotency key", async () => {
    const headers = { "Idempotency-Key": "slash-1" };
    const plain = await api.create(IMAGE, headers);
    const slashed = await api.send("/v1/images/generations/", { body: IMAGE, headers });
    expect(slashed.data.task_id).toBe(plain.data.task_id ?? "none");
  });

  test.each(["/v1/images/generations", "/compat/v1/images/generations", "/v1/pricing/estimate"])(
    "a byte-order mark before the JSON for %s",
    async (path) => {
      const answer = await api.send(path, { body: `\ufeff${JSON.stringify(IMAGE)}` });
      expect(answer.status).toBe(200);
    },
  );

  test.each(["61", "100000", "60.5"])("?wait=%s counts as 60, and the answer says so", async (wait) => {
    const { task_id } = await api.make(IMAGE);
    const answer = await api.send(`/v1/images/status/${task_id}?wait=${wait}`);
    expect([answer.status, answer.headers.get("preference-applied")]).toEqual([200, "wait=60"]);
  });

  test("a wait of at most 60 is not spoken of, and one that is no number is refused", async () => {
    const { task_id } = await api.make(IMAGE);
    const answers = await Promise.all(
      ["60", "0.5", "-1", "soon", "1e9", ""].map((wait) =>
        api.send(`/v1/images/status/${task_id}?wait=${wait}`),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 400, 400, 400]);
    expect(answers.map(({ headers }) => headers.has("preference-applied"))).not.toContain(true);
  });
});

describe("a blank prompt is refused", () => {
  test.each([
    ["/v1/images/generations", " ", "standard"],
    ["/v1/images/generations", "\n\t\u00a0\u3000", "standard"],
    ["/v1/videos/generations", "  ", "standard"],
    ["/v1/pricing/estimate", " ", "standard"],
    ["/compat/v1/images/generations", " \r\n", "compatible"],
  ])("by %s: %j", async (path, prompt, envelope) => {
    const model = path.includes("videos") ? "sandbox-video" : "sandbox-image";
    const { status, body } = await api.send(path, { body: { model, prompt } });
    const code = envelope === "standard" ? body.data?.error_code : body.error?.code;
    const param = envelope === "standard" ? body.data?.param : body.error?.param;
    expect([status, code, param]).toEqual([400, "invalid_request", "prompt"]);
  });
});

describe("/", () => {
  test("leads a browser to the console, and tells a program where the documents are", async () => {
    const page = await fetch(`${server.url}/`, {
      headers: { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" },
      redirect: "manual",
    });
    expect([page.status, page.headers.get("location"), page.headers.get("vary")]).toEqual([
      302,
      "console",
      "Accept",
    ]);
    for (const accept of ["*/*", "application/json", "text/html;q=0"]) {
      const { status, text } = await api.send("/", { headers: { Accept: accept } });
      expect([status, JSON.parse(text)]).toEqual([
        200,
        { name: "svc", version: VERSION, docs: "/docs", openapi: "/openapi.json" },
      ]);
    }
  });

  test("and the published document name the version of the executable", async () => {
    const { info } = JSON.parse((await api.send("/openapi.json")).text);
    expect(info.version).toBe(VERSION);
  });
});
