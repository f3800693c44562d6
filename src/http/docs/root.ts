import type { Exchange } from "../exchange.ts";
import { json, type Reply } from "../reply.ts";

const NAME = "svc";

/** The answer at `/`: JSON for programs, the console for browsers, or a short page if the console is off. */
export function serveRoot(
  { request }: Exchange,
  { version, hasConsole }: { readonly version: string; readonly hasConsole: boolean },
): Reply {
  const vary = { Vary: "Accept" };
  if (!takesHtml(request.headers.get("accept") ?? "")) {
    return json({ name: NAME, version, docs: "/docs", openapi: "/openapi.json" }, vary);
  }
  // Relative, because a proxy may have put this service below a path.
  if (hasConsole) return { status: 302, headers: { ...vary, Location: "console" }, body: null };
  const headers = {
    ...vary,
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; img-src data:",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
  };
  return { status: 200, headers, body: pageOf(version) };
}

/** Browsers name the type; a program accepts any. */
function takesHtml(accept: string): boolean {
  return /\btext\/html\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(accept);
}

function pageOf(version: string): string {
  return [
    "<!doctype html>",
    '<html lang="en">',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${NAME} ${version}</title>`,
    '<link rel="icon" href="data:,">',
    `<h1>${NAME} ${version}</h1>`,
    "<p>A media generation service: one address in front of many image and video generators.</p>",
    '<p><a href="docs">How to use it</a> · <a href="docs/clients">Clients</a> · <a href="openapi.json">openapi.json</a></p>',
    "",
  ].join("\n");
}
