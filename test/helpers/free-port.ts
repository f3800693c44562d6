const FIRST_PORT = 12_000;
const PORT_RANGES = 40;
const PORTS_PER_RANGE = 500;
let portsTried = 0;

/**
 * A port that nobody listens at. Below those that the system gives to connections, and from a range of this process's
 * own, so that nobody takes it before the server does.
 */
export function freePort(): number {
  for (;;) {
    const port =
      FIRST_PORT + (process.pid % PORT_RANGES) * PORTS_PER_RANGE + (portsTried++ % PORTS_PER_RANGE);
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
      return port;
    } catch {
      // Taken: try the next one.
    }
  }
}
