import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApp } from "../../src/app/app.ts";
import { readConfig } from "../../src/app/settings.ts";
import type { Log } from "../../src/domain/ports/runtime.ts";
import { scriptedProvider } from "../helpers/engine.ts";
import { png } from "../helpers/media.ts";

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** The service with a provider that fetches inputs by itself. */
async function setup(env: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), "svc-inputs-"));
  const warnings: string[] = [];
  const log: Log = { debug() {}, info() {}, error() {}, warn: (_, message) => void warnings.push(message) };
  const submitted = Promise.withResolvers<string | undefined>();
  const provider = scriptedProvider({
    needsInputUrls: true,
    async submit({ inputs }) {
      submitted.resolve(inputs[0]?.url?.());
      return { kind: "operation", operation: "job" };
    },
  });
  const config = readConfig({ cwd: folder, env, flags: { port: "0" } });
  const app = createApp(config, { log, providers: [provider] });
  const { firstKey = "", port = 0 } = await app.start();
  stops.push(async () => {
    await app.stop({ force: true });
    rmSync(folder, { recursive: true });
  });
  const here = `http://127.0.0.1:${port}`;
  const create = (body: object) =>
    fetch(`${here}/v1/images/generations`, {
      method: "POST",
      headers: { Authorization: `Bearer ${firstKey}`, "Content-Type": "application/json" },
      body: JSON.stringify({ model: "sandbox-image", prompt: "A fox", ...body }),
    });
  return { here, create, warnings, submitted: submitted.promise };
}

const pictureUrl = async () => `data:image/png;base64,${Buffer.from(await png(3, 2)).toString("base64")}`;

test("a provider that fetches inputs gets an address under which anybody gets exactly that file", async () => {
  // Where a reverse proxy would be.
  const { here, create, warnings, submitted } = await setup({ SVC_PUBLIC_URL: "https://svc.example" });
  expect((await create({ image_url: await pictureUrl() })).status).toBe(200);
  const { origin, pathname } = new URL((await submitted) ?? "");
  expect([origin, warnings]).toEqual(["https://svc.example", []]);
  const served = await fetch(here + pathname);
  expect(served.headers.get("content-type")).toBe("image/png");
  expect(served.headers.get("cache-control")).toBe("private, no-store");
  expect(Buffer.compare(await served.bytes(), await png(3, 2))).toBe(0);
  const part = await fetch(here + pathname, { headers: { Range: "bytes=1-3" } });
  expect([part.status, await part.text()]).toEqual([206, "PNG"]);
  expect((await fetch(here + pathname.replace(".png", ".webp"))).status).toBe(404);
});

test("without public_url such a provider gets requests without files, and the operator is told", async () => {
  const { create, warnings, submitted } = await setup({});
  expect(warnings).toEqual([
    "sandbox fetches input files from this service, so requests with files cannot go there; set public_url",
  ]);
  const refused = await create({ image_url: await pictureUrl() });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({
    data: { error_code: "invalid_request", param: "image_url" },
  });
  expect((await create({})).status).toBe(200);
  expect(await submitted).toBeUndefined();
});
