import type { JsonObject } from "../../../src/domain/json.ts";
import { among, type Malformed, NOTHING_THERE, TOO_LARGE, WRONG_TYPE } from "./request.ts";

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16" } as const;
const NO_MODEL = { status: 404, code: "model_not_available" } as const;
const NOT_ALLOWED = { status: 405, code: "method_not_allowed" } as const;

/** Requests for what something would cost, for the state of the account, for models and for the documentation. */
export function malformedReads(): Malformed[] {
  return [...among({ path: "/v1/pricing/estimate" }, [...forms(), ...plain(), ...wrapped()]), ...reads()];
}

function forms(): Malformed[] {
  return [
    { name: "an empty body", body: "", says: "JSON" },
    { name: "a list", body: "[]", says: "object" },
    { name: "an empty object", body: {}, param: "model" },
    { name: "half an object", body: '{"model":', says: "JSON" },
    { name: "a field twice", body: '{"model":"sandbox-image","n":1,"n":2}', says: "twice" },
    { name: "Latin-1", body: Buffer.from('{"prompt":"\xe9"}', "latin1"), says: "UTF-8" },
    { name: "33 levels", body: `{"request":${'{"a":'.repeat(33)}`, says: "32" },
    { name: "half a surrogate pair", body: '{"model":"\\udfff"}', param: "model" },
    { name: "2 MB", body: { ...IMAGE, prompt: "Z".repeat(2_000_000) }, ...TOO_LARGE },
    { name: "no content type", body: IMAGE, without: ["content-type"], ...WRONG_TYPE },
    { name: "text/plain", body: IMAGE, headers: [["Content-Type", "text/plain"]], ...WRONG_TYPE },
    { name: "deflate", body: IMAGE, headers: [["Content-Encoding", "deflate"]], ...WRONG_TYPE },
    { name: "GET", method: "GET", ...NOT_ALLOWED, says: "POST" },
  ];
}

function plain(): Malformed[] {
  const field = (name: string, value: JsonObject[string], more: Partial<Malformed> = {}): Malformed => ({
    name: `${name} = ${JSON.stringify(value)?.slice(0, 40)}`,
    body: { ...IMAGE, [name]: value },
    param: name,
    ...more,
  });
  return [
    ...[7, null, "", [], "Z".repeat(201)].map((model) => field("model", model)),
    field("model", "nothing", NO_MODEL),
    field("model", "__proto__", NO_MODEL),
    ...[0, 11, 1.5, "2", true, null].map((n) => field("n", n)),
    ...["0x0", "1e3x1", "99999x99999", 7].map((size) => field("size", size)),
    field("promt", "x", { says: "prompt" }),
    field("prompt", 7),
    field("prompt", "x".repeat(4001)),
    field("output_format", "gif"),
    field("seed", -1),
    field("image_url", 7),
    field("sandbox", { nope: 1 }, { param: "sandbox.nope" }),
    field("quantity", 2),
    { name: "a duration of no length", body: { model: "sandbox-video", duration: 0 }, param: "duration" },
  ];
}

function wrapped(): Malformed[] {
  const wrap = (name: string, body: JsonObject, param: string, more: Partial<Malformed> = {}): Malformed => ({
    name: `${name}, wrapped`,
    body: { request: IMAGE, ...body },
    param,
    ...more,
  });
  return [
    ...[7, null, [], "x"].map((request) =>
      wrap(`request = ${JSON.stringify(request)}`, { request }, "request"),
    ),
    wrap("no model", { request: { prompt: "x" } }, "request.model"),
    wrap("an unknown model", { request: { model: "nothing" } }, "request.model", NO_MODEL),
    wrap("n = 11", { request: { ...IMAGE, n: 11 } }, "request.n"),
    wrap("an unknown field", { request: { ...IMAGE, nope: 1 } }, "request.nope"),
    wrap("an unknown field outside", { quantty: 2 }, "quantty", { says: "quantity" }),
    ...[0, -1, 1.5, "2", null, 1e300].map((quantity) =>
      wrap(`quantity = ${quantity}`, { quantity }, "quantity"),
    ),
    ...["/v1/nothing", 7, null, "", "POST /v1/images/generations"].map((endpoint) =>
      wrap(`endpoint = ${JSON.stringify(endpoint)}`, { endpoint }, "endpoint"),
    ),
  ];
}

function reads(): Malformed[] {
  const asked = (method: string, path: string, refusal: Partial<Malformed>): Malformed => ({
    name: `${method} ${path.slice(0, 60)}`,
    method,
    path,
    ...refusal,
  });
  const unknown = { ...NO_MODEL, param: "model" };
  return [
    asked("POST", "/v1/account/status", NOT_ALLOWED),
    asked("DELETE", "/v1/account/status", NOT_ALLOWED),
    asked("GET", "/v1/account", NOTHING_THERE),
    asked("GET", "/v1/account/status/x", NOTHING_THERE),
    asked("GET", "/v1/account/Status", NOTHING_THERE),
    asked("POST", "/openapi.json", NOT_ALLOWED),
    asked("GET", "/openapi.yaml", NOTHING_THERE),
    asked("GET", "/openapi.json/x", NOTHING_THERE),
    asked("GET", "/openapi.json%00", NOTHING_THERE),
    asked("PUT", "/docs", NOT_ALLOWED),
    asked("GET", "/docs/..%2fopenapi.json", NOTHING_THERE),
    asked("GET", "/docs/nothing.js", NOTHING_THERE),
    asked("GET", "/v1/models/nothing", unknown),
    asked("GET", "/v1/models/__proto__", unknown),
    asked("GET", "/v1/models/%00", unknown),
    asked("GET", "/v1/models/%ff", unknown),
    asked("GET", "/v1/models/sandbox-image%0a", unknown),
    asked("GET", "/v1/models/SANDBOX-IMAGE", unknown),
    asked("GET", `/v1/models/${"Z".repeat(201)}`, { param: "model" }),
    asked("GET", "/v1/models/sandbox-image/x", NOTHING_THERE),
    asked("DELETE", "/v1/models/sandbox-image", NOT_ALLOWED),
  ];
}
