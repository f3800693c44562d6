import { expect, test } from "bun:test";
import type { Json } from "../../../src/domain/json.ts";
import { meaningOfError } from "../../../src/providers/kit/classify.ts";
import { readErrorWords, waitIn } from "../../../src/providers/kit/said.ts";

const MESSAGE = "generate_image returned no results";

test.each([
  [{ error: { message: MESSAGE, type: "server_error", code: "oom" } }, { code: "oom", type: "server_error" }],
  [{ error: MESSAGE }, {}],
  [{ error: "server_error", message: MESSAGE }, { code: "server_error" }],
  [{ errors: [{ message: MESSAGE }] }, {}],
  [{ errors: [MESSAGE] }, {}],
  [{ detail: MESSAGE }, {}],
  [{ detail: [{ loc: [], msg: MESSAGE, type: "internal" }] }, { type: "internal" }],
  [[{ error: { message: MESSAGE } }], {}],
] as const)(
  "an error in the application's own words is read, and a 500 of it is a failure: %j",
  (json, words) => {
    const read = readErrorWords({ json: json as Json });
    expect(read).toMatchObject({ ...words, message: MESSAGE, isApplications: true });
    expect(meaningOfError(500, read)).toBe("broken");
    expect(meaningOfError(502, read)).toBe("unclear");
  },
);

test.each([
  [{ json: { message: "Internal server error" } }, "Internal server error"],
  [{ json: { title: "Bad Gateway", status: 502 } }, "Bad Gateway"],
  [{ json: undefined, text: "upstream connect error" }, "upstream connect error"],
  [{ json: undefined, text: "<html><head><title>502 Bad Gateway</title></head></html>" }, "502 Bad Gateway"],
  [{ json: undefined, text: "" }, undefined],
  [{ json: {} }, undefined],
  [{ json: null }, undefined],
] as const)(
  "what anything on the way may have said leaves open what became of the request: %j",
  (answer, message) => {
    const read = readErrorWords(answer as { json: Json | undefined; text?: string });
    expect(read).toMatchObject({ message, isApplications: false });
    expect(meaningOfError(500, read)).toBe("unclear");
  },
);

test("a failure that speaks of a timeout leaves open whether the work goes on", () => {
  const read = readErrorWords({ json: { error: { message: "The backend timed out." } } });
  expect(meaningOfError(500, read)).toBe("slow");
});

test("a message about a field names it", () => {
  const json = { detail: [{ loc: ["body", "size"], msg: "must be positive", type: "value_error" }] };
  expect(readErrorWords({ json }).message).toBe("size: must be positive");
});

test.each([
  [
    "Rate limit reached for gpt-image-2 on images per min: Limit 5, Used 5. Please try again in 12s. Visit us.",
    12_000,
  ],
  ["Please try again in 1m30s.", 90_000],
  ["Please try again in 6ms.", 6],
  ["Please try again in 1h2m3.5s.", 3_723_500],
  ["Please retry in 34.418s.", 34_418],
  ["Request was throttled. Your rate limit resets in ~30s.", 30_000],
  ["Too many requests, try again in 2 minutes 5 seconds", 125_000],
  ["Please try again later.", undefined],
  ["Too many requests in 10s.", undefined],
  ["Please try again in 9999999999999999s.", undefined],
  [undefined, undefined],
])("a message may ask to wait: %s", (message, ms) => {
  expect(waitIn(message)).toBe(ms);
});
