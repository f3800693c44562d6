import { expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { folderOwnership, ownerOf } from "../../src/app/files-owner.ts";
import { pauselessClock } from "../helpers/pauseless-clock.ts";

/** A data folder whose files are in a folder beside it. */
async function open() {
  const above = mkdtempSync(join(tmpdir(), "svc-owners-"));
  const at = (name: string) => join(above, name);
  mkdirSync(at("first"));
  const clock = { ...pauselessClock(), now: () => 0 };
  /** The files as the data folder of this name sees them, looked at anew. */
  const filesOf = (name: string, files = at("files")) =>
    folderOwnership(files, { clock, me: ownerOf({ dataDir: at(name) }) });
  await filesOf("first").require();
  return {
    ...{ at, filesOf },
    copy: (from: string, to: string) => cpSync(at(from), at(to), { recursive: true }),
    [Symbol.dispose]: () => rmSync(above, { recursive: true }),
  };
}

test("a copy of a data folder is refused the files of the other, and takes them on purpose", async () => {
  using folders = await open();
  folders.copy("first", "second");
  const [first, second] = [folders.filesOf("first"), folders.filesOf("second")];
  await expect(second.require()).rejects.toThrow(`belongs to the data folder ${folders.at("first")}`);
  expect(await second.other()).toContain(folders.at("first"));
  await first.requireNoOther();
  expect(await second.take()).toContain(folders.at("first"));
  await second.require();
  await expect(first.requireNoOther()).rejects.toThrow(`belongs to the data folder ${folders.at("second")}`);
});

test("a data folder that was moved, or has another name, keeps its files", async () => {
  using folders = await open();
  symlinkSync(folders.at("first"), folders.at("other-name"));
  await folders.filesOf("other-name").require();
  rmSync(folders.at("other-name"));
  renameSync(folders.at("first"), folders.at("moved"));
  const moved = folders.filesOf("moved");
  await moved.require();
  expect(await moved.other()).toBeUndefined();
  // From then on it is known by its new path.
  folders.copy("moved", "copy");
  await expect(folders.filesOf("copy").require()).rejects.toThrow(folders.at("moved"));
});

test("a copy of a data folder with the files in it has those", async () => {
  using folders = await open();
  await folders.filesOf("first", join(folders.at("first"), "assets")).require();
  folders.copy("first", "second");
  await folders.filesOf("second", join(folders.at("second"), "assets")).require();
});
