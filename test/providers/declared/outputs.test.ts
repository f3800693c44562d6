import { expect, test } from "bun:test";
import { Compiling } from "../../../src/providers/declared/compiling.ts";
import { answerScope, compileMaking } from "../../../src/providers/declared/reading.ts";
import type { UpstreamAnswer } from "../../../src/providers/kit/answer.ts";

const URLS = { outputs: { each: "${body.images}", url: "${item.url}" } };

function made(images: readonly object[]) {
  const compiling = new Compiling();
  const read = compileMaking(compiling, URLS, new Set(["body"]), []);
  expect(compiling.problems).toEqual([]);
  const answer = { status: 200, headers: new Headers(), json: { images } } as unknown as UpstreamAnswer;
  return read?.(answer, answerScope(answer), "image").outputs;
}

test("of several items the one that cannot be read is missing, and the others are there", () => {
  expect(made([{ url: "https://a.example/1" }, { error: "no face" }])).toEqual([
    { kind: "remote", ref: { url: "https://a.example/1", kind: "image" } },
    { kind: "missing", code: "UPSTREAM_ERROR" },
  ]);
});

test("items none of which can be read are no result", () => {
  expect(() => made([{ link: "https://a.example/1" }, { link: "https://a.example/2" }])).toThrow(
    "No such key: url",
  );
  expect(made([])).toEqual([]);
});
