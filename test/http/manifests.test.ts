import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { quickLooks } from "../helpers/quick-looks.ts";
import { type PublishedService, startPublished } from "./openapi-service.ts";

// Texts are checked in a thread that is started for them.
setDefaultTimeout(120_000);

let service: PublishedService;
const folder = () => join(service.dataDir, "models");

beforeAll(async () => {
  service = await startPublished({}, quickLooks());
});
afterAll(() => service.stop());

async function send(method: string, path: string, body?: JsonObject) {
  const response = await fetch(`${service.url}/admin/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${service.token}`, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as JsonObject;
  const data = isJsonObject(answer.data) ? answer.data : {};
  return { status: response.status, message: String(answer.message), data };
}

const manifest = (id: string, more = "") => `id: ${id}
kind: image
name: Mine
description: A model of the house.
modes: [{ id: text-to-image, requires: [] }]
schema:
  required: [prompt]
  properties:
    prompt: { type: string }
price:
  lines:
    - { sku: ${id}, unit: output, amount: "0.020000" }
deadline_seconds: 60
routes:
  - provider: sandbox
    upstream_model: picture
${more}`;

const at = (id: string) => `/models/${id}/manifest`;

/** Waits for the catalogue, which looks at the files again and again, to have a model or not. */
async function until(id: string, status: 200 | 404): Promise<void> {
  while ((await send("GET", `/models/${id}`)).status !== status) await Bun.sleep(10);
}

test("a text is checked with line and column of each finding, and nothing is written", async () => {
  const fine = await send("POST", "/models/check", { text: manifest("mine") });
  expect(fine.data).toEqual({ model: "mine", findings: [] });
  const broken = manifest("mine")
    .replace("kind: image", "kind: song")
    .replace("deadline_seconds: 60", "dedline: 60");
  const { data } = await send("POST", "/models/check", { text: broken });
  expect(data.model).toBeNull();
  const findings = data.findings as JsonObject[];
  expect(findings.length).toBeGreaterThan(1);
  expect(findings).toContainEqual({
    line: 2,
    column: 7,
    message: expect.stringMatching(/^kind must be/) as never,
  });
  const doubt = await send("POST", "/models/check", {
    text: manifest("mine").replace("sandbox", "sandbocks"),
  });
  expect(doubt.data).toMatchObject({ model: "mine", findings: [{ line: 15, column: 15 }] });
  const taken = await send("POST", "/models/check", { text: manifest("sandbox-image") });
  expect(taken.data).toMatchObject({ model: null, findings: [{ line: 1, column: 5 }] });
  for (const text of ["{", "a: &a [*a]", "\t", "- 1", "x".repeat(200_000), "a: b: c", "!!js/function x"])
    expect((await send("POST", "/models/check", { text })).data.model).toBeNull();
  for (const text of ["", "\u0000"]) expect((await send("POST", "/models/check", { text })).status).toBe(400);
  expect(existsSync(folder())).toBe(false);
});

test("a text that takes long to check holds up no other request", async () => {
  const text = Array.from({ length: 4_000 }, (_, i) => `k${i}: 1`).join("\n");
  let isChecked = false;
  const checking = send("POST", "/models/check", { text }).then(({ data }) => {
    isChecked = true;
    return data.model;
  });
  for (let answered = 0; answered < 20; answered += 1)
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  expect(isChecked).toBe(false);
  expect(await checking).toBeNull();
});

test("a model is written, read, replaced and removed, and the server follows without a restart", async () => {
  const text = manifest("mine");
  const written = await send("PUT", at("mine"), { text });
  expect(written).toMatchObject({
    status: 200,
    data: { model: "mine", file: "models/mine.yaml", findings: [] },
  });
  expect(readFileSync(join(folder(), "mine.yaml"), "utf8")).toBe(text);
  await until("mine", 200);
  expect((await send("GET", at("mine"))).data).toEqual({ model: "mine", file: "models/mine.yaml", text });

  const replaced = manifest("mine", "# more\n");
  expect((await send("PUT", at("mine"), { text: replaced })).status).toBe(200);
  expect((await send("GET", at("mine"))).data.text).toBe(replaced);
  expect(readdirSync(folder())).toEqual(["mine.yaml"]);
  const { data: trail } = await send("GET", "/audit-log?object=mine");
  const entries = trail.entries as JsonObject[];
  expect(entries.map(({ action, before }) => [action, before === null])).toEqual([
    ["model.write", false],
    ["model.write", true],
  ]);
  expect(JSON.stringify(entries)).not.toContain("A model of the house");
  // What changes nothing is not noted.
  await send("PUT", at("mine"), { text: replaced });
  expect(((await send("GET", "/audit-log?object=mine")).data.entries as JsonObject[]).length).toBe(2);

  expect((await send("DELETE", at("mine"))).data).toEqual({ model: "mine", file: "models/mine.yaml" });
  await until("mine", 404);
  expect(readdirSync(folder())).toEqual([]);
  expect((await send("DELETE", at("mine"))).status).toBe(404);
  expect((await send("GET", at("mine"))).status).toBe(404);
});

test("a model is written into the file that it is in, whatever that is called", async () => {
  writeFileSync(join(folder(), "house.yaml"), manifest("brick"));
  await until("brick", 200);
  const { data } = await send("PUT", at("brick"), { text: manifest("brick", "# new\n") });
  expect([data.file, readdirSync(folder())]).toEqual(["models/house.yaml", ["house.yaml"]]);
  // The name that this one would have is another model's.
  expect(await send("PUT", at("house"), { text: manifest("house") })).toMatchObject({
    status: 400,
    message: 'The file "house.yaml" is that of the model "brick". Rename it, or choose another id.',
  });
  expect((await send("DELETE", at("brick"))).data.file).toBe("models/house.yaml");
});

test("what cannot be used, or is another's, changes nothing", async () => {
  const cases: [id: string, text: string, param: string][] = [
    ["mine", manifest("yours"), "text"],
    ["mine", manifest("mine").replace("kind: image", "kind: song"), "text"],
    ["sandbox-image", manifest("sandbox-image"), "text"],
    ["..%2F..%2Fsvc", manifest("x"), "model"],
    [".hidden", manifest("x"), "model"],
    ["a%00b", manifest("x"), "model"],
    ["x".repeat(101), manifest("x"), "model"],
  ];
  for (const [id, text, param] of cases) {
    const { status, data } = await send("PUT", at(id), { text });
    expect([id, status, data]).toMatchObject([id, 400, { error_code: "invalid_request", param }]);
  }
  const { message } = await send("PUT", at("mine"), {
    text: manifest("mine").replace("kind: image", "kind: song"),
  });
  expect(message).toMatch(/^Line 2, column 7: kind must be/);
  for (const id of ["..%2Fsvc", "none", "sandbox-image"]) {
    expect((await send("GET", at(id))).status).toBe(404);
    expect((await send("DELETE", at(id))).status).toBe(404);
  }
  expect(readdirSync(folder())).toEqual([]);
});

test("a built-in model's place is taken by a file that says so, and given back", async () => {
  const text = manifest("sandbox-image", "replaces: true\n");
  const untilIn = async (file: string | undefined) => {
    while ((await send("GET", "/models/sandbox-image")).data.file !== file) await Bun.sleep(10);
  };
  expect((await send("PUT", at("sandbox-image"), { text })).status).toBe(200);
  await untilIn("models/sandbox-image.yaml");
  expect((await send("DELETE", at("sandbox-image"))).status).toBe(200);
  await untilIn(undefined);
});

test("a file in the way of the folder is told", async () => {
  rmSync(folder(), { recursive: true });
  writeFileSync(folder(), "in the way");
  expect((await send("PUT", at("mine"), { text: manifest("mine") })).status).toBe(503);
  rmSync(folder());
  mkdirSync(folder());
});
