import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BACKED_UP, ownFilesOf } from "../../src/app/folder-contents.ts";
import { isAllowed } from "../../src/backup/read.ts";

test("a backup has no file that its restore would refuse", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "svc-own-"));
  mkdirSync(join(dataDir, "models", "old"), { recursive: true });
  // As archives made on Windows are extracted by some programs.
  const names = ["models/a.yaml", "models/old/b.yaml", "models/old\\c.yaml", "models/d.yaml~", "svc.yaml"];
  for (const name of names) writeFileSync(join(dataDir, name), "x");
  const paths = [...ownFilesOf(dataDir, [])].map(({ path }) => path);
  expect(paths.sort()).toEqual(["models/a.yaml", "models/old/b.yaml", "svc.yaml"]);
  expect(paths.filter((path) => !isAllowed(path, BACKED_UP))).toEqual([]);
  rmSync(dataDir, { recursive: true });
});
