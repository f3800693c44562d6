import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const cwd = mkdtempSync(join(tmpdir(), "svc-read-only-"));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const ISOLATED = ["unshare", "--mount"];
const canMount =
  process.platform === "linux" &&
  Bun.which("unshare") !== null &&
  Bun.spawnSync([...ISOLATED, "mount", "-t", "tmpfs", "none", "/mnt"]).success;

const source = (path: string) => JSON.stringify(join(import.meta.dir, "../../src", path));
const LOOK = `
  import { lookAtFolder } from ${source("app/doctor/folder.ts")};
  const told = ["disk/svc-data", "disk/new/svc-data"].map((name) => lookAtFolder(name).findings);
  console.log(JSON.stringify(told.flat()));
`;
const CLOSE = `
  import { makePrivate } from ${source("runtime/private-folder.ts")};
  try {
    makePrivate("disk/svc-data", { files: [], folders: [] });
  } catch (error) {
    console.log(error.message);
  }
`;

/** Runs code beside a read-only disk with a data folder that others can look into. @returns what it printed */
function onReadOnlyDisk(code: string): Promise<string> {
  const script =
    'umask 022 && mkdir -p disk && mount -t tmpfs none disk && mkdir disk/svc-data && mount -o remount,ro disk && "$@"';
  const command = [...ISOLATED, "sh", "-c", script, "sh", process.execPath, "-e", code];
  return Bun.spawn(command, { cwd, env: { ...process.env } }).stdout.text();
}

describe.skipIf(!canMount)("a folder on a read-only file system", () => {
  test("is told by the doctor as that, not as one without rights", async () => {
    const findings = JSON.parse(await onReadOnlyDisk(LOOK)) as object[];
    const fix = expect.stringMatching(
      /^Mount the file system of .* for writing .*, or choose another --data-dir\.$/,
    );
    const shared = { id: "data_dir", status: "error", fix };
    const mounted = (folder: string) => `the file system of ${folder} is mounted read-only.`;
    expect(findings).toEqual([
      { ...shared, message: `disk/svc-data cannot be used: ${mounted("disk/svc-data")}` },
      { ...shared, message: `disk/new/svc-data is not there, and cannot be made: ${mounted("disk")}` },
    ]);
  });

  test("that others can look into cannot be closed, and no other owner would help", async () => {
    expect(await onReadOnlyDisk(CLOSE)).toMatch(
      /svc-data cannot be closed to other users: its file system is mounted read-only\. Mount it for writing, or choose another --data-dir\.\n$/,
    );
  });
});
