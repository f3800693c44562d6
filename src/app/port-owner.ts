import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/**
 * Finds the process that listens on a TCP port of this machine. Works on Linux alone, and without root only for processes of
 * the same user.
 *
 * @returns undefined when it cannot be found
 */
export function findPortOwner(port: number): { readonly pid: number; readonly name: string } | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const inodes = new Set(
      ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((table) => listeningInodes(table, port)),
    );
    if (inodes.size === 0) return undefined;
    const pid = readdirSync("/proc").find((name) => /^\d+$/.test(name) && holdsSocket(name, inodes));
    if (pid === undefined) return undefined;
    return { pid: Number(pid), name: readFileSync(`/proc/${pid}/comm`, "utf8").trim() };
  } catch {
    // The message is complete without it.
    return undefined;
  }
}

const LISTENING = "0A";

/** Columns of /proc/net/tcp: sl, local address:port in hexadecimal, remote, state, …, inode as the tenth. */
function listeningInodes(table: string, port: number): string[] {
  const hexadecimal = port.toString(16).toUpperCase().padStart(4, "0");
  return (
    readFileSync(table, "utf8")
      .split("\n")
      // Thousands of lines may be of other ports.
      .filter((line) => line.includes(`:${hexadecimal} `))
      .map((line) => line.trim().split(/\s+/))
      .filter((cells) => cells[1]?.endsWith(`:${hexadecimal}`) && cells[3] === LISTENING)
      .flatMap((cells) => cells[9] ?? [])
  );
}

function holdsSocket(pid: string, inodes: ReadonlySet<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      const inode = /^socket:\[(\d+)\]$/.exec(readlink(`/proc/${pid}/fd/${fd}`))?.[1];
      return inode !== undefined && inodes.has(inode);
    });
  } catch {
    // Another user's process, or one that ended just now.
    return false;
  }
}

function readlink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // Closed since the folder was listed.
    return "";
  }
}
