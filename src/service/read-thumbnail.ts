import { AppError } from "../domain/errors.ts";
import type { AccountId } from "../domain/ids.ts";
import type { StoredFile } from "../domain/media/asset.ts";
import type { ThumbnailSize } from "../domain/media/thumbnail.ts";
import type { Thumbnail, Thumbnails } from "../domain/ports/thumbnails.ts";

const TRY_AGAIN_SEC = 1;

/**
 * The thumbnail of a stored file, which is made now if nobody asked for it before.
 * @throws AppError `not_found`, the same for a file without a thumbnail and for a removed file; `service_unavailable` if too
 * many requests wait already
 */
export async function readThumbnail(
  { thumbnails }: { readonly thumbnails: Thumbnails },
  asset: StoredFile & { readonly accountId: AccountId },
  size: ThumbnailSize,
): Promise<Blob> {
  return pictureIn(await thumbnails.read(asset, size));
}

/** The finished picture. @throws AppError like `readThumbnail` */
export function pictureIn(thumbnail: Thumbnail): Blob {
  switch (thumbnail.kind) {
    case "picture":
      return thumbnail.content;
    case "none":
      throw new AppError("not_found", { kind: "thumbnail_none", why: thumbnail.why });
    case "gone":
      throw new AppError("not_found", { kind: "file_unknown" });
    case "busy":
      throw new AppError(
        "service_unavailable",
        { kind: "thumbnails_busy" },
        { retryAfterSec: TRY_AGAIN_SEC },
      );
  }
}
