/** Exit codes and their meanings. Stable, since scripts branch on them. */
const EXITS = {
  ok: [0, "done"],
  error: [1, "error, described on stderr"],
  usage: [2, "the command line itself is wrong: unknown command or flag, missing or unusable value"],
  taskFailed: [3, "the task failed"],
  auth: [4, "key missing or rejected (401, 403)"],
  notFound: [5, "not found (404)"],
  quota: [6, "not enough balance or quota (402)"],
  conflict: [7, "conflict with the current state (409)"],
  overloaded: [8, "rate limited or overloaded even after retries (429, 503)"],
  stillRunning: [9, "the time limit passed and the task still runs (also 504); prints the task id"],
  taskCancelled: [10, "the task was cancelled"],
  unreachable: [11, "the server cannot be reached (address, TLS, gateway), or is no svc server"],
  config: [12, "the configuration is invalid"],
  rejected: [13, "the server rejected the request (400, 413, 415, 422)"],
  folderGone: [14, "the data folder was moved, deleted or replaced while the server ran"],
  interrupted: [130, "interrupted by Ctrl-C"],
  terminated: [143, "stopped at once by a second SIGTERM"],
} as const;
type Exits = typeof EXITS;
export type ExitName = keyof Exits;

// The codes keep the names of the table.
export const EXIT = Object.fromEntries(Object.entries(EXITS).map(([name, [code]]) => [name, code])) as {
  readonly [Name in keyof Exits]: Exits[Name][0];
};
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Every exit code with its meaning. */
export function listExitCodes(): readonly (readonly [code: ExitCode, meaning: string])[] {
  return Object.values(EXITS);
}

/** `svc help exit-codes`. */
export function describeExitCodes(): string {
  const lines = listExitCodes().map(([code, meaning]) => `${String(code).padStart(5)}  ${meaning}\n`);
  return lines.join("");
}

/** The exit code for an HTTP answer that is an error. */
export function exitCodeOfStatus(status: number): ExitCode {
  if (status === 401 || status === 403) return EXIT.auth;
  if (status === 402) return EXIT.quota;
  if (status === 404) return EXIT.notFound;
  if (status === 409) return EXIT.conflict;
  if (status === 429 || status === 503) return EXIT.overloaded;
  if (status === 504) return EXIT.stillRunning;
  if (status === 502) return EXIT.unreachable;
  return status >= 400 && status < 500 ? EXIT.rejected : EXIT.error;
}
