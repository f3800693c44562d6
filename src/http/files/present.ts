import type { JsonObject } from "../../domain/json.ts";
import { assetPath } from "../../domain/media/asset.ts";
import type { UploadedFile } from "../../domain/media/uploaded-file.ts";

/** An uploaded file as its owner sees it. */
export function presentFile(file: UploadedFile, origin: string): JsonObject {
  const isSound = file.width === 0;
  return {
    id: file.id,
    url: origin + assetPath(file),
    name: file.name ?? null,
    media_type: file.type,
    size_bytes: file.sizeBytes,
    width: isSound ? null : file.width,
    height: isSound ? null : file.height,
    duration_ms: file.durationMs ?? null,
    created_at: Math.floor(file.createdAt / 1000),
    expires_at: Math.floor(file.expiresAt / 1000),
  };
}
