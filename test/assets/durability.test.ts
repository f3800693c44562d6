import { expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { png } from "../helpers/media.ts";

/*
 * What reaches the disk and in which order shows in system calls only: a killed process proves nothing about a power
 * failure.
 */
const canTrace =
  Bun.which("strace") !== null &&
  Bun.spawnSync(["strace", "-o", "/dev/null", "-e", "trace=none", "true"]).success;
if (!canTrace) console.warn("Skipped: tests of flushing need strace.");
const traced = test.skipIf(!canTrace);

/** Stores images at once in a traced process. Returns what the process said and the traced calls, in order. */
async function storeTraced(
  directory: string,
  { flags = [], count = 1 }: { flags?: readonly string[]; count?: number } = {},
): Promise<{ said: string; calls: string[] }> {
  const script = `
    import { openAssetStore } from ${JSON.stringify(join(import.meta.dir, "../../src/assets/open.ts"))};
    import { png } from ${JSON.stringify(join(import.meta.dir, "../helpers/media.ts"))};
    const store = openAssetStore({ directory: process.argv[1], newTemporaryName: () => "draft-" + crypto.randomUUID() });
    const options = { accept: ["image"], maxBytes: 1000, sanitize: false };
    const pictures = await Promise.all(Array.from({ length: ${count} }, (_, index) => png(1, index + 1)));
    const staged = await Promise.all(pictures.map((each) => store.stage(each, options)));
    const kept = await Promise.allSettled(staged.map((each) => each.keep()));
    await Promise.all(staged.map((each, index) => each.release(kept[index].status === "fulfilled")));
    const failure = kept.find(({ status }) => status === "rejected")?.reason;
    const outcome = failure === undefined ? "stored" : failure.name + " " + failure.kind;
    process.stdout.write(outcome);`;
  const log = join(directory, "..", "trace");
  const trace = [
    "strace",
    "-f",
    "-y",
    "-qq",
    "-o",
    log,
    "-e",
    "trace=fsync,rename,renameat,renameat2",
    ...flags,
  ];
  const child = Bun.spawn([...trace, process.execPath, "-e", script, directory], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const said = await new Response(child.stdout).text();
  const lines = (await Bun.file(log).text()).split("\n").filter((line) => line.includes(dirname(directory)));
  const shown = (line: string) => line.replaceAll(directory, "").replaceAll(dirname(directory), "..");
  return { said, calls: lines.map((line) => shown(line).replace(/^\d+ +/, "")) };
}

async function inFolder(work: (directory: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "svc-flush-"));
  try {
    await work(join(folder, "assets"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

traced("a file is flushed before it gets its name, and its folder after; new folders before either", () =>
  inFolder(async (directory) => {
    const { said, calls } = await storeTraced(directory);
    expect(said).toBe("stored");
    const position = (pattern: RegExp) => calls.findIndex((call) => pattern.test(call));
    const named = position(/^rename.*\/tmp\/draft/);
    expect(position(/^fsync\(\d+<\/tmp\/draft/)).toBeWithin(0, named);
    for (const parent of [/^fsync\(\d+<\.\.>/, /^fsync\(\d+<>/, /^fsync\(\d+<\/sha256>/]) {
      expect(position(parent)).toBeWithin(0, named);
    }
    expect(position(/^fsync\(\d+<\/sha256\/..>/)).toBeGreaterThan(named);
  }),
);

traced("of files that are stored at once, none gets its name before all are flushed", () =>
  inFolder(async (directory) => {
    const { said, calls } = await storeTraced(directory, { count: 3 });
    expect(said).toBe("stored");
    const kinds = calls.flatMap((call) => {
      if (/^rename.*\/tmp\/draft/.test(call)) return ["named"];
      if (/^fsync\(\d+<\/tmp\/draft/.test(call)) return ["flushed"];
      return /^fsync\(\d+<\/sha256\/..>/.test(call) ? ["folder"] : [];
    });
    expect(kinds).toEqual(["flushed", "named", "folder"].flatMap((kind) => [kind, kind, kind]));
  }),
);

traced("a flush that fails is a StorageError that stops the process, and leaves no file", () =>
  inFolder(async (directory) => {
    const { said } = await storeTraced(directory, { flags: ["-e", "inject=fsync:error=EIO:when=1"] });
    expect(said).toBe("StorageError damaged");
    expect(await filesIn(directory)).toEqual([]);
  }),
);

traced("a file whose folder cannot be flushed after it got its name is taken out again", () =>
  inFolder(async (directory) => {
    const sha256 = new Bun.CryptoHasher("sha256").update(await png()).digest("hex");
    const folder = join(directory, "sha256", sha256.slice(0, 2));
    const { said, calls } = await storeTraced(directory, {
      flags: ["-P", folder, "-e", "inject=fsync:error=EIO"],
    });
    expect(said).toBe("StorageError damaged");
    expect(calls.filter((call) => call.startsWith("fsync"))).toHaveLength(1);
    expect(await filesIn(directory)).toEqual([]);
  }),
);

async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}
