import { AppError } from "../domain/errors.ts";
import type { StoredFile } from "../domain/media/asset.ts";
import type { ThumbnailSize } from "../domain/media/thumbnail.ts";
import type { Thumbnail, Thumbnails } from "../domain/ports/thumbnails.ts";

const TRY_AGAIN_SEC = 1;

/**
 * The thumbnail of a stored file, which is made now if nobody asked for it before.
 * @throws AppError `not_found`, for a file that has none as for one that is gone; `service_unavailable` while too many are waited for
 */
export async function readThumbnail(
  { thumbnails }: { readonly thumbnails: Thumbnails },
  asset: StoredFile,
  size: ThumbnailSize,
): Promise<Blob> {
  return pictureIn(await thumbnails.read(asset, size));
}

/** The picture that was made. @throws AppError as `readThumbnail` */
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
