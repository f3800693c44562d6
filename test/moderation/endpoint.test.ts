import { expect, test } from "bun:test";
import type { Json } from "../../src/domain/json.ts";
import { type CallbackPost, type EgressAnswer, EgressError } from "../../src/domain/ports/egress.ts";
import { type EndpointOptions, endpointCheck } from "../../src/moderation/endpoint.ts";
import { ask, handTimers, requestOf } from "./requests.ts";

const SECRET = "sk-0123456789";
const clean = { flagged: false, categories: { hate: false }, category_scores: { hate: 0.01 } };
const bad = {
  flagged: true,
  categories: { hate: false, "sexual/minors": true },
  category_scores: { hate: 0.6 },
};

function setup(answer: Json | string | (() => Promise<EgressAnswer>), given: Partial<EndpointOptions> = {}) {
  const posts: (CallbackPost & { readonly url: string })[] = [];
  const timers = handTimers();
  const check = endpointCheck(
    {
      ...{ name: "vendor", onOutage: "refuse", timeoutMs: 5_000, concurrency: 1 },
      ...{ url: "https://vendor.example/v1/moderations", categories: [], thresholds: {} },
      ...given,
    },
    {
      after: timers.after,
      egress: {
        async ask(url, post) {
          posts.push({ url, ...post });
          if (typeof answer === "function") return answer();
          const text = typeof answer === "string" ? answer : JSON.stringify(answer);
          return { status: 200, body: Buffer.from(text) };
        },
      },
    },
  );
  return { check, posts, timers };
}

test("one text is asked about as a text, several as a list, with key and model where they are given", async () => {
  const { check, posts } = setup({ results: [clean] }, { key: { reveal: () => SECRET }, model: "omni" });
  expect(await ask(check, "a fox")).toEqual({ kind: "allowed" });
  expect(posts).toEqual([
    {
      url: "https://vendor.example/v1/moderations",
      body: '{"input":"a fox","model":"omni"}',
      headers: { Authorization: `Bearer ${SECRET}` },
    },
  ]);
  const several = setup({ results: [clean, clean] });
  expect(await ask(several.check, "a", "b")).toEqual({ kind: "allowed" });
  expect(several.posts[0]).toMatchObject({ body: '{"input":["a","b"]}', headers: {} });
});

test("a text that is flagged is refused, with its field and category", async () => {
  const { check } = setup({ results: [clean, bad] });
  expect(await ask(check, "a", "b")).toEqual({ kind: "refused", rule: "sexual/minors", field: "text_1" });
});

test("with categories, only these count, flagged or not", async () => {
  const { check } = setup({ results: [bad] }, { categories: ["hate"] });
  expect(await ask(check, "a")).toEqual({ kind: "allowed" });
  const strict = setup({ results: [{ ...bad, flagged: false }] }, { categories: ["sexual/minors"] });
  expect(await ask(strict.check, "a")).toMatchObject({ kind: "refused", rule: "sexual/minors" });
});

test("with thresholds, scores from these on count", async () => {
  const at = (least: number) => setup({ results: [bad] }, { thresholds: { hate: least } }).check;
  expect(await ask(at(0.6), "a")).toMatchObject({ kind: "refused", rule: "hate" });
  expect(await ask(at(0.61), "a")).toEqual({ kind: "allowed" });
});

test.each<[string, Json | string, Partial<EndpointOptions>, string]>([
  ["HTML", "<html>login</html>", {}, "answered with what is no JSON"],
  ["JSON that is cut", '{"results":[{"flagged":fal', {}, "answered with what is no JSON"],
  ["a list", [], {}, "answered without a result for each text"],
  ["no results", { error: { message: "no" } }, {}, "answered without a result for each text"],
  ["fewer results than texts", { results: [] }, {}, "answered without a result for each text"],
  ["more results than texts", { results: [clean, clean] }, {}, "answered without a result for each text"],
  ["a result that is none", { results: ["clean"] }, {}, "answered without a result for each text"],
  ["no flag", { results: [{ flagged: "false" }] }, {}, "answered without `flagged`"],
  ["no such category", { results: [clean] }, { categories: ["hat"] }, 'answered without the category "hat"'],
  [
    "no such score",
    { results: [clean] },
    { thresholds: { hat: 0.5 } },
    'answered without the category "hat"',
  ],
])("%s is no verdict", async (_, answer, given, reason) => {
  expect(await ask(setup(answer, given).check, "a")).toEqual({ kind: "outage", reason });
});

test("a category that is missing is noticed although another one decides", async () => {
  const { check } = setup({ results: [bad] }, { categories: ["sexual/minors", "hat"] });
  expect(await ask(check, "a")).toMatchObject({ kind: "outage" });
});

test("another status and an address that cannot be asked are no verdicts", async () => {
  const busy = setup(async () => ({ status: 429, body: Buffer.from('{"results":[]}') }));
  expect(await ask(busy.check, "a")).toEqual({ kind: "outage", reason: "answered with status 429" });
  const gone = setup(() =>
    Promise.reject(new EgressError("unreachable", "could not be asked (ECONNREFUSED)")),
  );
  expect(await ask(gone.check, "a")).toEqual({ kind: "outage", reason: "could not be asked (ECONNREFUSED)" });
});

test("what is no name of a category stays out of the log", async () => {
  const { check } = setup({ results: [{ flagged: true, categories: { "the prompt was: a fox": true } }] });
  expect(await ask(check, "a fox")).toEqual({ kind: "refused", rule: "flagged", field: "prompt" });
});

test("an endpoint that does not answer has no verdict when its time is up", async () => {
  const { check, timers } = setup(() => new Promise(() => {}));
  const asked = ask(check, "a");
  timers.pass();
  expect(await asked).toEqual({ kind: "outage", reason: "gave no verdict within 5 s" });
});

test("its time counts while a request waits for its turn", async () => {
  const { check, posts, timers } = setup(() => new Promise(() => {}));
  const both = [ask(check, "a"), ask(check, "b")];
  timers.pass();
  expect(await Promise.all(both)).toMatchObject([{ kind: "outage" }, { kind: "outage" }]);
  expect([posts.length, timers.waiting()]).toEqual([1, 0]);
});

test("beyond those that wait, requests get no verdict at once", async () => {
  const { check, timers } = setup(() => new Promise(() => {}));
  const waiting = Array.from({ length: 19 }, () => ask(check, "a"));
  expect(await ask(check, "a")).toEqual({
    kind: "outage",
    reason: "is asked about too many requests at once",
  });
  timers.pass();
  await Promise.all(waiting);
});

test("a caller that leaves ends the question", async () => {
  const { check } = setup(() => new Promise(() => {}));
  const gone = new AbortController();
  const asked = check.run(requestOf("a"), () => gone.signal);
  gone.abort();
  expect(await asked).toEqual({ kind: "outage", reason: "was called off" });
});
