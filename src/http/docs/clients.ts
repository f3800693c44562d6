import type { FacadeName } from "../../domain/facades.ts";
import { SNIPPETS } from "../../snippets/all.ts";
import { MCP_SOURCES } from "../../snippets/mcp-sources.ts";
import { KEY_VARIABLE } from "../../snippets/snippet.ts";
import type { Exchange } from "../exchange.ts";
import type { Reply } from "../reply.ts";

/** The placeholder in every snippet, which readers replace by their own key. */
const MODEL = "sandbox-image";
const STYLE =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}" +
  "pre{overflow-x:auto;padding:1rem;border:1px solid #8886;border-radius:.5rem}";

/** How to configure programs for this service: a page without scripts, for programs whose API is spoken here. */
export function serveClients({ origin }: Pick<Exchange, "origin">, facades: readonly FacadeName[]): Reply {
  const shown = SNIPPETS.filter(({ facade }) => facade === undefined || facades.includes(facade));
  const body = [
    "<!doctype html>",
    '<html lang="en">',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    "<title>Clients of this service</title>",
    '<link rel="icon" href="data:,">',
    `<style>${STYLE}</style>`,
    "<h1>Clients</h1>",
    `<p>Each reads an API key from the variable <code>${KEY_VARIABLE}</code>.</p>`,
    `<p>${shown.map(({ id, name }) => `<a href="#${id}">${escaped(name)}</a>`).join(" · ")}</p>`,
    ...shown.flatMap(({ id, name, place, text }) => [
      `<h2 id="${id}">${escaped(name)}</h2>`,
      `<p>${escaped(place)}${linkOf(id)}</p>`,
      `<pre tabindex="0"><code>${escaped(text({ origin, model: MODEL }))}</code></pre>`,
    ]),
    "",
  ].join("\n");
  const headers = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-cache",
    "Content-Security-Policy":
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
  };
  return { status: 200, headers, body };
}

/** Links to the documentation of an agent's makers. */
function linkOf(id: string): string {
  const source = MCP_SOURCES[id];
  if (source === undefined) return "";
  const link = ` <a href="${escaped(source.url)}">What its makers say</a>`;
  return source.isRead ? `${link}.` : `${link}, which this was not compared with.`;
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
