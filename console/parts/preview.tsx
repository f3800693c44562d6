import { useState } from "preact/hooks";
import { fileUrl, type ThumbnailWidth, thumbnailUrl } from "../api/files.ts";

interface Props {
  readonly url: string;
  readonly isVideo: boolean;
  readonly width: ThumbnailWidth;
  /** Empty where what is beside it says it. */
  readonly alt: string;
  /** Its size, and how the picture fills it. */
  readonly look: string;
  /** Stands for a file of which there is no picture at all. */
  readonly instead?: string;
}

/** How many films are remembered. */
const MOST_KNOWN = 5_000;

/** Films of which the service makes no picture: each is asked for once. */
const withoutThumbnail = new Set<string>();

function remember(url: string): void {
  if (withoutThumbnail.size >= MOST_KNOWN) withoutThumbnail.clear();
  withoutThumbnail.add(url);
}

/**
 * A small picture of a result. Most films are coded in ways that the service does not decode: of these, browsers show their own first
 * picture, for which they load the beginning of the file.
 */
export function Preview({ url, isVideo, width, alt, look, instead = "" }: Props) {
  const [failed, setFailed] = useState({
    url,
    isFilm: isVideo && withoutThumbnail.has(url),
    isMissing: false,
  });
  // The same place may show another file.
  const now =
    failed.url === url ? failed : { url, isFilm: isVideo && withoutThumbnail.has(url), isMissing: false };
  if (now.isMissing)
    return (
      <span class={`flex items-center justify-center p-1 text-center text-xs text-soft ${look}`}>
        {instead}
      </span>
    );
  if (now.isFilm)
    return (
      <video
        class={look}
        // A moment after the beginning: some browsers show nothing of what was never played.
        src={`${fileUrl(url)}#t=0.001`}
        preload="metadata"
        muted
        playsInline
        {...(alt === "" ? { "aria-hidden": "true" } : { "aria-label": alt })}
        onError={() => setFailed({ ...now, isMissing: true })}
      />
    );
  return (
    <img
      class={look}
      src={thumbnailUrl(url, width)}
      alt={alt}
      loading="lazy"
      decoding="async"
      onError={() => {
        if (isVideo) remember(url);
        setFailed({ url, isFilm: isVideo, isMissing: !isVideo });
      }}
    />
  );
}
