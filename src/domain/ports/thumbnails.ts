import type { AccountId } from "../ids.ts";
import type { StoredFile } from "../media/asset.ts";
import type { ThumbnailSize, WithoutThumbnail } from "../media/thumbnail.ts";

/** The outcome of a request for a thumbnail. */
export type Thumbnail =
  | { readonly kind: "picture"; readonly content: Blob }
  | { readonly kind: "none"; readonly why: WithoutThumbnail }
  /** The file itself no longer exists. */
  | { readonly kind: "gone" }
  /** Too many requests already wait for thumbnails, of its account or of all. */
  | { readonly kind: "busy" };

/** A stored file, and whose it is: accounts take turns. */
export type PicturedFile = Pick<StoredFile, "sha256" | "sizeBytes" | "type"> & {
  readonly accountId?: AccountId | undefined;
};

/** One cell of a contact sheet. */
export interface SheetCell {
  readonly file: PicturedFile;
  /** Lines below the picture. Two are shown, as far as they fit. */
  readonly label: readonly string[];
}

/**
 * Smaller pictures of stored images, and the first pictures of stored videos, upright, in sRGB, and never larger than the
 * original. Each is made once, on the first request, and is removed with its file.
 */
export interface Thumbnails {
  /**
   * For a video: a spritesheet, or a picture of the given width. For an image: a picture of the given width, or as wide as the
   * original if that is narrower. If it would be more than twice as high as this width, it is made narrower.
   *
   * @throws StorageError when the file is stored elsewhere and cannot be fetched
   */
  read(file: PicturedFile, size: ThumbnailSize): Promise<Thumbnail>;
  /**
   * One picture of several files in a grid, `SHEET_MOST_PX` wide at most. The cell of a file without a thumbnail, or of a
   * removed file, stays empty. The sheet is never stored, so it cannot outlive its files.
   *
   * @param cells from 1 to `SHEET_MOST_CELLS`
   * @throws StorageError like `read`
   */
  sheet(cells: readonly SheetCell[]): Promise<Thumbnail>;
}
