import { afterAll, expect, test } from "bun:test";
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

const LOOK = `
  import { lookAtFolder } from ${JSON.stringify(join(import.meta.dir, "../../src/app/doctor/folder.ts"))};
  const told = ["disk/svc-data", "disk/new/svc-data"].map((name) => lookAtFolder(name).findings);
  console.log(JSON.stringify(told.flat()));
`;

test.skipIf(!canMount)(
  "a folder on a read-only file system is told as that, not as one without rights",
  async () => {
    const script =
      'mkdir disk && mount -t tmpfs none disk && mkdir disk/svc-data && mount -o remount,ro disk && "$@"';
    const run = Bun.spawn([...ISOLATED, "sh", "-c", script, "sh", process.execPath, "-e", LOOK], {
      cwd,
      env: { ...process.env },
    });
    const findings = JSON.parse(await run.stdout.text()) as object[];
    const fix = expect.stringMatching(
      /^Mount the file system of .* for writing .*, or choose another --data-dir\.$/,
    );
    const shared = { id: "data_dir", status: "error", fix };
    expect(findings).toEqual([
      {
        ...shared,
        message: "disk/svc-data cannot be used: the file system of disk/svc-data is mounted read-only.",
      },
      {
        ...shared,
        message:
          "disk/new/svc-data is not there, and cannot be made: the file system of disk is mounted read-only.",
      },
    ]);
  },
);
