import { expect, test } from "bun:test";
import type { AssetId, ModelId } from "../../src/domain/ids.ts";
import { INPUT_ADDRESS_MS } from "../../src/domain/limits.ts";
import { MediaError } from "../../src/domain/ports/asset-store.ts";
import type { ProviderAdapter, RecoverRequest } from "../../src/domain/ports/provider.ts";
import type { GenerationRequest, MediaInput } from "../../src/domain/task/request.ts";
import { createSeal } from "../../src/runtime/seal.ts";
import type { StepDeps } from "../../src/scheduler/step.ts";
import { openInputs } from "../../src/scheduler/steps/inputs.ts";
import { createInputAddresses } from "../../src/service/input-addresses.ts";
import { createEngine, scriptedProvider } from "../helpers/engine.ts";

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
    assets: {
      open: async ({ id }: { id: string }) => new Blob([id]),
      paintMask: async (mask: Blob, colour: string) => new Blob([`${await mask.text()} in ${colour}`]),
    },
  } as unknown as Pick<StepDeps, "tasks" | "assets">;
  const files = await openInputs(deps, REQUEST, 0);
  if ("missing" in files) throw new Error(files.missing);
  const painted = await Promise.all(files.map(async (file) => (await file.painted?.("white"))?.text()));
  expect(painted).toEqual([undefined, "asset_mask in white"]);
});

test.each(["sent again", "asked for"])(
  "an attempt %s on the next day (UTC) names its inputs by the same addresses",
  async (way) => {
    const given: (string | undefined)[] = [];
    const note = ({ inputs }: RecoverRequest) => void given.push(inputs?.[0]?.url?.());
    const recover: ProviderAdapter["recover"] = async (request) => {
      note(request);
      return { kind: "found", operation: "job" };
    };
    const provider = scriptedProvider({
      submitIsIdempotent: way === "sent again",
      async submit(request) {
        note(request);
        throw new Error("connection reset");
      },
      ...(way === "asked for" && { recover }),
    });
    const fetchMedia = async () =>
      (async function* () {
        yield new TextEncoder().encode("picture");
      })();
    const { clock, deps, admit, scheduler } = await createEngine([provider], { egress: { fetchMedia } });
    const seal = createSeal({ key: "one passphrase that is long enough", file: "/nowhere/secret.key" });
    const { pathOf: inputUrl } = createInputAddresses({ assets: deps.assets, clock, seal });
    Object.assign(deps, { inputUrl });
    clock.set(Math.ceil(clock.now() / INPUT_ADDRESS_MS) * INPUT_ADDRESS_MS - 1_000);
    const image = { ...input("image"), source: { kind: "url", url: "https://example.com/a.png" } } as const;
    await admit({ request: { ...REQUEST, inputs: [image] } });
    // It is fetched, and then submitted.
    await scheduler.tick();
    await scheduler.tick();
    clock.advance(60_000);
    await scheduler.tick();
    expect(given).toEqual([expect.stringMatching(/^\/inputs\/.*\.png$/), given[0]]);
  },
);

test("a fetched mask that takes too long to look through ends its task", async () => {
  const fetchMedia = async () =>
    (async function* () {
      yield new TextEncoder().encode("picture");
    })();
  const engine = await createEngine([scriptedProvider()], { egress: { fetchMedia } });
  engine.deps.assets.maskOfOpaque = () =>
    Promise.reject(new MediaError("too_many_pixels", "takes too long to decode"));
  const source = { kind: "url", url: "https://example.com/a.png" } as const;
  const inputs = [
    { role: "image", param: "image_url", source },
    { role: "mask", param: "mask_url", source },
  ] as const;
  const id = await engine.admit({ request: { ...REQUEST, inputs } });
  await engine.runToEnd();
  expect((await engine.task(id)).error).toEqual({
    code: "INPUT_INVALID",
    message: "mask_url takes too long to decode",
  });
});
