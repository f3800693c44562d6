import type { Command } from "commander";
import { isJsonObject, type Json } from "../../src/domain/json.ts";
import { parseBody, troubleOf } from "../client/answer.ts";
import type { ClientOptions } from "../client/exchange.ts";
import { type RawRequest, readRaw, sendRaw, streamRaw } from "../client/raw.ts";
import { clientOptions } from "../client/remote.ts";
import { collect, given, type Invocation, onRun, withCommonFlags } from "../command.ts";
import type { Context, Sink } from "../context.ts";
import {
  type ClientFlags,
  type OperatorFlags,
  readClientSettings,
  readOperatorSettings,
  readServerSetting,
} from "../environment.ts";
import { unexpectedAnswer, usage } from "../failure.ts";
import { withKeyFlags, withTokenFlags } from "../flags/credentials.ts";
import {
  credentialFor,
  readField,
  readHeaders,
  readInputFile,
  readMethod,
  readTarget,
} from "../flags/raw-request.ts";
import { toJson } from "../format/output.ts";
import { printable, printableLines } from "../format/printable.ts";
import { withExamples, withExits, withNotes } from "../help/manual.ts";

interface Flags extends ClientFlags, OperatorFlags {
  readonly field?: string;
  readonly fields?: readonly string[];
  readonly header?: readonly string[];
  readonly include?: boolean;
  readonly input?: string;
  readonly paginate?: boolean;
  readonly verbose?: boolean;
}

/** The rest of a longer error body is not searched for a message. */
const MAX_READ_ERROR = 64 * 1024;

export function defineApi(command: Command, context: Context): void {
  withCommonFlags(command)
    .option(
      "-f, --fields <name=value>",
      "a field of the JSON body, or of the query of a GET; name:=json for other than text; repeatable",
      collect,
    )
    .option("-H, --header <header>", "a header, such as 'Prefer: wait=10'; repeatable", collect)
    .option("-i, --include", "print the status and the headers before the body")
    .option("--input <file>", "file to send as the body; - is standard input")
    .option("--paginate", "get all pages of a list, one JSON document a line")
    .option("-s, --server <url>", "address of the server (SVC_SERVER)")
    .option("--profile <name>", "profile of `svc login` (SVC_PROFILE)")
    .option("-v, --verbose", "print requests and answers on stderr");
  withTokenFlags(withKeyFlags(command, ", for all other paths"), ", for /admin and /metrics");
  withExamples(
    command,
    "svc api GET /v1/account/status",
    "svc api GET /v1/tasks -f status=completed -f limit=50 --paginate",
    "svc api POST /v1/pricing/estimate -f model=sandbox-image -f n:=2",
    "svc api POST /admin/v1/keys -f name=web -f requests_per_minute:=60",
  );
  withNotes(
    command,
    "The body goes to stdout, whatever the status; the exit code tells the status. Nothing is tried again. /metrics and paths below /admin get the management token, the others the API key. Redirects are not followed, and other servers are refused.",
  );
  withExits(
    command,
    ...(["auth", "notFound", "quota", "conflict", "overloaded", "stillRunning"] as const),
    ...(["unreachable", "rejected", "interrupted"] as const),
  );
  onRun<Flags>(command, context, async (invocation) => {
    const { options, output } = invocation;
    if (options.field !== undefined)
      throw usage(
        "--field picks a value from the JSON of other commands; svc api prints the answer as it came. A field of the request goes with -f.",
      );
    let request: RawRequest | undefined = await readRequest(invocation);
    const client = clientOptions(options, context, output);
    while (request !== undefined) request = await sendOne(request, client, invocation);
  });
}

async function readRequest({ args, options, context }: Invocation<Flags>): Promise<RawRequest> {
  const method = readMethod(given(args, 0));
  const server = readServerSetting(options, context);
  const url = readTarget(given(args, 1), server);
  const headers = readHeaders(options.header ?? []);
  const fields = (options.fields ?? []).map(readField);
  const isQuery = method === "GET" || method === "HEAD";
  if (options.paginate === true && method !== "GET") throw usage("--paginate is for GET alone.");
  if (options.input !== undefined && (isQuery || fields.length > 0))
    throw usage("--input is the whole body: it goes with no -f, and not with GET.");
  const credential = credentialFor(url, server);
  if (credential !== undefined && !headers.has("Authorization")) {
    const read = credential === "token" ? readOperatorSettings : readClientSettings;
    headers.set("Authorization", `Bearer ${read(options, context).key}`);
  }
  if (options.input !== undefined) {
    if (!headers.has("Content-Type")) headers.set("Content-Type", "application/json");
    return { method, url, headers, body: await readInputFile(options.input, context) };
  }
  if (isQuery) {
    for (const [name, value] of fields) url.searchParams.append(name, textOf(value));
    return { method, url, headers };
  }
  if (fields.length === 0) return { method, url, headers };
  headers.set("Content-Type", "application/json");
  return { method, url, headers, body: JSON.stringify(Object.fromEntries(fields)) };
}

const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Prints the answer. @returns the request for the next page, if there is one and it is wanted @throws Failure for a status that is an error */
async function sendOne(
  request: RawRequest,
  client: ClientOptions,
  { options, context }: Invocation<Flags>,
): Promise<RawRequest | undefined> {
  const attempt = await sendRaw(request, client);
  if (!attempt.ok) throw attempt.failure;
  const response = attempt.value;
  const { stdout } = context;
  if (options.include === true) stdout.write(headOf(response));
  const text = await printBody({ response, url: request.url }, stdout, options.paginate === true);
  if (response.status >= 300) throw troubleOf(response, parseBody(text), request.url.origin).failure;
  return options.paginate === true ? nextPage(request, parseBody(text)) : undefined;
}

function headOf({ status, statusText, headers }: Response): string {
  const lines = [...headers].map(([name, value]) => `${name}: ${printable(value)}\n`);
  return [`HTTP ${status} ${printable(statusText)}\n`, ...lines, "\n"].join("");
}

/** Prints a body as it comes; on a terminal, JSON indented, and nothing that would be a command to it. @returns the text, or its beginning */
async function printBody(
  { response, url }: { readonly response: Response; readonly url: URL },
  stdout: Sink,
  isPage: boolean,
): Promise<string> {
  const type = response.headers.get("content-type") ?? "";
  const isJson = /\bjson\b/.test(type);
  if (isPage || (isJson && stdout.isTerminal)) {
    const text = await readRaw(response, url);
    const json = parseBody(text);
    if (typeof json === "object" && json !== null) stdout.write(`${toJson(json, stdout)}\n`);
    else stdout.write(stdout.isTerminal ? printableLines(text) : text);
    return text;
  }
  if (stdout.isTerminal && !isJson && !type.startsWith("text/") && response.body !== null && type !== "") {
    await response.body.cancel();
    throw usage(
      `The answer is ${printable(type)}, which is nothing for a terminal; send it to a file with >.`,
    );
  }
  const decoder = new TextDecoder();
  let read = "";
  let end = "\n";
  for await (const bytes of streamRaw(response, url)) {
    const text = decoder.decode(bytes, { stream: true });
    if (stdout.isTerminal) stdout.write(printableLines(text));
    // A file may be larger than memory, and its reader slower than the server.
    else await stdout.writeBytes(bytes);
    if (read.length < MAX_READ_ERROR) read += text;
    end = text.at(-1) ?? end;
  }
  // What is said next begins a line. A file that is fetched stays as it is.
  if (end !== "\n" && (response.status >= 300 || stdout.isTerminal)) stdout.write("\n");
  return read;
}

/** The same list from where the page ended: a ledger goes on before that, others after it. */
function nextPage({ url, ...request }: RawRequest, body: unknown): RawRequest | undefined {
  const data = isJsonObject(body) && isJsonObject(body.data) ? body.data : {};
  if (typeof data.next !== "string") return undefined;
  const next = new URL(url);
  next.searchParams.set(url.pathname.endsWith("/ledger") ? "before" : "after", data.next);
  if (next.href === url.href) throw unexpectedAnswer("The server says that a page is followed by itself.");
  return { ...request, url: next };
}
