import { expect, test } from "bun:test";
import { AppError } from "../../src/domain/errors.ts";
import { credentialOf } from "../../src/http/credential.ts";

function credential(
  headers: Headers | Record<string, string>,
  query = "",
  path = "/v1/models",
): string | undefined {
  const request = new Request(`http://localhost${path}${query}`, { headers });
  return credentialOf(request, () => new URL(request.url).searchParams, path);
}

const FORMS: readonly (readonly [string, Record<string, string>, string])[] = [
  ["a bearer", { authorization: "Bearer one" }, ""],
  ["a bearer in other letters", { authorization: "bearer   one " }, ""],
  ["x-api-key", { "x-api-key": "one" }, ""],
  ["a vendor's header", { "x-goog-api-key": "one" }, ""],
  ["a vendor's header with hyphens", { "x-my-own-vendor-api-key": "one" }, ""],
  ["the query", {}, "?key=one"],
];

test.each(FORMS)("%s is a credential, beside empty ones and equal ones too", (_, headers, query) => {
  expect(credential(headers, query)).toBe("one");
  const empty = { authorization: "Bearer ", "x-api-key": "", "x-goog-api-key": "" };
  expect(credential({ ...empty, ...headers }, query || "?key=")).toBe("one");
  expect(credential({ authorization: "", ...headers }, query)).toBe("one");
  expect(credential({ "x-acme-api-key": "one, one", ...headers }, "?key=one&key=one&key=")).toBe("one");
});

test.each(FORMS)("%s is refused beside one that differs, in whichever form", (_, headers, query) => {
  for (const [name, others, otherQuery] of FORMS) {
    const all = new Headers(headers);
    for (const [each, value] of Object.entries(others)) all.append(each, value.replace("one", "two"));
    const both = `${query || "?"}&${otherQuery.slice(1).replace("one", "two")}`;
    expect(() => credential(all, both), name).toThrow(AppError);
  }
});

test("without one there is none, nor with empty ones alone", () => {
  expect(credential({})).toBeUndefined();
  for (const authorization of ["", "Bearer", "bearer  "])
    expect(credential({ authorization })).toBeUndefined();
  expect(credential({ "x-api-key": "", "x-goog-api-key": "," }, "?key=&key=")).toBeUndefined();
});

test("the synchronous images API takes api-key too", () => {
  const path = "/compat/v1/images/generations";
  const short = { "api-key": "short" };
  expect(credential(short, "", path)).toBe("short");
  expect(credential({ "api-key": "" }, "?key=query", path)).toBe("query");
  expect(() => credential(short, "?key=query", path)).toThrow(AppError);
  for (const elsewhere of ["/v1/models", "/admin/v1/keys", "/v1/compat/v1/models"]) {
    expect(credential(short, "", elsewhere)).toBeUndefined();
  }
});

test.each(["key", "x-key", "x--api-key", "my-api-key", "api-key", "x-api-keys"])(
  "the header %s holds no credential",
  (name) => {
    expect(credential({ [name]: "secret" })).toBeUndefined();
  },
);

test("an Authorization header of another form is refused even beside a good key", () => {
  for (const authorization of ["Basic abc", "Bearer a b", "Bearer a, Bearer b", "Bearer a, b", "abc"]) {
    expect(() => credential({ authorization, "x-api-key": "plain" })).toThrow(AppError);
  }
});

test("an Authorization header of many spaces is refused without delay", () => {
  for (const scheme of ["Bearer", "Basic"]) {
    const authorization = `${scheme}${" ".repeat(120_000)}a b`;
    expect(() => credential({ authorization })).toThrow(AppError);
  }
});
