import { describe, expect, test } from "bun:test";
import { stringify } from "yaml";
import { type CheckedForm, checkForm } from "../../../src/providers/declared/checking/check-form.ts";
import { readingOf } from "../../../src/providers/declared/places.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { builtInForm, FORM_FILES } from "./harness.ts";

const check = (text: string) => checkForm("plain.yaml", text, fakeClock());
const errorsOf = ({ findings }: CheckedForm) =>
  findings.filter(({ severity }) => severity === "error").map(({ message }) => message);
const warningsOf = ({ findings }: CheckedForm) =>
  findings.filter(({ severity }) => severity === "warning").map(({ message }) => message);

/** A form of an API that answers with a job. */
const PLAIN = {
  provider: "plain",
  form: 1,
  base: "https://api.plain.example",
  auth: { header: "x-key", value: "${key}", key_env: "PLAIN_KEY" },
  submit: {
    post: "/pictures",
    json: { prompt: "${prompt}", seed: "${params.?seed}" },
    operation: { id: "${body.id}" },
  },
  poll: {
    get: "/pictures/${operation.id}",
    status: "${body.state}",
    words: { waiting: "pending", done: "succeeded" },
    outputs: { url: "${body.url}" },
  },
};
const EXAMPLE = {
  name: "a picture",
  request: { model: "m", kind: "image", mode: "text-to-image", prompt: "A fox", params: { seed: 0 } },
  sends: { post: "/pictures", json: { prompt: "A fox", seed: 0 } },
  answers: [{ body: { id: "1" } }, { body: { state: "done", url: "${media}" } }],
  ends: "succeeded",
};

test("every fault of a file is told at its line and column, those of expressions too", async () => {
  const text = [
    "provider: plain",
    "form: 1",
    "base: https://api.plain.example",
    'auth: { header: x-key, value: "${key}", key_env: PLAIN_KEY }',
    "limit: { under_way: 2 }",
    "submit:",
    "  post: /pictures",
    "  json:",
    "    prompt: ${promt}",
    "    seed: ${params.seed +}",
    '  operation: { id: "${body.id}" }',
    "poll:",
    "  get: /pictures/${operation.id}",
    "  status: ${body.state}",
    "  words: { done: succeeded, bad: { failed: moderate } }",
    "  outputs: { url: \"${body.url.matches('x')}\" }",
  ].join("\n");
  const { findings } = await check(text);
  expect(findings).toEqual(
    [
      [5, 1, 'the form has an unknown field "limit"; did you mean "limits"?'],
      [9, 15, 'submit.json.prompt reads "promt", which is not known here; did you mean "prompt"?'],
      [10, 26, "submit.json.seed Unexpected token: EOF"],
      [15, 44, 'poll.words.bad.failed has no meaning "moderate"; did you mean "moderated"?'],
      [16, 22, 'poll.outputs.url calls "matches", which is no function here'],
    ].map(([line, column, message]) => ({ line, column, severity: "error", message })) as never,
  );
});

test("a word or meaning that nobody knows is told with the nearest", async () => {
  const text = stringify(PLAIN)
    .replace("succeeded", "succeded")
    .concat("refusals: { when: [{ status: 402, means: spend }, { status: 403, means: xyz }] }\n");
  const known = "must be one of moderated, bad_input, busy, spent, refused, broken, slow, cancelled, unclear";
  expect(errorsOf(await check(text))).toEqual([
    'poll.words.done must be pending, succeeded, cancelled, {failed: a meaning} or {lost_after_seconds: a number}; did you mean "succeeded"?',
    `refusals.when[0].means ${known}; did you mean "spent"?`,
    `refusals.when[1].means ${known}`,
  ]);
});

test("a form with an example runs it, and meets every trouble", async () => {
  const checked = await check(stringify({ ...PLAIN, examples: [EXAMPLE] }));
  expect(errorsOf(checked)).toEqual([]);
  expect(checked).toMatchObject({ examples: 1, troubles: 11 });
});

test("an example that is not kept is an error at its place", async () => {
  const wrong = { ...EXAMPLE, sends: { post: "/pictures", json: { prompt: "A fox", seed: 1 } } };
  const text = stringify({ ...PLAIN, examples: [EXAMPLE, { ...wrong, name: "wrong" }] });
  const line = text.split("\n").findIndex((each) => each.includes("name: wrong")) + 1;
  const { findings } = await check(text);
  expect(findings.filter(({ severity }) => severity === "error")).toEqual([
    { line, column: 5, severity: "error", message: 'example "wrong": sends json.seed: 0, not 1' },
  ]);
});

test("a busy upstream that counts as a mistake of the caller is an error, with and without examples", async () => {
  const refusals = { when: [{ status: 429, means: "bad_input" }] };
  const message =
    "a submission while the upstream is busy (429) counts as fail, not retry: plain answered 429";
  const told = async (form: object) => errorsOf(await check(stringify(form)));
  expect(await told({ ...PLAIN, refusals, examples: [EXAMPLE] })).toEqual([`in "a picture": ${message}`]);
  expect(await told({ ...PLAIN, refusals })).toEqual([`in "what the form says itself": ${message}`]);
});

test("an address in an answer is not fetched, even at a host that the form names for its files", async () => {
  const away = {
    ...EXAMPLE,
    answers: [{ body: { id: "1" } }, { body: { state: "done", url: "https://files.plain.example/1.png" } }],
  };
  const form = { ...PLAIN, media: ["*.plain.example"], examples: [away] };
  const [first = ""] = errorsOf(await check(stringify(form)));
  expect(first).toContain("an output is at a host it is not known to use");
});

test("a form whose tokens are signed with a private key, or asked for at another host, is tried whole", async () => {
  const jwt = { alg: "RS256", key: "${key}", claims: { iss: "us", exp: "${now + 60}" } };
  const env = { key_env: "PLAIN_KEY" };
  const token_url = "https://tokens.plain.example/token";
  for (const auth of [
    { jwt, ...env },
    { oauth: { token_url, assertion: jwt }, ...env },
  ]) {
    const checked = await check(stringify({ ...PLAIN, auth }));
    expect(errorsOf(checked)).toEqual([]);
    expect(checked.troubles).toBe(11);
  }
});

describe("warnings", () => {
  test("name what a form does without", async () => {
    expect(warningsOf(await check(stringify(PLAIN)))).toEqual([
      "the form has no test, so `svc providers test` cannot prove its key",
      "the form has no refusals.when, so refusals mean what their HTTP status says",
      "the form has no examples, so it is tried with answers made from the form alone",
    ]);
  });

  test("miss no test where no key is needed", async () => {
    for (const auth of [{ none: true }, [{ none: true, ...PLAIN.auth }], [PLAIN.auth, { none: true }]])
      expect(warningsOf(await check(stringify({ ...PLAIN, auth }))).join()).not.toContain("has no test");
  });

  test("name a parameter of an example that is not sent", async () => {
    const request = { ...EXAMPLE.request, params: { seed: 0, size: "big" } };
    const warnings = warningsOf(await check(stringify({ ...PLAIN, examples: [{ ...EXAMPLE, request }] })));
    expect(warnings).toContain("no expression reads params.size, so it is not sent");
    expect(warnings.join()).not.toContain("params.seed");
  });

  test("say that a form was not tried where nothing follows from it alone", async () => {
    const status = '${body.state.split("-")[1]}';
    const checked = await check(stringify({ ...PLAIN, poll: { ...PLAIN.poll, status } }));
    expect(errorsOf(checked)).toEqual([]);
    expect(checked.troubles).toBe(0);
    expect(warningsOf(checked).at(-1)).toBe(
      "no request and answers for it follow from the form alone, so it was not tried; give an example",
    );
  });
});

describe("without its examples", () => {
  test.each([...FORM_FILES])("%s has no error", async (file) => {
    const { examples: _, ...form } = builtInForm(file);
    const checked = await check(stringify({ ...form, provider: "plain", title: "Plain" }));
    expect(errorsOf(checked)).toEqual([]);
    expect(checked.troubles).toBe(11);
  });
});

test("places are read through defaults, macros and indices", () => {
  const { places, literals } = readingOf(
    '${body.?a.orValue(body.b[0].c) == 3 ? body.list.map(v, v.url) : body["d e"].filter(x, x.ok)}',
  );
  expect(places.map(({ root, steps }) => [root, ...steps].join("."))).toEqual([
    "body.a",
    "body.b.0.c",
    "body.list",
    "body.list.0.url",
    "body.d e",
    "body.d e.0.ok",
  ]);
  expect(literals).toContain(3);
});

test.each([
  [{ status: 1000 }, "examples[0].answers[0].status must be <= 599"],
  [{ headers: { "a b": "1" } }, "examples[0].answers[0].headers must have names that headers can have"],
  [{ headers: { "x-a": "1\n2" } }, "examples[0].answers[0].headers.x-a must be what a header can hold"],
])("an answer that no upstream can give is a fault of its example: %j", async (answer, fault) => {
  const examples = [{ ...EXAMPLE, answers: [answer] }];
  expect(errorsOf(await check(stringify({ ...PLAIN, examples })))).toContain(fault);
});

test.each(["0/s", "0.0/m", "-1/s", "10/h"])("%s is no rate: nothing would ever be asked", async (polls) => {
  const fault = "limits.polls must be a rate such as 10/s or 60/m";
  expect(errorsOf(await check(stringify({ ...PLAIN, limits: { polls } })))).toContain(fault);
  expect(errorsOf(await check(stringify({ ...PLAIN, limits: { polls: "0.5/m" } })))).toEqual([]);
});
