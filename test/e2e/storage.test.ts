import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Server, spawnServer, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { readDatabase } from "./support/database.ts";
import { dataUri, plainImage } from "./support/pictures.ts";
import { canMount, fill, mount, removeDisks, smallDisk } from "./support/small-disk.ts";

setDefaultTimeout(120_000);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };
/** A short lease, so that work the disk refused is taken up again soon. */
const QUICK_LEASE = ["--scheduler-lease-seconds", "1"];

afterEach(async () => {
  await stopServers();
  removeDisks();
});

async function serveFrom(dataDir: string): Promise<{ server: Server; api: Api }> {
  const server = await startServer({ dataDir, args: QUICK_LEASE });
  return { server, api: createApi(server.url, server.firstKey()) };
}

/** Creates until one is refused; the log may still have room for some. */
async function untilRefused(api: Api, accepted: string[], body: object = IMAGE) {
  for (let tries = 0; tries < 3_000; tries++) {
    const answer = await api.create({ ...IMAGE, ...body });
    if (answer.status !== 200) return answer;
    accepted.push(answer.data.task_id ?? "");
  }
  throw new Error("Creates are still taken.");
}

async function untilTaken(api: Api, withinMs: number, body: object = IMAGE): Promise<string> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const answer = await api.create({ ...IMAGE, ...body });
    if (answer.status === 200) return answer.data.task_id ?? "";
    expect(answer.status).toBe(503);
    if (performance.now() > deadline) throw new Error(`Still refused: ${answer.text}`);
    await Bun.sleep(50);
  }
}

describe.skipIf(!canMount)("a full disk (needs root on Linux)", () => {
  test("refuses creates whole, goes on answering, heals by itself, and loses nothing", async () => {
    const disk = smallDisk(24);
    const dataDir = join(disk, "svc-data");
    const { server, api } = await serveFrom(dataDir);
    const earlier = await api.make(IMAGE);
    const accepted = [await api.accept({ ...IMAGE, sandbox: { delay_ms: 500 } })];

    const filler = fill(disk);
    const refused = await untilRefused(api, accepted);
    expect([refused.status, refused.data.error_code]).toEqual([503, "service_unavailable"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    const keyed = await api.create(IMAGE, { "Idempotency-Key": "on a full disk" });
    expect([keyed.status, keyed.data.error_code]).toEqual([503, "idempotency_unavailable"]);
    expect((await api.wait(earlier.task_id)).status).toBe("completed");
    expect((await fetch(earlier.result?.[0] ?? "", { keepalive: false })).status).toBe(200);
    expect(server.hasExited()).toBe(false);

    filler.release();
    accepted.push(await untilTaken(api, 5_000));
    for (const id of accepted) expect((await api.wait(id)).status).toBe("completed");
    expect(await server.stop()).toBe(0);
    const tasks = readDatabase<{ id: string }>(dataDir, "SELECT id FROM task").map(({ id }) => id);
    expect(tasks.sort()).toEqual([earlier.task_id, ...accepted].sort());
    expect(readDatabase(dataDir, "SELECT total(held_micros) AS held FROM account")).toEqual([{ held: 0 }]);
    expect(readDatabase(dataDir, "PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
  });
});

describe.skipIf(!canMount)("a folder that cannot be written (needs root on Linux)", () => {
  test("refuses creates with pictures when only the files are out of reach, and heals", async () => {
    const disk = smallDisk(24);
    const dataDir = join(disk, "svc-data");
    const { api } = await serveFrom(dataDir);
    const earlier = await api.make(IMAGE);
    const assets = join(dataDir, "assets");
    const image_url = dataUri(await plainImage(20, 20, { colour: "orange" }));

    expect(mount("mount", "--bind", assets, assets)).toBe(true);
    expect(mount("mount", "-o", "remount,ro,bind", assets)).toBe(true);
    const accepted: string[] = [];
    const refused = await untilRefused(api, accepted, { image_url });
    expect([refused.status, refused.data.error_code]).toEqual([503, "service_unavailable"]);
    expect(accepted).toEqual([]);
    accepted.push(await api.accept({ ...IMAGE, prompt: "made meanwhile" }));
    const kept = await fetch(earlier.result?.[0] ?? "", { keepalive: false });
    expect([kept.status, (await kept.bytes()).length > 0]).toEqual([200, true]);

    // Not while the server has a file of it open still.
    let isUnmounted = mount("umount", assets);
    for (let tries = 0; tries < 100 && !isUnmounted; tries++) {
      await Bun.sleep(20);
      isUnmounted = mount("umount", assets);
    }
    expect(isUnmounted).toBe(true);
    accepted.push(await untilTaken(api, 5_000, { image_url }));
    for (const id of accepted) expect((await api.wait(id)).status).toBe("completed");
  });

  test("is told to whoever starts a server on it", async () => {
    const disk = smallDisk(24);
    const { server } = await serveFrom(join(disk, "svc-data"));
    await server.stop();
    expect(mount("mount", "-o", "remount,ro", disk)).toBe(true);
    const second = spawnServer({ dataDir: join(disk, "svc-data") });
    expect(await second.exited).toBe(1);
    expect(second.stderr() + second.stdout()).toMatch(/read-only|readonly|EROFS|cannot be written/i);
  });

  test("is named when it cannot even be made", async () => {
    const disk = smallDisk(1);
    mkdirSync(join(disk, "inner"));
    expect(mount("mount", "-o", "remount,ro", disk)).toBe(true);
    const server = spawnServer({ dataDir: join(disk, "inner/svc-data") });
    expect(await server.exited).toBe(1);
    expect(server.stderr() + server.stdout()).toContain("inner/svc-data");
  });
});
