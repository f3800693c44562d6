import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../src/domain/json.ts";
import { type PublishedService, startPublished } from "./openapi-service.ts";

/** A service with the sandbox alone. */
let service: PublishedService;
beforeAll(async () => {
  service = await startPublished();
});
afterAll(() => service.stop());

async function get(path: string, credential = service.key): Promise<{ status: number; body: JsonObject }> {
  const response = await fetch(service.url + path, { headers: { Authorization: `Bearer ${credential}` } });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

async function models(path: string, credential?: string): Promise<JsonObject[]> {
  const { body } = await get(path, credential);
  return (body.data as { models: JsonObject[] }).models;
}

const ids = (listed: readonly JsonObject[]) => listed.map(({ id }) => id);

describe("a model that no provider makes at present", () => {
  test("is left out, and listed as not available where all are asked for", async () => {
    expect(ids(await models("/v1/models"))).not.toContain("gpt-image-2");
    const all = await models("/v1/models?all=true");
    expect(all.find(({ id }) => id === "gpt-image-2")).toMatchObject({ available: false });
    expect(all.filter(({ available }) => available === true)).toEqual(await models("/v1/models"));
  });

  test("shows callers no route and no provider", async () => {
    const listed = JSON.stringify(await models("/v1/models?all=true"));
    const { body } = await get("/v1/models/flux-dev?all=true");
    for (const text of [listed, JSON.stringify(body)]) {
      expect(text).not.toContain("routes");
      expect(text).not.toContain("FAL_KEY");
      expect(text).not.toContain("fal-ai");
    }
  });

  test("cannot be read, unless it is asked for in so many words", async () => {
    const refused = await get("/v1/models/flux-dev");
    expect(refused.status).toBe(404);
    expect(refused.body.message).toBe(
      'The model "flux-dev" is not available at present; GET /v1/models lists those that are.',
    );
    const { status, body } = await get("/v1/models/flux-dev?all=true");
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ id: "flux-dev", available: false, schema: { type: "object" } });
  });

  test("shows a management token its routes and what is missing for each", async () => {
    const all = await models("/admin/v1/models", service.token);
    expect(ids(all)).toEqual(ids(await models("/v1/models?all=true")));
    expect(all.find(({ id }) => id === "flux-dev")).toMatchObject({
      available: false,
      routes: expect.arrayContaining([
        {
          ...{ provider: "fal", upstream_model: "fal-ai/flux/dev", available: false, needs: ["FAL_KEY"] },
          only: { output_format: { enum: ["jpeg", "png"] }, output_quality: false },
        },
      ]),
    });
    expect(all.find(({ id }) => id === "sandbox-image")).toMatchObject({
      available: true,
      routes: [{ provider: "sandbox", upstream_model: "picture", available: true, needs: [] }],
    });
  });
});

test.each([
  ["/v1/models/sandbox-imgae", 'There is no model "sandbox-imgae". Did you mean "sandbox-image"?'],
  [
    "/v1/models/nothing-like-it",
    'There is no model "nothing-like-it"; GET /v1/models lists those available.',
  ],
])("%s is 404, with the model that was probably meant", async (path, message) => {
  const { status, body } = await get(path);
  expect([status, body.message]).toEqual([404, message]);
});

test("the images API names the model that was probably meant, too", async () => {
  const { status, body } = await get("/compat/v1/models/sandbox-imgae");
  expect(status).toBe(404);
  expect(body.error).toMatchObject({
    code: "model_not_found",
    message: 'There is no model "sandbox-imgae". Did you mean "sandbox-image"?',
  });
});

describe("the schema of a model", () => {
  test("tells its rules with the names of the fields, wherever it is published", async () => {
    const rule = "mask_url is valid only together with image_url or image_urls.";
    const openapi = await get("/openapi.json");
    const published = await get("/v1/models/sandbox-image");
    const managed = await get("/admin/v1/models/sandbox-image", service.token);
    for (const { body } of [openapi, published, managed]) {
      const text = JSON.stringify(body);
      expect(text).toContain(`"x-rule":"${rule}"`);
      expect(text).not.toMatch(/"x-rule":"[^"]*[{}]/);
    }
  });
});

test("below /compat/v1, errors name the list of that API", async () => {
  const message = 'There is no model "nothing-like-it"; GET /compat/v1/models lists those available.';
  expect(await get("/compat/v1/models/nothing-like-it")).toMatchObject({
    status: 404,
    body: { error: { message } },
  });
});
