import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { emptyFolder, startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { svc, svcJson } from "./support/command.ts";

setDefaultTimeout(120_000);

afterEach(stopServers);

const manifest = (id: string, kind = "image"): string => `id: ${id}
kind: ${kind}
name: House style
description: Pictures as this house has them.
modes: [{ id: text-to-image, requires: [] }]
schema:
  required: [prompt]
  properties:
    prompt: { type: string, minLength: 1, maxLength: 4000 }
    size: { type: string, enum: [16x16, 32x32], default: 16x16 }
price: { lines: [{ sku: house, unit: output, amount: "0.020000" }] }
deadline_seconds: 60
routes:
  - { provider: sandbox, upstream_model: picture, only: { size: { enum: [16x16] } } }
  - { provider: fal, upstream_model: house/style, wording: {} }
`;

test("a model of the data folder is made, taken up while the server runs, kept when its file breaks, and gone with it", async () => {
  const folder = emptyFolder();
  const models = join(folder, "svc-data/models");
  mkdirSync(models, { recursive: true });
  writeFileSync(join(models, "first.yaml"), manifest("house-1"));
  const server = await startServer({ folder, args: ["--log-format", "json"] });
  const api = createApi(server.url, server.firstKey());
  const listed = async () => {
    const { data } = await api.send("/v1/models");
    return data.models?.map(({ id }) => id).filter((id) => id.startsWith("house"));
  };
  const make = (model: string, size = "16x16") => ({ model, prompt: "x", size });
  expect((await api.make(make("house-1"))).usage?.cost).toBe("0.020000");

  const large = await api.create(make("house-1", "32x32"));
  expect([large.status, large.data.param, large.body.message]).toEqual([
    400,
    "size",
    'size must be "16x16" for this request of house-1 at present, got "32x32".',
  ]);

  writeFileSync(join(models, "second.yaml.part"), manifest("house-2"));
  renameSync(join(models, "second.yaml.part"), join(models, "second.yaml"));
  await server.says(/"changed":\["house-2"\].*own models are in force/);
  expect(await listed()).toEqual(["house-1", "house-2"]);
  expect((await api.make(make("house-2"))).status).toBe("completed");
  expect(
    (await fetch(`${server.url}/openapi.json`).then((answer) => answer.text())).includes("Request.house-2"),
  ).toBe(true);

  writeFileSync(join(models, "second.yaml"), manifest("house-2", "audio"));
  await server.says(
    /models\/second\.yaml:2:7: kind must be one of image, video; the model stays as it last was/,
  );
  expect((await api.make(make("house-2"))).status).toBe("completed");
  const shown = await svc(["models", "list", "--data-dir", server.dataDir]);
  expect(shown.exitCode).toBe(0);
  expect(shown.stderr).toContain("models/second.yaml:2:7: kind must be one of image, video");
  const local = (await svcJson(["models", "show", "house-1", "--data-dir", server.dataDir])) as object;
  expect(local).toMatchObject({
    file: "models/first.yaml",
    routes: [
      { provider: "sandbox", available: true, only: { size: { enum: ["16x16"] } } },
      { provider: "fal", available: false, needs: ["FAL_KEY"] },
    ],
    schema: { properties: { size: { default: "16x16" } } },
  });

  rmSync(join(models, "second.yaml"));
  await server.says(/"removed":\["house-2"\].*own models are in force/);
  expect(await listed()).toEqual(["house-1"]);
  expect((await api.create(make("house-2"))).status).toBe(404);
});

test("a start goes on beside files that are broken, and one that is much too large is not read", async () => {
  const folder = emptyFolder();
  const models = join(folder, "svc-data/models");
  mkdirSync(models, { recursive: true });
  writeFileSync(join(models, "large.yaml"), `#${"x".repeat(10_000_000)}\n${manifest("house-1")}`);
  writeFileSync(join(models, "veo3.yaml"), manifest("veo3"));
  const server = await startServer({ folder });
  await server.says(/models\/large\.yaml is larger than 131072 bytes; the model is left out/);
  await server.says(/models\/veo3\.yaml:1:5: id is the id of a built-in model; add \\"replaces: true/);
  const api = createApi(server.url, server.firstKey());
  expect((await api.make({ model: "sandbox-image", prompt: "x", size: "16x16" })).status).toBe("completed");
});
