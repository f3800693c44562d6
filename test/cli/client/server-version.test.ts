import { expect, test } from "bun:test";
import type { ClientOptions } from "../../../cli/client/exchange.ts";
import { serverVersion, versionWarning } from "../../../cli/client/server-version.ts";
import { VERSION } from "../../../src/version.ts";
import { startScriptedServer } from "../scripted-server.ts";
import { fakeTiming } from "../support.ts";

const options = (): ClientOptions => ({
  timing: fakeTiming(),
  signal: new AbortController().signal,
  userAgent: "tests",
});

test.each([
  ["an svc server", () => Response.json({ name: "svc", version: "1.2.3" }), "1.2.3"],
  ["another program", () => Response.json({ name: "other", version: "1.2.3" }), undefined],
  ["a page", () => new Response("<h1>Hello</h1>"), undefined],
  ["an error", () => new Response("No", { status: 500 }), undefined],
])("%s is told by what it says at its root", async (_, answer, version) => {
  using server = startScriptedServer({ "GET /": answer });
  expect(await serverVersion(server.url, options())).toBe(version);
});

test("a server that never answers is not waited for longer than the patience given", async () => {
  const { promise, resolve } = Promise.withResolvers<Response>();
  using server = startScriptedServer({ "GET /": () => promise });
  expect(await serverVersion(server.url, options(), 5)).toBe(undefined);
  resolve(new Response());
});

test("versions of one API need no warning, others do", () => {
  const server = "http://a";
  expect(versionWarning(server, undefined)).toBe(undefined);
  expect(versionWarning(server, VERSION)).toBe(undefined);
  expect(versionWarning(server, "99.0.0")).toBe(
    `http://a is svc 99.0.0, and this is svc ${VERSION}: commands may fail or do less.`,
  );
});
