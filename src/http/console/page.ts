import { isKnown, type Reply } from "../reply.ts";
import type { ConsoleFiles } from "./files.ts";

/**
 * Allows scripts, styles and requests of this origin only, and nothing inline. No form may send anything, and no page may frame
 * this one.
 *
 * @param media other origins of results, such as a bucket's
 */
function policyOf(media: readonly string[]): string {
  const results = ["'self'", ...new Set(media)].join(" ");
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${results} data: blob:`,
    `media-src ${results} blob:`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** The only page of the console; its script shows the screen that the address names. @param at.depth parts of its path */
export function servePage(
  request: Request,
  { script, style }: ConsoleFiles,
  { depth, media }: { readonly depth: number; readonly media: readonly string[] },
): Reply {
  const assets = `${rootOf(request, depth)}console/assets`;
  const body = [
    "<!doctype html>",
    '<html lang="en">',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    "<title>svc console</title>",
    '<link rel="icon" href="data:,">',
    `<link rel="stylesheet" href="${assets}/${style}">`,
    `<script type="module" src="${assets}/${script}"></script>`,
    "<body>",
    '<div id="console"></div>',
    "<noscript>The console needs JavaScript. The command line has everything it shows: <code>svc --help</code></noscript>",
    "",
  ].join("\n");
  const headers = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-cache",
    "Content-Security-Policy": policyOf(media),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    ETag: `"${Bun.hash(body).toString(16)}"`,
  };
  return isKnown(request, headers.ETag)
    ? { status: 304, headers, body: null }
    : { status: 200, headers, body };
}

/** The relative path to this service's root from a page at `depth` parts below it. A proxy may have put the root below a path. */
function rootOf({ url }: Request, depth: number): string {
  const isFolder = /\/(?:\?|$)/.test(url);
  return "../".repeat(depth - (isFolder ? 0 : 1)) || "./";
}
