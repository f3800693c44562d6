import type { Context } from "../context.ts";

/** What the server tells the program that runs it as a service. Without one, nothing happens. */
export interface ServiceManager {
  /** Everything is open. From now on it also hears that the event loop turns, if it wants to. */
  ready(): void;
  /** The server ends, and may take this long. */
  stopping(withinMs: number): void;
}

const SILENT: ServiceManager = { ready() {}, stopping() {} };

/**
 * Finds systemd's socket for messages of a service (https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html,
 * checked 2026-11-23). A variable that leads nowhere is told by `warn` and changes nothing else.
 */
export async function findServiceManager(
  env: Context["env"],
  warn: (message: string) => void,
): Promise<ServiceManager> {
  const address = env.NOTIFY_SOCKET;
  if (process.platform !== "linux" || address === undefined || address === "") return SILENT;
  const { openDatagrams } = await import("./datagrams.ts");
  const send = openDatagrams(address);
  if (typeof send === "string") {
    warn(`NOTIFY_SOCKET cannot be used: ${send}`);
    return SILENT;
  }
  return {
    ready() {
      send("READY=1");
      const everyMs = watchdogMs(env);
      if (everyMs === undefined) return;
      // A blocked event loop sends none, and then systemd restarts the server.
      setInterval(() => send("WATCHDOG=1"), everyMs).unref();
    },
    stopping: (withinMs) => send(`STOPPING=1\nEXTEND_TIMEOUT_USEC=${Math.ceil(withinMs) * 1000}`),
  };
}

/** Half of the time after which a silent service counts as hung; undefined where nobody counts. */
function watchdogMs({ WATCHDOG_USEC, WATCHDOG_PID }: Context["env"]): number | undefined {
  const usec = Number(WATCHDOG_USEC);
  const isForUs = WATCHDOG_PID === undefined || WATCHDOG_PID === String(process.pid);
  return isForUs && Number.isSafeInteger(usec) && usec > 0 ? Math.max(1, usec / 2000) : undefined;
}
