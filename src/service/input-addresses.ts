import { AppError } from "../domain/errors.ts";
import { INPUT_ADDRESS_MS } from "../domain/limits.ts";
import { INPUT_TYPES, MEDIA_TYPES, type StoredFile } from "../domain/media/asset.ts";
import type { AssetStore } from "../domain/ports/asset-store.ts";
import type { Clock, Seal } from "../domain/ports/runtime.ts";

type File = Pick<StoredFile, "sha256" | "sizeBytes" | "type">;

/** Addresses of single files for providers that fetch inputs themselves. They need no key, and they expire. */
export interface InputAddresses {
  /**
   * The path of a file, which expires one to two times `INPUT_ADDRESS_MS` after `from`, the start of its attempt. It depends
   * only on these two, so a repeated attempt is the same request. It names the content and not an asset, because an asset's id
   * would give access for good.
   */
  pathOf(file: File, from: number): string;
  /**
   * The file that the last part of a path names.
   * @throws AppError `not_found`, the same for an expired address, a changed one and a removed file
   */
  read(name: string): Promise<{ file: File; content: Blob }>;
}

/** `<sha256>-<bytes>-<end in seconds>-<signature>.<extension>` */
const NAME = /^(([0-9a-f]{64})-([1-9]\d{0,12})-([1-9]\d{0,10}))-([A-Za-z0-9_-]{43})\.([a-z0-9]{2,4})$/;

/** The beginning of the paths. */
export const INPUT_PATH = "/inputs/";

export function createInputAddresses(deps: {
  readonly assets: Pick<AssetStore, "open">;
  readonly clock: Clock;
  readonly seal: Pick<Seal, "sign" | "isSigned">;
}): InputAddresses {
  const { assets, clock, seal } = deps;
  const signed = (claim: string, extension: string) => `input ${claim}.${extension}`;
  return {
    pathOf({ sha256, sizeBytes, type }, from) {
      const { extension } = MEDIA_TYPES[type];
      const endsAt = (Math.floor(from / INPUT_ADDRESS_MS) + 2) * INPUT_ADDRESS_MS;
      const claim = `${sha256}-${sizeBytes}-${endsAt / 1000}`;
      return `${INPUT_PATH}${claim}-${seal.sign(signed(claim, extension))}.${extension}`;
    },
    async read(name) {
      const [, claim = "", sha256 = "", size, end, signature = "", extension = ""] = NAME.exec(name) ?? [];
      const type = typeOf(extension);
      const isOver = Number(end) * 1000 <= clock.now();
      const isValid = type !== undefined && !isOver && seal.isSigned(signed(claim, extension), signature);
      const file = isValid ? { sha256, sizeBytes: Number(size), type } : undefined;
      const content = file && (await assets.open(file));
      if (file === undefined || content === undefined)
        throw new AppError("not_found", { kind: "file_unknown" });
      return { file, content };
    },
  };
}

function typeOf(extension: string): StoredFile["type"] | undefined {
  return INPUT_TYPES.find((type) => MEDIA_TYPES[type].extension === extension);
}
