import { expect, test } from "bun:test";
import type { JsonObject } from "../../src/domain/json.ts";
import { GENERATE_IMAGES } from "../../src/http/compat/wire.ts";
import type { Endpoint } from "../../src/http/exchange.ts";
import { describeService } from "../../src/http/openapi/document.ts";
import { json } from "../../src/http/reply.ts";
import { CANCEL_TASK, FOLLOW_TASK, READ_IMAGE_TASK } from "../../src/http/tasks/wire.ts";
import { createAnswerCheck } from "../helpers/openapi.ts";
import { taskId } from "../helpers/store.ts";

const keyed = { access: "api_key", handle: () => json({}) } as const;
const ENDPOINTS: Endpoint[] = [
  { ...keyed, method: "GET", path: "/v1/images/status/:task_id", contract: READ_IMAGE_TASK },
  { ...keyed, method: "GET", path: "/v1/tasks/:task_id/events", contract: FOLLOW_TASK },
  { ...keyed, method: "POST", path: "/v1/tasks/:task_id/cancel", contract: CANCEL_TASK },
  { ...keyed, method: "POST", path: "/compat/v1/images/generations", contract: GENERATE_IMAGES },
];
// Through text, as a client reads it.
const checkAnswer = createAnswerCheck(JSON.parse(JSON.stringify(describeService(ENDPOINTS, [], "0.0.0"))));

const ID = taskId(1);
const STATUS_PATH = `/v1/images/status/${ID}`;
const TASK = { task_id: ID, status: "processing", progress: 40, model: "sandbox-image", created_at: 1 };
const DONE = {
  ...{ ...TASK, status: "completed", progress: 100, completed_at: 2, result: ["https://a.example/1.png"] },
  usage: { cost: "0.010000", currency: "USD" },
};

const success = (data: JsonObject) => JSON.stringify({ code: 200, message: "success", data });
const problem = (status: number, error_code: string) =>
  JSON.stringify({ code: status, message: "No.", data: { type: "invalid_request_error", error_code } });
const compatible = (code: string) =>
  JSON.stringify({ error: { message: "No.", type: "invalid_request_error", code } });

function check(
  method: string,
  path: string,
  status: number,
  body: string,
  type = "application/json",
): () => void {
  const headers = new Headers({ "X-Request-ID": "req_1", "Content-Type": type });
  return () => checkAnswer(method, path, status, headers, body);
}

const event = (name: string, data: JsonObject) => `id: 1\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

test.each([
  ["a status", "GET", `${STATUS_PATH}?wait=1`, 200, success(TASK)],
  ["a finished task", "GET", STATUS_PATH, 200, success(DONE)],
  ["HEAD", "HEAD", STATUS_PATH, 200, ""],
  ["an error of the operation", "GET", STATUS_PATH, 404, problem(404, "task_not_found")],
  ["a refused credential", "GET", STATUS_PATH, 401, compatible("invalid_api_key")],
  ["a path that does not exist", "GET", "/v1/nothing", 404, problem(404, "not_found")],
  ["a method that is not taken", "DELETE", STATUS_PATH, 405, problem(405, "method_not_allowed")],
  ["an unknown path of the images API", "GET", "/compat/v1/nothing", 404, compatible("not_found")],
  ["a path with two slashes", "POST", "/compat/v1//images/generations", 404, compatible("model_not_found")],
] as const)("%s is what the document says", (_, method, path, status, body) => {
  expect(check(method, path, status, body)).not.toThrow();
});

test.each([
  ["a field too many", "GET", STATUS_PATH, 200, success({ ...TASK, account_id: "acc" }), "account_id"],
  ["a field too few", "GET", STATUS_PATH, 200, success({ task_id: ID }), "status"],
  [
    "a result without completion",
    "GET",
    STATUS_PATH,
    200,
    success({ ...DONE, status: "failed" }),
    "error_code",
  ],
  [
    "completion without a result",
    "GET",
    STATUS_PATH,
    200,
    success({ ...TASK, status: "completed" }),
    "result",
  ],
  ["an unknown status code", "GET", STATUS_PATH, 418, problem(418, "invalid_request"), "does not list it"],
  ["another operation's code", "GET", STATUS_PATH, 404, problem(404, "model_not_found"), "task_not_found"],
  ["a code that is not the status", "GET", STATUS_PATH, 404, problem(400, "task_not_found"), "`code`"],
  ["the wrong envelope", "GET", STATUS_PATH, 404, compatible("task_not_found"), "additional properties"],
  ["401 in the standard envelope", "GET", STATUS_PATH, 401, problem(401, "invalid_api_key"), "error"],
  ["an answer from an unknown path", "GET", "/v1/nothing", 200, success({}), "no such operation"],
  ["an answer to an unknown method", "DELETE", STATUS_PATH, 200, success(TASK), "no such operation"],
] as const)("%s is refused", (_, method, path, status, body, says) => {
  expect(check(method, path, status, body)).toThrow(says);
});

test("another media type is refused, and so is an answer without a request id", () => {
  expect(check("GET", STATUS_PATH, 200, "hello", "text/plain")).toThrow("text/plain");
  expect(() => checkAnswer("GET", STATUS_PATH, 200, new Headers(), success(TASK))).toThrow("X-Request-ID");
});

test("every event of a stream is checked, and what a cut left of the last is not", () => {
  const path = `/v1/tasks/${ID}/events`;
  const stream = (text: string) => check("GET", path, 200, text, "text/event-stream");
  const start = `retry: 3000\n\n: keep-alive\n\n${event("processing", TASK)}`;
  expect(stream(`${start}${event("completed", DONE)}event: fai`)).not.toThrow();
  expect(stream(start + event("done", DONE))).toThrow("knows no event done");
  expect(stream(start + event("completed", { ...DONE, held: 1 }))).toThrow("held");
  const preview = { task_id: ID, index: 0, media_type: "image/png", b64_json: "AA==" };
  expect(
    stream(start + event("preview", preview) + event("preview", { ...preview, output_index: 1 })),
  ).not.toThrow();
  expect(stream(start + event("preview", { ...preview, index: 3 }))).toThrow("index");
  expect(stream(start + event("preview", { ...preview, media_type: "image/svg+xml" }))).toThrow("media_type");
});
