import { reasonOf } from "../../toolkit/system-error.ts";

/** How serious it is: an `error` keeps something from working; a `warn` may do so later or for some users. */
export type FindingStatus = "ok" | "warn" | "error";

/** What one check found. */
export interface Finding {
  /** Stable, because programs depend on it. Several findings may have the same id. */
  readonly id: string;
  readonly status: FindingStatus;
  /** The finding, and why it matters unless it is `ok`. */
  readonly message: string;
  /** What fixes it: a command, or what to write where; absent if nothing is wrong. */
  readonly fix?: string | undefined;
}

export const ok = (id: string, message: string): Finding => ({ id, status: "ok", message });
export const warn = (id: string, message: string, fix: string): Finding => {
  return { id, status: "warn", message, fix };
};
export const error = (id: string, message: string, fix: string): Finding => {
  return { id, status: "error", message, fix };
};

/** Runs a check. A check that fails itself is an error, because its subject could not be examined. */
export async function looking(
  id: string,
  check: () => readonly Finding[] | Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await check();
  } catch (cause) {
    return [
      error(
        id,
        `Could not be looked at: ${reasonOf(cause)}.`,
        "Run svc doctor as the user that runs the server.",
      ),
    ];
  }
}

/** A path as a shell takes it. */
export function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
