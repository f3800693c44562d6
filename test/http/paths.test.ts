import { expect, test } from "bun:test";
import type { Handling } from "../../src/http/exchange.ts";
import { createPaths } from "../../src/http/paths.ts";

const on = (method: Handling["method"], path: string): Handling => ({
  method,
  path,
  access: "public",
  handle: () => ({ status: 204, headers: {}, body: null }),
});
const UNKNOWN = on("GET", "*");
const CALLBACK = on("GET", "/v1/callbacks/:callback_id");
const EVENTS = on("GET", "/v1/callbacks/events");
const CREATE = on("POST", "/v1/keys/:id/rotate");

function asked(path: string, method = "GET") {
  const find = createPaths([CALLBACK, EVENTS, CREATE], UNKNOWN);
  return find(new Request(`http://svc.test${path}`, { method }));
}

test("a path without parameters goes before one with, whichever came first", () => {
  expect(asked("/v1/callbacks/events").handling).toBe(EVENTS);
  expect(asked("/v1/callbacks/event").handling).toBe(CALLBACK);
  expect(asked("/v1/callbacks/events/more").handling).toBe(UNKNOWN);
});

test("parameters are told decoded, and are empty where there is none of that name", () => {
  const { param } = asked("/v1/callbacks/a%2Fb%20c");
  expect([param("callback_id"), param("id")]).toEqual(["a/b c", ""]);
  expect(asked("/v1/keys/%E0%A4%A/rotate", "POST").param("id")).toBe("%E0%A4%A");
  expect(asked("/v1/keys/a%00%20b/rotate", "POST").param("id")).toBe("a%00 b");
});

test("slashes too many are left out, and the query is no part of the path", () => {
  expect(asked("//v1//callbacks/events/?a=/b").path).toBe("/v1/callbacks/events");
  expect(asked("/").path).toBe("/");
});

test("HEAD is asked as GET is; other methods are refused with those there are", () => {
  expect(asked("/v1/callbacks/events", "HEAD").handling).toBe(EVENTS);
  for (const method of ["GET", "HEAD", "DELETE"]) {
    const { handling } = asked("/v1/keys/1/rotate", method);
    expect(() => handling.handle({ request: { method } } as never)).toThrow(
      expect.objectContaining({ code: "method_not_allowed", details: { allow: ["POST"] } }),
    );
  }
});

test("a method that is taken one segment before is told where", () => {
  const places = [on("POST", "/v1/videos"), on("GET", "/v1/videos"), on("DELETE", "/v1/videos/:id")];
  const find = createPaths(places, UNKNOWN);
  const refusal = (method: string) => {
    const { handling } = find(new Request("http://svc.test/v1/videos/generations", { method }));
    return () => handling.handle({ request: { method } } as never);
  };
  expect(refusal("POST")).toThrow("POST is not taken here; use DELETE. It is taken at /v1/videos.");
  expect(refusal("PUT")).toThrow("PUT is not taken here; use DELETE.");
});

test("a verb at the end of a path tells places apart, and other colons belong to what they stand in", () => {
  const [start, stop, one] = [
    on("POST", "/v1/keys/:id:start"),
    on("POST", "/v1/keys/:id:stop"),
    on("GET", "/v1/keys/:id"),
  ];
  const find = createPaths([one, start, stop], UNKNOWN);
  const askedFor = (path: string, method: string) => {
    const { handling, param } = find(new Request(`http://svc.test/v1/keys/${path}`, { method }));
    return [handling, param("id")];
  };
  expect(askedFor("a%20b:start", "POST")).toEqual([start, "a b"]);
  expect(askedFor("a:b:stop", "POST")).toEqual([stop, "a:b"]);
  expect(askedFor("a:go", "POST")).toEqual([UNKNOWN, ""]);
  expect(askedFor("a:go", "GET")).toEqual([one, "a:go"]);
  for (const [path, method, allow] of [
    ["a:stop", "DELETE", ["POST"]],
    ["a", "POST", ["GET", "HEAD"]],
  ] as const) {
    const { handling } = find(new Request(`http://svc.test/v1/keys/${path}`, { method }));
    expect(() => handling.handle({ request: { method } } as never)).toThrow(
      expect.objectContaining({ code: "method_not_allowed", details: { allow } }),
    );
  }
  expect(askedFor("a:pause", "GET")).toEqual([one, "a:pause"]);
  expect(askedFor("a/b:stop", "POST")).toEqual([UNKNOWN, ""]);
});

test("paths that cannot be told apart stop the start", () => {
  expect(() => createPaths([CALLBACK, on("GET", "/v1/callbacks/:id{[a-z]+}")], UNKNOWN)).toThrow();
});

test("a parameter of several segments takes what is left, and the longest pattern goes first", () => {
  const [model, status, file] = [
    on("POST", "/fal/:model+"),
    on("GET", "/fal/:model+/requests/:request_id/status"),
    on("PUT", "/fal/files/:ticket+"),
  ];
  const find = createPaths([model, status, file, CALLBACK], UNKNOWN);
  const at = (path: string, method = "GET") => find(new Request(`http://svc.test${path}`, { method }));
  const run = at("/fal/a/b%20c/d", "POST");
  expect([run.handling, run.param("model")]).toEqual([model, "a/b c/d"]);
  const read = at("/fal/a/b/requests/task_1/status");
  expect([read.handling, read.param("model"), read.param("request_id")]).toEqual([status, "a/b", "task_1"]);
  expect(at("/fal/files/x", "PUT").handling).toBe(file);
  expect(at("/fal").handling).toBe(UNKNOWN);
  expect(() => at("/fal/a", "GET").handling.handle({ request: new Request("http://x/") } as never)).toThrow();
});

test("a request that names its address at an API of others is asked as that is", () => {
  const status = on("GET", "/fal/:model+/requests/:request_id/status");
  const find = createPaths([status], UNKNOWN);
  const named = (target: string, path = "/fal") =>
    find(new Request(`http://svc.test${path}`, { headers: { "x-fal-target-url": target } }));
  const read = named("https://queue.fal.run/a/b/requests/task_1/status?logs=1");
  expect([read.handling, read.param("model")]).toEqual([status, "queue/a/b"]);
  for (const target of [
    "https://example.com/a/requests/b/status",
    "http://queue.fal.run/a/requests/b/status",
    "https://queue.fal.run/a/requests//status",
    "no",
  ])
    expect(named(target).handling).toBe(UNKNOWN);
  expect(named("https://queue.fal.run/a/requests/b/status", "/v1/x").handling).toBe(UNKNOWN);
});

test("paths that name a model lead to the same when they come again, by any method and with any id", () => {
  const [run, film, one, stop, create] = [
    on("POST", "/fal/:model+"),
    on("POST", "/gemini/models/:model:predict"),
    on("GET", "/gemini/models/:model/operations/:operation"),
    on("POST", "/gemini/models/:model/operations/:operation:cancel"),
    on("POST", "/replicate/models/:owner/:name/predictions"),
  ];
  const find = createPaths([run, film, one, stop, create], UNKNOWN);
  const at = (path: string, method: string, ...names: string[]) => {
    const { handling, param } = find(new Request(`http://svc.test${path}`, { method }));
    return [handling, ...names.map(param)];
  };
  for (const time of ["first", "again"]) {
    expect([time, ...at("/fal/a/b%20c", "POST", "model")]).toEqual([time, run, "a/b c"]);
    expect(at("/gemini/models/m%2F1:predict", "POST", "model")).toEqual([film, "m/1"]);
    expect(at(`/gemini/models/m/operations/${time}%201`, "GET", "model", "operation")).toEqual([
      one,
      "m",
      `${time} 1`,
    ]);
    expect(at("/gemini/models/m/operations/1:cancel", "POST", "model", "operation")).toEqual([
      stop,
      "m",
      "1",
    ]);
    expect(at("/gemini/models/m/operations/", "GET")).toEqual([UNKNOWN]);
    expect(at("/gemini/models/m/operations/1/2", "GET")).toEqual([UNKNOWN]);
    expect(at("/replicate/models/a/b/predictions", "POST", "owner", "name")).toEqual([create, "a", "b"]);
    const [refusing] = at("/replicate/models/a/b/predictions", "GET");
    expect([refusing === create, refusing === UNKNOWN]).toEqual([false, false]);
  }
});

test("a word where another pattern has its last parameter is not taken for it", () => {
  const [latest, one] = [on("GET", "/m/:model+/v/latest"), on("GET", "/m/:model+/v/:version")];
  const find = createPaths([latest, one], UNKNOWN);
  const at = (path: string) => find(new Request(`http://svc.test${path}`)).handling;
  expect([at("/m/a/v/1"), at("/m/a/v/latest"), at("/m/a/v/2")]).toEqual([one, latest, one]);
});

test("however many paths are asked for, each leads where it should", () => {
  const find = createPaths([on("POST", "/fal/:model+")], UNKNOWN);
  const told = Array.from({ length: 1200 }, (_, i) => i % 600).map((i) => {
    const { param } = find(new Request(`http://svc.test/fal/m${i}/${"x".repeat(i)}`, { method: "POST" }));
    return param("model") === `m${i}/${"x".repeat(i)}`.replace(/\/$/, "");
  });
  expect(told).not.toContain(false);
});
