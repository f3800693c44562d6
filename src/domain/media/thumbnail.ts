/** Widths of thumbnails in pixels. A fixed set: each is made once, kept, and found again by its address. */
export const THUMBNAIL_WIDTHS = [64, 160, 320, 640, 1280] as const;
export type ThumbnailWidth = (typeof THUMBNAIL_WIDTHS)[number];

/** Pictures of a video's spritesheet: how many at most, in how many columns, and the larger side of each. */
export const SPRITES = { most: 16, columns: 4, sidePx: 320 } as const;
/** What can be made from a file: a smaller picture of a given width, or one picture with several frames of a video. */
export type ThumbnailSize = ThumbnailWidth | "spritesheet";

/** Largest width of a contact sheet. Only its labels can make it higher than that. */
export const SHEET_MOST_PX = 2_048;
/** Most pictures of a contact sheet: ten results of each task of a group. */
export const SHEET_MOST_CELLS = 160;

/** The type of every thumbnail. */
export const THUMBNAIL_TYPE = "image/webp";

/** Reads a width from a text; undefined if the text names none of the widths. */
export function thumbnailWidthOf(text: string): ThumbnailWidth | undefined {
  return THUMBNAIL_WIDTHS.find((width) => String(width) === text);
}

/**
 * Why a file has no thumbnail: it is a recording of sound; the codec of its pictures is not decoded here; or it is damaged, or takes
 * longer to decode than a thumbnail may.
 */
export type WithoutThumbnail = "sound" | "codec" | "damaged";
