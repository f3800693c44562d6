import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../helpers/free-port.ts";
import { cleanEnvironment, emptyFolder, SVC, startServer, stopServers } from "../helpers/server.ts";

setDefaultTimeout(120_000);
afterEach(stopServers);

const canTrace = Bun.which("strace") !== null;

/** Starts a server on a new folder and kills it at the given call. @returns the folder */
async function killFirstStart(call: string, number: number): Promise<string> {
  const folder = emptyFolder("killed");
  const inject = `inject=${call}:signal=SIGKILL:when=${number}`;
  const trace = ["strace", "-f", "-qqq", "-o", "/dev/null", "-e", `trace=${call}`, "-e", inject];
  const child = Bun.spawn([...trace, SVC, "serve", "--port", String(freePort())], {
    cwd: folder,
    env: cleanEnvironment(),
    stdio: ["ignore", "ignore", "ignore"],
  });
  await child.exited;
  return folder;
}

/** Flushes of a first start before its key: those of a new database and its log, which migrations are written to without any. */
const FLUSHES_BEFORE = 5;

/** The calls around the moment at which the key is made: the log of the migrations, the key's file and its folder, and the commit. */
describe.skipIf(!canTrace)("a first start that is killed (needs strace)", () => {
  test.each([
    ...Array.from({ length: 4 }, (_, i) => ["fsync", FLUSHES_BEFORE + i] as const),
    ["fdatasync", 1] as const,
    ["rename", 1] as const,
  ])("at %s %i leaves a folder whose next start has a key that works", async (call, number) => {
    const folder = await killFirstStart(call, number);
    const server = await startServer({ folder });
    expect(existsSync(join(server.dataDir, "bootstrap.json"))).toBe(true);
    const headers = { Authorization: `Bearer ${server.firstKey()}` };
    const models = await fetch(`${server.url}/v1/models`, { headers, keepalive: false });
    expect(models.status).toBe(200);
  });
});
