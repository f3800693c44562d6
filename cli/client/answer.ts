import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { parseRetryAfterMs } from "../../src/toolkit/retry-after.ts";
import { EXIT, exitCodeOfStatus } from "../exit-codes.ts";
import { Failure, unexpectedAnswer } from "../failure.ts";
import { printable } from "../format/printable.ts";
import type { Trouble } from "./retry.ts";

/** A task as the server shows it: the fields of every task, and any others. */
export type TaskView = JsonObject & { readonly task_id: string; readonly status: string };
export type Kind = "image" | "video";

/** Not 500, with which the server has decided. */
const PASSING = [429, 502, 503, 504];

/** The failure that an HTTP answer means. Reads both error envelopes, `error.code` first (docs/api.md 3.2). */
export function troubleOf(response: Response, body: unknown, server: string): Trouble {
  const { status, headers } = response;
  const { code, message, param } = readError(body);
  const requestId = headers.get("x-request-id") ?? undefined;
  const text =
    message ?? `${server} answered ${status}${response.statusText === "" ? "" : ` ${response.statusText}`}.`;
  const failure = new Failure(exitCodeOfStatus(status), code ?? `http_${status}`, text, {
    hint: hintFor(status, { code, message, param }, response),
    requestId,
    more: { status, param },
  });
  if (code === undefined && isForeign(response)) {
    const failure = notThisService(server, requestId, `HTTP ${status}`);
    return { failure, retry: "no" };
  }
  const mayPass = PASSING.includes(status) || code === "idempotency_in_progress";
  const isFinal = headers.get("x-should-retry") === "false" || !mayPass;
  return {
    failure,
    retry: isFinal ? "no" : "yes",
    retryAfterMs: parseRetryAfterMs((name) => headers.get(name), Date.now()),
  };
}

/** The `data` of a success (docs/api.md 3.1). @throws Failure if the answer is not from an svc server */
export function dataOf(response: Response, body: unknown, server: string): JsonObject {
  if (isJsonObject(body) && isJsonObject(body.data)) return body.data;
  throw notThisService(server, response.headers.get("x-request-id") ?? undefined);
}

/** Whether a server other than svc says that it has no such path. Proxies answer in svc's place with other errors. */
function isForeign({ status, headers }: Response): boolean {
  const isJson = /\bjson\b/.test(headers.get("content-type") ?? "");
  return !isJson && [404, 405, 501].includes(status);
}

export function notThisService(server: string, requestId?: string, how?: string): Failure {
  return new Failure(
    EXIT.unreachable,
    "unexpected_answer",
    `${server} does not answer like an svc server${how === undefined ? "" : ` (${how})`}.`,
    {
      hint: "Check --server or SVC_SERVER.",
      requestId,
    },
  );
}

export function taskOf(data: unknown): TaskView {
  const view = isJsonObject(data) ? data : {};
  const { task_id, status } = view;
  const isWord = (value: unknown): value is string => typeof value === "string" && printable(value) === value;
  if (isWord(task_id) && isWord(status)) return { ...view, task_id, status };
  throw unexpectedAnswer("The server's answer is no task.");
}

/** The URLs of a completed task's results. */
export function resultUrls(task: TaskView): string[] {
  const { result } = task;
  return Array.isArray(result) ? result.filter((url): url is string => typeof url === "string") : [];
}

/** The failure if nobody answered. Refused connections and unknown names rarely change within a minute; other causes may. */
export function unreachable(error: unknown, server: string): Trouble {
  const code = codeOf(error);
  const text = `Cannot reach ${server}: ${whyNoAnswer(error)}.`;
  const tls = tlsHint(code);
  const hint = tls ?? "Is it running? `svc serve` starts one; --server or SVC_SERVER says where it is.";
  const failure = new Failure(EXIT.unreachable, "server_unreachable", text, { hint });
  const isRefused = /ConnectionRefused|ECONNREFUSED|ENOTFOUND|FailedToOpenSocket|EAI_AGAIN/.test(code);
  return { failure, retry: tls !== undefined ? "no" : isRefused ? "seldom" : "yes" };
}

/** What to do where TLS is what failed. */
function tlsHint(code: string): string | undefined {
  if (code === "EPROTO") return "svc itself speaks no TLS: without a proxy in front of it, write http://.";
  if (/SELF_SIGNED|ISSUER|LEAF_SIGNATURE/.test(code))
    return "The server's TLS certificate is not trusted here. NODE_EXTRA_CA_CERTS=FILE names the certificate (PEM) of who signed it.";
  return /CERT|TLS|SSL|SIGNATURE|ALTNAME/i.test(code)
    ? "The server's TLS certificate is not trusted here."
    : undefined;
}

function readError(body: unknown) {
  const { error, data, message } = isJsonObject(body) ? body : {};
  const compatible = isJsonObject(error) ? error : {};
  const own = isJsonObject(data) ? data : {};
  return {
    code: text(compatible.code) ?? text(own.error_code),
    message: text(compatible.message) ?? text(message),
    param: text(compatible.param) ?? text(own.param),
  };
}

export const GIVE_TOKEN =
  "Give a valid token with SVC_MANAGEMENT_TOKEN, `svc login --token-stdin` or --token. On the server's machine `svc tokens create --name NAME` makes one.";
const GIVE_KEY =
  "Set SVC_API_KEY or --key to a valid key. On the server's machine `svc keys create --name NAME` makes one.";

const TAKEN_AWAY =
  "One was sent: a proxy on the way takes the header `Authorization` away. Have it pass that on, or name the server itself with --server.";

function hintFor(
  status: number,
  { code, message, param }: ReturnType<typeof readError>,
  response: Response,
): string | undefined {
  if (status === 401) {
    // No command sends a request without.
    if (/^No (?:API key|management token) was given/.test(message ?? "")) return TAKEN_AWAY;
    return response.url.includes("/admin/v1/") ? GIVE_TOKEN : GIVE_KEY;
  }
  if (status === 402)
    return "On the server's machine `svc accounts credit ACCOUNT AMOUNT` adds to a balance, `svc keys update KEY --quota AMOUNT` raises a quota.";
  if (code === "model_not_available")
    return "`svc models list --all` lists them, and says which are available.";
  if (status === 400 && param === "callback_url")
    return "`svc callbacks listen --forward URL` passes callbacks on to your own machine, and needs no callback_url.";
  const location = response.headers.get("location");
  if (status >= 300 && status < 400 && location !== null)
    return `It redirects to ${location}; give that address with --server.`;
  return undefined;
}

const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : "");

/** Why nobody answered, as a clause. */
export function whyNoAnswer(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError") return "it did not answer in time";
  const code = codeOf(error);
  if (/ConnectionRefused|ECONNREFUSED/.test(code)) return "the connection was refused";
  if (/ConnectionClosed|ECONNRESET|EPIPE/.test(code)) return "the connection was cut";
  if (/ENOTFOUND|EAI_AGAIN/.test(code)) return "its name is not known";
  if (code === "EPROTO") return "nobody speaks TLS there";
  return clauseOf(error) || "the connection failed";
}

/** The message of a platform error, without its full stop, and without its advice to programmers. */
export function clauseOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return /^(.*?)[.\s]*(?:For more information, pass `verbose.*)?$/s.exec(message)?.[1] ?? "";
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** @returns undefined for a body that is not JSON, which is no answer of this service */
export function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The results that a completed task does not have, one line each. */
export function issuesOf({ result_issues: issues }: TaskView): string[] {
  return (Array.isArray(issues) ? issues : [])
    .filter(isJsonObject)
    .map(({ index, code, message }) => `result ${String(index)}: ${String(code)}: ${String(message)}`)
    .map(printable);
}
