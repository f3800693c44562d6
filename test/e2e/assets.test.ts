import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { connect } from "node:net";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { createApi, download } from "./support/api.ts";

setDefaultTimeout(120_000);

let server: Server;
let url = "";
let bytes: Uint8Array;

beforeAll(async () => {
  server = await startServer();
  const api = createApi(server.url, server.firstKey());
  const task = await api.make({
    model: "sandbox-image",
    prompt: "a key",
    size: "64x64",
    sandbox: { delay_ms: 0 },
  });
  url = task.result?.[0] ?? "";
  bytes = await download(url);
});

afterAll(stopServers);

const get = (headers: Record<string, string> = {}, method = "GET") =>
  fetch(url, { method, headers, keepalive: false });
const etag = () => `"${createHash("sha256").update(bytes).digest("hex")}"`;

describe("a stored file", () => {
  test("is served to whoever knows its address, with headers that keep it harmless and for ever", async () => {
    const response = await get();
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "image/png",
      "content-length": String(bytes.length),
      "cache-control": expect.stringContaining("immutable"),
      "x-content-type-options": "nosniff",
      "content-security-policy": "sandbox; default-src 'none'",
      "accept-ranges": "bytes",
      etag: etag(),
      "x-request-id": expect.stringMatching(/^req_/),
    });
  });

  test("has the same headers and no body for HEAD", async () => {
    const response = await get({}, "HEAD");
    expect([response.status, response.headers.get("content-length"), response.headers.get("etag")]).toEqual([
      200,
      String(bytes.length),
      etag(),
    ]);
    expect((await response.arrayBuffer()).byteLength).toBe(0);
  });

  test("is not sent again to whoever has it", async () => {
    for (const tag of [etag(), `W/${etag()}`, `"other", ${etag()}`, "*"]) {
      const response = await get({ "If-None-Match": tag });
      expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([304, 0]);
    }
    expect((await get({ "If-None-Match": '"other"' })).status).toBe(200);
  });

  test.each<[string, number, number]>([
    ["bytes=0-9", 0, 9],
    ["bytes=10-", 10, -1],
    ["bytes=-5", -5, -1],
    ["bytes=5-999999", 5, -1],
  ])("is served in part for Range: %s", async (range, first, last) => {
    const response = await get({ Range: range });
    const start = first < 0 ? bytes.length + first : first;
    const end = last < 0 ? bytes.length - 1 : last;
    expect(response.status).toBe(206);
    expect(response.headers.get("content-range")).toBe(`bytes ${start}-${end}/${bytes.length}`);
    expect(response.headers.get("content-length")).toBe(String(end - start + 1));
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(new Uint8Array(bytes.slice(start, end + 1)));
  });

  test("answers 416 to a part that is not there", async () => {
    const response = await get({ Range: "bytes=999999-" });
    expect([response.status, response.headers.get("content-range")]).toEqual([
      416,
      `bytes */${bytes.length}`,
    ]);
  });

  test("is sent whole when the part asked for is of another version, or no part at all", async () => {
    expect((await get({ Range: "bytes=0-9", "If-Range": '"other"' })).status).toBe(200);
    expect((await get({ Range: "bytes=0-9", "If-Range": etag() })).status).toBe(206);
    expect((await get({ Range: "lines=1-2" })).status).toBe(200);
    expect((await get({ Range: "bytes=9-1" })).status).toBe(200);
  });
});

describe("an address that names no stored file is 404:", () => {
  test.each([
    "/assets/../svc.db",
    "/assets/..%2fsvc.db",
    "/assets/%2e%2e/svc.db",
    "/assets/..%5csvc.db",
    "/assets/....//svc.db",
    "/assets//etc/passwd",
    "/assets/%00",
    "/assets/",
    "/assets",
    "/assets/sha256",
    "/assets/tmp",
    "/assets/asset_00000000000000000000000000.png",
    "/assets/ASSET.png",
    "/svc-data/svc.db",
    "/../../../etc/passwd",
  ])("%s", async (path) => {
    const answer = await rawGet(server.port, path);
    expect(answer).toStartWith("HTTP/1.1 404");
    expect(answer.toLowerCase()).toContain("x-request-id: req_");
  });

  test("a right id with a wrong extension, or a longer one", async () => {
    const { pathname } = new URL(url);
    expect(await rawGet(server.port, pathname.replace(/png$/, "mp4"))).toStartWith("HTTP/1.1 404");
    expect(await rawGet(server.port, `${pathname}/..`)).toStartWith("HTTP/1.1 404");
    expect(await rawGet(server.port, `${pathname.replace(/.png$/, "0")}.png`)).toStartWith("HTTP/1.1 404");
  });
});

/** A path exactly as written, which no HTTP client would send. */
function rawGet(port: number, path: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(port, "127.0.0.1", () => {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
  });
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
  });
  socket.on("end", () => resolve(text));
  socket.on("error", reject);
  socket.setTimeout(5_000, () => socket.destroy(new Error("No answer.")));
  return promise;
}

describe("a thumbnail", () => {
  const small = (width: string, init: RequestInit = {}) =>
    fetch(`${url}?w=${width}`, { ...init, keepalive: false });

  test("is a picture of its own, kept for ever, and known again", async () => {
    const first = await small("64");
    const picture = new Uint8Array(await first.arrayBuffer());
    const tag = etag().replace(/"$/, '-64"');
    expect([first.status, Object.fromEntries(first.headers)]).toMatchObject([
      200,
      {
        "content-type": "image/webp",
        "content-length": String(picture.length),
        "cache-control": expect.stringContaining("immutable"),
        "content-security-policy": "sandbox; default-src 'none'",
        "x-content-type-options": "nosniff",
        etag: tag,
      },
    ]);
    expect(new TextDecoder().decode(picture.subarray(8, 12))).toBe("WEBP");
    const again = await small("64");
    expect(new Uint8Array(await again.arrayBuffer())).toEqual(picture);
    const head = await small("64", { method: "HEAD" });
    expect([head.status, head.headers.get("content-length"), (await head.arrayBuffer()).byteLength]).toEqual([
      200,
      String(picture.length),
      0,
    ]);
    expect((await small("320", { headers: { "If-None-Match": etag() } })).status).toBe(200);
    expect((await small("64", { headers: { "If-None-Match": tag } })).status).toBe(304);
    expect((await small("64", { headers: { Range: "bytes=0-3" } })).status).toBe(206);
  });

  test("of a video is its first picture", async () => {
    const api = createApi(server.url, server.firstKey());
    const film = await api.make({
      model: "sandbox-video",
      prompt: "waves",
      duration: 1,
      sandbox: { delay_ms: 0 },
    });
    const response = await fetch(`${film.result?.[0]}?w=160`);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/webp"]);
  });

  test.each(["", "0", "65", "064", "64.0", "-64", "1e2", "64&w=64", "%00", "9".repeat(400)])(
    "of the width %p is refused",
    async (width) => {
      const response = await small(width);
      const { data } = (await response.json()) as { data: object };
      expect([response.status, data]).toMatchObject([400, { error_code: "invalid_request", param: "w" }]);
    },
  );
});
