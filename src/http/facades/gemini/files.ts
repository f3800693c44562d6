import { mustBe } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { AssetStore } from "../../../domain/ports/asset-store.ts";
import type { Thumbnails } from "../../../domain/ports/thumbnails.ts";
import type { UploadStore } from "../../../domain/ports/upload-store.ts";
import type { RemoveTaskDeps } from "../../../service/remove-task.ts";
import { listUploads, removeUpload } from "../../../service/uploaded-files.ts";
import { ownFileReply } from "../../assets/routes.ts";
import type { KeyedExchange } from "../../exchange.ts";
import { json, type Reply } from "../../reply.ts";
import { V1BETA } from "./manners.ts";
import { pageSizeOf } from "./model-names.ts";
import { fileNameOf, type OwnFile, type OwnFileDeps, requireOwnFile } from "./own-files.ts";

export interface FileDeps extends OwnFileDeps, RemoveTaskDeps {
  readonly uploads: UploadStore;
  readonly assets: Pick<AssetStore, "deliver" | "removeUnheld">;
  readonly thumbnails: Thumbnails;
}

/** Answers with a file: uploaded, what a task was made of, or what it made. @throws AppError `not_found` */
export async function downloadFile(deps: FileDeps, exchange: KeyedExchange): Promise<Reply> {
  const { request, principal, param, query, isLate } = exchange;
  // Clients that put an address in the place of a name send it twice.
  if (
    query()
      .getAll("alt")
      .some((alt) => !alt.startsWith("media"))
  )
    throw mustBe("alt", { oneOf: ["media"] });
  const file = await requireOwnFile(deps, principal, param("file"));
  return ownFileReply(deps, request, file, { isLate });
}

/** Answers with what is known of a file. @throws AppError `not_found` */
export async function readFile(deps: FileDeps, { principal, param, origin }: KeyedExchange): Promise<Reply> {
  return json(presentFile(await requireOwnFile(deps, principal, param("file")), origin));
}

const DEFAULT_PAGE = 10;
const MAX_PAGE = 100;

/** A page of what the account has uploaded, newest first. */
export async function listFiles(deps: FileDeps, { principal, query, origin }: KeyedExchange): Promise<Reply> {
  const asked = query();
  const limit = pageSizeOf(asked, { usual: DEFAULT_PAGE, most: MAX_PAGE });
  const { files, next } = await listUploads(deps, principal, {
    limit,
    after: asked.get("pageToken") || undefined,
  });
  const told = { files: files.map((file) => presentFile(file, origin)) };
  return json(next === null ? told : { ...told, nextPageToken: next });
}

/** Removes an uploaded file; those of tasks go with them. @throws AppError `not_found` */
export async function deleteFile(deps: FileDeps, { principal, param }: KeyedExchange): Promise<Reply> {
  await removeUpload(deps, principal, `file_${param("file")}`);
  return json({});
}

/** A file as that API tells of it. */
export function presentFile(file: OwnFile, origin: string): JsonObject {
  const { id, type, sizeBytes, sha256, durationMs, createdAt } = file;
  const name = fileNameOf(id);
  const at = new Date(createdAt).toISOString();
  const uri = `${origin}${V1BETA}/files/${name}`;
  const isUploaded = "expiresAt" in file;
  return {
    name: `files/${name}`,
    ...(isUploaded && file.name !== undefined && { displayName: file.name }),
    ...{ mimeType: type, sizeBytes: String(sizeBytes), createTime: at, updateTime: at },
    ...(isUploaded && { expirationTime: new Date(file.expiresAt).toISOString() }),
    ...{ sha256Hash: Buffer.from(sha256, "hex").toString("base64"), uri, state: "ACTIVE" },
    source: isUploaded || file.role === "input" ? "UPLOADED" : "GENERATED",
    downloadUri: `${uri}:download?alt=media`,
    ...(type.startsWith("video/") &&
      durationMs !== undefined && { videoMetadata: { videoDuration: `${durationMs / 1000}s` } }),
  };
}
