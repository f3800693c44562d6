import { expect, test } from "bun:test";
import { describeModels } from "./models.ts";
import { play } from "./play.ts";

describeModels({
  provider: "bfl",
  contracts: ["bfl/openapi.json", "bfl/flux3-video.transcribed.openapi.json"],
});

const REQUEST = {
  model: "flux-2-pro",
  kind: "image",
  mode: "text-to-image",
  prompt: "A fox",
  params: { size: "1024x1024" },
} as const;

/** How a job ends whose question is answered so, with HTTP status 200. */
function ends(job: object, taken: object = {}) {
  return play("bfl", REQUEST, [
    { json: { id: "1", polling_url: "/v1/get_result?id=1", ...taken } },
    { json: { id: "1", result: null, ...job } },
  ]);
}

test.each([
  [{ status: "Request Moderated" }, { code: "CONTENT_MODERATED", isCharged: false }],
  [
    { status: "Content Moderated", details: "moderated" },
    { code: "CONTENT_MODERATED", isCharged: true },
  ],
  [{ status: "Error" }, { code: "UPSTREAM_ERROR", isCharged: false }],
  [{ state: "Failed" }, { code: "UPSTREAM_ERROR", isCharged: false }],
])("bfl's success that says %j is a failure", async (job, end) => {
  expect(await ends(job)).toMatchObject({ kind: "failed", ...end });
});

test("a bfl job that is ready without a sample has no output", async () => {
  expect(await ends({ status: "Ready", result: {} })).toMatchObject({ kind: "succeeded", outputs: [] });
});

test.each(["Pending", "Queued", "Task not found", "A word of next year"])(
  "a bfl job that is %s at once is pending",
  async (status) => expect(await ends({ status })).toEqual({ kind: "pending" }),
);

test("what a bfl job cost is what its last answer says, in cents", async () => {
  const made = { status: "Ready", result: {}, cost: 85.5 };
  expect(await ends(made, { cost: 64 })).toMatchObject({ kind: "succeeded", costMicros: 855_000 });
});

test("what the answer to its submission said counts where the last one says nothing of it", async () => {
  const made = { status: "Ready", result: {} };
  expect(await ends(made, { cost: 3 })).toMatchObject({ kind: "succeeded", costMicros: 30_000 });
  expect(await ends({ status: "Content Moderated" }, { cost: 3 })).toMatchObject({ costMicros: 30_000 });
  expect(await ends({ status: "Error" }, { cost: 3 })).not.toHaveProperty("costMicros");
});

test("a bfl job that failed and is charged costs what its last answer says; one that is not, nothing", async () => {
  expect(await ends({ status: "Content Moderated", cost: 4 })).toMatchObject({ costMicros: 40_000 });
  expect(await ends({ status: "Request Moderated", cost: 4 })).not.toHaveProperty("costMicros");
});
