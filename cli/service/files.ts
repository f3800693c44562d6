import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import { MARK } from "./unit.ts";

/** A file of a service, and the path at which the system knows it. */
export interface ServiceFile {
  readonly path: string;
  readonly mode: number;
  readonly text: string;
  /** It is the operator's once it is there. */
  readonly isKept?: true;
}

export const MODE = { readable: 0o644, secret: 0o600 } as const;

/** Whether we may change a file. @throws Failure if somebody else wrote it */
export function requireOurs(root: string, path: string): boolean {
  const place = join(root, path);
  if (!existsSync(place)) return false;
  if (readFileSync(place, "utf8").startsWith(MARK)) return true;
  throw new Failure(EXIT.conflict, "not_ours", `${place} was not written by \`svc service install\`.`, {
    hint: "Choose another --name, or remove the file yourself.",
  });
}

/** Writes what is missing or differs, whole or not at all. @returns the paths that changed */
export function writeFiles(root: string, files: readonly ServiceFile[]): string[] {
  for (const { path, isKept } of files) if (isKept !== true) requireOurs(root, path);
  return files.filter((file) => writeOne(join(root, file.path), file)).map(({ path }) => path);
}

function writeOne(place: string, { mode, text, isKept }: ServiceFile): boolean {
  if (existsSync(place) && (isKept === true || readFileSync(place, "utf8") === text)) return false;
  mkdirSync(dirname(place), { recursive: true, mode: 0o755 });
  const partial = `${place}.part`;
  rmSync(partial, { force: true });
  try {
    writeFileSync(partial, text, { flag: "wx", mode, flush: true });
    // Whatever the umask.
    chmodSync(partial, mode);
    renameSync(partial, place);
  } finally {
    rmSync(partial, { force: true });
  }
  return true;
}
