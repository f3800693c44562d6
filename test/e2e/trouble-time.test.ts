import { Database } from "bun:sqlite";
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { startUpstream } from "../helpers/scripted-upstream.ts";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { plainImage } from "./support/pictures.ts";
import { canSetClocks, openClock } from "./support/settable-clock.ts";
import { canMount, fill, removeDisks, smallDisk } from "./support/small-disk.ts";

setDefaultTimeout(120_000);
afterAll(async () => {
  await stopServers();
  removeDisks();
});

/** A short lease, so that work that an outage cut short is taken up again soon. */
const QUICK_LEASE = ["--scheduler-lease-seconds", "1"];
const HOUR_MS = 3_600_000;
const STEPS: [string, number][] = [
  ["an hour back", -HOUR_MS],
  ["an hour ahead", HOUR_MS],
  ["a day back", -24 * HOUR_MS],
  ["a day ahead", 24 * HOUR_MS],
];
const slow = (delayMs: number) => ({
  model: "sandbox-image",
  prompt: "x",
  size: "16x16",
  sandbox: { delay_ms: delayMs },
});

/** Accepts tasks and waits until all are with their upstream. */
async function underWay(api: Api, delayMs: number, count = 3): Promise<string[]> {
  const ids = await Promise.all(Array.from({ length: count }, () => api.accept(slow(delayMs))));
  await Promise.all(ids.map((id) => api.underWay(id)));
  return ids;
}

/** How the tasks stand when they have ended, or after ten seconds. */
async function endsOf(api: Api, ids: readonly string[]): Promise<string[]> {
  const until = performance.now() + 10_000;
  const ends = ids.map(async (id) => {
    for (;;) {
      const { status, error_code } = await api.wait(id, "image", 1);
      if (status !== "processing" && status !== "pending") return error_code ?? String(status);
      if (performance.now() > until) return `still ${status}`;
    }
  });
  return Promise.all(ends);
}

const apiOf = (server: Server) => createApi(server.url, server.firstKey());

describe.skipIf(!canSetClocks)("a clock that is set (needs faketime)", () => {
  test.concurrent.each(STEPS)("%s holds up no task under way, and ends none", async (_, byMs) => {
    const clock = openClock();
    const server = await startServer({ env: clock.env });
    const api = apiOf(server);
    const ids = await underWay(api, 2_000);
    clock.set(byMs);
    expect(await endsOf(api, ids)).toEqual(["completed", "completed", "completed"]);
    expect(JSON.parse(await server.says(/the system's clock was set/))).toMatchObject({ tasks: 3 });
    await server.stop();
  });

  test.concurrent.each(STEPS)("%s between two starts holds up no task, and ends none", async (_, byMs) => {
    const clock = openClock();
    const first = await startServer({ env: clock.env });
    const ids = await underWay(apiOf(first), 3_000);
    first.signal("SIGKILL");
    await first.exited;
    clock.set(byMs);
    const second = await startServer({ env: clock.env, folder: first.folder });
    expect(await endsOf(apiOf(second), ids)).toEqual(["completed", "completed", "completed"]);
    await second.stop();
  });
});

/** Time in which nothing can be worked on; its end. */
type Outage = (server: Server, disk: string) => () => void;

const OUTAGES: [string, Outage][] = [
  [
    "its database locked by another process",
    ({ dataDir }) => {
      const other = new Database(join(dataDir, "svc.db"));
      // The service may write just now.
      other.run("pragma busy_timeout = 10000");
      other.run("begin immediate");
      return () => other.close();
    },
  ],
  [
    "itself stopped with SIGSTOP",
    ({ pid }) => {
      process.kill(pid, "SIGSTOP");
      return () => process.kill(pid, "SIGCONT");
    },
  ],
  ["a full disk", (_, disk) => fill(disk).release],
];
const OUTAGE_MS = 9_000;

describe.skipIf(!canMount)("a service that cannot work for a while (needs root on Linux)", () => {
  test.concurrent.each(OUTAGES)("does not count the time with %s towards deadlines", async (_, begin) => {
    const disk = smallDisk(24);
    const server = await startServer({ dataDir: join(disk, "svc-data"), args: QUICK_LEASE });
    const api = apiOf(server);
    // Ready after the outage, which lasts longer than the time that is left.
    const ids = await underWay(api, OUTAGE_MS + 3_000);
    setDeadlines(server, 5_000);
    const end = begin(server, disk);
    await Bun.sleep(OUTAGE_MS);
    end();
    expect(await endsOf(api, ids)).toEqual(["completed", "completed", "completed"]);
    expect(JSON.parse(await server.says(/could not work for a while/))).toMatchObject({ tasks: 3 });
    await server.stop();
  });
});

/** Writes what the deadlines of live tasks are, from now. */
function setDeadlines({ dataDir }: Server, inMs: number): void {
  using db = new Database(join(dataDir, "svc.db"));
  db.run("pragma busy_timeout = 5000");
  db.run("update task set deadline_at = ? where pool is not null", [Date.now() + inMs]);
}

test.skipIf(!canSetClocks)(
  "a task caught mid-submission is sent again after its deadline, where its key is honoured (needs faketime)",
  async () => {
    const b64_json = Buffer.from(await plainImage(1024, 1024)).toString("base64");
    const upstream = await startUpstream(() => () => undefined);
    const clock = openClock();
    const env = { ...clock.env, OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: upstream.origin };
    const args = ["--no-sandbox", "--openai-idempotent"];
    const first = await startServer({ env, args });
    const body = { model: "gpt-image-2", prompt: "x", size: "1024x1024", quality: "low" };
    const id = await apiOf(first).accept(body);
    await upstream.until(1);
    first.signal("SIGKILL");
    await first.exited;
    setDeadlines(first, -1_000);
    upstream.answer = () => ({ json: { created: 1, data: [{ b64_json }] } });
    const second = await startServer({ env, args, folder: first.folder });
    expect(await endsOf(apiOf(second), [id])).toEqual(["completed"]);
    const [sent, again] = upstream.arrived.map(({ headers }) => headers.get("idempotency-key"));
    expect([upstream.arrived.length, again]).toEqual([2, sent]);
    await second.stop();
    upstream.stop();
  },
);
