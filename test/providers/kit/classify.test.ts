import { expect, test } from "bun:test";
import { describeAnswer } from "../../../src/providers/kit/classify.ts";

const answer = (headers: Record<string, string>) => ({ status: 503, headers: new Headers(headers) });

test("an answer is described with the id in the first of the upstream's headers that it has", () => {
  const upstream = {
    name: "Acme",
    scrub: (text: string) => text,
    requestIdHeaders: ["x-request-id", "x-acme-id"],
  };
  expect(describeAnswer(upstream, answer({ "x-acme-id": "a1" }))).toBe("Acme answered 503 (request a1)");
  expect(describeAnswer(upstream, answer({ "x-acme-id": "a1", "x-request-id": "r1" }))).toBe(
    "Acme answered 503 (request r1)",
  );
  expect(describeAnswer(upstream, answer({ "x-other-id": "o1" }), { word: "busy", message: "Wait." })).toBe(
    'Acme answered 503 busy "Wait."',
  );
});
