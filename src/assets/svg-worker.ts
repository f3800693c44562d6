import { cleanSvg } from "./svg.ts";
import { verdictOf } from "./verdict.ts";

declare const self: Worker;

export type CleanSvg = ReturnType<typeof cleanSvg>;

// Entry point of a thread that cleans one drawing: the parser works on all of it at once, for up to seconds.
self.onmessage = async ({ data }: MessageEvent<Uint8Array>): Promise<void> => {
  self.postMessage(await verdictOf(() => cleanSvg(data)));
};
