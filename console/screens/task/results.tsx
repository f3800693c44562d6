import { fileUrl } from "../../api/files.ts";
import type { Trace } from "./read.ts";

/** What a task made, as it is. */
export function Results({ trace: { task, assets } }: { readonly trace: Trace }) {
  const outputs = assets.filter(({ role }) => role === "output");
  if (task.files_removed_at !== undefined)
    return <p class="text-soft">Its files were kept long enough, and are removed.</p>;
  if (outputs.length === 0) return null;
  return (
    <ul class="grid grid-cols-[repeat(auto-fill,minmax(min(14rem,100%),1fr))] gap-3">
      {outputs.map(({ id, url, media_type, width, height, index }) => (
        <li key={id} class="overflow-hidden rounded-xl border border-line bg-sunk">
          {media_type.startsWith("video/") ? (
            // biome-ignore lint/a11y/useMediaCaption: nobody has written captions for what was generated
            <video
              class="block max-h-96 w-full object-contain"
              src={`${fileUrl(url)}#t=0.001`}
              controls
              preload="metadata"
              aria-label={`Result ${index + 1}`}
            />
          ) : (
            <a href={fileUrl(url)} target="_blank" rel="noreferrer">
              <img
                class="block max-h-96 w-full object-contain"
                src={fileUrl(url)}
                width={width}
                height={height}
                loading="lazy"
                alt={`Result ${index + 1}${task.request.prompt ? `: ${task.request.prompt.slice(0, 200)}` : ""}`}
              />
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}
