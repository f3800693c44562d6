import { closeSync, openSync, readFileSync } from "node:fs";
import type { App } from "../../src/app/app.ts";
import { EXIT } from "../exit-codes.ts";
import { describeError, type ServerLogLine } from "./server-log.ts";

/** Load balancers and clients with open connections hear of the end within this time. At Ctrl-C nobody waits for them. */
const LISTEN_ON_MS = 1_000;

/**
 * Stops the service at the first signal, ends the process at the second.
 *
 * @param onStop called at the first one
 * @returns the exit code once everything is closed
 */
export function stopOnSignals(
  app: Pick<App, "stop">,
  log: ServerLogLine,
  onStop: () => void,
): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  let isStopping = false;
  const stop = (forced: number, listenOnMs: number) => () => {
    if (isStopping) process.exit(forced);
    isStopping = true;
    onStop();
    app.stop({ listenOnMs }).then(
      () => resolve(EXIT.ok),
      (error: unknown) => {
        log("error", { err: describeError(error) }, "could not stop in order");
        resolve(EXIT.error);
      },
    );
  };
  process.on("SIGINT", stop(EXIT.interrupted, 0));
  process.on("SIGTERM", stop(EXIT.terminated, LISTEN_ON_MS));
  return promise;
}

/**
 * Listens for SIGHUP. The same signal says that the terminal of a process is gone: then it is stopped in order, as without a
 * listener it would end. One that was started to outlive its terminal, as `nohup` does, goes on.
 *
 * @returns takes what to call at the signal, once settings can be read anew; calls it at once when the signal came before
 */
export function reloadOnSignal(): (reload: () => void) => void {
  const endsWithTerminal = hasTerminal() && !ignoresHangUp();
  let isAsked = false;
  let react = () => {
    isAsked = true;
  };
  process.on("SIGHUP", () => {
    if (endsWithTerminal && !hasTerminal()) process.kill(process.pid, "SIGINT");
    else react();
  });
  return (reload) => {
    react = reload;
    if (isAsked) reload();
  };
}

/** Whether this process was started with SIGHUP ignored, as far as the system says. Ask before there is a listener. */
function ignoresHangUp(): boolean {
  try {
    const [, mask] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    // The signals are counted from 1, and SIGHUP is the first.
    return (Number.parseInt(mask?.slice(-1) ?? "0", 16) & 1) === 1;
  } catch {
    // Only Linux has this file.
    return false;
  }
}

/** Whether a terminal controls this process. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}
