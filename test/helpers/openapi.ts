import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";

/**
 * Throws when an answer is not what the published document says: an operation, a status, a media type or an error code it does not
 * list, or a body that does not fit.
 */
export type CheckAnswer = (
  method: string,
  path: string,
  status: number,
  headers: Headers,
  bodyText: string,
) => void;

let shared: Promise<CheckAnswer> | undefined;

/** The check by the document that the server at `url` publishes. All servers of a test run are of one build, so it is read once. */
export function answerCheckOf(url: string): Promise<CheckAnswer> {
  shared ??= readDocument(url).then(createAnswerCheck, (error: unknown) => {
    shared = undefined;
    throw error;
  });
  return shared;
}

/** By their text, so that servers of equal settings share one document and the checks that are compiled of it. */
const documents = new Map<string, JsonObject>();

/** What a server publishes of itself; not to be changed. */
export async function readDocument(url: string): Promise<JsonObject> {
  const response = await fetch(`${url}/openapi.json`, { keepalive: false });
  if (response.status !== 200) throw new Error(`${url}/openapi.json answers ${response.status}.`);
  const text = await response.text();
  // What the server sends as JSON is an object. Its own address stands in it, and no check depends on it.
  return documents.getOrInsertComputed(
    text.replaceAll(url, "http://svc.test"),
    (key) => JSON.parse(key) as JsonObject,
  );
}

/** @param document OpenAPI 3.1; each schema in it is compiled at its first use */
export function createAnswerCheck(document: JsonObject): CheckAnswer {
  const operations = operationsOf(document);
  const validatorAt = (pointer: string) => compileAt(document, pointer);

  return (method, target, status, headers, bodyText) => {
    const path = (target.split("?", 1)[0] ?? "").replace(/\/{2,}/g, "/").replace(/(?<=.)\/$/, "");
    const mismatch = (what: string) =>
      new Error(`${method} ${path} answers ${status}, and the document ${what}:\n${bodyText.slice(0, 500)}`);
    if (!headers.has("x-request-id")) throw mismatch("promises X-Request-ID");
    const onPath = operations.filter((operation) => operation.pattern.test(path));
    const operation = onPath.find((each) => each.method === (method === "HEAD" ? "GET" : method));
    if (operation === undefined) {
      const component = onPath.length === 0 ? "NotFound" : "MethodNotAllowed";
      const prefix = PREFIXES.find(([base]) => path.startsWith(base))?.[1] ?? "";
      const expected = onPath.length === 0 ? 404 : 405;
      if (status !== expected) throw mismatch(`has no such operation, which is ${expected}`);
      return checkBody(`/components/responses/${prefix}${component}`, `${expected}`);
    }
    return checkBody(`${operation.pointer}/responses/${status}`, "it");

    function checkBody(pointer: string, what: string): void {
      const response = resolve(document, pointer);
      if (response === undefined) throw mismatch(`does not list ${what}`);
      const type = headers.get("content-type")?.split(";", 1)[0]?.trim();
      const { content } = response.value;
      if (!isJsonObject(content)) {
        if (bodyText !== "") throw mismatch("lists no body");
        return;
      }
      const described = content[String(type)];
      if (type === undefined || !isJsonObject(described)) throw mismatch(`lists no body of type ${type}`);
      if (method === "HEAD") return;
      const at = `${response.pointer}/content/${escaped(type)}`;
      if (type === "text/event-stream") checkEvents(at, described["x-events"]);
      if (type !== "application/json") return;
      const body: unknown = JSON.parse(bodyText);
      checkValue(`${at}/schema`, body);
      checkCode(response.value["x-error-codes"], body);
    }

    function checkValue(pointer: string, value: unknown): void {
      const isValid = validatorAt(pointer);
      if (isValid(value)) return;
      const errors = isValid.errors?.map(
        ({ instancePath, message, params }) =>
          `${instancePath || "/"} ${message ?? ""} ${JSON.stringify(params)}`,
      );
      throw mismatch(`says otherwise at ${pointer}:\n${errors?.join("\n")}`);
    }

    function checkCode(codes: unknown, body: unknown): void {
      // Errors of that API have no code of ours.
      if (!Array.isArray(codes) || path.startsWith("/fal/")) return;
      const error = errorOf(body);
      if (!codes.includes(error.code)) throw mismatch(`lists only the codes ${codes.join(", ")} for it`);
      if (error.status !== undefined && error.status !== status)
        throw mismatch("says that `code` is the status");
    }

    function checkEvents(at: string, events: unknown): void {
      if (!isJsonObject(events)) return;
      for (const { name, data } of parseEvents(bodyText)) {
        if (!Object.hasOwn(events, name)) throw mismatch(`knows no event ${name}`);
        checkValue(`${at}/x-events/${escaped(name)}`, isJson(data) ? JSON.parse(data) : data);
      }
    }
  };
}

/** Of the names of the same errors, by where paths begin. */
const PREFIXES = [
  ["/compat/", "Compatible"],
  ["/gemini/", "Gemini"],
  ["/fal", "Fal"],
  ["/sdapi/v1/", "Automatic1111"],
  ["/replicate/", "Replicate"],
] as const;

const validators = new WeakMap<JsonObject, (pointer: string) => ValidateFunction>();

/** The schema at a JSON Pointer of the document, compiled. */
export function compileAt(document: JsonObject, pointer: string): ValidateFunction {
  let validatorAt = validators.get(document);
  if (validatorAt === undefined) {
    validatorAt = createValidators(document);
    validators.set(document, validatorAt);
  }
  return validatorAt(pointer);
}

interface DocumentedOperation {
  readonly method: string;
  readonly pattern: RegExp;
  /** JSON Pointer to it in the document. */
  readonly pointer: string;
}

/** Paths without parameters first: they win. */
function operationsOf(document: JsonObject): DocumentedOperation[] {
  const paths = Object.entries(isJsonObject(document.paths) ? document.paths : {});
  const looseness = (path: string) => (path.includes("{") ? 1 : 0) + (path === "/fal/{model}" ? 1 : 0);
  paths.sort(([a], [b]) => looseness(a) - looseness(b) || b.length - a.length);
  return paths.flatMap(([path, item]) =>
    Object.keys(isJsonObject(item) ? item : {}).map((method) => ({
      method: method.toUpperCase(),
      pattern: new RegExp(
        `^${path.replace(/[.+*?^$()|[\]\\]/g, "\\$&").replace(/\{[^}]+\}/g, (name) => (path.startsWith("/fal/") && name === "{model}" ? ".+" : "[^/]+"))}$`,
      ),
      pointer: `/paths/${escaped(path)}/${method}`,
    })),
  );
}

function createValidators(document: JsonObject): (pointer: string) => ValidateFunction {
  const ajv = new Ajv2020({
    ...{ strict: false, allErrors: true, validateSchema: false, inlineRefs: false },
    code: { optimize: false },
  });
  ajv.addFormat("uri", (text: string) => URL.canParse(text));
  ajv.addFormat("date-time", (text: string) => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text));
  ajv.addKeyword({
    keyword: "x-extensible-enum",
    schemaType: "array",
    // Callers must take what is not listed; this service may only send what is.
    validate: (values: readonly unknown[], value: unknown) => values.includes(value),
  });
  ajv.addSchema(document, "document");
  const compiled = new Map<string, ValidateFunction>();
  return (pointer) => {
    let validator = compiled.get(pointer);
    if (validator === undefined) {
      const fragment = pointer.split("/").map(encodeURIComponent).join("/");
      validator = ajv.compile({ $ref: `document#${fragment}` });
      compiled.set(pointer, validator);
    }
    return validator;
  };
}

/** What a pointer leads to, through references. */
function resolve(
  document: JsonObject,
  pointer: string,
): { readonly value: JsonObject; readonly pointer: string } | undefined {
  let value: unknown = document;
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  if (!isJsonObject(value)) return undefined;
  return typeof value.$ref === "string" ? resolve(document, value.$ref.slice(1)) : { value, pointer };
}

function errorOf(body: unknown): { readonly code: unknown; readonly status: unknown } {
  if (!isJsonObject(body)) return { code: undefined, status: undefined };
  // Facades that tell a field at fault tell nothing else.
  if (Array.isArray(body.detail)) return { code: "invalid_request", status: undefined };
  if (typeof body.error === "string") return { code: body.error, status: undefined };
  if (typeof body.detail === "string" && typeof body.code === "string")
    return { code: body.code, status: body.status };
  if (isJsonObject(body.error)) return { code: codeOf(body.error), status: undefined };
  return { code: isJsonObject(body.data) ? body.data.error_code : undefined, status: body.code };
}

/** The code of an error, which some facades have among its details or its data. */
function codeOf({ code, details, data }: JsonObject): unknown {
  if (isJsonObject(data)) return data.code;
  const [first] = Array.isArray(details) ? details : [];
  return isJsonObject(first) && isJsonObject(first.metadata) ? first.metadata.code : code;
}

/** Some facades have events of plain text. */
function isJson(data: string): boolean {
  return /^[[{"]/.test(data) && data !== "[DONE]";
}

/** The complete events of a stream; comments, and what a cut left unfinished, are none. */
function parseEvents(text: string): { readonly name: string; readonly data: string }[] {
  return text
    .split("\n\n")
    .slice(0, -1)
    .map((block) => block.split("\n"))
    .flatMap((lines) => {
      const field = (name: string) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = field("data");
      return data === undefined ? [] : [{ name: field("event") ?? "message", data }];
    });
}

function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
