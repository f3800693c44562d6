import { expect, test } from "bun:test";
import type { UpstreamAnswer } from "../../../src/providers/kit/answer.ts";
import { answerWithout, describeAnswer } from "../../../src/providers/kit/classify.ts";
import type { Upstream } from "../../../src/providers/kit/http.ts";

const UPSTREAM = { name: "Acme", scrub: (text: string) => text, requestIdHeaders: [] } as unknown as Upstream;

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

test.each([
  [
    { json: { error: { code: "overloaded", message: "Come back later." } } },
    ' overloaded "Come back later."',
  ],
  [{ json: { message: "no error says so" } }, ""],
  [{ json: undefined, text: "<html><title>Welcome</title></html>" }, ""],
])("a success without its result says what the application says of an error: %j", (body, said) => {
  const found = { status: 200, headers: new Headers(), ...body } as unknown as UpstreamAnswer;
  expect(answerWithout(UPSTREAM, found, "images")).toMatchObject({
    disposition: "unusable",
    message: `Acme answered 200${said}, but with no images`,
  });
});
