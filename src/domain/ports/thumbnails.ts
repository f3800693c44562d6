import type { StoredFile } from "../media/asset.ts";
import type { ThumbnailSize, WithoutThumbnail } from "../media/thumbnail.ts";

/** What became of a wish for a thumbnail. */
export type Thumbnail =
  | { readonly kind: "picture"; readonly content: Blob }
  | { readonly kind: "none"; readonly why: WithoutThumbnail }
  /** The file itself is not there any more. */
  | { readonly kind: "gone" }
  /** As many are being waited for as may be. */
  | { readonly kind: "busy" };

/** One place of a contact sheet. */
export interface SheetCell {
  readonly file: Pick<StoredFile, "sha256" | "sizeBytes" | "type">;
  /** Lines below it, two of which are shown, as far as they fit. */
  readonly label: readonly string[];
}

/**
 * Smaller pictures of stored images, and the first pictures of stored videos, upright, in sRGB, and never larger than the original. Each
 * is made once, when somebody asks for it, and goes with its file.
 */
export interface Thumbnails {
  /**
   * Of a video: a spritesheet, or a picture so wide. Of an image: a picture so wide, or as wide as the original where that is narrower. One that would be more than twice as high as that is narrower.
   *
   * @throws StorageError when the file is elsewhere and cannot be had
   */
  read(file: Pick<StoredFile, "sha256" | "sizeBytes" | "type">, size: ThumbnailSize): Promise<Thumbnail>;
  /**
   * One picture of several files in a grid, `SHEET_MOST_PX` wide at most. A file without a thumbnail, or one that is gone, leaves its
   * place empty. It is never stored, so that it goes with its files.
   *
   * @param cells from 1 to `SHEET_MOST_CELLS`
   * @throws StorageError as `read`
   */
  sheet(cells: readonly SheetCell[]): Promise<Thumbnail>;
}
