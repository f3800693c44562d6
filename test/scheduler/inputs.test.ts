import { expect, test } from "bun:test";
import type { AssetId, ModelId } from "../../src/domain/ids.ts";
import type { GenerationRequest, MediaInput } from "../../src/domain/task/request.ts";
import type { StepDeps } from "../../src/scheduler/step.ts";
import { openInputs } from "../../src/scheduler/steps/inputs.ts";

const input = (role: MediaInput["role"]): MediaInput => ({
  role,
  param: `${role}_url`,
  source: { kind: "asset", assetId: `asset_${role}` as AssetId },
});
const REQUEST: GenerationRequest = {
  ...{ kind: "image", model: "m" as ModelId, mode: "any", n: 1, parameters: {} },
  inputs: [input("image"), input("mask")],
};

test("a mask can be painted in a colour for an upstream, and no other input", async () => {
  const asset = { sha256: "0".repeat(64), sizeBytes: 1, type: "image/png" };
  // Only what is asked of them.
  const deps = {
    tasks: { assetById: async (id: string) => ({ ...asset, id }) },
    assets: { open: async ({ id }: { id: string }) => new Blob([id]) },
    paintMask: async (mask: Blob, colour: string) => new Blob([`${await mask.text()} in ${colour}`]),
  } as unknown as Pick<StepDeps, "tasks" | "assets" | "paintMask">;
  const files = await openInputs(deps, REQUEST);
  if ("missing" in files) throw new Error(files.missing);
  const painted = await Promise.all(files.map(async (file) => (await file.painted?.("white"))?.text()));
  expect(painted).toEqual([undefined, "asset_mask in white"]);
});
