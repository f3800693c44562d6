import { readFileSync } from "node:fs";

/** The bytes on which SQLite takes its locks (https://sqlite.org/src/file/src/os.h, PENDING_BYTE, checked 2026-11-22). */
const LOCK_BYTES = { first: 0x40000000, last: 0x40000000 + 511 } as const;

/** `12: POSIX  ADVISORY  READ 4711 08:01:131 1073741826 1073742335`; a waiting one has `->` behind its number. */
const LINE =
  /^\d+: POSIX\s+ADVISORY\s+(READ|WRITE)\s+-?\d+\s+([0-9a-f]+):([0-9a-f]+):(\d+)\s+(\d+)\s+(\d+|EOF)$/;

/**
 * Whether only readers keep a database from being locked. Then nobody has it exclusively, because a write lock excludes all others
 * from these bytes. False if the system does not say, for example if the holder is in another container.
 */
export function isHeldByReadersOnly(inode: number): boolean {
  const locks = locksOn(inode);
  return locks.length > 0 && locks.every((kind) => kind === "READ");
}

/** The process that holds a lock to write on a database; undefined where none does, or the system does not tell. */
export function writerOf(inode: number): number | undefined {
  for (const line of readLocks().split("\n")) {
    const [, kind, pid, , , holds] = WITH_HOLDER.exec(line) ?? [];
    if (kind === "WRITE" && Number(holds) === inode && Number(pid) > 0) return Number(pid);
  }
  return undefined;
}

const WITH_HOLDER = /^\d+: POSIX\s+ADVISORY\s+(READ|WRITE)\s+(-?\d+)\s+([0-9a-f]+):([0-9a-f]+):(\d+)\s/;

function locksOn(inode: number): string[] {
  return readLocks()
    .split("\n")
    .flatMap((line) => {
      const [, kind = "", , , holds, first, last] = LINE.exec(line) ?? [];
      const reaches = last === "EOF" || Number(last) >= LOCK_BYTES.first;
      return Number(holds) === inode && Number(first) <= LOCK_BYTES.last && reaches ? [kind] : [];
    });
}

function readLocks(): string {
  try {
    return readFileSync("/proc/locks", "utf8");
  } catch {
    return ""; // Not Linux, or no /proc.
  }
}
