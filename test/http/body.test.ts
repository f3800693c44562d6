import { expect, test } from "bun:test";
import { AppError } from "../../src/domain/errors.ts";
import { readJsonBody } from "../../src/http/body.ts";

/** What is read of `{"a":1}` when it is sent as this type; the refusal otherwise. */
async function readAs(type: string): Promise<unknown> {
  const request = new Request("http://svc.example", {
    ...{ method: "POST", body: '{"a":1}' },
    headers: { "Content-Type": type },
  });
  const receive = () => Promise.reject(new Error("The body is small."));
  try {
    return (await readJsonBody({ request, intake: { small: () => request.bytes(), receive } })).body;
  } catch (error) {
    return error instanceof AppError ? [error.code, error.message] : error;
  }
}

test.each([
  "application/json",
  "application/json;charset=UTF-8",
  "Application/JSON ; charset=utf8",
  'application/json; charset="utf8"',
  "application/json; charset=us-ascii",
  "application/json; odata=verbose",
  "application/json; version=1; charset=utf-8; profile=x",
  "application/json;",
])("a body of %s is JSON", async (type) => {
  expect(await readAs(type)).toEqual({ a: 1 });
});

test.each([
  "text/json",
  "application/jsonl",
  "application/json; charset=utf-16",
  "application/json; charset=utf-8; charset=latin1",
  "application/json, application/json",
  "application/json; charset",
])("a body of %s is not", async (type) => {
  const message = `Content-Type must be application/json, got "${type}".`;
  expect(await readAs(type)).toEqual(["unsupported_media_type", message]);
});
