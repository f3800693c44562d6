import { expect, test } from "bun:test";
import type { ModelId } from "../../../src/domain/ids.ts";
import type { Json } from "../../../src/domain/json.ts";
import { memberLabels } from "../../../src/domain/task/group-labels.ts";
import { assetId, newTask } from "../../helpers/store.ts";

function member(
  place: number,
  model: string,
  parameters: Record<string, Json>,
  more: { n?: number; prompt?: string } = {},
) {
  const { request, ...task } = newTask({ number: place + 1, model: model as ModelId });
  const { n = 1, prompt = "A fox" } = more;
  const results = Array.from({ length: n }, (_, i) => ({ assetId: assetId(i), type: "image/png" as const }));
  const made = { ...task, status: "completed" as const, progress: 100, cancelRequested: false, results };
  return { place, task: made, request: { ...request, n, prompt, parameters } };
}
const labelsOf = (...members: ReturnType<typeof member>[]) =>
  memberLabels(members).map(({ labels }) => labels(0));

test("a result is called by its number, its model, and what differs among the requests of that model", () => {
  expect(
    labelsOf(
      member(0, "one", { size: "1x1", seed: 1, style: "flat" }),
      member(1, "one", { size: "2x2", seed: 1, style: "flat" }),
      member(3, "two", { seed: 9, other: true }),
    ),
  ).toEqual([["1. one", "size 1x1"], ["2. one", "size 2x2"], ["4. two"]]);
});

test("fields that only some requests give, lists and prompts tell them apart, too", () => {
  const members = [member(0, "one", { colours: ["red"] }), member(1, "one", {}, { prompt: "An owl", n: 2 })];
  expect(labelsOf(...members)).toEqual([
    ["1. one", 'colours ["red"] · n 1 · prompt A fox'],
    ["2. one (1 of 2)", "n 2 · prompt An owl"],
  ]);
});
