import { type AtHand, whenAtHand } from "../../domain/at-hand.ts";
import { AppError, invalid, mustBe } from "../../domain/errors.ts";
import { assetPath, type MediaType } from "../../domain/media/asset.ts";
import {
  THUMBNAIL_TYPE,
  THUMBNAIL_WIDTHS,
  type ThumbnailSize,
  type ThumbnailWidth,
  thumbnailWidthOf,
} from "../../domain/media/thumbnail.ts";
import type { AssetStore, Delivery, Wanted } from "../../domain/ports/asset-store.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import type { Thumbnails } from "../../domain/ports/thumbnails.ts";
import { type AddressedFile, deliverAsset, findAddressed, findAsset } from "../../service/read-asset.ts";
import { type ContactSheetDeps, readContactSheet } from "../../service/read-contact-sheet.ts";
import { readThumbnail } from "../../service/read-thumbnail.ts";
import { type Endpoint, open } from "../exchange.ts";
import { isKnown, type Reply } from "../reply.ts";
import { READ_ASSET } from "./wire.ts";

interface AssetReplyDeps {
  readonly assets: Pick<AssetStore, "deliver">;
  readonly thumbnails: Thumbnails;
}

/**
 * GET (and HEAD) /assets/{id}.{ext} of a task's file or an uploaded one. Anybody who knows the id may read the file, which
 * never changes.
 */
export function assetEndpoints(
  deps: AssetReplyDeps & ContactSheetDeps & Parameters<typeof findAddressed>[0],
): Endpoint[] {
  const headersOf = createPublicHeaders(deps.clock);
  return [
    open("/assets/:file", READ_ASSET, ({ request, param, query, isLate }) => {
      // Reading a query takes longer than checking that there is none.
      const asked = request.url.includes("?") ? query() : undefined;
      const [size, group] = asked === undefined ? [] : [widthOf(asked), groupOf(asked)];
      const [id = "", extension] = param("file").split(".", 2);
      return whenAtHand(findAddressed(deps, id), (asset) => {
        if (extension !== undefined && !assetPath(asset).endsWith(`.${extension}`)) {
          throw new AppError("not_found", { kind: "file_unknown" });
        }
        if (group !== undefined) return sheetReply(deps, request, id, group);
        return assetReply(deps, request, asset, { size, isLate, headersOf });
      });
    }),
  ];
}

/** Answers with the contact sheet of a group. */
async function sheetReply(
  deps: ContactSheetDeps,
  request: Request,
  id: string,
  group: string,
): Promise<Reply> {
  const asset = await findAsset(deps, id);
  const { tag, read } = await readContactSheet(deps, asset, group);
  const headers = {
    ...publicHeaders(asset, { type: THUMBNAIL_TYPE, tag, keptSec: YEAR_SEC }),
    // It changes when one of the group's results is deleted.
    "Cache-Control": "public, no-cache",
  };
  return thumbnailReply(request, headers, read);
}

/** The group whose contact sheet the request wants, if any. @throws AppError `invalid_request` */
function groupOf(query: URLSearchParams): string | undefined {
  const [group, ...others] = query.getAll("group");
  if (others.length > 0) throw invalid({ kind: "given_twice", field: "group" });
  if (group !== undefined && query.has("w")) throw invalid({ kind: "not_with", field: "w", other: "group" });
  return group;
}

/** How to answer with a file. */
interface AssetAnswer {
  /** A thumbnail of this kind instead of the file. */
  readonly size?: ThumbnailSize | undefined;
  readonly isLate: boolean;
  /** Headers of the answer, from the media type and the name of the content. */
  readonly headersOf: (asset: AddressedFile, type: MediaType, tag: string) => FileHeaders;
  readonly isSentFromHere?: boolean | undefined;
}

/** Answers with a stored file, a part of it, or its thumbnail. @throws AppError like `deliverAsset` and `readThumbnail` */
function assetReply(
  deps: AssetReplyDeps,
  request: Request,
  asset: AddressedFile,
  { size, isLate, headersOf, isSentFromHere = false }: AssetAnswer,
): AtHand<Reply> {
  // A drawing has every size.
  if (size !== undefined && asset.type !== "image/svg+xml") {
    const headers = headersOf(asset, THUMBNAIL_TYPE, `${asset.sha256}-${size}`);
    return thumbnailReply(request, headers, () => readThumbnail(deps, asset, size));
  }
  const headers = headersOf(asset, asset.type, asset.sha256);
  // Bun 1.4.5 sends the head of an answer that was not ready at once in about fifty pieces, unless the body is a file or small
  // (https://github.com/oven-sh/bun/pull/41341, checked 2026-11-23).
  const deliver = (wanted: Wanted) => deliverAsset(deps, asset, wanted, { isLazy: isLate, isSentFromHere });
  return serveFile(request, { sizeBytes: asset.sizeBytes, headers, deliver });
}

const YEAR_SEC = 31_536_000;

/** Header objects that are made once for all answers with a file or about one. */
const made = new WeakMap<FileHeaders, Headers>();

/** Headers for the files' own addresses. For a file that expires, they are made again only when its remaining seconds change. */
function createPublicHeaders({ now }: Pick<Clock, "now">): AssetAnswer["headersOf"] {
  const latest = new WeakMap<AddressedFile, { readonly keptSec: number; readonly headers: FileHeaders }>();
  return (file, type, tag) => {
    const { expiresAt } = file;
    const leftSec = expiresAt === undefined ? YEAR_SEC : Math.floor((expiresAt - now()) / 1000);
    const keptSec = Math.min(YEAR_SEC, leftSec);
    const before = latest.get(file);
    if (before?.keptSec === keptSec && before.headers.ETag === `"${tag}"`) return before.headers;
    const headers = publicHeaders(file, { type, tag, keptSec });
    latest.set(file, { keptSec, headers });
    made.set(headers, new Headers(headers));
    return headers;
  };
}

function publicHeaders(
  { createdAt }: AddressedFile,
  { type, tag, keptSec }: { readonly type: MediaType; readonly tag: string; readonly keptSec: number },
): FileHeaders {
  return {
    "Content-Type": type,
    "Cache-Control": `public, max-age=${keptSec}, immutable`,
    ETag: `"${tag}"`,
    "Accept-Ranges": "bytes",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": policyFor(type),
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Access-Control-Allow-Origin": "*",
    "Last-Modified": new Date(createdAt).toUTCString(),
  };
}

/**
 * Answers a caller who needs a key for the file. Clients repeat headers after a redirect, and a bucket refuses an address that comes with
 * an `Authorization`, so that the file is sent from here.
 * @throws AppError like `assetReply`
 */
export function ownFileReply(
  deps: AssetReplyDeps,
  request: Request,
  asset: AddressedFile,
  answer: Pick<AssetAnswer, "size" | "isLate">,
): AtHand<Reply> {
  return assetReply(deps, request, asset, { ...answer, headersOf: ownFileHeaders, isSentFromHere: true });
}

/** Headers for a file that only the owner of a credential gets, at an address that may later lead to another file or to none. */
function ownFileHeaders({ createdAt }: AddressedFile, type: MediaType, tag: string): FileHeaders {
  return {
    "Content-Type": type,
    "Cache-Control": "private, no-cache",
    ETag: `"${tag}"`,
    "Accept-Ranges": "bytes",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": policyFor(type),
    "Last-Modified": new Date(createdAt).toUTCString(),
  };
}

/** The thumbnail that a query asks for, if any. @throws AppError `invalid_request` */
function widthOf(query: URLSearchParams): ThumbnailWidth | undefined {
  const given = query.getAll("w");
  if (given.length === 0) return undefined;
  if (given.length > 1) throw invalid({ kind: "given_twice", field: "w" });
  const width = thumbnailWidthOf(given[0] ?? "");
  if (width === undefined)
    throw mustBe("w", { oneOf: THUMBNAIL_WIDTHS.map(String) }, { json: given[0] ?? "" });
  return width;
}

async function thumbnailReply(
  request: Request,
  headers: FileHeaders,
  read: () => Promise<Blob>,
): Promise<Reply> {
  if (isKnown(request, headers.ETag)) return { status: 304, headers, body: null };
  const content = await read();
  const deliver = async () => ({ kind: "content", content }) as const;
  return await serveFile(request, { sizeBytes: content.size, headers, deliver });
}

type FileHeaders = Readonly<Record<string, string>> & { readonly ETag: string };

/** The file may run and load nothing. A drawing may have its own style and contain pictures. */
function policyFor(type: MediaType): string {
  const policy = "sandbox; default-src 'none'";
  return type === "image/svg+xml" ? `${policy}; style-src 'unsafe-inline'; img-src data:` : policy;
}

/** A file that is ready to be sent. */
interface ServedFile {
  readonly sizeBytes: number;
  readonly headers: FileHeaders;
  readonly deliver: (wanted: Wanted) => AtHand<Delivery>;
}

/**
 * Answers with a file or the requested part of it, with the address where it is stored, or with 304 if the client has it. A 304
 * needs no access to the file, because an `ETag` names its content.
 */
export function serveFile(request: Request, file: ServedFile): AtHand<Reply> {
  const { sizeBytes, headers, deliver } = file;
  if (isKnown(request, headers.ETag)) return { status: 304, headers, kept: made.get(headers), body: null };
  const range = rangeOf(request, headers, sizeBytes);
  return whenAtHand(deliver(wantedOf(request, range)), (delivery) => replyOf(file, delivery, range));
}

function replyOf(
  { sizeBytes, headers }: ServedFile,
  delivery: Delivery,
  range: ByteRange | "unsatisfiable" | undefined,
): Reply {
  if (delivery.kind === "elsewhere") return { status: 302, headers: leading(delivery), body: null };
  if (range === "unsatisfiable") {
    return { status: 416, headers: { ...headers, "Content-Range": `bytes */${sizeBytes}` }, body: null };
  }
  const [status, own] = range === undefined ? wholeHead(sizeBytes) : partHead(range, sizeBytes);
  return { status, headers, kept: made.get(headers), own, body: bodyOf(delivery, range) };
}

function wantedOf({ method }: Request, range: ByteRange | "unsatisfiable" | undefined): Wanted {
  if (method === "HEAD" || range === "unsatisfiable") return "nothing";
  return range === undefined ? "whole" : "part";
}

const wholeHead = (sizeBytes: number) => [200, { "Content-Length": String(sizeBytes) }] as const;

function partHead({ start, end }: ByteRange, sizeBytes: number) {
  const length = String(end - start + 1);
  return [206, { "Content-Length": length, "Content-Range": `bytes ${start}-${end}/${sizeBytes}` }] as const;
}

function bodyOf(
  delivery: Exclude<Delivery, { kind: "elsewhere" }>,
  range: ByteRange | undefined,
): Reply["body"] {
  if (delivery.kind === "present") return null;
  if (delivery.kind === "stream") return delivery.stream;
  return range === undefined ? delivery.content : delivery.content.slice(range.start, range.end + 1);
}

/** The headers of an answer that redirects to a file. */
function leading({ url, maxAgeSec }: Extract<Delivery, { kind: "elsewhere" }>) {
  return {
    Location: url,
    "Cache-Control": maxAgeSec > 0 ? `private, max-age=${maxAgeSec}` : "no-store",
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
    // The address gives access to the file as long as it is valid.
    "Referrer-Policy": "no-referrer",
  };
}

/** The first and the last byte, inclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The part of a file that a `Range` header requests (RFC 9110, section 14). Several ranges, other units and malformed headers
 * are ignored, as the RFC allows: the whole file is the answer.
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

function rangeOf(request: Request, headers: FileHeaders, size: number) {
  const header = request.headers.get("range");
  if (header === null) return undefined;
  const condition = request.headers.get("if-range");
  const isCurrent =
    condition === null || condition === headers.ETag || condition === headers["Last-Modified"];
  return isCurrent ? parseRange(header, size) : undefined;
}
