import { expect, test } from "bun:test";
import { describeModels } from "./models.ts";
import { play, watch } from "./play.ts";

describeModels({
  provider: "replicate",
  contracts: ["replicate/openapi.json"],
  answer({ path, body }) {
    if (!path.endsWith("/files")) return { status: 400, json: {} };
    // The address of an upload tells what was uploaded.
    const content = /\r\n\r\n([a-z_]+ \d)\r\n/.exec(body.toString())?.[1];
    return { status: 201, json: { id: "f", urls: { get: `https://api.replicate.com/v1/files/${content}` } } };
  },
});

const REQUEST = {
  model: "black-forest-labs/flux-schnell",
  kind: "image",
  mode: "text-to-image",
  prompt: "A fox",
} as const;

/** How a prediction ends that says so of itself. */
function ends(prediction: object) {
  const taken = { status: 201, json: { id: "p", status: "starting", output: null, error: null } };
  return play("replicate", REQUEST, [taken, { json: { id: "p", output: null, error: null, ...prediction } }]);
}

test.each([
  ["The input or output was flagged as sensitive. (E005)", "CONTENT_MODERATED"],
  ["NSFW content detected. Try running it again, or try a different prompt.", "CONTENT_MODERATED"],
  ["CUDA out of memory", "UPSTREAM_ERROR"],
  [null, "UPSTREAM_ERROR"],
])("a replicate prediction that failed with %j is told apart", async (error, code) => {
  expect(await ends({ status: "failed", error })).toMatchObject({ kind: "failed", code });
});

test("a replicate prediction that was aborted is cancelled", async () => {
  expect(await ends({ status: "aborted" })).toEqual({ kind: "cancelled" });
});

test.each([[null], [[]], [""]])(
  "a replicate prediction that succeeded with the output %j has made nothing",
  async (output) => {
    const ending = await ends({ status: "succeeded", output });
    expect(ending.kind).toBe("succeeded");
    const outputs = ending.kind === "succeeded" ? ending.outputs : [];
    expect(outputs.filter(({ kind }) => kind !== "missing")).toEqual([]);
  },
);

test("partial output is none while a replicate prediction goes on", async () => {
  expect(await ends({ status: "processing", output: ["https://replicate.delivery/a.png"] })).toEqual({
    kind: "pending",
  });
});

test("a mask is uploaded white and transparent where it may change, because models there look at either", async () => {
  const inputs = ["image", "mask"] as const;
  const { arrived } = await watch("replicate", { ...REQUEST, inputs }, () => [
    { status: 201, json: { id: "f", urls: { get: "https://api.replicate.com/v1/files/f" } } },
  ]);
  const uploads = arrived.filter(({ path }) => path.endsWith("/files")).map(({ body }) => body.toString());
  expect(uploads).toEqual([expect.stringContaining("image 1"), expect.stringContaining("mask 1 in either")]);
});

test("a replicate prediction whose output is an object has made the files it names", async () => {
  const { end } = await watch("replicate", REQUEST, (origin) => {
    const output = { seed: 7, picture: `${origin}/made/1`, note: "It is done." };
    return [
      { status: 201, json: { id: "p", status: "starting", output: null, error: null } },
      { json: { id: "p", status: "succeeded", output, error: null } },
    ];
  });
  expect(end).toMatchObject({ kind: "succeeded", outputs: [{ kind: "remote" }] });
});
