import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAssetStore } from "../assets/open.ts";
import { sniffMediaType } from "../assets/sniff.ts";
import { MAX_INPUT_BYTES } from "../domain/limits.ts";
import { MEDIA_KINDS, MEDIA_TYPES } from "../domain/media/asset.ts";
import { type AssetStore, MediaError } from "../domain/ports/asset-store.ts";
import type { InputFile, MaskPaint } from "../domain/ports/provider.ts";
import type { InputRole } from "../domain/task/request.ts";

/** A file that a task is to be made from. */
export interface TrialInput {
  readonly role: InputRole;
  readonly bytes: Uint8Array;
}

/** An input that cannot be sent. The message begins with its role, without a full stop. */
export class TrialInputError extends Error {
  override readonly name = "TrialInputError";
}

/**
 * Checks and opens files as a server does, so that adapters get the same. They lie in a folder of their own until `stop`.
 *
 * @throws TrialInputError for a file that a server would refuse
 */
export async function openTrialInputs(inputs: readonly TrialInput[]) {
  const directory = mkdtempSync(join(tmpdir(), "svc-try-"));
  const stop = () => rmSync(directory, { recursive: true, force: true });
  try {
    let count = 0;
    const assets = openAssetStore({ directory, newTemporaryName: () => `input-${++count}` });
    const files: InputFile[] = [];
    for (const input of inputs) files.push(await opened(assets, input));
    return { files, stop };
  } catch (error) {
    stop();
    throw error;
  }
}

async function opened(assets: AssetStore, { role, bytes }: TrialInput): Promise<InputFile> {
  const type = sniffMediaType(bytes.subarray(0, 4096));
  const maxBytes = MAX_INPUT_BYTES[type === undefined ? "image" : MEDIA_TYPES[type].kind];
  try {
    const stored = await assets.put(bytes, { accept: MEDIA_KINDS, maxBytes, sanitize: true });
    const content = await assets.open(stored);
    if (content === undefined) throw new TrialInputError(`${role} is gone`);
    const painted = role === "mask" ? (paint: MaskPaint) => assets.paintMask(content, paint) : undefined;
    return { ...stored, role, content, painted };
  } catch (error) {
    throw error instanceof MediaError ? new TrialInputError(`${role} ${error.message}`) : error;
  }
}
