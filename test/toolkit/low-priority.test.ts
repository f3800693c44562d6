import { expect, test } from "bun:test";
import { join } from "node:path";

const MODULE = join(import.meta.dir, "../../src/toolkit/low-priority.ts");
const isNicer = process.platform === "linux" && Bun.which("nice") !== null;
/** Somebody who may not go back to a higher priority. */
const UNPRIVILEGED =
  process.getuid?.() === 0 && Bun.which("setpriv") !== null
    ? ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    : [];

/** The niceness of a process started with `start` once it gives way by `by`. */
function nicenessAfter(start: number, by: number): string {
  const script = `import { giveWay } from ${JSON.stringify(MODULE)}; giveWay(${by}); console.log((await import("node:os")).getPriority(0));`;
  const command = [...UNPRIVILEGED, "nice", "-n", String(start), process.execPath, "-e", script];
  const { stdout, stderr } = Bun.spawnSync(command);
  return stdout.toString().trim() || stderr.toString();
}

test.skipIf(!isNicer)(
  "a thread gives way, and keeps a lower priority that its process was started with",
  () => {
    const own = Number(Bun.spawnSync(["nice"]).stdout.toString());
    const by = Math.min(19, own + 5);
    expect(nicenessAfter(0, by)).toBe(String(by));
    const lower = Math.min(19, own + 8) - own;
    expect(nicenessAfter(lower, by)).toBe(String(own + lower));
  },
);
