import { expect, test } from "bun:test";
import { beginForm } from "../../../src/providers/declared/beginning/begin.ts";
import { OpenApiError } from "../../../src/providers/declared/beginning/openapi.ts";

function documentOf(schemas: object): string {
  const schema = { $ref: "#/components/schemas/Order" };
  const post = { requestBody: { content: { "application/json": { schema } } }, responses: {} };
  return JSON.stringify({ openapi: "3.1.0", paths: { "/jobs": { post } }, components: { schemas } });
}

const alternatives = (name: string) =>
  Array.from({ length: 50 }, () => ({ $ref: `#/components/schemas/${name}` }));

test.each([
  [
    "a part of itself",
    { Order: { allOf: [{ $ref: "#/components/schemas/Order" }], properties: { prompt: {} } } },
  ],
  [
    "alternatives of alternatives",
    {
      Order: { anyOf: alternatives("A"), properties: { prompt: {} } },
      ...{
        A: { anyOf: alternatives("B") },
        B: { anyOf: alternatives("C") },
        C: { anyOf: alternatives("D") },
      },
      ...{ D: { anyOf: alternatives("E") }, E: { properties: { seed: {} } } },
    },
  ],
])("a form is begun with an order that has %s", async (_, schemas) => {
  expect(await beginForm("own", documentOf(schemas))).toContain('prompt: "${prompt}"');
});

test("a reference that is no address leads nowhere", async () => {
  const beginning = beginForm("own", documentOf({ Order: { $ref: "#/components/schemas/%E0%A4%A" } }));
  expect(await beginning.catch((error: unknown) => error)).toBeInstanceOf(OpenApiError);
});
