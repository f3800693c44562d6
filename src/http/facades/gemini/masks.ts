import type { AssetStore, StagedFile } from "../../../domain/ports/asset-store.ts";
import type { Uploads } from "../../../service/collect-inputs.ts";
import { GIVEN_PICTURE, paintedMask, refusing } from "../../../service/given-mask.ts";
import { stageInlineFile } from "../../../service/inline-files.ts";
import type { GivenMedia, MediaContext } from "./media.ts";

export interface MaskDeps {
  readonly assets: Pick<AssetStore, "open" | "readPaintedMask" | "stage">;
}

/** A mask that came with the request. */
export interface InlineMask {
  /** Stages the mask that it stands for, under its address. @throws AppError naming it, where it is no picture */
  uploads(): Promise<Uploads>;
  /** Releases what was staged; a file that a task uses stays. */
  release(): Promise<void>;
}

/** A name with a space, so that no address can equal it. */
const NAME = "upload: mask";
const AS_IT_IS = { isInverted: false, blurPixels: 0 } as const;

/**
 * The mask that a painted picture stands for: that API says by white what is to be changed. One that is given by its address is
 * read by the create, which takes white ones, and transparency as this service has it.
 */
export function readMask(
  deps: MaskDeps,
  { inlineFiles, principal: { accountId: owner } }: MediaContext,
  mask: GivenMedia,
): GivenMedia & { readonly inline?: InlineMask } {
  const { address, path: param } = mask;
  const inline = inlineFiles?.get(address);
  if (inline === undefined && !address.startsWith("data:")) return mask;
  const options = { ...GIVEN_PICTURE, owner };
  const stage = () =>
    inline === undefined
      ? deps.assets.stage(textContent(address), options)
      : stageInlineFile(param, inline, options);
  let staged: StagedFile | undefined;
  return {
    path: param,
    address: NAME,
    inline: {
      async uploads() {
        staged = await paintedMask(deps, { param, owner, how: AS_IT_IS }, await refusing(param, stage));
        return new Map([[NAME, staged]]);
      },
      release: async () => staged?.release(false),
    },
  };
}

const textContent = (address: string) => Buffer.from(address.slice(address.indexOf(",") + 1), "base64");
