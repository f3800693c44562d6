import type { Principal } from "../domain/access/account.ts";
import { AppError, invalid } from "../domain/errors.ts";
import type { AccountId } from "../domain/ids.ts";
import { MAX_INPUT_BYTES } from "../domain/limits.ts";
import type { Asset } from "../domain/media/asset.ts";
import { maskProblem, OPAQUE_MASK } from "../domain/media/mask.ts";
import {
  type AssetStore,
  MediaError,
  type PaintedMask,
  type PutOptions,
  type StagedFile,
} from "../domain/ports/asset-store.ts";
import type { MediaInput } from "../domain/task/request.ts";

interface MaskDeps {
  readonly assets: Pick<AssetStore, "open" | "maskOfOpaque" | "stage">;
}

/**
 * Checks a mask that came with the request, and against the first image that came with it. Files that are fetched later are checked
 * then.
 * @throws AppError naming the mask
 */
export async function checkMask(
  deps: MaskDeps,
  {
    hasPaintedMasks,
    staged,
    principal: { accountId: owner },
  }: { hasPaintedMasks?: boolean | undefined; staged: readonly StagedFile[]; principal: Principal },
  { inputs, assets }: { readonly inputs: readonly MediaInput[]; readonly assets: readonly Asset[] },
): Promise<void> {
  const fileOf = (role: MediaInput["role"]) => {
    const input = inputs.find((each) => each.role === role);
    const { source } = input ?? {};
    const file = source?.kind === "asset" ? assets.find((asset) => asset.id === source.assetId) : undefined;
    return { param: input?.param ?? role, file };
  };
  const mask = fileOf("mask");
  if (mask.file === undefined) return;
  const finding = maskProblem(mask.file, fileOf("image").file);
  if (finding !== undefined) throw invalid({ kind: "finding", field: mask.param, finding });
  const { sha256 } = mask.file;
  const held = staged.find(({ file }) => file.sha256 === sha256);
  // A painted mask was read as such, and may say that nothing is changed.
  if (held === undefined || hasPaintedMasks === true) return;
  await held.keep();
  const content = await deps.assets.open(held.file);
  if (content !== undefined && (await refusing(mask.param, () => deps.assets.maskOfOpaque(content, owner))))
    throw invalid({ kind: "finding", field: mask.param, finding: OPAQUE_MASK });
}

/** How a picture that came with a request is stored. */
export const GIVEN_PICTURE: PutOptions = {
  accept: ["image"],
  maxBytes: MAX_INPUT_BYTES.image,
  sanitize: true,
};

/** A file, or if it is a painted mask, the mask that it stands for. @throws AppError if it cannot be decoded */
export async function asMask(
  { assets }: MaskDeps,
  { param, mayBePainted }: { param: string; mayBePainted?: boolean | undefined },
  { owner, file }: { readonly owner: AccountId; readonly file: StagedFile },
): Promise<StagedFile> {
  if (mayBePainted !== true) return file;
  let isMask = false;
  try {
    await file.keep();
    const content = await assets.open(file.file);
    const mask = content && (await refusing(param, () => assets.maskOfOpaque(content, owner)));
    isMask = mask === undefined;
    return mask === undefined
      ? file
      : await refusing(param, () => assets.stage(mask, { ...GIVEN_PICTURE, owner }));
  } finally {
    if (!isMask) await file.release(false);
  }
}

/**
 * The mask that a painted picture stands for. The picture, which its staging has checked, is released.
 * @param how it is read
 * @throws AppError if it cannot be decoded
 */
export async function paintedMask(
  { assets }: { readonly assets: Pick<AssetStore, "open" | "readPaintedMask" | "stage"> },
  { param, owner, how }: { readonly param: string; readonly owner: AccountId; readonly how: PaintedMask },
  picture: StagedFile,
): Promise<StagedFile> {
  try {
    // It waits to be decoded in a file, as large ones would use much memory.
    await picture.keep();
    const content = await assets.open(picture.file);
    if (content === undefined) throw new AppError("internal_error", { kind: "defect" });
    return await refusing(param, async () =>
      assets.stage(await assets.readPaintedMask(content, how, owner), { ...GIVEN_PICTURE, owner }),
    );
  } finally {
    await picture.release(false);
  }
}

/** @throws AppError naming the field of a file that cannot be used */
export async function refusing<T>(param: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof MediaError)
      throw invalid({ kind: "finding", field: param, finding: error.message }, error);
    throw error;
  }
}
