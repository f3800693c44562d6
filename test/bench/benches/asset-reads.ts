import { Database } from "bun:sqlite";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { startBaseline } from "../baselines/baseline.ts";
import { type LoadPlan, requestText } from "../load/plan.ts";
import { measureRate, type RateSubject, rateMeasurement } from "../run/rate.ts";
import type { Measurement, Target } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import { copyDataFolder, type DataFolder, startService } from "../run/service.ts";
import { interleave } from "../run/statistics.ts";
import type { Bench, BenchContext } from "./bench.ts";

const CLIENTS = 16;
const KB = 1_000;
/** More than the service keeps in memory. */
const MANY = 400;

/** A stored file, by its path on both servers. */
interface StoredCopy {
  readonly bare: string;
  readonly svc: string;
  readonly sha256: string;
}

/** Requests of one kind, and how they are answered. */
interface Reading {
  readonly name: string;
  readonly files: (stored: Stored) => readonly StoredCopy[];
  readonly method?: "HEAD";
  readonly headers?: (file: StoredCopy) => Readonly<Record<string, string>>;
  readonly answer?: LoadPlan["answer"];
  readonly perRound: number;
  readonly target?: Target;
}

interface Stored {
  readonly small: StoredCopy;
  readonly large: StoredCopy;
  readonly many: readonly StoredCopy[];
}

const READINGS: readonly Reading[] = [
  {
    name: "100 KB",
    files: ({ small }) => [small],
    perRound: 8_000,
    target: { kind: "leastRatio", value: 0.8 },
  },
  { name: `100 KB, ${MANY} files in turn`, files: ({ many }) => many, perRound: 8_000 },
  {
    name: "5 MB",
    files: ({ large }) => [large],
    perRound: 240,
    target: { kind: "leastRatio", value: 0.95 },
  },
  {
    name: "64 KB of 5 MB",
    files: ({ large }) => [large],
    headers: () => ({ Range: "bytes=2000000-2065535" }),
    answer: { status: 206, hasBody: true },
    perRound: 8_000,
    target: { kind: "leastRatio", value: 0.8 },
  },
  {
    name: "HEAD",
    files: ({ small }) => [small],
    method: "HEAD",
    answer: { status: 200, hasBody: false },
    perRound: 16_000,
    target: { kind: "leastRatio", value: 0.8 },
  },
  {
    name: "304",
    files: ({ small }) => [small],
    headers: ({ sha256 }) => ({ "If-None-Match": `"${sha256}"` }),
    answer: { status: 304, hasBody: false },
    perRound: 16_000,
  },
];

/** Downloads of stored files, beside Bun.serve with Bun.file. */
export const assetReads: Bench = async (context) => {
  await using resources = new Resources();
  const { folder, directory, stored } = storeAssets(context);
  const service = await resources.open(startService(folder));
  const bare = await resources.open(startBaseline({ mode: "file", directory }));
  const measurements: Measurement[] = [];
  for (const reading of READINGS) {
    const { name, perRound, target, answer } = reading;
    const count = context.scaled(perRound);
    const subjectOf = (server: RateSubject["server"], on: "bare" | "svc"): RateSubject => ({
      server,
      requests: requestsOf(reading, stored, on),
      connections: CLIENTS,
      ...(answer === undefined ? {} : { answer }),
    });
    const [plain, own] = [subjectOf(bare, "bare"), subjectOf(service, "svc")];
    for (const subject of [plain, own]) await measureRate(context.load, subject, count);
    const rates = await interleave(context.rounds, {
      plain: () => measureRate(context.load, plain, count),
      own: () => measureRate(context.load, own, count),
    });
    const baseline = { name: "Bun.serve with Bun.file", rates: rates.plain };
    measurements.push(rateMeasurement(`asset reads, ${name}`, rates.own, baseline, { target }));
  }
  return measurements;
};

function requestsOf({ files, method, headers }: Reading, stored: Stored, on: "bare" | "svc") {
  return files(stored).map((file) =>
    requestText({
      method: method ?? "GET",
      path: file[on],
      ...(headers === undefined ? {} : { headers: headers(file) }),
    }),
  );
}

function storeAssets(context: BenchContext) {
  const folder = copyDataFolder(context.folder, join(context.workspace, "svc"));
  const directory = join(context.workspace, "files");
  mkdirSync(directory, { recursive: true });
  let number = 0;
  const store = (sizeBytes: number): StoredCopy => {
    const content = Buffer.alloc(sizeBytes, crypto.getRandomValues(Buffer.alloc(65_536)));
    const name = `${number}.png`;
    writeFileSync(join(directory, name), content);
    return { bare: `/${name}`, ...storeAsset(folder, context.template, content, number++) };
  };
  const stored = {
    small: store(100 * KB),
    large: store(5_000 * KB),
    many: Array.from({ length: MANY }, () => store(100 * KB)),
  };
  return { folder, directory, stored };
}

/** Puts a file and its row where the service would have; its content is never decoded when it is read. */
function storeAsset(folder: DataFolder, template: string, content: Buffer, number: number) {
  const sha256 = new Bun.CryptoHasher("sha256").update(content).digest("hex");
  const path = join(folder.path, "assets", "sha256", sha256.slice(0, 2), sha256);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  using db = new Database(folder.database, { readwrite: true, strict: true });
  const row = db
    .query<Record<string, string | number | null | Uint8Array>, [string]>(
      "select * from asset where task_number = (select number from task where id = ?)",
    )
    .get(template);
  if (row === null) throw new Error(`${template} has no asset to copy.`);
  const own = String(row.id);
  const end = String(number).padStart(3, "0");
  // One of a thousand ends like the one that is copied.
  const id = `${own.slice(0, -3)}${own.endsWith(end) ? "zzz" : end}`;
  const stored = Buffer.from(sha256, "hex");
  const copy = {
    ...row,
    number: null,
    id,
    sha256: stored,
    size_bytes: content.length,
    position: 100 + number,
  };
  const columns = Object.keys(copy);
  db.query(
    `insert into asset (${columns.join(", ")}) values (${columns.map((name) => `:${name}`).join(", ")})`,
  ).run(copy);
  return { svc: `/assets/${id}.png`, sha256 };
}
