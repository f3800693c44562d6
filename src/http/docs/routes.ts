import { AppError } from "../../domain/errors.ts";
import type { FacadeName } from "../../domain/facades.ts";
import type { Model } from "../../domain/model/model.ts";
import type { Catalog } from "../../domain/ports/catalog.ts";
import { type Endpoint, type Exchange, open } from "../exchange.ts";
import { describeService } from "../openapi/document.ts";
import { isKnown, type Reply } from "../reply.ts";
import { serveClients } from "./clients.ts";
import { ofLatest, once } from "./once.ts";
import { type ReferenceScript, readReferenceScript } from "./reference-script.ts";
import { serveRoot } from "./root.ts";
import { createSharedBodies, type SharedBody } from "./shared-body.ts";
import { READ_CLIENTS, READ_DOCS, READ_DOCS_FILE, READ_OPENAPI, READ_ROOT } from "./wire.ts";

export interface DocsDeps {
  readonly catalog: Catalog;
  /** Of this program. */
  readonly version: string;
  /** Whether browsers that open `/` are redirected to the console. */
  readonly hasConsole: boolean;
  /** The foreign APIs that are spoken. */
  readonly facades: readonly FacadeName[];
}

/**
 * Adds the endpoints that describe all others: /openapi.json; /docs, a page that loads nothing from other origins;
 * /docs/clients, which shows how to configure programs; and /, which links to them.
 */
export function withDocs(endpoints: readonly Endpoint[], deps: DocsDeps): Endpoint[] {
  const document = ofLatest((models: readonly Model[]) =>
    writeDocument(describeService(all, models, deps.version)),
  );
  const script = once(readReferenceScript);
  const shared = createSharedBodies();
  const all: Endpoint[] = [
    ...endpoints,
    open("/", READ_ROOT, (exchange) => serveRoot(exchange, deps)),
    open("/openapi.json", READ_OPENAPI, (exchange) =>
      serveDocument(exchange, document(deps.catalog.models()), shared),
    ),
    open("/docs", READ_DOCS, async ({ request }) => servePage(request, await script())),
    // Registered before /docs/:file, which would match this path too.
    open("/docs/clients", READ_CLIENTS, (exchange) => serveClients(exchange, deps.facades)),
    open("/docs/:file", READ_DOCS_FILE, async (exchange) => serveScript(exchange, await script(), shared)),
  ];
  return all;
}

/** The OpenAPI document in JSON, without the first key and the brace before it. */
interface WrittenDocument {
  readonly rest: Uint8Array<ArrayBuffer>;
  readonly hash: bigint;
}

function writeDocument(document: object): WrittenDocument {
  const rest = new TextEncoder().encode(JSON.stringify(document).slice(1));
  return { rest, hash: Bun.hash(rest) as bigint };
}

/** Only `servers`, which comes first, differs between callers. All else is written once for all of them. */
function serveDocument(
  { request, origin }: Exchange,
  { rest, hash }: WrittenDocument,
  shared: SharedBody,
): Reply {
  const first = `{"servers":[{"url":${JSON.stringify(origin)}}],`;
  const tag = `"${Bun.hash(first, hash).toString(16)}"`;
  const headers: Record<string, string> = {
    "Content-Type": "application/json",
    "Cache-Control": "no-cache",
    "Access-Control-Allow-Origin": "*",
    ETag: tag,
  };
  if (isKnown(request, tag)) return { status: 304, headers, body: null };
  if (request.method !== "HEAD") return { status: 200, headers, body: shared(rest, first) };
  headers["Content-Length"] = String(Buffer.byteLength(first) + rest.length);
  return { status: 200, headers, body: null };
}

/** Allows this origin only, and scripts only from files. The page writes its styles inline. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Turns off the page's features that would contact other services. */
const SETTINGS = {
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  agent: { disabled: true },
  mcp: { disabled: true },
  authentication: { preferredSecurityScheme: "bearer" },
  modelsSectionLabel: "Schemas",
  documentDownloadType: "json",
};

function servePage({ url }: Request, script: ReferenceScript): Reply {
  // The page may be below a path of a proxy, so its addresses are relative.
  const here = /\/(?:\?|$)/.test(url) ? "../" : "";
  const settings = JSON.stringify(SETTINGS).replaceAll('"', "&quot;");
  const body = [
    "<!doctype html>",
    '<html lang="en">',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    "<title>Media generation service: API reference</title>",
    '<link rel="icon" href="data:,">',
    // Without this the scripts would be in the head and would run before the page has a body.
    "<body>",
    `<script id="api-reference" data-url="${here}openapi.json" data-configuration="${settings}"></script>`,
    `<script src="${here}docs/${script.name}"></script>`,
    `<noscript>This page needs JavaScript. The same as JSON: <a href="${here}openapi.json">openapi.json</a></noscript>`,
    "",
  ].join("\n");
  const headers = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-cache",
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
  };
  return { status: 200, headers, body };
}

async function serveScript(
  { request, param }: Exchange,
  script: ReferenceScript,
  shared: SharedBody,
): Promise<Reply> {
  if (param("file") !== script.name) throw new AppError("not_found", { kind: "file_unknown" });
  const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(
    request.headers.get("accept-encoding") ?? "",
  );
  const headers: Record<string, string> = {
    "Content-Type": "text/javascript; charset=utf-8",
    "Cache-Control": "public, max-age=31536000, immutable",
    Vary: "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
    ETag: `"${script.name}${takesGzip ? ".gz" : ""}"`,
  };
  if (isKnown(request, headers.ETag ?? "")) return { status: 304, headers, body: null };
  if (takesGzip) headers["Content-Encoding"] = "gzip";
  if (request.method === "HEAD") {
    headers["Content-Length"] = String(takesGzip ? script.gzipped.length : script.plainBytes);
    return { status: 200, headers, body: null };
  }
  return { status: 200, headers, body: shared(takesGzip ? script.gzipped : await script.plain()) };
}
