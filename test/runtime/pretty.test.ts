import { expect, test } from "bun:test";
import { describeLine } from "../../src/runtime/pretty.ts";

test("a request reads as method, path, status and duration, then who and what", () => {
  const line = { msg: "request", level: 30, time: 0, request_id: "req_1", key: "default", task: "task_1" };
  const request = { ...line, method: "POST", path: "/v1/images/generations", status: 200, ms: 4 };
  expect(describeLine(request)).toBe("POST /v1/images/generations 200 4ms key=default task=task_1");
});

test("a refused request shows the request id its caller was given", () => {
  const request = { msg: "request", method: "GET", path: "/x", status: 404, ms: 1, request_id: "req_1" };
  expect(describeLine({ ...request, error_code: "not_found" })).toBe(
    "GET /x 404 1ms request_id=req_1 error_code=not_found",
  );
});

test("an error is told by its type and message", () => {
  expect(
    describeLine({
      msg: "step failed",
      err: { type: "TypeError", message: "x is not a function", stack: "…" },
    }),
  ).toBe("step failed TypeError: x is not a function");
});

test("nothing that others wrote is a command to the terminal, or another line", () => {
  const request = { msg: "request", method: "GET", path: "/\u009b31m\u202e", status: 404, ms: 1 };
  expect(describeLine({ ...request, cause: "\u001b[2J\nINFO: x" })).toBe(
    "GET /\\u009b31m\\u202e 404 1ms cause=\\u001b[2J\\u000aINFO: x",
  );
  const err = { type: "Error", message: "one \u001b[2J\ntwo" };
  expect(describeLine({ msg: "failed", err })).toBe("failed Error: one \\u001b[2J\ntwo");
});
