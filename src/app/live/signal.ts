import { lockHolder } from "../../runtime/directory-lock.ts";

/** Has the server of a data folder read its settings anew. @returns its process; undefined where there is none that can be told */
export function signalReload(dataDir: string): number | undefined {
  const { pid } = lockHolder(dataDir);
  if (pid === undefined) return undefined;
  process.kill(pid, "SIGHUP");
  return pid;
}
