/** Meanings of exit codes. Stable, since scripts branch on them. */
export const EXIT = {
  ok: 0,
  error: 1,
  usage: 2,
  taskFailed: 3,
  auth: 4,
  notFound: 5,
  quota: 6,
  conflict: 7,
  overloaded: 8,
  stillRunning: 9,
  taskCancelled: 10,
  unreachable: 11,
  config: 12,
  rejected: 13,
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const MEANING: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: "done",
  error: "error, described on stderr",
  usage: "the command line itself is wrong: unknown command or flag, missing or unusable value",
  taskFailed: "the task failed",
  auth: "key missing or refused (401, 403)",
  notFound: "not found (404)",
  quota: "not enough balance or quota (402)",
  conflict: "conflict with the present state (409)",
  overloaded: "rate limited or overloaded, also after retries (429, 503)",
  stillRunning: "time is up and the task still runs (also 504); the task id is printed",
  taskCancelled: "the task was cancelled",
  unreachable: "the server cannot be reached (address, TLS, gateway)",
  config: "the configuration is invalid",
  rejected: "the request was rejected as it is (400, 413, 415, 422)",
  interrupted: "interrupted by Ctrl-C",
  terminated: "stopped at once by a second SIGTERM",
};

/** `svc help exit-codes`. */
export function describeExitCodes(): string {
  const names = Object.keys(EXIT) as (keyof typeof EXIT)[];
  return names.map((name) => `${String(EXIT[name]).padStart(5)}  ${MEANING[name]}\n`).join("");
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
