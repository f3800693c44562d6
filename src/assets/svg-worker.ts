import { MediaError } from "../domain/ports/asset-store.ts";
import { giveWay } from "../toolkit/low-priority.ts";
import { cleanSvg } from "./svg.ts";

declare const self: Worker;

export type SvgResult =
  | { readonly kind: "clean"; readonly bytes: Uint8Array; readonly width: number; readonly height: number }
  | { readonly kind: "refused"; readonly reason: MediaError["reason"]; readonly message: string };

/** Requests come first. Applies to this thread alone, where the system has priorities of threads. */
const NICENESS = 5;

// Entry point of a thread that cleans one drawing: the parser works on all of it at once, for up to seconds.
self.onmessage = ({ data }: MessageEvent<Uint8Array>): void => {
  giveWay(NICENESS);
  self.postMessage(result(data));
};

function result(file: Uint8Array): SvgResult {
  try {
    return { kind: "clean", ...cleanSvg(file) };
  } catch (error) {
    if (error instanceof MediaError) return { kind: "refused", reason: error.reason, message: error.message };
    throw error;
  }
}
