import type { AssetStore } from "../domain/ports/asset-store.ts";
import { createSlots } from "../toolkit/slots.ts";
import { checkBytes, checkStream, receiveFile } from "./check.ts";
import { paintMask } from "./decoder.ts";
import { openContentFiles } from "./fs.ts";
import { createKnownContents } from "./known.ts";
import { DECODE_SLOTS } from "./limits.ts";
import { createPins } from "./pins.ts";
import { createRecentFiles } from "./recent.ts";
import { holdStaged } from "./staging.ts";

export interface AssetStoreOptions {
  /** Created when the first file is stored. */
  readonly directory: string;
  /** Returns an unused file name, a new one at every call. */
  readonly newTemporaryName: () => string;
  /** Files decoded at once. */
  readonly decodeSlots?: number | undefined;
  /** Whether outputs keep the metadata that their maker wrote. */
  readonly keepsOutputMetadata?: boolean | undefined;
}

/** The asset store in a local directory. Touches nothing before the first call. */
export function openAssetStore(options: AssetStoreOptions): AssetStore {
  const files = openContentFiles(options);
  const slots = createSlots(options.decodeSlots ?? DECODE_SLOTS);
  const recent = createRecentFiles();
  const deps = { files, slots, pins: createPins(), known: createKnownContents(), recent };

  const stage: AssetStore["stage"] = async (source, given) => {
    const isKept = given.sanitize === "output" && options.keepsOutputMetadata === true;
    const wanted = isKept ? { ...given, sanitize: false } : given;
    const isWhole = source instanceof Uint8Array;
    return holdStaged(
      deps,
      await (isWhole ? checkBytes(deps, source, wanted) : checkStream(deps, source, wanted)),
    );
  };

  const put: AssetStore["put"] = async (source, wanted) => {
    const staged = await stage(source, wanted);
    let isKept = false;
    try {
      await staged.keep();
      isKept = true;
      return staged.file;
    } finally {
      await staged.release(isKept);
    }
  };

  return {
    stage,
    receive: () => receiveFile(deps, (checked) => holdStaged(deps, checked)),
    put,
    open: async ({ sha256, sizeBytes, type }) => {
      const bytes = recent.get(sha256);
      if (bytes?.length === sizeBytes) return new Blob([bytes], { type });
      const found = await files.find(sha256);
      return found?.sizeBytes === sizeBytes ? Bun.file(found.path, { type }) : undefined;
    },
    paintMask: (mask, colour) => slots.run(() => paintMask(mask, colour)),
    removeTemporary: () => files.removeTemporary(),
  };
}
