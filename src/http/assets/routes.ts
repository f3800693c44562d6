import { AppError } from "../../domain/errors.ts";
import { assetPath, type MediaType } from "../../domain/media/asset.ts";
import type { AssetStore } from "../../domain/ports/asset-store.ts";
import type { TaskStore } from "../../domain/ports/task-store.ts";
import { readAsset } from "../../service/read-asset.ts";
import { type Endpoint, open } from "../exchange.ts";
import { isKnown, type Reply } from "../reply.ts";
import { READ_ASSET } from "./wire.ts";

/** GET (and HEAD) /assets/{asset id}.{ext}. Whoever knows the id may read the file, which never changes. */
export function assetEndpoints(deps: { tasks: TaskStore; assets: AssetStore }): Endpoint[] {
  return [
    open("/assets/:file", READ_ASSET, async ({ request, param }) => {
      const [id = "", extension] = param("file").split(".", 2);
      const { asset, content } = await readAsset(deps, id);
      if (extension !== undefined && !assetPath(asset).endsWith(`.${extension}`)) {
        throw new AppError("not_found", { kind: "file_unknown" });
      }
      const headers = {
        "Content-Type": asset.type,
        "Cache-Control": "public, max-age=31536000, immutable",
        ETag: `"${asset.sha256}"`,
        "Accept-Ranges": "bytes",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": policyFor(asset.type),
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Access-Control-Allow-Origin": "*",
        "Last-Modified": new Date(asset.createdAt).toUTCString(),
      };
      return serveFile(request, content, headers);
    }),
  ];
}

/** Nothing runs and nothing is loaded. A drawing has its own style, and pictures inside itself. */
function policyFor(type: MediaType): string {
  const policy = "sandbox; default-src 'none'";
  return type === "image/svg+xml" ? `${policy}; style-src 'unsafe-inline'; img-src data:` : policy;
}

/** Answers with a file or the part of it that is asked for, or with 304 to who has it. */
export function serveFile(
  request: Request,
  content: Blob,
  headers: Readonly<Record<string, string>> & { readonly ETag: string },
): Reply {
  if (isKnown(request, headers.ETag)) return { status: 304, headers, body: null };
  return serve(content, headers, rangeOf(request, headers, content.size));
}

function serve(
  content: Blob,
  headers: Readonly<Record<string, string>>,
  range: ByteRange | "unsatisfiable" | undefined,
): Reply {
  if (range === "unsatisfiable") {
    return { status: 416, headers: { ...headers, "Content-Range": `bytes */${content.size}` }, body: null };
  }
  if (range === undefined) {
    return { status: 200, headers: { ...headers, "Content-Length": String(content.size) }, body: content };
  }
  const length = range.end - range.start + 1;
  return {
    status: 206,
    headers: {
      ...headers,
      "Content-Length": String(length),
      "Content-Range": `bytes ${range.start}-${range.end}/${content.size}`,
    },
    body: content.slice(range.start, range.end + 1),
  };
}

/** The first and the last byte, inclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The part of a file asked for by a `Range` header (RFC 9110, section 14). Several ranges, other units and malformed headers are
 * ignored, as the RFC allows: the whole file is the answer.
 */
export function parseRange(header: string, size: number): ByteRange | "unsatisfiable" | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header.trim());
  if (match === null) return undefined;
  const [, first = "", last = ""] = match;
  if (first === "" && last === "") return undefined;
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return undefined;
  if (start >= size) return "unsatisfiable";
  return { start, end: last === "" ? size - 1 : Math.min(Number(last), size - 1) };
}

function rangeOf(request: Request, headers: Readonly<Record<string, string>>, size: number) {
  const header = request.headers.get("range");
  if (header === null) return undefined;
  const condition = request.headers.get("if-range");
  const isCurrent =
    condition === null || condition === headers.ETag || condition === headers["Last-Modified"];
  return isCurrent ? parseRange(header, size) : undefined;
}
