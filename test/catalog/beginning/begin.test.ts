import { expect, test } from "bun:test";
import { beginModel } from "../../../src/catalog/beginning/begin.ts";
import { WorkflowError } from "../../../src/catalog/beginning/graph.ts";
import { createManifestReader } from "../../../src/catalog/read-manifest.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import { DOUBTFUL, FILM, FLUX, type Graph, INPAINT, PLAIN } from "./workflows.ts";

const reader = createManifestReader();

/** The model that a server would make of what is written, and the text. */
function begun(graph: Graph, answers: readonly (number | undefined)[] = []) {
  const beginning = beginModel(JSON.stringify(graph), "comfyui", reader);
  const { text, guesses, fields } = beginning.write({ id: "mine", source: "w.json" }, answers);
  const { model } = reader.read("mine.yaml", text);
  const wording = model.routes[0]?.wording;
  return { ...beginning, text, guesses, fields, model, wording, slots: wording?.workflow?.slots };
}

const at = (node: string, input: string) => ({ node, input });

test("the workflow that ComfyUI opens with needs no question", () => {
  const { questions, guesses, slots, model, wording } = begun(PLAIN);
  expect({ questions, guesses }).toEqual({ questions: [], guesses: 0 });
  expect(slots).toEqual({
    prompt: at("6", "text"),
    negative_prompt: at("7", "text"),
    size: { width: at("5", "width"), height: at("5", "height") },
    n: at("5", "batch_size"),
    seed: at("3", "seed"),
  });
  expect(wording?.workflow?.outputs).toEqual(["9"]);
  expect(wording?.workflow?.nodes).toEqual(PLAIN);
  expect(model).toMatchObject({ kind: "image", modes: [{ id: "text-to-image", requires: [] }] });
  const { size } = model.schema.properties as Record<string, JsonObject>;
  expect(size).toMatchObject({ enum: ["512x768", "768x512"], default: "512x768" });
});

test("prompt, seed and size are found through guiders and the nodes that hold their values", () => {
  const { questions, slots } = begun(FLUX);
  expect(questions).toEqual([]);
  expect(slots).toEqual({
    prompt: at("6", "text"),
    size: { width: at("34", "value"), height: at("35", "value") },
    n: at("27", "batch_size"),
    seed: at("25", "noise_seed"),
  });
});

test("a video has its first frame, its length in seconds, and every seed", () => {
  const { questions, slots, model, wording } = begun(FILM, [0]);
  expect(questions.map(({ about }) => about)).toEqual(["the picture of node 52 (LoadImage)"]);
  expect(slots).toEqual({
    prompt: at("6", "text"),
    negative_prompt: at("7", "text"),
    size: { width: at("50", "width"), height: at("50", "height") },
    duration: at("50", "length"),
    seed: [at("57", "noise_seed"), at("58", "noise_seed")],
    first_frame: at("52", "image"),
  });
  expect(wording?.parameters).toEqual({ duration: { values: { "5": 81 } } });
  expect(model).toMatchObject({
    kind: "video",
    modes: [{ id: "image-to-video", requires: ["first_frame"] }],
    mediaFields: [{ name: "image_url", role: "first_frame", media: "image" }],
  });
  expect(wording?.workflow?.outputs).toEqual(["61"]);
});

test("a picture whose transparency is used has its mask there", () => {
  const { slots, model, guesses, text } = begun(INPAINT);
  expect(slots).toMatchObject({ image: at("20", "image"), mask: at("20", "image") });
  expect(slots).not.toHaveProperty("size");
  expect(model.modes).toEqual([{ id: "image-to-image-with-mask", requires: ["image", "mask"] }]);
  expect(guesses).toBe(1);
  expect(text).toContain(
    "# TODO a guess; it may also be the image of a request, or the reference of a request, or stays as it is: yosemite.png. node 20 (Picture)",
  );
  const plain = begun(INPAINT, [1]);
  expect(plain.slots).not.toHaveProperty("mask");
  expect(plain.guesses).toBe(0);
  expect(begun(INPAINT, [3]).model.mediaFields).toEqual([]);
});

test("what could be meant in several ways is asked, and an answer is taken", () => {
  const { questions } = begun(DOUBTFUL);
  expect(questions.map(({ about, options }) => [about, options.map(({ label }) => label)])).toEqual([
    [
      "the prompt",
      [
        "all of them",
        'node 6 (CLIPTextEncode): "a glass bottle"',
        'node 16 (CLIPTextEncode): "a plastic bottle"',
      ],
    ],
    ["the size", ["node 15: 1024x1024", "node 25: 512x512"]],
    [
      "the picture of node 20 (Picture)",
      [
        "the image of a request, with its mask",
        "the image of a request",
        "the reference of a request",
        "stays as it is: yosemite.png",
      ],
    ],
    [
      "the picture of node 21 (LoadImage)",
      ["the reference of a request", "the image of a request", "stays as it is: style.png"],
    ],
    ["the result", ["node 9 (SaveImage)", "node 19 (SaveImage)", "all files that it saves"]],
  ]);
  const { slots, wording, guesses } = begun(DOUBTFUL, [2, 1, 3, 2, 1]);
  expect(slots).toMatchObject({ prompt: at("16", "text"), size: { width: at("25", "width") } });
  expect(Object.keys(slots ?? {})).not.toContain("image");
  expect(wording?.workflow?.outputs).toEqual(["19"]);
  expect(guesses).toBe(0);
});

test("pictures that serve the same take a list of exactly so many", () => {
  const graph = { ...FLUX, "40": INPAINT["20"], "41": INPAINT["20"] } as Graph;
  const { slots, model } = begun(graph, [1, 1]);
  const list = begun(graph, [1, 0]);
  expect(slots).toMatchObject({ reference: at("40", "image"), image: at("41", "image") });
  expect(model.modes[0]?.requires.toSorted()).toEqual(["image", "reference"]);
  expect(list.slots).toMatchObject({ reference: [at("40", "image"), at("41", "image")] });
  expect(list.model.mediaFields).toEqual([
    { name: "reference_image_urls", role: "reference", media: "image" },
  ]);
});

test("videos and sounds that are loaded are inputs", () => {
  const graph: Graph = {
    ...FILM,
    "70": { class_type: "VHS_LoadVideo", inputs: { video: "a.mp4", force_rate: 0 } },
    "71": { class_type: "LoadAudio", inputs: { audio: "a.flac" } },
  };
  const { slots, model } = begun(graph, [2]);
  expect(slots).toMatchObject({ video: at("70", "video"), audio: at("71", "audio") });
  expect(model.mediaFields.map(({ role, media }) => `${role}: ${media}`)).toEqual([
    "reference: image",
    "video: video",
    "audio: audio",
  ]);
});

test("whatever stands in a workflow stays in its place in the manifest", () => {
  const odd = 'a "fox"\n# no comment: {x} \u2028 & *y !z @ ` %';
  const graph = structuredClone(PLAIN);
  Object.assign(graph["6"]?.inputs ?? {}, { text: odd });
  Object.assign(graph["7"] ?? {}, { _meta: { title: "Title\nid: other # x" } });
  const { wording, model } = begun(graph);
  expect(wording?.workflow?.nodes["6"]?.inputs.text).toBe(odd);
  expect(String(model.id)).toBe("mine");
});

function problem(text: string): string {
  try {
    beginModel(text, "comfyui").write({ id: "mine", source: "w.json" }, []);
  } catch (error) {
    if (error instanceof WorkflowError) return error.message;
    throw error;
  }
  return "";
}
const over = (more: JsonObject) => JSON.stringify({ ...PLAIN, ...more });

test.each([
  ["{", "is no JSON"],
  ["[]", "is no workflow. Export it from the editor by File > Export (API)"],
  ['"x"', "is no workflow."],
  ["{}", "has no nodes"],
  [
    JSON.stringify({ nodes: [], links: [], version: 0.4 }),
    "is a workflow as the editor saves it. Export it from the editor",
  ],
  [over({ "6": { class_type: "X" } }), 'has no node at "6", which needs class_type and inputs'],
  [
    over({ "8": { class_type: "X", inputs: { a: ["33", 0] } } }),
    'has a node 8 that takes a value from the node "33", which there is not',
  ],
  [
    over({ "6": { class_type: "X", inputs: { text: ["3", 0] } } }),
    "has nodes that need each other: 3 → 6 → 3",
  ],
  [
    over({ "9": { class_type: "PreviewImage", inputs: { images: ["8", 0] } } }),
    "saves no file: what a preview makes is thrown away",
  ],
])("what cannot be begun with is told: %#", (text, told) => {
  expect(problem(text)).toContain(told);
});

test("a workflow that makes too large a manifest is told with its size", () => {
  const told = problem(
    over({ "6": { class_type: "CLIPTextEncode", inputs: { text: "x".repeat(200_000) } } }),
  );
  expect(told).toMatch(/^would make a manifest of 20\d{4} bytes, and the most is 131072/);
});

test("the body of a request to a server is a workflow too", () => {
  expect(problem(JSON.stringify({ prompt: PLAIN, client_id: "x" }))).toBe("");
});
