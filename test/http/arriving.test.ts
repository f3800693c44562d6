import { expect, test } from "bun:test";
import { queryOf } from "../../src/http/arriving.ts";

test("a NUL in a query stays escaped, and everything else is decoded", () => {
  const query = queryOf("http://svc.test/v1/tasks?model=a%00b&q=a%20b%2500+c&after=%000%E2%82%AC");
  expect([...query]).toEqual([
    ["model", "a%00b"],
    ["q", "a b%00 c"],
    ["after", "%000€"],
  ]);
  expect([...queryOf("http://svc.test/v1/tasks")]).toEqual([]);
});
