import { expect, test } from "bun:test";
import { AppError } from "../../src/domain/errors.ts";
import { credentialOf } from "../../src/http/credential.ts";

function credential(headers: Record<string, string>, query = "", path = "/v1/models"): string | undefined {
  const request = new Request(`http://localhost${path}${query}`, { headers });
  return credentialOf(request, () => new URL(request.url).searchParams, path);
}

test("the first credential present counts: bearer, x-api-key, a vendor's header, the query", () => {
  const vendor = { "x-goog-api-key": "vendor" };
  const plain = { ...vendor, "x-api-key": "plain" };
  expect(credential({ ...plain, authorization: "Bearer bearer" }, "?key=query")).toBe("bearer");
  expect(credential(plain, "?key=query")).toBe("plain");
  expect(credential(vendor, "?key=query")).toBe("vendor");
  expect(credential({}, "?key=query")).toBe("query");
  expect(credential({})).toBeUndefined();
});

test("one that is present and empty counts, whatever good one follows", () => {
  expect(() => credential({ authorization: "", "x-api-key": "plain" })).toThrow(AppError);
  expect(credential({ "x-api-key": "", "x-goog-api-key": "vendor" })).toBe("");
  expect(credential({ "x-goog-api-key": "" }, "?key=query")).toBe("");
  expect(credential({}, "?key=&key=query")).toBe("");
});

test("the synchronous images API takes api-key too, after a vendor's header and before the query", () => {
  const path = "/compat/v1/images/generations";
  const short = { "api-key": "short" };
  expect(credential(short, "?key=query", path)).toBe("short");
  expect(credential({ ...short, "x-goog-api-key": "vendor" }, "", path)).toBe("vendor");
  expect(credential({ "api-key": "" }, "?key=query", path)).toBe("");
  for (const elsewhere of ["/v1/models", "/admin/v1/keys", "/v1/compat/v1/models"]) {
    expect(credential(short, "", elsewhere)).toBeUndefined();
  }
});

test.each(["key", "x-key", "x--api-key", "x-a-b-api-key", "api-key", "x-api-keys"])(
  "the header %s holds no credential",
  (name) => {
    expect(credential({ [name]: "secret" })).toBeUndefined();
  },
);

test("an Authorization header of another form is refused even beside a good key", () => {
  for (const authorization of ["Basic abc", "Bearer", "Bearer a b", "Bearer a, Bearer b", "abc"]) {
    expect(() => credential({ authorization, "x-api-key": "plain" })).toThrow(AppError);
  }
  expect(credential({ authorization: "bearer   key" })).toBe("key");
});
