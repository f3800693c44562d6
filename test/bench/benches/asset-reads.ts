import { Database } from "bun:sqlite";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { startBaseline } from "../baselines/baseline.ts";
import { requestText } from "../load/plan.ts";
import { measureRate, type RateSubject, rateMeasurements } from "../run/rate.ts";
import type { Measurement } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import { copyDataFolder, type DataFolder, startService } from "../run/service.ts";
import { interleave } from "../run/statistics.ts";
import type { Bench } from "./bench.ts";

const CLIENTS = 16;
const SIZES = [
  { name: "100 KB", sizeBytes: 100_000, perRound: 8_000 },
  { name: "5 MB", sizeBytes: 5_000_000, perRound: 240 },
] as const;

/** Downloads of stored files, beside Bun.serve with Bun.file. */
export const assetReads: Bench = async (context) => {
  await using resources = new Resources();
  const folder = copyDataFolder(context.folder, join(context.workspace, "svc"));
  const directory = join(context.workspace, "files");
  mkdirSync(directory, { recursive: true });
  const files = SIZES.map(({ sizeBytes }, i) => {
    const bytes = crypto.getRandomValues(Buffer.alloc(65_536));
    const content = Buffer.alloc(sizeBytes, bytes);
    writeFileSync(join(directory, `${i}.png`), content);
    return { bare: `/${i}.png`, svc: storeAsset(folder, context.template, content, i) };
  });
  const service = await resources.open(startService(folder));
  const bare = await resources.open(startBaseline({ mode: "file", directory }));
  const measurements: Measurement[] = [];
  for (const [i, { name, perRound }] of SIZES.entries()) {
    const count = context.scaled(perRound);
    const subjectOf = (server: RateSubject["server"], path = ""): RateSubject => ({
      server,
      requests: [requestText({ method: "GET", path })],
      connections: CLIENTS,
    });
    const [plain, own] = [subjectOf(bare, files[i]?.bare), subjectOf(service, files[i]?.svc)];
    for (const subject of [plain, own]) await measureRate(context.load, subject, count);
    const rates = await interleave(context.rounds, {
      plain: () => measureRate(context.load, plain, count),
      own: () => measureRate(context.load, own, count),
    });
    const baseline = { name: "Bun.serve with Bun.file", rates: rates.plain };
    measurements.push(...rateMeasurements(`asset reads, ${name}`, rates.own, baseline));
  }
  return measurements;
};

/** Puts a file and its row where the service would have; its content is never decoded when it is read. @returns its path */
function storeAsset(folder: DataFolder, template: string, content: Buffer, number: number): string {
  const sha256 = new Bun.CryptoHasher("sha256").update(content).digest("hex");
  const path = join(folder.path, "assets", "sha256", sha256.slice(0, 2), sha256.slice(2, 4), sha256);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  using db = new Database(folder.database, { readwrite: true, strict: true });
  const row = db
    .query<Record<string, string | number | null>, [string]>("select * from asset where task_id = ?")
    .get(template);
  if (row === null) throw new Error(`${template} has no asset to copy.`);
  const id = `${String(row.id).slice(0, -1)}${number}`;
  const copy = { ...row, id, sha256, size_bytes: content.length, position: 100 + number };
  const columns = Object.keys(copy);
  db.query(
    `insert into asset (${columns.join(", ")}) values (${columns.map((name) => `:${name}`).join(", ")})`,
  ).run(copy);
  return `/assets/${id}.png`;
}
