import { existsSync } from "node:fs";

const LIBRARY = [
  "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
  "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
].find((file) => existsSync(file));

/** By how much the clocks of nodes are wrong. */
const SKEWS_SECONDS = [0, 300, -240, 90] as const;

/** Whether a process can be told another time, by Debian's libfaketime. */
export const CAN_SKEW = LIBRARY !== undefined;

/** The environment of a node whose clock is wrong by minutes. Times that are measured, and those of files, are as they are. */
export function skewedClock(node: number): Record<string, string> {
  const seconds = SKEWS_SECONDS[node % SKEWS_SECONDS.length] ?? 0;
  if (LIBRARY === undefined || seconds === 0) return {};
  return {
    LD_PRELOAD: LIBRARY,
    FAKETIME: `${seconds > 0 ? "+" : ""}${seconds}s`,
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    FAKETIME_DISABLE_SHM: "1",
    NO_FAKE_STAT: "1",
  };
}
