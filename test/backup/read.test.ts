import { expect, test } from "bun:test";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { BackupRefused } from "../../src/backup/backup.ts";
import { createManifest } from "../../src/backup/manifest.ts";
import { checkBackup, isAllowed } from "../../src/backup/read.ts";
import { writeBackup } from "../../src/backup/write.ts";
import { ALLOWED, AT, dataFolder, emptyFolder, pathOf, sha256 } from "./support.ts";

const FLIP = (path: string) => {
  const bytes = readFileSync(path);
  const at = Math.floor(bytes.length / 2);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
};

const MANIFEST = "manifest.jsonl";
const PICTURE = join("data", pathOf("one"));

/** A manifest with these lines between, which has its own right sum. */
async function forge(
  path: string,
  lines: readonly object[],
  header: Record<string, unknown> = {},
): Promise<void> {
  const [first = "{}"] = readFileSync(path, "utf8").split("\n");
  const text = [{ ...JSON.parse(first), ...header }, ...lines]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");
  writeFileSync(path, `${text}${JSON.stringify({ files: lines.length, sha256: sha256(text) })}\n`);
}

const line = (path: string, text = "one") => ({ path, size: text.length, sha256: sha256(text) });

/** What is done to a backup, and the path and the problem that its refusal names. */
const DAMAGE: readonly [name: string, damage: (backup: string) => unknown, path: string, problem: string][] =
  [
    ["a bit of the database", (b) => FLIP(join(b, "data/svc.db")), "svc.db", "has other bytes"],
    ["a bit of a picture", (b) => FLIP(join(b, PICTURE)), pathOf("one"), "has other bytes"],
    ["a bit of the settings", (b) => FLIP(join(b, "data/svc.yaml")), "svc.yaml", "has other bytes"],
    ["a bit of the manifest", (b) => FLIP(join(b, MANIFEST)), MANIFEST, "is damaged"],
    [
      "a cut picture",
      (b) => truncateSync(join(b, PICTURE), 1),
      pathOf("one"),
      "has 1 bytes, and must have 3",
    ],
    ["a longer picture", (b) => appendFileSync(join(b, PICTURE), "x"), pathOf("one"), "has 4 bytes"],
    ["a missing picture", (b) => rmSync(join(b, PICTURE)), pathOf("one"), "there is no such file"],
    ["a missing database", (b) => rmSync(join(b, "data/svc.db")), "svc.db", "there is no such file"],
    ["no manifest", (b) => rmSync(join(b, MANIFEST)), MANIFEST, "is not there"],
    ["an empty manifest", (b) => writeFileSync(join(b, MANIFEST), ""), MANIFEST, "cut off"],
    [
      "a manifest without its end",
      (b) => {
        const lines = readFileSync(join(b, MANIFEST), "utf8").trimEnd().split("\n");
        writeFileSync(join(b, MANIFEST), `${lines.slice(0, -1).join("\n")}\n`);
      },
      MANIFEST,
      "cut off",
    ],
    [
      "a manifest that lacks a line",
      (b) => {
        const lines = readFileSync(join(b, MANIFEST), "utf8").split("\n");
        writeFileSync(join(b, MANIFEST), lines.toSpliced(1, 1).join("\n"));
      },
      MANIFEST,
      "is damaged",
    ],
    [
      "a path that leaves the folder",
      (b) => forge(join(b, MANIFEST), [line("assets/../../x")]),
      "assets/../../x",
      "is no file of a data folder",
    ],
    [
      "an absolute path",
      (b) => forge(join(b, MANIFEST), [line("/etc/passwd")]),
      "/etc/passwd",
      "is no file of a data folder",
    ],
    [
      "a file that no data folder has",
      (b) => forge(join(b, MANIFEST), [line("server.lock")]),
      "server.lock",
      "is no file of a data folder",
    ],
    [
      "a link in place of a file",
      (b) => {
        renameSync(join(b, PICTURE), join(b, "elsewhere"));
        symlinkSync(join(b, "elsewhere"), join(b, PICTURE));
      },
      pathOf("one"),
      "is a link",
    ],
    [
      "a link in place of a folder",
      (b) => {
        renameSync(join(b, "data/assets"), join(b, "elsewhere"));
        symlinkSync(join(b, "elsewhere"), join(b, "data/assets"));
      },
      pathOf("one"),
      "lies behind a link",
    ],
    [
      "a folder in place of a file",
      (b) => {
        rmSync(join(b, PICTURE));
        mkdirSync(join(b, PICTURE));
      },
      pathOf("one"),
      "is no file",
    ],
  ];

const whole = await writeBackup(emptyFolder(), AT, dataFolder(["one", "two"]).plan);

for (const [name, damage, path, problem] of DAMAGE)
  test(`${name} is refused, and told with its place`, async () => {
    const backup = join(emptyFolder(), "backup");
    cpSync(whole.path, backup, { recursive: true });
    await damage(backup);
    const refusal = (await checkBackup(backup, ALLOWED).catch((error) => error)) as BackupRefused;
    expect(refusal.name).toBe("BackupRefused");
    expect(refusal.problems).toContainEqual({ path, problem: expect.stringContaining(problem) });
  });

test("a manifest of another program, and one of a later layout, are refused as such", async () => {
  for (const [header, message] of [
    [{ format: "tar" }, "of another program"],
    [{ version: 3 }, "Use a newer version of svc"],
  ] as const) {
    const backup = join(emptyFolder(), "backup");
    cpSync(whole.path, backup, { recursive: true });
    await forge(join(backup, MANIFEST), [], header);
    expect(checkBackup(backup, ALLOWED)).rejects.toThrow(message);
  }
});

test("a refusal names twenty files at most, and counts them all", async () => {
  const contents = Array.from({ length: 30 }, (_, i) => `content ${i}`);
  const made = await writeBackup(emptyFolder(), AT, dataFolder(contents).plan);
  for (const content of contents) rmSync(join(made.path, "data", pathOf(content)));
  const refusal = (await checkBackup(made.path, ALLOWED).catch((error) => error)) as BackupRefused;
  expect([refusal.problems.length, refusal.message]).toEqual([
    20,
    expect.stringContaining("30 files are not"),
  ]);
});

test("only paths below a data folder's own names are allowed", () => {
  for (const path of ["svc.db", "assets/a", "assets/a/b"]) expect(isAllowed(path, ALLOWED)).toBe(true);
  for (const path of [
    "",
    "assets",
    "svc.db/a",
    "assets/",
    "assets//a",
    "./svc.db",
    "assets/../svc.db",
    "a\\b",
    "assets/\0",
  ])
    expect(isAllowed(path, ALLOWED)).toBe(false);
});

test("a missing file is told once, and the sums count each file", async () => {
  const lines: string[] = [];
  const manifest = createManifest(async (text) => void lines.push(text));
  for (const _ of [1, 2]) await manifest.missing({ path: "assets/x", reason: "absent" });
  expect(await manifest.end()).toEqual({
    files: 0,
    sizeBytes: 0,
    objects: 0,
    missing: [{ path: "assets/x", reason: "absent" }],
  });
  expect(lines).toHaveLength(2);
});
