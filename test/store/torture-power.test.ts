import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDice } from "../torture/dice.ts";
import { eventsOf } from "../torture/power-calls.ts";
import { Content } from "../torture/power-content.ts";
import { Disk } from "../torture/power-disk.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-power-"));
const root = join(folder, "data");
afterEach(() => rmSync(root, { recursive: true, force: true }));

const hex = (text: string) => Buffer.from(text).toString("hex").replaceAll(/../g, "\\x$&");
const at = (name: string) => join(root, name);
const named = (name: string) => `"${hex(at(name))}"`;
const file = (number: number, name: string) => `${number}<${hex(at(name))}>`;
const opened = (number: number, name: string, flags: string) =>
  `7 openat(AT_FDCWD<${hex(root)}>, ${named(name)}, ${flags}, 0600) = ${file(number, name)}`;
const written = (name: string, text: string, place: number) =>
  `7 pwrite64(${file(3, name)}, "${hex(text)}", ${text.length}, ${place}) = ${text.length}`;

/** What files hold after a process made these calls and the power was cut, where nothing survived that was not flushed. */
function afterCut(before: Readonly<Record<string, string>>, trace: readonly string[]) {
  mkdirSync(root, { recursive: true });
  for (const [name, text] of Object.entries(before)) writeFileSync(at(name), text);
  const disk = new Disk(root, (path) => path.startsWith(at("elsewhere")));
  for (const event of eventsOf(trace.join("\n"))) disk.apply(event);
  const dice = { ...createDice(1, "test"), pick: <T>(choices: readonly [T, ...T[]]): T => choices[0] };
  const lost = disk.cut(dice);
  return {
    lost,
    read: (name: string) => (existsSync(at(name)) ? readFileSync(at(name), "utf8") : undefined),
  };
}

test("a power cut takes what was written and not flushed, and leaves what was", () => {
  const { lost, read } = afterCut({ log: "one." }, [
    written("log", "two.", 4),
    `7 fdatasync(${file(3, "log")}) = 0`,
    written("log", "three.", 8),
  ]);
  expect(read("log")).toBe("one.two.");
  expect(lost).toEqual({ writes: 1, names: 0 });
});

test("what is written while a flush is under way is not flushed by it", () => {
  const { read } = afterCut({ log: "" }, [
    written("log", "one.", 0),
    `8 fdatasync(${file(3, "log")} <unfinished ...>`,
    written("log", "two.", 4),
    "8 <... fdatasync resumed>)         = 0 (DELAYED)",
  ]);
  expect(read("log")).toBe("one.");
});

test("a flush that fails, and one in which the process is killed, flush nothing", () => {
  const { read } = afterCut({ log: "" }, [
    written("log", "one.", 0),
    `7 fsync(${file(3, "log")}) = -1 EIO (Input/output error)`,
    `7 fsync(${file(3, "log")}) = ?`,
    "7 +++ killed by SIGKILL +++",
  ]);
  expect(read("log")).toBe("");
});

test("a flushed file whose name was not flushed is gone; with its folder flushed it is there", () => {
  const made = [
    opened(3, "new", "O_RDWR|O_CREAT"),
    written("new", "whole", 0),
    `7 fsync(${file(3, "new")}) = 0`,
  ];
  expect(afterCut({}, made).read("new")).toBeUndefined();
  expect(afterCut({}, [...made, `7 fsync(4<${hex(root)}>) = 0`]).read("new")).toBe("whole");
});

test("a renamed file is at its new place once that folder was flushed, and was at its old one before", () => {
  const moved = [
    `7 mkdir(${named("there")}, 0700) = 0`,
    `7 fsync(4<${hex(root)}>) = 0`,
    `7 rename(${named("old")}, ${named("there/new")}) = 0`,
  ];
  const before = afterCut({ old: "text" }, moved);
  expect([before.read("old"), before.read("there/new")]).toEqual(["text", undefined]);
  const after = afterCut({ old: "text" }, [...moved, `7 fsync(4<${hex(at("there"))}>) = 0`]);
  expect([after.read("old"), after.read("there/new")]).toEqual([undefined, "text"]);
});

test("a call whose effect is not known is an error, unless it changes another disk", () => {
  const copied = (to: string) => `7 copy_file_range(${file(3, "log")}, NULL, ${file(4, to)}, NULL, 4, 0) = 4`;
  expect(afterCut({ log: "text" }, [copied("elsewhere")]).read("log")).toBe("text");
  expect(() => afterCut({ log: "text" }, [copied("other")])).toThrow("copy_file_range");
});

test("nothing happens to another disk", () => {
  const { read, lost } = afterCut({ elsewhere: "text" }, [
    opened(3, "elsewhere", "O_RDWR|O_CREAT|O_TRUNC"),
    written("elsewhere", "more", 4),
  ]);
  expect(read("elsewhere")).toBe("text");
  expect(lost).toEqual({ writes: 0, names: 0 });
});

test("of what was not flushed each page may be there by itself, and a page has no change without those before it", () => {
  const page = (text: string) => text.repeat(4_096);
  const seen = new Set<string>();
  for (let seed = 0; seed < 200; seed++) {
    const content = new Content(Buffer.from(page("a") + page("a")));
    content.write(0, Buffer.from(page("b") + page("b")));
    content.write(4_096, Buffer.from(page("c")));
    const left = Buffer.from(content.left(createDice(seed, "pages"), "some"));
    expect(left.length).toBe(8_192);
    const [first = "", second = ""] = [left.subarray(0, 4_096), left.subarray(4_096)].map((each) =>
      [...new Set(each.toString())].sort().join(""),
    );
    expect(first).not.toContain("c");
    seen.add(`${first} ${second}`);
  }
  for (const expected of ["a a", "b a", "a b", "a c", "b c"]) expect([...seen]).toContain(expected);
});
