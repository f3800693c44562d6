import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import type { ImportPlan } from "../../../src/app/import-local.ts";
import type { BroughtSecret } from "../../../src/app/import-owners.ts";
import { isJsonObject } from "../../../src/domain/json.ts";
import { isSystemError } from "../../../src/toolkit/system-error.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure } from "../../failure.ts";

/** What the file has. */
interface NewKeys {
  readonly source: string;
  readonly keys: readonly BroughtSecret[];
}

/**
 * Writes new secrets into a file of their own, for this user alone.
 *
 * @returns what removes the file again
 * @throws Failure where a file is there already
 */
export function keepNewKeys(path: string, form: NewKeys, plan: Pick<ImportPlan, "isHere">): () => void {
  const file = openNew(path, plan);
  const remove = () => rmSync(path, { force: true });
  try {
    writeSync(file, `${JSON.stringify(form, null, 2)}\n`);
    fsyncSync(file);
    return remove;
  } catch (error) {
    remove();
    throw error;
  } finally {
    closeSync(file);
  }
}

function openNew(path: string, plan: Pick<ImportPlan, "isHere">): number {
  try {
    return openSync(path, "wx", 0o600);
  } catch (error) {
    if (!isSystemError(error) || error.code !== "EEXIST") throw error;
    throw isThere(path, secretsIn(path), plan);
  }
}

/** An import that was cut off leaves its file behind, and perhaps nothing else: only this tells whether its keys are good for anything. */
function isThere(path: string, secrets: readonly string[], { isHere }: Pick<ImportPlan, "isHere">): Failure {
  const isLeft = secrets.length > 0 && !secrets.some(isHere);
  const message = isLeft
    ? `${path} is there already. An import that was cut off wrote it: none of its keys is here.`
    : `${path} is there already.`;
  const hint = isLeft
    ? "Remove it, and repeat the command."
    : "Keep it, and give another file with --new-keys.";
  return new Failure(EXIT.error, "file_exists", message, { hint });
}

/** The secrets in a file that an earlier import wrote; empty for any other file. */
function secretsIn(path: string): string[] {
  let form: unknown;
  try {
    form = JSON.parse(readFileSync(path, "utf8"));
  } catch {
    // It is none of ours.
    return [];
  }
  const keys = isJsonObject(form) && Array.isArray(form.keys) ? form.keys : [];
  return keys.flatMap((each) => (isJsonObject(each) && typeof each.key === "string" ? [each.key] : []));
}
