import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmdirSync } from "node:fs";
import { cleanEnvironment, emptyFolder, SVC, spawnServer, stopServers } from "../helpers/server.ts";
import { type DatabaseServer, HAS_POSTGRES, startPostgres } from "../moving/database-servers.ts";
import { createApi } from "./support/api.ts";
import { canMount, fill, mount } from "./support/small-disk.ts";

setDefaultTimeout(120_000);

const DISK_MB = 200;
/** As little ahead as may be, so that the disk is full soon and not of the log alone. */
const SETTINGS = ["min_wal_size=32MB", "max_wal_size=32MB", "wal_recycle=on"];
const PICTURE = { model: "sandbox-image", size: "16x16", sandbox: { delay_ms: 0 } };
/** Rows of four kilobytes, of which the first few need a new page. */
const PROMPT = "a lighthouse, ".repeat(140);

describe.skipIf(!HAS_POSTGRES || !canMount)("a database whose disk is full", () => {
  let disk: string;
  let postgres: DatabaseServer;
  beforeAll(async () => {
    // Not below the folder of this test, which the server's user may not enter.
    disk = mkdtempSync("/tmp/svc-full-");
    mount("mount", "-t", "tmpfs", "-o", `size=${DISK_MB}m,mode=755`, "none", disk);
    postgres = await startPostgres(disk, { settings: SETTINGS });
  });
  afterAll(async () => {
    await stopServers();
    await postgres.stop();
    mount("umount", disk);
    rmdirSync(disk);
  });

  test("takes nothing, says so, and what was refused is taken once there is room, with books that add up", async () => {
    const url = await postgres.newDatabase();
    const node = spawnServer({
      env: { SVC_DATABASE: url, SVC_SECRET_KEY: "k".repeat(43), SVC_ASSETS_PATH: emptyFolder("assets") },
    });
    await node.ready();
    const api = createApi(node.url, node.firstKey());
    const create = (number: number) =>
      api.create({ ...PICTURE, prompt: `${number} ${PROMPT}` }, { "Idempotency-Key": `key-${number}` });

    const ids = await Promise.all(
      [1, 2, 3].map((n) => api.accept({ ...PICTURE, prompt: `slow ${n}`, sandbox: { delay_ms: 1_500 } })),
    );
    const room = fill(disk);
    // Some may find room in pages that are there. One that does not waits for five seconds, in which the slow tasks end.
    let number = 0;
    let answer = await create(number);
    while (answer.status === 200) {
      ids.push(answer.data.task_id ?? "");
      answer = await create(++number);
    }
    expect([answer.status, answer.data.error_code]).toEqual([503, "idempotency_unavailable"]);
    expect(answer.body.message).toContain("nothing of this request was kept. Send it again.");
    expect(answer.headers.get("retry-after")).toBe("5");
    await node.says(/The database server's disk or memory is full\./);
    room.release();

    answer = await create(number);
    while (answer.status === 503) answer = await create(number);
    ids.push(answer.data.task_id ?? "");
    for (const id of ids) expect((await api.wait(id)).status).toBe("completed");
    expect(node.stderr() + node.stdout()).not.toContain("CANARY");
    expect(await node.stop()).toBe(0);
    const env = cleanEnvironment({ SVC_DATABASE: url });
    const audit = Bun.spawnSync([SVC, "audit", "--local", "--json"], { env });
    expect([audit.exitCode, JSON.parse(audit.stdout.toString()).rows]).toMatchObject([
      0,
      { tasks: ids.length, live_tasks: 0 },
    ]);
  });
});
