import { expect, test } from "bun:test";
import { closeSync, mkdirSync, openSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isSystemError, reasonOf, systemMessage } from "../../src/toolkit/system-error.ts";
import { emptyFolder } from "../cli/support.ts";

const folder = emptyFolder();
writeFileSync(join(folder, "file"), "");
symlinkSync("loop", join(folder, "loop"));

test.each([
  [
    "Cannot open FOLDER/missing: there is no such file or folder.",
    () => readFileSync(join(folder, "missing")),
  ],
  ["Cannot read a file: it is a folder, and must be a file.", () => readFileSync(folder)],
  [
    "Cannot make FOLDER/file/x: a part of its path is a file, and must be a folder.",
    () => mkdirSync(join(folder, "file/x")),
  ],
  ["Cannot make FOLDER/file: something else of that name is there.", () => mkdirSync(join(folder, "file"))],
  ["Cannot open FOLDER/loop: its links lead in a circle.", () => readFileSync(join(folder, "loop"))],
])("%s", (message, run) => {
  expect(messageOf(run)).toBe(message);
});

test.skipIf(process.platform !== "linux")("a full disk is told in words", () => {
  const full = openSync("/dev/full", "w");
  try {
    expect(messageOf(() => writeFileSync(full, "x"))).toContain("the disk is full");
  } finally {
    closeSync(full);
  }
});

test("other errors keep their message, as a clause", () => {
  expect(reasonOf(new Error("The pump is dry."))).toBe("The pump is dry");
  expect(reasonOf("no pump")).toBe("no pump");
});

function messageOf(run: () => unknown): string | undefined {
  try {
    run();
  } catch (error) {
    return isSystemError(error) ? systemMessage(error).replace(folder, "FOLDER") : String(error);
  }
  return undefined;
}
