import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

/** Where the first key of a data folder is kept until somebody takes it. */
export function firstKeyFile(dataDir: string) {
  const path = join(dataDir, "bootstrap.json");
  return {
    path,
    exists: () => existsSync(path),
    /** Writes the file in one step that survives a crash, readable by its owner only. */
    keep(key: string): void {
      const partial = `${path}.part`;
      // An earlier one may have other rights.
      rmSync(partial, { force: true });
      const text = `${JSON.stringify({ account: "default", name: "default", key })}\n`;
      flushed(openSync(partial, "wx", 0o600), (file) => writeSync(file, text));
      renameSync(partial, path);
      flushed(openSync(dataDir, "r"));
    },
    /** The key in it; undefined if there is none to be read. */
    kept(): string | undefined {
      try {
        const { key } = JSON.parse(readFileSync(path, "utf8"));
        return typeof key === "string" ? key : undefined;
      } catch {
        return undefined;
      }
    },
    drop: () => rmSync(path, { force: true }),
  };
}

function flushed(file: number, write: (file: number) => void = () => {}): void {
  try {
    write(file);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
