import { readFileSync, statfsSync } from "node:fs";

/** A file system, as far as it matters for the files on it. */
export interface FileSystem {
  /** Its name, as people know it; undefined for one of no concern. */
  readonly name: string | undefined;
  /** `network`: locks and shared memory do not work there · `shared`: they may not · `memory`: gone when the machine restarts · `layer`: gone with its container. */
  readonly kind: "usual" | "network" | "shared" | "memory" | "layer";
  readonly isNoExec: boolean;
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** From statfs(2), `f_type` (https://man7.org/linux/man-pages/man2/statfs.2.html, checked 2026-11-23). */
const TYPES: ReadonlyMap<number, readonly [name: string, kind: FileSystem["kind"]]> = new Map([
  [0x6969, ["NFS", "network"]],
  [0x517b, ["SMB", "network"]],
  [0xff534d42, ["CIFS", "network"]],
  [0xfe534d42, ["SMB2", "network"]],
  [0x01021997, ["9P", "shared"]],
  [0x5346414f, ["AFS", "network"]],
  [0x00c36400, ["Ceph", "network"]],
  [0x0bd00bd0, ["Lustre", "network"]],
  [0x01161970, ["GFS2", "network"]],
  [0x65735546, ["FUSE", "shared"]],
  [0x01021994, ["tmpfs", "memory"]],
  [0x858458f6, ["ramfs", "memory"]],
  [0x794c7630, ["overlayfs", "layer"]],
]);

/** @throws a system error for what cannot be looked at */
export function fileSystemOf(path: string, { statfs = statfsSync, mounts = readMounts } = {}): FileSystem {
  const { type, bavail, blocks, bsize } = statfs(path);
  // Some are negative where the number has 32 bits.
  const [name, kind] = TYPES.get(type >>> 0) ?? [undefined, "usual"];
  return {
    name,
    kind,
    isNoExec: isNoExec(path, mounts()),
    ...{ freeBytes: bavail * bsize, totalBytes: blocks * bsize },
  };
}

/** Whether the mount that a path lies on lets nothing of it run. */
function isNoExec(path: string, mounts: string): boolean {
  let found: readonly string[] = [];
  for (const line of mounts.split("\n")) {
    const [, point = "", , options = ""] = line.split(" ");
    const folder = point.replaceAll("\\040", " ");
    const isAbove = path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
    // A later mount at the same place hides the earlier one.
    if (folder !== "" && isAbove && folder.length >= (found[0] ?? "").length) found = [folder, options];
  }
  return (found[1] ?? "").split(",").includes("noexec");
}

function readMounts(): string {
  try {
    return readFileSync("/proc/self/mounts", "utf8");
  } catch {
    return ""; // Not Linux, or no /proc.
  }
}
