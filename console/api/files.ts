import { ROOT } from "./connection.ts";

/** Widths of thumbnails that the service makes, in pixels. */
export type ThumbnailWidth = 64 | 160 | 320 | 640 | 1280;

/**
 * Where this page fetches a result from. Answers name the public address of the service, which this browser may not reach: files
 * of the service are asked for where the page came from. What is no address, such as a file's own content, stays as it is.
 */
export function fileUrl(url: string): string {
  // Of nearly all, without a parser: lists ask for each row.
  const path = /^https?:\/\/[^/?#]+\/(assets\/[\w.-]+)$/.exec(url)?.[1];
  if (path !== undefined) return ROOT.href + path;
  if (!/^https?:/.test(url)) return url;
  const { pathname, search } = new URL(url);
  return pathname.startsWith("/assets/") ? new URL(pathname.slice(1) + search, ROOT).href : url;
}

/** A small picture of an image, or of the first picture of a film. */
export function thumbnailUrl(url: string, width: ThumbnailWidth): string {
  return `${fileUrl(url)}?w=${width}`;
}
