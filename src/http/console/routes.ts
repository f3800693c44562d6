import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { AppError } from "../../domain/errors.ts";
import type { PackedFile } from "../../toolkit/file-pack.ts";
import { createSharedBodies, type SharedBody } from "../docs/shared-body.ts";
import { type Endpoint, type Exchange, open } from "../exchange.ts";
import { isKnown, type Reply } from "../reply.ts";
import { type ConsoleFiles, readConsole } from "./files.ts";
import { servePage } from "./page.ts";
import { READ_CONSOLE, READ_CONSOLE_ITEM, READ_CONSOLE_SCREEN } from "./wire.ts";

/**
 * The place of scripts and styles among the screens. The router cannot distinguish a fixed word from a parameter in the same
 * position.
 */
const ASSETS = "assets";

/**
 * The console's page and files. They are loaded into memory on the first request.
 *
 * @param media other origins of results besides this service's
 */
export function consoleEndpoints(
  media: readonly string[],
  read: () => Promise<ConsoleFiles> = readConsole,
): Endpoint[] {
  const files = keptOnceRead(read);
  const shared = createSharedBodies();
  const page = (depth: number) => async (exchange: Exchange) =>
    servePage(exchange.request, await files(), { depth, media });
  return [
    open("/console", READ_CONSOLE, page(1)),
    open("/console/:screen", READ_CONSOLE_SCREEN, page(2)),
    open("/console/:screen/:item", READ_CONSOLE_ITEM, async (exchange) =>
      exchange.param("screen") === ASSETS ? serveFile(exchange, await files(), shared) : page(3)(exchange),
    ),
  ];
}

/** A failure is forgotten, so that the next request tries again. */
function keptOnceRead(read: () => Promise<ConsoleFiles>): () => Promise<ConsoleFiles> {
  let kept: Promise<ConsoleFiles> | undefined;
  return () => {
    kept ??= read().catch((error: unknown) => {
      kept = undefined;
      throw error;
    });
    return kept;
  };
}

async function serveFile(
  { request, param }: Exchange,
  { files }: ConsoleFiles,
  shared: SharedBody,
): Promise<Reply> {
  const name = param("item");
  const file = files.get(name);
  if (file === undefined) throw new AppError("not_found", { kind: "file_unknown" });
  const { encoding, bytes } = encodedFor(request, file);
  const headers: Record<string, string> = {
    "Content-Type": file.type,
    "Cache-Control": "public, max-age=31536000, immutable",
    Vary: "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    ETag: `"${name}${encoding === undefined ? "" : `.${encoding}`}"`,
    ...(encoding === undefined ? {} : { "Content-Encoding": encoding }),
  };
  if (isKnown(request, headers.ETag ?? "")) return { status: 304, headers, body: null };
  if (request.method === "HEAD") {
    headers["Content-Length"] = String(bytes?.length ?? file.plainBytes);
    return { status: 200, headers, body: null };
  }
  return { status: 200, headers, body: shared(bytes ?? (await promisify(gunzip)(file.gzip))) };
}

/** The smallest encoding that the browser accepts. If it accepts none, the file is inflated. */
function encodedFor({ headers }: Request, { brotli, gzip }: PackedFile) {
  const accepted = headers.get("accept-encoding") ?? "";
  const takes = (encoding: string) =>
    new RegExp(`\\b${encoding}\\b(?!\\s*;\\s*q=0(?:\\.0*)?\\s*(?:,|$))`, "i").test(accepted);
  if (takes("br")) return { encoding: "br", bytes: brotli };
  if (takes("gzip")) return { encoding: "gzip", bytes: gzip };
  return { encoding: undefined, bytes: undefined };
}
