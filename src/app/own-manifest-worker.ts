import { builtInModels } from "../catalog/catalog.ts";
import { checkManifest } from "../catalog/check-manifest.ts";
import { giveWay } from "../toolkit/low-priority.ts";

declare const self: Worker;

/** A text to be checked. */
export interface ManifestOrder {
  readonly text: string;
  /** The ids of all providers. */
  readonly providers: readonly string[];
}

const NICENESS = 5;

// Entry point of a thread that checks manifests: some texts of the largest size take the parser half a minute.
self.onmessage = ({ data: { text, providers } }: MessageEvent<ManifestOrder>): void => {
  giveWay(NICENESS);
  self.postMessage(checkManifest({ builtIn: builtInModels(), providers: () => providers }, text));
};
