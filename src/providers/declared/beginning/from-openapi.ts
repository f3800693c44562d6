import type { JsonObject } from "../../../domain/json.ts";
import { keyText, line, variableOf } from "./lines.ts";
import { type FoundField, type FoundOperation, OpenApi, OpenApiError } from "./openapi.ts";

const PROMPT = /^(?:text_?)?prompt(?:_?text)?$/i;
const ID = /^(?:id|(?:task|job|request|generation|prediction|operation)_?id|name|uuid)$/i;
const STATUS = /^(?:task_|job_)?(?:status|state)$/i;
const MADE = /(?:^|_)(?:urls?|uri|sample|video|image|audio|output|result)s?$/i;
const FILE = /url|b64|base64/i;
const INPUT = /image|picture|photo|mask|frame|video/i;

/** The start of a form, derived from an OpenAPI document. Guesses are marked. @throws OpenApiError */
export function formFromOpenApi(id: string, document: unknown): string {
  const api = new OpenApi(document);
  const create = mostLikelyCreate(api);
  if (create === undefined) throw new OpenApiError("paths: no POST takes a field named prompt");
  const { base, title = id } = api;
  const poll = isDirect(api, create) ? undefined : mostLikelyPoll(api, create);
  const lines = [
    `# How svc speaks to ${id}, begun with its OpenAPI document. Look at each TODO; \`svc providers check ${id}.yaml\` tells what is wrong.`,
    "# Every part is explained in docs/providers.md.",
    `provider: ${id}`,
    "form: 1",
    line(0, "title", title.slice(0, 80)),
    base === undefined
      ? line(0, "base", `https://api.${id}.example`, "the document names no address")
      : line(0, "base", base),
    "media: [] # TODO hosts that serve what was made, besides the API's",
    ...authLines(id, api.security),
    ...submitLines(api, create, poll !== undefined),
    ...(poll === undefined ? [] : pollLines(api, poll)),
    "refusals:",
    "  when: # TODO what its errors mean",
    "    - { status: [401, 403], means: refused }",
    "    - { status: 402, means: spent }",
    "    - { status: 429, means: busy }",
    "    - { status: [400, 422], means: bad_input }",
  ];
  return `${lines.join("\n")}\n`;
}

/** The POST that takes a prompt and looks most like one that makes something. */
function mostLikelyCreate(api: OpenApi): FoundOperation | undefined {
  const scored = api.operations("post").flatMap((found) => {
    const body = api.bodyOf(found);
    const names = Object.keys(body === undefined ? {} : api.propertiesOf(body.schema));
    if (!names.some((name) => PROMPT.test(name))) return [];
    const isMaking = /generat|image|video|predict|creat|task|text/i.test(found.path) ? 2 : 0;
    const isOfText = /text.?(?:2|to)|generat/i.test(found.path) ? 1 : 0;
    return [{ found, score: isMaking + isOfText + (names.includes("prompt") ? 2 : 0) }];
  });
  return scored.sort((a, b) => b.score - a.score)[0]?.found;
}

/** Whether the answer to a create holds what was made, and no id to ask by. */
function isDirect(api: OpenApi, create: FoundOperation): boolean {
  const answer = api.answerOf(create);
  const fields = answer === undefined ? [] : api.fieldsOf(answer);
  return jobField(fields) === undefined && fields.some(({ path }) => FILE.test(path.at(-1) ?? ""));
}

function jobField(fields: readonly FoundField[]): FoundField | undefined {
  return fields.find(({ path }) => ID.test(path.at(-1) ?? "") && !path.includes("[]"));
}

/** The GET with one id in its path that looks most like the question after a job. */
function mostLikelyPoll(api: OpenApi, create: FoundOperation): FoundOperation | undefined {
  const scored = api.operations("get").flatMap((found) => {
    if (found.path.match(/\{[^}]+\}/g)?.length !== 1 && !/result|status/i.test(found.path)) return [];
    const answer = api.answerOf(found);
    const hasStatus = answer !== undefined && statusField(api, answer) !== undefined;
    const shared = commonStart(found.path, create.path);
    const isAsking = /task|job|result|status|generation|prediction|operation/i.test(found.path) ? 2 : 0;
    return hasStatus || isAsking > 0 ? [{ found, score: shared + (hasStatus ? 5 : 0) + isAsking }] : [];
  });
  return scored.sort((a, b) => b.score - a.score)[0]?.found;
}

function commonStart(a: string, b: string): number {
  const [one, other] = [a.split("/"), b.split("/")];
  const end = one.findIndex((segment, i) => segment !== other[i]);
  return end === -1 ? one.length : end;
}

function authLines(id: string, scheme: JsonObject = {}): string[] {
  const env = `key_env: ${variableOf(id)}`;
  const { type, in: place, name } = scheme;
  if (type === "apiKey" && typeof name === "string" && (place === "header" || place === "query"))
    return [`auth: { ${place}: ${JSON.stringify(name)}, value: "\${key}", ${env} }`];
  if (type === "http" && scheme.scheme === "basic")
    return [
      `auth: { basic: { user: "\${user}", password: "\${password}" }, env: { user: ${variableOf(id).replace("API_KEY", "USER")}, password: ${variableOf(id).replace("API_KEY", "PASSWORD")} } }`,
    ];
  const todo = type === "http" ? "" : " # TODO the document does not say how the key is sent";
  return [`auth: { header: Authorization, value: "Bearer \${key}", ${env} }${todo}`];
}

function submitLines(api: OpenApi, create: FoundOperation, isJob: boolean): string[] {
  const { kind = "json", schema = {} } = api.bodyOf(create) ?? {};
  const path = create.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) =>
    /model/i.test(name) ? "${model}" : `\${params.${identifier(name)}}`,
  );
  const fields = Object.entries(api.propertiesOf(schema));
  return [
    "submit:",
    line(2, "post", path),
    `  ${kind}:`,
    ...fields.map(([name, each]) => fieldLine(name, each, kind)),
    ...(isJob ? operationLines(api, create) : madeLines(api, api.answerOf(create))),
  ];
}

function fieldLine(name: string, schema: JsonObject, kind: "json" | "multipart"): string {
  if (PROMPT.test(name)) return line(4, name, "${prompt}");
  if (/^model(?:_?(?:id|name))?$/i.test(name)) return line(4, name, "${model}");
  if (/^(?:n|num_?(?:images|outputs|videos))$/i.test(name)) return line(4, name, "${n}");
  const isFile = schema.format === "binary" || (schema.type === "string" && INPUT.test(name));
  if (isFile && !/format|size|ratio|type/i.test(name))
    return line(
      4,
      name,
      kind === "multipart" ? '${input("image")}' : '${input("image").?uri}',
      "which input, and how",
    );
  return line(4, name, `\${params.?${identifier(name)}}`);
}

/** A name that an expression can read as a member. */
function identifier(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_]/g, "_").replace(/^(?=\d)/, "_");
}

function operationLines(api: OpenApi, create: FoundOperation): string[] {
  const answer = api.answerOf(create);
  const found = answer && jobField(api.fieldsOf(answer));
  const id = found === undefined ? "body.id" : reading(found.path);
  const todo = found === undefined ? " # TODO where the answer has the job's id" : "";
  return [`  operation: { id: ${JSON.stringify(`\${${id}}`)} }${todo}`];
}

function pollLines(api: OpenApi, poll: FoundOperation): string[] {
  const answer = api.answerOf(poll);
  const found = answer && statusField(api, answer);
  const inPath = poll.path.replaceAll(/\{[^}]+\}/g, "${operation.id}");
  return [
    "poll:",
    line(2, "get", inPath),
    ...(inPath === poll.path ? [`  query: { id: "\${operation.id}" } # TODO its name for the id`] : []),
    line(
      2,
      "status",
      `\${${found === undefined ? "body.status" : reading(found.path)}}`,
      found === undefined ? "where the answer has the state" : undefined,
    ),
    ...wordLines(found?.schema.enum),
    ...madeLines(api, answer),
  ];
}

function statusField(api: OpenApi, answer: JsonObject): FoundField | undefined {
  return api.fieldsOf(answer).find(({ path }) => STATUS.test(path.at(-1) ?? "") && !path.includes("[]"));
}

function wordLines(given: unknown): string[] {
  const words = (Array.isArray(given) ? given : []).filter((each) => typeof each === "string");
  const means = words.map((word) => [word, meaningOf(word)] as const);
  const isTold = means.some(([, meaning]) => meaning === "succeeded");
  const usual = ["processing", "succeeded", "failed"].map((word) => [word, meaningOf(word)] as const);
  const lines = (isTold ? means : [...means, ...usual]).map(
    ([word, meaning]) => `    ${keyText(word)}: ${meaning}`,
  );
  return [`  words:${isTold ? "" : " # TODO its words"}`, ...new Set(lines)];
}

function meaningOf(word: string): string {
  if (/moderat|nsfw|unsafe|filtered|policy/i.test(word)) return "{ failed: moderated }";
  if (/fail|error|reject|expired|timeout/i.test(word)) return "{ failed: broken }";
  if (/cancel|abort/i.test(word)) return "cancelled";
  return /succe|complet|done|finish|ready/i.test(word) && !/^(?:un|in|not)/i.test(word)
    ? "succeeded"
    : "pending";
}

function madeLines(api: OpenApi, answer: JsonObject | undefined): string[] {
  const fields = answer === undefined ? [] : api.fieldsOf(answer);
  const texts = fields.filter(({ schema }) => schema.type === "string" || schema.type === undefined);
  const base64 = texts.find(({ path }) => /b64|base64/i.test(path.at(-1) ?? ""));
  const url =
    texts.find(({ path, schema }) => schema.format === "uri" || /url|uri|sample/i.test(path.at(-1) ?? "")) ??
    texts.find(({ path }) => path.some((step) => MADE.test(step)) && !ID.test(path.at(-1) ?? ""));
  const found = url ?? base64;
  const kind = url === undefined && base64 !== undefined ? "base64" : "url";
  const text = found === undefined ? "body.output" : reading(found.path);
  return [`  outputs: { ${kind}: ${JSON.stringify(`\${${text}}`)} } # TODO where what was made is`];
}

/** The expression that reads a field: `body.images.map(v, v.url)`. */
function reading(path: readonly string[]): string {
  const at = path.indexOf("[]");
  if (at === -1) return `body${path.map(member).join("")}`;
  const rest = path.slice(at + 1).filter((step) => step !== "[]");
  const list = `body${path.slice(0, at).map(member).join("")}`;
  return rest.length === 0 ? list : `${list}.map(v, v${rest.map(member).join("")})`;
}

function member(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}
