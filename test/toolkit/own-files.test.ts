import { afterEach, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type OwnFile, readOwnFiles, watchOwnFiles } from "../../src/toolkit/own-files.ts";
import { fakeClock } from "../helpers/engine.ts";

const MAX_BYTES = 100;
const LOOK_MS = 750;

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

function watched() {
  const folder = join(mkdtempSync(join(tmpdir(), "own-")), "models");
  const clock = fakeClock();
  const changes: (readonly OwnFile[])[] = [];
  const watch = () => {
    stops.push(
      watchOwnFiles(folder, { maxBytes: MAX_BYTES, clock, onChange: (files) => changes.push(files) }),
    );
  };
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  return { folder, clock, changes, watch, write, look: () => clock.advance(LOOK_MS) };
}

const file = (name: string, text: string): OwnFile => ({ name, text });

test("files are told at once, in the order of their names, and nothing is told while they stay as they are", () => {
  const { folder, changes, watch, write, look } = watched();
  mkdirSync(folder);
  write("b.yaml", "b");
  write("a.yaml", "a");
  watch();
  for (let i = 0; i < 4; i++) look();
  expect(changes).toEqual([[file("a.yaml", "a"), file("b.yaml", "b")]]);
});

test("a folder need not exist, may come later and may go", () => {
  const { folder, changes, watch, write, look } = watched();
  watch();
  mkdirSync(folder);
  write("a.yaml", "a");
  look();
  look();
  rmSync(folder, { recursive: true });
  look();
  look();
  expect(changes).toEqual([[], [file("a.yaml", "a")], []]);
});

test("a change is told within two looks, whether a file is written, replaced or removed", () => {
  const { folder, changes, watch, write, look } = watched();
  mkdirSync(folder);
  write("a.yaml", "a");
  watch();
  const told = (change: () => void) => {
    change();
    look();
    look();
    return changes.at(-1);
  };
  expect(told(() => write("a.yaml", "A"))).toEqual([file("a.yaml", "A")]);
  write("a.yaml.part", "new");
  expect(told(() => renameSync(join(folder, "a.yaml.part"), join(folder, "a.yaml")))).toEqual([
    file("a.yaml", "new"),
  ]);
  expect(told(() => write("c.yaml", "c"))).toEqual([file("a.yaml", "new"), file("c.yaml", "c")]);
  expect(told(() => unlinkSync(join(folder, "a.yaml")))).toEqual([file("c.yaml", "c")]);
  expect(changes).toHaveLength(5);
});

test("a file that is still being written is told once it is at rest", () => {
  const { folder, changes, watch, write, look } = watched();
  mkdirSync(folder);
  watch();
  for (const text of ["1", "12", "123"]) {
    write("a.yaml", text);
    look();
  }
  expect(changes).toEqual([[]]);
  look();
  expect(changes).toEqual([[], [file("a.yaml", "123")]]);
});

test("what editors leave beside a file is none", () => {
  const { folder, changes, watch, write, look } = watched();
  mkdirSync(folder);
  watch();
  for (const name of [".a.yaml.swp", "a.yaml~", ".#a.yaml", "#a.yaml#", "4913", "a.yaml.tmp", ".a.yaml"])
    write(name, "x");
  symlinkSync("nowhere", join(folder, "gone.yaml"));
  look();
  look();
  expect(changes).toEqual([[]]);
});

test("what cannot be read as a text is told with the reason", () => {
  const { folder, write } = watched();
  mkdirSync(folder);
  mkdirSync(join(folder, "folder.yaml"));
  write("large.yaml", "x".repeat(MAX_BYTES + 1));
  writeFileSync(join(folder, "latin.yaml"), new Uint8Array([0xe4]));
  Bun.spawnSync(["mkfifo", join(folder, "pipe.yaml")]);
  expect(readOwnFiles(folder, { maxBytes: MAX_BYTES })).toEqual([
    { name: "folder.yaml", problem: "is no file" },
    { name: "large.yaml", problem: "is larger than 100 bytes" },
    { name: "latin.yaml", problem: "is not valid UTF-8" },
    { name: "pipe.yaml", problem: "is no file" },
  ]);
});

test.skipIf(process.getuid?.() === 0)(
  "a folder that cannot be looked into for a while changes nothing",
  () => {
    const { folder, changes, watch, write, look } = watched();
    mkdirSync(folder);
    write("a.yaml", "a");
    watch();
    chmodSync(folder, 0);
    look();
    look();
    chmodSync(folder, 0o700);
    look();
    look();
    expect(changes).toEqual([[file("a.yaml", "a")]]);
  },
);

test("at most 500 files are read, and that there are more is told", () => {
  const { folder, write } = watched();
  mkdirSync(folder);
  for (let i = 0; i <= 500; i++) write(`${i}.yaml`, "");
  const files = readOwnFiles(folder, { maxBytes: MAX_BYTES });
  expect(files).toHaveLength(501);
  expect(files.at(-1)).toEqual({ name: ".", problem: "has more than 500 files; the rest is not read" });
});
