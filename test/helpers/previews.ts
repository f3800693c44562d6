import type { Previews } from "../../src/domain/ports/provider.ts";

/** A wish for previews that remembers what was shown. */
export interface RecordedPreviews extends Previews {
  readonly shown: Parameters<Previews["show"]>[0][];
  watched: boolean;
}

export function recordPreviews(wanted = 2): RecordedPreviews {
  const shown: RecordedPreviews["shown"] = [];
  const previews: RecordedPreviews = {
    wanted,
    watched: true,
    shown,
    isWatched: () => previews.watched,
    show: (preview) => void shown.push(preview),
  };
  return previews;
}
