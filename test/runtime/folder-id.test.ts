import { expect, test } from "bun:test";
import { cpSync, mkdtempSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FOLDER_ID, folderIdOf, knownFolderId } from "../../src/runtime/folder-id.ts";

const emptyFolder = () => mkdtempSync(join(tmpdir(), "svc-folder-id-"));

test("a folder gets an id once, its owner's alone, and a copy of the folder has the same", () => {
  const [folder, copy] = [emptyFolder(), emptyFolder()];
  expect(knownFolderId(folder)).toBeUndefined();
  const id = folderIdOf(folder);
  expect([folderIdOf(folder), knownFolderId(folder)]).toEqual([id, id]);
  expect(folderIdOf(emptyFolder())).not.toBe(id);
  expect([readdirSync(folder), statSync(join(folder, FOLDER_ID)).mode & 0o777]).toEqual([[FOLDER_ID], 0o600]);
  cpSync(folder, copy, { recursive: true });
  expect(folderIdOf(copy)).toBe(id);
});

test("processes that ask at once get the same id", async () => {
  const folder = emptyFolder();
  const source = join(import.meta.dir, "../../src/runtime/folder-id.ts");
  const code = `const { folderIdOf } = await import(${JSON.stringify(source)}); console.log(folderIdOf(${JSON.stringify(folder)}))`;
  const ask = () => Bun.spawn([process.execPath, "-e", code], { stdout: "pipe" }).stdout.text();
  const ids = await Promise.all([ask(), ask(), ask()]);
  expect(new Set(ids).size).toBe(1);
  expect(ids[0]?.trim()).toBe(knownFolderId(folder)!);
});

test("what is no id is told with what to do, and not replaced", () => {
  const folder = emptyFolder();
  for (const text of ["", "folder_x", "../../etc"]) {
    writeFileSync(join(folder, FOLDER_ID), text);
    expect(() => folderIdOf(folder)).toThrow("Remove it, and svc makes a new one.");
  }
});
