import { lockHolder } from "../../runtime/directory-lock.ts";

/**
 * Makes the server of a data folder read its settings again. @returns its process; undefined if there is none that can be signalled
 */
export function signalReload(dataDir: string): number | undefined {
  const { pid } = lockHolder(dataDir);
  if (pid === undefined) return undefined;
  process.kill(pid, "SIGHUP");
  return pid;
}
