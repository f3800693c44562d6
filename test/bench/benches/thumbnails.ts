import { Database } from "bun:sqlite";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import type { LoadResult } from "../load/plan.ts";
import { cpuMs } from "../run/process.ts";
import { measurement } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import { seedFinishedTasks } from "../run/seed.ts";
import {
  copyDataFolder,
  createTask,
  type DataFolder,
  holdSlot,
  ORDINARY,
  readStatus,
  type Service,
  startService,
} from "../run/service.ts";
import type { Bench } from "./bench.ts";
import { creating } from "./creates.ts";

const PICTURES = 1_000;
/** As many as a browser asks one server for at once. */
const CONNECTIONS = 6;
const WIDTH = 320;
const CREATE_CLIENTS = 4;
const CREATES_MS = 5_000;
const DRAWN = "one picture of 1024×1024 pixels before; each of the others is the same pixels in another file";

/**
 * A gallery that is seen for the first time: thumbnails of pictures that nobody asked for before, over the connections of one browser,
 * and what creates notice of it meanwhile.
 */
export const thumbnails: Bench = async (context) => {
  const pictures = context.scaled(PICTURES);
  const seconds: number[] = [];
  const cpu: number[] = [];
  const p99 = { quiet: [] as number[], beside: [] as number[] };
  const filled = await withPictures(copyDataFolder(context.folder, join(context.workspace, "svc")), pictures);
  for (let round = 0; round < Math.min(3, context.rounds); round++) {
    await using resources = new Resources();
    const folder = copyDataFolder(filled.folder, join(context.workspace, `svc-${round}`));
    const alone = await resources.open(startService(folder, { core: "any", concurrency: 1 }));
    const cpuBefore = cpuMs(alone.pid);
    seconds.push(await readAll(alone, filled.assets));
    const cpuAfter = cpuMs(alone.pid);
    if (cpuBefore !== undefined && cpuAfter !== undefined) cpu.push((cpuAfter - cpuBefore) / pictures);
    await alone.stop();
    const fresh = copyDataFolder(filled.folder, join(context.workspace, `svc-${round}-beside`));
    const busy = await resources.open(startService(fresh, { core: "any", concurrency: 1 }));
    const slot = await holdSlot(busy);
    const create = (): Promise<LoadResult> =>
      context.load.run({
        ...{ port: busy.port, connections: CREATE_CLIENTS, requests: [creating(fresh.unlimitedKey)] },
        until: { kind: "time", ms: CREATES_MS },
      });
    await create();
    p99.quiet.push((await create()).p99Ms);
    const reading = readAll(busy, filled.assets);
    p99.beside.push((await create()).p99Ms);
    await reading;
    await slot.requireHeld();
  }
  return [
    measurement({
      ...{ name: `${pictures} thumbnails that nobody asked for before`, unit: "ms", renders: DRAWN },
      values: seconds.map((each) => each * 1000),
      target: { kind: "most", value: 20 * pictures },
      note: `over ${CONNECTIONS} connections`,
    }),
    measurement({ name: "  one of them, processor time", unit: "ms", values: cpu }),
    measurement({
      ...{ name: "creates beside them, p99", unit: "ms", values: p99.beside },
      baseline: { name: "without them", values: p99.quiet },
      target: { kind: "mostRatio", value: 1.5 },
    }),
  ];
};

/** @returns how long it took until the last was there, in seconds */
async function readAll({ port }: Service, assets: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  const left = [...assets];
  const read = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      const answer = await fetch(`http://127.0.0.1:${port}/assets/${id}?w=${WIDTH}`);
      if (answer.headers.get("content-type") !== "image/webp")
        throw new Error(`A thumbnail was answered with ${answer.status} ${await answer.text()}`);
      await answer.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, read));
  return (performance.now() - startedAt) / 1000;
}

/** A folder whose tasks have a picture each that is like no other. */
async function withPictures(folder: DataFolder, count: number) {
  const service = await startService(folder);
  const template = await createTask(service, { ...ORDINARY, size: "1024x1024", sandbox: { delay_ms: 0 } });
  const status = await readStatus(service, template, 60);
  await service.stop();
  if (status !== "completed") throw new Error(`The picture's task is ${status}.`);
  seedFinishedTasks(folder.database, { template, count, sample: 1 });
  const db = new Database(folder.database, { readwrite: true, strict: true });
  try {
    const rows = db
      .query<{ number: number; id: string; sha256: string }, [string]>(
        `select asset.number, asset.id, lower(hex(sha256)) as sha256 from asset
         where role = 'output' and sha256 = (select sha256 from asset where task_number = (select number from task where id = ?))`,
      )
      .all(template);
    const original = readFileSync(pathOf(folder, rows[0]?.sha256 ?? ""));
    const move = db.prepare("update asset set sha256 = ?, size_bytes = ? where number = ?");
    db.transaction(() => {
      for (const { number } of rows) {
        const picture = withText(original, String(number));
        const sha256 = new Bun.CryptoHasher("sha256").update(picture).digest();
        const path = pathOf(folder, sha256.toString("hex"));
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, picture);
        move.run(sha256, picture.length, number);
      }
    }).immediate();
    return { folder, assets: rows.slice(0, count).map(({ id }) => id) };
  } finally {
    db.close();
  }
}

function pathOf({ path }: DataFolder, sha256: string): string {
  return join(path, "assets/sha256", sha256.slice(0, 2), sha256);
}

/** The same PNG with a text in it: equal pixels, another content. */
function withText(png: Buffer, text: string): Buffer {
  const END_BYTES = 12;
  const content = Buffer.from(`tEXtnumber\0${text}`, "latin1");
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length - 4);
  check.writeUInt32BE(crc32(content));
  const chunk = Buffer.concat([length, content, check]);
  return Buffer.concat([png.subarray(0, -END_BYTES), chunk, png.subarray(-END_BYTES)]);
}
