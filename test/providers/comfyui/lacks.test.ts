import { afterEach, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/domain/json.ts";
import type { Wording } from "../../../src/domain/model/wording.ts";
import { rejection } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { type Comfy, startComfy } from "./engine.ts";
import { createProvider, NODES, SLOTS, wordingOf } from "./harness.ts";

const signal = new AbortController().signal;
const started: Comfy[] = [];
afterEach(async () => {
  for (const comfy of started.splice(0)) await comfy.stop();
});

/** What a kind of node says of its inputs. */
const takes = (required: JsonObject, optional: JsonObject = {}): JsonObject => ({
  input: { required, optional },
});
const upload = { image_upload: true };

async function setup(without: readonly string[] = []) {
  const comfy = await startComfy();
  started.push(comfy);
  const kinds: Record<string, JsonObject> = {
    KSampler: takes({ sampler_name: [["euler", "dpmpp_2m"]], scheduler: [["normal", "karras"]] }),
    CheckpointLoaderSimple: takes({
      ckpt_name: [["sd_xl_base.safetensors", "sdxl.safetensors"], { tooltip: "x" }],
    }),
    EmptyLatentImage: takes({ width: ["INT", { min: 16 }] }),
    CLIPTextEncode: takes({ text: ["STRING", { multiline: true }] }),
    ...{ VAEDecode: takes({}), SaveImage: takes({}) },
    LoadImage: takes({ image: [["other.png"], upload] }),
  };
  for (const [kind, info] of Object.entries(kinds)) if (!without.includes(kind)) comfy.nodes.set(kind, info);
  const provider = createProvider({ baseUrl: comfy.origin, clock: fakeClock() });
  const lacks = (wording: Wording) => provider.lacks?.({ upstreamModel: "m", wording }, signal);
  return { comfy, provider, lacks };
}

const withNode = (id: string, class_type: string, inputs: JsonObject, slots = SLOTS) =>
  wordingOf({ nodes: { ...NODES, [id]: { class_type, inputs } }, slots });

test("a server that has everything lacks nothing, and each kind of node is asked for once", async () => {
  const { comfy, lacks } = await setup();
  expect(await lacks(wordingOf())).toEqual([]);
  expect(comfy.asked.toSorted()).toEqual(
    [
      "CLIPTextEncode",
      "CheckpointLoaderSimple",
      "EmptyLatentImage",
      "KSampler",
      "SaveImage",
      "VAEDecode",
    ].map((kind) => `GET /object_info/${kind}`),
  );
});

test("a node that is not there is told with the nearest that is", async () => {
  const { lacks } = await setup(["KSampler"]);
  const near = withNode("10", "SaveImages", {});
  expect(await lacks(near)).toEqual([
    "node 3: there is no node KSampler",
    "node 10: there is no node SaveImages; did you mean SaveImage?",
  ]);
});

test("a checkpoint that is not there is told with the nearest that is, in both forms of choices", async () => {
  const { comfy, lacks } = await setup();
  const wording = withNode("4", "CheckpointLoaderSimple", { ckpt_name: "sdxl.safetensor" });
  const line =
    'node 4 (CheckpointLoaderSimple): ckpt_name "sdxl.safetensor" is not there; did you mean sdxl.safetensors?';
  expect(await lacks(wording)).toEqual([line]);
  const options = ["sdxl.safetensors"];
  comfy.nodes.set("CheckpointLoaderSimple", takes({}, { ckpt_name: ["COMBO", { options }] }));
  expect(await lacks(wording)).toEqual([line]);
  comfy.nodes.set("CheckpointLoaderSimple", takes({ ckpt_name: [[]] }));
  expect(await lacks(wording)).toEqual([
    'node 4 (CheckpointLoaderSimple): ckpt_name "sdxl.safetensor" is not there, of which it has none',
  ]);
});

test("what a request fills in, and files that are uploaded, are no lack", async () => {
  const { lacks } = await setup();
  expect(await lacks(withNode("20", "LoadImage", { image: "example.png" }))).toEqual([]);
  const scheduler = { ...SLOTS, scheduler: { node: "3", input: "scheduler" } };
  const inputs = { ...NODES["3"].inputs, scheduler: "simple" };
  expect(await lacks(withNode("3", "KSampler", inputs))).toEqual([
    'node 3 (KSampler): scheduler "simple" is not there',
  ]);
  expect(await lacks(withNode("3", "KSampler", inputs, scheduler))).toEqual([]);
});

test("a server that does not answer is not judged", async () => {
  const { comfy, lacks } = await setup();
  comfy.instead = () => new Response("starting", { status: 503 });
  expect(await rejection(lacks(wordingOf()) ?? Promise.resolve())).toMatchObject({ disposition: "retry" });
});

test("the cloud is not asked", () => {
  const to = { baseUrl: "http://127.0.0.1:1", clock: fakeClock(), isCloud: true };
  expect(createProvider(to).lacks).toBeUndefined();
});
