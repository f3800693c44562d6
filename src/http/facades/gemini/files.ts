import { mustBe } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { Asset } from "../../../domain/media/asset.ts";
import type { AssetStore } from "../../../domain/ports/asset-store.ts";
import type { Thumbnails } from "../../../domain/ports/thumbnails.ts";
import { assetReply, ownFileHeaders } from "../../assets/routes.ts";
import type { KeyedExchange } from "../../exchange.ts";
import { json, type Reply } from "../../reply.ts";
import { V1BETA } from "./manners.ts";
import { fileNameOf, type MediaDeps, requireAsset } from "./media.ts";

export interface FileDeps extends MediaDeps {
  readonly assets: Pick<AssetStore, "deliver">;
  readonly thumbnails: Thumbnails;
}

/** Answers with a file of a task: what it was made of, or what it made. @throws AppError `not_found` */
export async function downloadFile(deps: FileDeps, exchange: KeyedExchange): Promise<Reply> {
  const { request, principal, param, query, isLate } = exchange;
  // Clients that send it twice mean it once.
  if (
    query()
      .getAll("alt")
      .some((alt) => !alt.startsWith("media"))
  )
    throw mustBe("alt", { oneOf: ["media"] });
  const asset = await requireAsset(deps, principal, lastName(param("file")));
  return assetReply(deps, request, asset, { isLate, headersOf: ownFileHeaders });
}

/** Answers with what is known of a file. @throws AppError `not_found` */
export async function readFile(deps: FileDeps, { principal, param, origin }: KeyedExchange): Promise<Reply> {
  return json(presentFile(await requireAsset(deps, principal, param("file")), origin));
}

const lastName = (path: string) => path.split("/").at(-1) ?? "";

/** A file as that API tells of it. */
function presentFile(
  { id, type, sizeBytes, sha256, durationMs, createdAt, role }: Asset,
  origin: string,
): JsonObject {
  const name = fileNameOf(id);
  const at = new Date(createdAt).toISOString();
  const uri = `${origin}${V1BETA}/files/${name}`;
  return {
    name: `files/${name}`,
    ...{ mimeType: type, sizeBytes: String(sizeBytes), createTime: at, updateTime: at },
    ...{ sha256Hash: Buffer.from(sha256, "hex").toString("base64"), uri, state: "ACTIVE" },
    ...{ source: role === "output" ? "GENERATED" : "UPLOADED", downloadUri: `${uri}:download?alt=media` },
    ...(type.startsWith("video/") &&
      durationMs !== undefined && { videoMetadata: { videoDuration: `${durationMs / 1000}s` } }),
  };
}
