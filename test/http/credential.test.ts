import { expect, test } from "bun:test";
import { AppError } from "../../src/domain/errors.ts";
import { credentialOf } from "../../src/http/credential.ts";

function credential(headers: Record<string, string>, query = ""): string | undefined {
  const request = new Request(`http://localhost/v1/models${query}`, { headers });
  return credentialOf(request, () => new URL(request.url).searchParams);
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

test("an Authorization header of another form is refused even beside a good key", () => {
  for (const authorization of ["Basic abc", "Bearer", "Bearer a b", "Bearer a, Bearer b"]) {
    expect(() => credential({ authorization, "x-api-key": "plain" })).toThrow(AppError);
  }
  expect(credential({ authorization: "bearer   key" })).toBe("key");
});
