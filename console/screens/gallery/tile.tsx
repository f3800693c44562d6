import { useState } from "preact/hooks";
import { fileUrl } from "../../api/files.ts";
import { Preview } from "../../parts/preview.tsx";
import { Status } from "../../parts/status.tsx";
import { timeText } from "../../parts/time.tsx";
import { hrefOf, query } from "../../shell/router.ts";
import type { Item } from "./list.ts";

/** One result in the grid. It leads to the viewer, and its address is that of the result. */
export function Tile({ item }: { readonly item: Item }) {
  const [isOver, setOver] = useState(false);
  const isVideo = item.kind === "video" && item.url !== undefined;
  const over = (is: boolean) => () => {
    if (isVideo) setOver(is && !matchMedia("(prefers-reduced-motion: reduce)").matches);
  };
  return (
    <a
      data-row
      href={hrefOf("gallery", "", { ...query.value, view: item.id })}
      aria-label={nameOf(item)}
      title={item.model}
      class="group relative flex size-full items-center justify-center overflow-hidden rounded-lg border border-line bg-sunk hover:border-edge"
      onMouseEnter={over(true)}
      onMouseLeave={over(false)}
      onFocus={over(true)}
      onBlur={over(false)}
    >
      {item.url === undefined ? (
        <NoResult item={item} />
      ) : (
        <Preview
          url={item.url}
          isVideo={isVideo}
          width={320}
          alt=""
          look="size-full object-cover"
          instead="No preview can be made of this file"
        />
      )}
      {isVideo && isOver && (
        <video
          class="absolute inset-0 size-full object-cover"
          src={fileUrl(item.url ?? "")}
          muted
          loop
          autoplay
          playsInline
        />
      )}
      {isVideo && (
        <span aria-hidden="true" class="absolute top-1.5 right-1.5 rounded bg-card px-1.5 text-xs text-ink">
          ▶
        </span>
      )}
    </a>
  );
}

function NoResult({ item: { status, error } }: { readonly item: Item }) {
  return (
    <span class="flex flex-col items-center gap-1 p-2 text-center text-xs">
      <Status word={status} />
      {error !== undefined && <span class="text-soft">{error.toLowerCase().replaceAll("_", " ")}</span>}
    </span>
  );
}

/** What a screen reader says of a result. */
export function nameOf({ kind, model, at, of, index, status }: Item): string {
  const what = kind === "video" ? "Video" : "Image";
  const which = of > 1 ? `, ${index + 1} of ${of}` : "";
  return `${what} by ${model}${which}, ${of === 0 ? `${status}, ` : ""}${timeText(at)}`;
}
