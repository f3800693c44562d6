import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApp } from "../../src/app/app.ts";
import { openRooms } from "../../src/app/rooms.ts";
import { readConfig } from "../../src/app/settings.ts";
import type { Log } from "../../src/domain/ports/runtime.ts";
import { fakeClock, scriptedProvider } from "../helpers/engine.ts";
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

const MODEL = {
  ...{ id: "house-1", kind: "image", name: "House style", description: "Pictures of the house." },
  modes: [{ id: "image-to-image", requires: ["image"] }],
  schema: {
    required: ["prompt"],
    properties: { prompt: { type: "string" }, image_url: { description: "An image." } },
  },
  media: { image_url: { role: "image", media: "image" } },
  price: { lines: [{ sku: "house", unit: "output", amount: "0.020000" }] },
  ...{ deadline_seconds: 60, routes: [{ provider: "house", upstream_model: "style" }] },
};
const formTaking = (image: string) => `provider: house
form: 1
base: https://house.example
auth: { header: x-key, value: "\${key}", key_env: HOUSE_KEY }
submit:
  post: /pictures
  json: { prompt: "\${prompt}", image: '\${${image}}' }
  outputs: { base64: "\${body.picture}" }
`;

test("a provider that begins to fetch inputs while the service runs is given none, and the operator is told once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-inputs-"));
  for (const name of ["models", "providers"]) mkdirSync(join(folder, "svc-data", name), { recursive: true });
  const write = (path: string, text: string) => writeFileSync(join(folder, "svc-data", path), text);
  write("models/house-1.yaml", JSON.stringify(MODEL));
  write("providers/house.yaml", formTaking('base64(input("image").value())'));
  const warnings: string[] = [];
  let taken = Promise.withResolvers<void>();
  const info = (_: unknown, message: string) => message.startsWith("own providers") && taken.resolve();
  const log: Log = { debug() {}, info, error() {}, warn: (_, message) => void warnings.push(message) };
  const clock = fakeClock();
  const config = readConfig({ cwd: folder, env: { HOUSE_KEY: "house-key-0123456789" }, flags: {} });
  const releases: (() => unknown)[] = [];
  stops.push(async () => {
    for (const release of releases.reverse()) await release();
    rmSync(folder, { recursive: true });
  });
  const { catalog } = await openRooms(config, { log, clock }, releases as never);
  const takesNoFiles = () => catalog.find("house-1")?.routes[0]?.takesNoFiles;
  expect([takesNoFiles(), warnings]).toEqual([undefined, []]);
  for (const [form, expected] of [
    [formTaking('url(input("image").value())'), true],
    [`${formTaking('url(input("image").value())')}# again\n`, true],
    [formTaking('base64(input("image").value())'), undefined],
  ] as const) {
    taken = Promise.withResolvers();
    write("providers/house.yaml", form);
    clock.advance(750);
    clock.advance(750);
    await taken.promise;
    expect(takesNoFiles()).toBe(expected);
  }
  expect(warnings).toEqual([
    "house fetches input files from this service, so requests with files cannot go there; set public_url",
  ]);
});
