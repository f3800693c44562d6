import { describe, expect, test } from "bun:test";
import { createCatalog } from "../../src/catalog/catalog.ts";
import type { KeyPolicy } from "../../src/domain/access/key-policy.ts";
import type { ModelId, ProviderId } from "../../src/domain/ids.ts";
import { type ModelDeps, readModel } from "../../src/service/read-model.ts";
import { createTellUnavailable } from "../../src/service/unavailable-models.ts";
import { PRINCIPAL } from "../helpers/principal.ts";

const id = (text: string) => text as ModelId;

function setup(policy: KeyPolicy = {}) {
  const told: string[] = [];
  const deps: ModelDeps = {
    catalog: createCatalog({ isEnabled: (provider) => provider === ("sandbox" as ProviderId) }),
    aliases: { painter: id("sandbox-image") },
    tellUnavailable: createTellUnavailable({
      log: { warn: (fields, message) => void told.push(`${message} ${JSON.stringify(fields)}`) },
      needsOf: (provider) => [`${provider}`.toUpperCase()],
    }),
  };
  const refusal = (model: unknown) => {
    try {
      return readModel(deps, { ...PRINCIPAL, policy }, model).id;
    } catch (error) {
      return error;
    }
  };
  return { told, refusal };
}

describe("a name that stands for no model", () => {
  test.each([
    ["sandbox-imgae", "sandbox-image"],
    ["Sandbox_Image", "sandbox-image"],
    ["paintre", "painter"],
  ])("%s is refused with %s, which was probably meant", (given, near) => {
    expect(setup().refusal(given)).toMatchObject({
      code: "model_not_available",
      message: `There is no model "${given}". Did you mean "${near}"?`,
      param: "model",
    });
  });

  test("is told of no model that the key may not use, and of none that is not available", () => {
    const policy: KeyPolicy = { models: ["sandbox-video"] };
    expect(setup(policy).refusal("sandbox-imgae")).toMatchObject({
      message: 'There is no model "sandbox-imgae"; GET /v1/models lists those available.',
    });
    expect(setup().refusal("gpt-imge-2")).toMatchObject({
      message: 'There is no model "gpt-imge-2"; GET /v1/models lists those available.',
    });
  });
});

describe("a model whose provider is switched off", () => {
  test("is not available at present", () => {
    expect(setup().refusal("gpt-image-2")).toMatchObject({
      code: "model_not_available",
      message: 'The model "gpt-image-2" is not available at present; GET /v1/models lists those that are.',
      param: "model",
    });
  });

  test("is told to the operator with what is missing, once", () => {
    const { told, refusal } = setup();
    for (const model of ["gpt-image-2", "flux-schnell", "gpt-image-2", "sandbox-image", "none"])
      refusal(model);
    expect(told).toEqual([
      'a request was refused: gpt-image-2 is not available; set OPENAI {"model":"gpt-image-2","needs":"OPENAI"}',
      'a request was refused: flux-schnell is not available; set FAL or REPLICATE {"model":"flux-schnell","needs":"FAL or REPLICATE"}',
    ]);
  });
});
