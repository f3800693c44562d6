import { expect, test } from "bun:test";
import { assetPath } from "../../src/domain/media/asset.ts";
import { assetEndpoints, serveFile } from "../../src/http/assets/routes.ts";
import type { Exchange } from "../../src/http/exchange.ts";
import { newAsset } from "../helpers/store.ts";

const headers = { ETag: '"a"', "Last-Modified": "Mon, 23 Nov 2026 12:00:00 GMT" };
const content = new Blob(["0123456789"]);

/** Asks for a file of ten bytes. @returns the answer, and how often the file was opened */
async function ask(given: Record<string, string>) {
  let opened = 0;
  const deliver = async () => {
    opened += 1;
    return { kind: "content", content } as const;
  };
  const request = new Request("http://localhost/", { headers: given });
  const reply = await serveFile(request, { sizeBytes: 10, headers, deliver });
  const { status, body } = reply;
  const answered: Record<string, string> = { ...reply.headers, ...reply.own };
  const text = body === null ? "" : await new Response(body).text();
  return { status, text, range: answered["Content-Range"], length: answered["Content-Length"], opened };
}

test("a caller that has the file is told so without a look at it", async () => {
  const known = { status: 304, text: "", range: undefined, length: undefined, opened: 0 };
  expect(await ask({ "If-None-Match": '"b", W/"a"' })).toEqual(known);
  expect(await ask({ "If-None-Match": '"a"', Range: "bytes=0-1" })).toEqual(known);
  expect((await ask({ "If-None-Match": '"b"' })).opened).toBe(1);
});

test("a part is answered with its place and length, and the whole file with its own", async () => {
  const part = { status: 206, text: "234", range: "bytes 2-4/10", length: "3", opened: 1 };
  const whole = { status: 200, text: "0123456789", range: undefined, length: "10", opened: 1 };
  expect(await ask({ Range: "bytes=2-4" })).toEqual(part);
  expect(await ask({ Range: "bytes=2-4", "If-Range": headers["Last-Modified"] })).toEqual(part);
  expect(await ask({ Range: "bytes=2-4", "If-Range": '"b"' })).toEqual(whole);
  expect(await ask({})).toEqual(whole);
  expect(await ask({ Range: "bytes=10-" })).toMatchObject({ status: 416, text: "", range: "bytes */10" });
});

test("a request that had to wait for its turn is answered with a file that is read lazily", async () => {
  const asset = newAsset();
  const lazy: unknown[] = [];
  const [endpoint] = assetEndpoints({
    tasks: {
      assetById: async () => asset,
      ...{ byId: async () => undefined, summary: async () => undefined, requestOf: async () => undefined },
    },
    secrets: { hash: (text) => text },
    uploads: { byId: async () => undefined },
    clock: { now: () => 0 },
    thumbnails: { read: async () => ({ kind: "gone" }), sheet: async () => ({ kind: "gone" }) },
    assets: {
      deliver: async (_, __, options) => {
        lazy.push(options?.isLazy);
        return { kind: "content", content };
      },
    },
  });
  for (const isLate of [false, true]) {
    const name = assetPath(asset).split("/").at(-1) ?? "";
    const asked = {
      request: new Request("http://localhost/"),
      param: () => name,
      query: () => new URLSearchParams(),
      isLate,
    };
    // Safe: the endpoint reads nothing else of a request.
    await endpoint?.handle(asked as unknown as Exchange & never);
  }
  expect(lazy).toEqual([false, true]);
});

test("headers of a file are made once, say the same as those of one answer, and follow the time that it has left", async () => {
  const asset = { ...newAsset(), expiresAt: 5_000 };
  let now = 0;
  const [endpoint] = assetEndpoints({
    tasks: {
      assetById: () => asset,
      ...{ byId: async () => undefined, summary: async () => undefined, requestOf: async () => undefined },
    },
    secrets: { hash: (text) => text },
    uploads: { byId: async () => undefined },
    clock: { now: () => now },
    thumbnails: { read: async () => ({ kind: "gone" }), sheet: async () => ({ kind: "gone" }) },
    assets: { deliver: () => ({ kind: "content", content }) },
  });
  const ask = async (given: Record<string, string> = {}) => {
    const asked = {
      request: new Request("http://localhost/", { headers: given }),
      param: () => assetPath(asset).split("/").at(-1) ?? "",
      isLate: false,
    };
    // Safe: the endpoint reads nothing else of a request.
    const reply = await endpoint?.handle(asked as unknown as Exchange & never);
    expect(new Headers(reply?.headers)).toEqual(reply?.kept ?? new Headers());
    return reply;
  };
  const [whole, again] = [await ask(), await ask()];
  expect(whole?.kept).toBe(again?.kept);
  expect(whole?.own).toEqual({ "Content-Length": String(asset.sizeBytes) });
  const part = await ask({ Range: "bytes=2-4" });
  expect(part?.kept).toBe(whole?.kept);
  expect(part?.own).toMatchObject({ "Content-Length": "3" });
  const known = await ask({ "If-None-Match": whole?.headers.ETag ?? "" });
  expect([known?.status, known?.kept, known?.own]).toEqual([304, whole?.kept, undefined]);
  now = 2_000;
  expect((await ask())?.kept?.get("cache-control")).toBe("public, max-age=3, immutable");
});
