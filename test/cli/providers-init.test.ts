import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { emptyFolder, svc } from "./support.ts";

/** A document of an API that answers with a job. Invented. */
const DOCUMENT = {
  openapi: "3.1.0",
  info: { title: "Bildwerk", version: "1" },
  servers: [{ url: "https://api.bildwerk.example/v2/" }],
  security: [{ key: [] }],
  components: {
    securitySchemes: { key: { type: "apiKey", in: "header", name: "X-Key" } },
    schemas: {
      Job: {
        type: "object",
        properties: {
          job_id: { type: "string" },
          state: { type: "string", enum: ["waiting", "done", "rejected", "nsfw"] },
          images: { type: "array", items: { type: "object", properties: { url: { type: "string" } } } },
        },
      },
      Order: {
        type: "object",
        properties: {
          prompt: { type: "string" },
          model: { type: "string" },
          seed: { type: "integer" },
          image_url: { type: "string" },
          "y-axis": { type: "number" },
        },
      },
    },
  },
  paths: {
    "/accounts": { post: { requestBody: json({ properties: { name: {} } }), responses: {} } },
    "/jobs": {
      post: { requestBody: json({ $ref: "#/components/schemas/Order" }), responses: { 202: job() } },
    },
    "/jobs/{job}": { get: { responses: { 200: job() } } },
  },
};

function json(schema: object) {
  return { content: { "application/json": { schema } } };
}
function job() {
  return json({ $ref: "#/components/schemas/Job" });
}

const init = (args: readonly string[], cwd: string) => svc(["providers", "init", ...args], { cwd });
const check = async (file: string, cwd: string) =>
  JSON.parse((await svc(["providers", "check", file, "--json"], { cwd })).stdout);

describe("svc providers init", () => {
  test("writes a start that check finds nothing wrong with, once", async () => {
    const cwd = emptyFolder();
    const { exitCode, stdout } = await init(["bildwerk"], cwd);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "bildwerk.yaml\n" });
    expect(await check("bildwerk.yaml", cwd)).toEqual({ ok: true, findings: [], examples: 2, troubles: 11 });
    expect(await init(["bildwerk"], cwd)).toEqual({
      ...{ exitCode: 7, stdout: "" },
      stderr:
        "error: bildwerk.yaml is there already.\n  Give -o FILE for another one, or --force to write over it.\n",
    });
    expect((await init(["bildwerk", "--force", "--json"], cwd)).exitCode).toBe(0);
  });

  test("begins with what an OpenAPI document says", async () => {
    const cwd = emptyFolder();
    await Bun.write(join(cwd, "openapi.json"), JSON.stringify(DOCUMENT));
    expect((await init(["bildwerk", "--from", "openapi.json"], cwd)).exitCode).toBe(0);
    const form = Bun.YAML.parse(await Bun.file(join(cwd, "bildwerk.yaml")).text());
    expect(form).toMatchObject({
      ...{ provider: "bildwerk", form: 1, title: "Bildwerk", base: "https://api.bildwerk.example/v2" },
      auth: { header: "X-Key", value: "${key}", key_env: "BILDWERK_API_KEY" },
      submit: {
        post: "/jobs",
        json: {
          ...{ prompt: "${prompt}", model: "${model}", seed: "${params.?seed}" },
          ...{ image_url: '${input("image").?uri}', "y-axis": "${params.?y_axis}" },
        },
        operation: { id: "${body.job_id}" },
      },
      poll: {
        ...{ get: "/jobs/${operation.id}", status: "${body.state}" },
        words: {
          ...{ waiting: "pending", done: "succeeded" },
          ...{ rejected: { failed: "broken" }, nsfw: { failed: "moderated" } },
        },
        outputs: { url: "${body.images.map(v, v.url)}" },
      },
    });
    expect(await check("bildwerk.yaml", cwd)).toMatchObject({ ok: true, examples: 1, troubles: 11 });
  });

  test.each([
    ["{", "is no JSON"],
    ["[1]", "is no OpenAPI document: it must be a mapping"],
    ["swagger: '2.0'", "swagger: is version 2.0; convert it to OpenAPI 3 first"],
    ["openapi: 3.1.0", "paths: must have the API's calls"],
    ["openapi: 3.1.0\npaths: { /a: { get: {} } }", "paths: no POST takes a field named prompt"],
    ["openapi: [", "1:11: "],
  ])("says why nothing can be begun with %j", async (text, problem) => {
    const cwd = emptyFolder();
    await Bun.write(join(cwd, "api.yaml"), text);
    const { exitCode, stderr } = await init(["bildwerk", "--from", "api.yaml"], cwd);
    expect(exitCode).toBe(1);
    expect(stderr).toStartWith(`error: api.yaml: ${problem}`);
  });

  test("refuses a name that no provider can have", async () => {
    expect((await init(["Bild/../werk"], emptyFolder())).exitCode).toBe(2);
  });
});
