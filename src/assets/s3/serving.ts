import { MEDIA_TYPES } from "../../domain/media/asset.ts";
import type { Delivery, Wanted } from "../../domain/ports/asset-store.ts";
import type { FileName } from "../content-files.ts";
import type { FolderFiles } from "../fs.ts";
import type { Downloads } from "./downloads.ts";
import { inBucket } from "./errors.ts";
import type { Objects } from "./objects.ts";

/** Who sends a file to its reader. */
export type Serve = "proxy" | "redirect" | "presigned";

export interface Serving {
  readonly serve: Serve;
  /** An address of an object that ends after so many seconds, counted from a time by the service's clock. */
  readonly addressOf: (
    key: string,
    options: { now: number; seconds: number; query: Record<string, string> },
  ) => Promise<string>;
  /** By the service's clock. */
  readonly now: () => number;
}

/** Larger files are sent on while they arrive; smaller ones are here in an instant. */
const STREAM_BYTES = 8 * 1024 * 1024;
/** For so long `redirect` gives everybody the same address, so that browsers and proxies know the file again. */
const SAME_ADDRESS_SEC = 300;
/** How long an address of `redirect` lives after it was given, at least. A player may come back for more of a film. */
const REDIRECT_SEC = 3600;
const PRESIGNED_SEC = 60;
const MAX_KNOWN = 10_000;

/** Decides how a file in a bucket gets to its reader. One in the folder, where it has not been moved from yet, comes from there. */
export function createServing(deps: {
  readonly serving: Serving;
  readonly objects: Objects;
  readonly local: FolderFiles;
  readonly downloads: Downloads;
  /** The path of a file on this machine, which was checked. */
  readonly findHere: (file: FileName) => Promise<string | undefined>;
  readonly has: (file: FileName) => Promise<boolean>;
}) {
  const { serving, objects, local, downloads, findHere, has } = deps;
  /** Files that were in the bucket a while ago, and when. */
  const known = new Map<string, number>();

  async function isInBucket({ sha256, sizeBytes }: FileName): Promise<boolean> {
    const now = serving.now();
    if ((known.get(sha256) ?? Number.NEGATIVE_INFINITY) > now - SAME_ADDRESS_SEC * 1000) return true;
    const isThere = (await inBucket(() => objects.head(sha256)))?.sizeBytes === sizeBytes;
    known.delete(sha256);
    if (isThere) known.set(sha256, now);
    const oldest = known.size > MAX_KNOWN ? known.keys().next().value : undefined;
    if (oldest !== undefined) known.delete(oldest);
    return isThere;
  }

  async function elsewhere({ sha256, type }: FileName): Promise<Delivery> {
    const now = serving.now();
    const isShared = serving.serve === "redirect";
    const stepMs = SAME_ADDRESS_SEC * 1000;
    const from = isShared ? Math.floor(now / stepMs) * stepMs : now;
    const seconds = isShared ? SAME_ADDRESS_SEC + REDIRECT_SEC : PRESIGNED_SEC;
    const query = {
      "response-content-type": type,
      // A drawing is a document, which could be shown as a page of the bucket's host.
      ...(type === "image/svg+xml" && {
        "response-content-disposition": `attachment; filename="${sha256.slice(0, 16)}.${MEDIA_TYPES[type].extension}"`,
      }),
    };
    const url = await serving.addressOf(objects.keyOf(sha256), { now: from, seconds, query });
    return { kind: "elsewhere", url, maxAgeSec: isShared ? Math.ceil((from + stepMs - now) / 1000) : 0 };
  }

  return async (file: FileName, wanted: Wanted, isSentFromHere = false): Promise<Delivery | undefined> => {
    if (serving.serve !== "proxy" && !isSentFromHere) {
      const isHere = local.pathIfThere(file) !== undefined;
      return !isHere && (await isInBucket(file)) ? elsewhere(file) : undefined;
    }
    if ((await findHere(file)) !== undefined) return undefined;
    if (wanted === "nothing") return (await has(file)) ? { kind: "present" } : undefined;
    if (wanted === "part" || file.sizeBytes <= STREAM_BYTES) return undefined;
    const stream = await inBucket(() => downloads.stream(file));
    return stream && { kind: "stream", stream };
  };
}
