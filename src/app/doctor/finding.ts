import { reasonOf } from "../../toolkit/system-error.ts";

/** How bad it is: an `error` keeps something from working, a `warn` may one day or for some. */
export type FindingStatus = "ok" | "warn" | "error";

/** What one check found. */
export interface Finding {
  /** Stable: programs go by it. Several findings may have the same. */
  readonly id: string;
  readonly status: FindingStatus;
  /** What is so, and why it matters where it is no `ok`. */
  readonly message: string;
  /** What puts it right: a command, or what to write where; absent where nothing is wrong. */
  readonly fix?: string | undefined;
}

export const ok = (id: string, message: string): Finding => ({ id, status: "ok", message });
export const warn = (id: string, message: string, fix: string): Finding => {
  return { id, status: "warn", message, fix };
};
export const error = (id: string, message: string, fix: string): Finding => {
  return { id, status: "error", message, fix };
};

/** Runs a check. One that fails itself is an error: what it looks at could not be seen. */
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
