import { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { svc } from "../e2e/support/command.ts";
import { type FakeS3, type Fault, KEYS, type S3Request, startFakeS3 } from "../helpers/fake-s3.ts";
import { inWords } from "../helpers/in-words.ts";
import { spawnServer } from "../helpers/server.ts";
import { createDice } from "./dice.ts";
import type { FileTally } from "./files.ts";
import { filesBelow } from "./files.ts";
import type { Findings } from "./findings.ts";
import { rehearse } from "./rehearsal.ts";
import type { FileStore } from "./run.ts";

/** Most pictures of a run are larger, and come in parts. */
const PART_BYTES = 2_048;
/** Of all requests. */
const FAULTY = 0.1;
const HOUR_MS = 3_600_000;
const SWEPT_WITHIN_MS = 20_000;
const SIZES = ["16x16", "64x64", "160x96", "256x256"] as const;

/** A run's bucket, and what went wrong with it. */
export interface BucketStore extends FileStore {
  readonly seen: {
    requests: number;
    /** Faults by their kind. */
    readonly faults: Map<string, number>;
    /** Objects that nobody referred to, and uploads that nobody completed, before the collector came. */
    unreferenced: number;
    uploads: number;
  };
  stop(): void;
}

/** A bucket of the strict stand-in, with a fault at every tenth call, as the seed decides. */
export async function openBucketStore(seed: number): Promise<BucketStore> {
  const dice = createDice(seed, "bucket");
  const s3 = await startFakeS3({ minPartBytes: PART_BYTES });
  const seen = { requests: 0, faults: new Map<string, number>(), unreferenced: 0, uploads: 0 };
  s3.fault = (request) => {
    seen.requests += 1;
    // They are kept for tests that look at them, and a run has many.
    s3.requests.length = 0;
    if (!dice.chance(FAULTY)) return undefined;
    const fault = faultFor(request, dice);
    const name = typeof fault === "string" ? fault : "status" in fault ? String(fault.status) : "slow";
    seen.faults.set(name, (seen.faults.get(name) ?? 0) + 1);
    return fault;
  };
  const env = {
    SVC_ASSETS_STORE: "s3",
    SVC_ASSETS_BUCKET: "media",
    SVC_ASSETS_PREFIX: "svc",
    SVC_ASSETS_ENDPOINT: s3.endpoint,
    SVC_ASSETS_REGION: s3.region,
    SVC_PART_BYTES: String(PART_BYTES),
    AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
  };
  return {
    ...{ seen, env },
    heal() {
      s3.fault = () => {
        s3.requests.length = 0;
        return undefined;
      };
    },
    async check(place, findings) {
      seen.uploads = s3.uploads.size;
      await collect(s3, env, place, findings);
      const tally = checkObjects(s3, place.dataDir, findings);
      seen.unreferenced = tally.unreferenced;
      const verified = await svc(["assets", "verify", "--json", "--data-dir", place.dataDir], {
        env: env,
      });
      findings.check(
        verified.exitCode === 0,
        () => `svc assets verify: ${verified.stdout}${verified.stderr}`,
      );
      return tally;
    },
    stop: s3.stop,
  };
}

function faultFor({ operation, key }: S3Request, dice: ReturnType<typeof createDice>): Fault {
  const isContent = /\/sha256\//.test(key) && ["PutObject", "UploadPart", "GetObject"].includes(operation);
  const kind = dice.pick(["500", "503", "slow", "broken", "answer lost", "cut", "flipped", "changed"]);
  switch (kind) {
    case "500":
      return { status: 500, code: "InternalError" };
    case "slow":
      return { delayMs: dice.between(50, 1_500) };
    case "broken":
    case "answer lost":
      return kind;
    case "cut":
      return operation === "GetObject" ? "cut" : "answer lost";
    case "flipped":
    case "changed":
      // Bytes that are no file's are guarded by TLS, and by nothing of this program.
      if (isContent && !(kind === "changed" && operation === "GetObject")) return kind;
      break;
  }
  return { status: 503, code: "SlowDown" };
}

/** Two hours pass for the bucket. Then the server gives unfinished uploads up, and the collector comes. */
async function collect(
  s3: FakeS3,
  env: FileStore["env"],
  place: { folder: string; dataDir: string; port: number },
  findings: Findings,
): Promise<void> {
  for (const object of s3.objects.values()) object.storedAt -= 2 * HOUR_MS;
  for (const upload of s3.uploads.values()) upload.begunAt -= 2 * HOUR_MS;
  const server = spawnServer({ ...place, env });
  await server.ready();
  const until = performance.now() + SWEPT_WITHIN_MS;
  while (s3.uploads.size > 0 && performance.now() < until) await Bun.sleep(50);
  findings.check(s3.uploads.size === 0, () => `${s3.uploads.size} uploads were never given up`);
  await server.stop();
  const gc = await svc(["assets", "gc", "--yes", "--json", "--data-dir", place.dataDir], { env });
  findings.check(gc.exitCode === 0, () => `svc assets gc: ${gc.stderr}`);
}

/** Each file that the database names is there and whole, and nothing else is. */
function checkObjects(s3: FakeS3, dataDir: string, findings: Findings): FileTally {
  using db = inWords(new Database(join(dataDir, "svc.db"), { readonly: true, strict: true }));
  const assets = db.query<{ sha256: string; size: number }, []>(
    "select distinct sha256, size_bytes as size from asset",
  );
  const named = new Map(assets.all().map(({ sha256, size }) => [sha256, size]));
  const referenced = named.size;
  let unreferenced = 0;
  let unreferencedBytes = 0;
  for (const [key, { bytes }] of s3.objects) {
    const name = /^svc\/sha256\/(.+)$/.exec(key)?.[1];
    if (key === "svc/owner.json") continue;
    const hash = createHash("sha256").update(bytes).digest("hex");
    findings.check(hash === name, () => `${key} holds other bytes than its name says`);
    if (named.delete(hash)) continue;
    unreferenced += 1;
    unreferencedBytes += bytes.length;
  }
  findings.check(
    named.size === 0,
    () => `${named.size} files are not there, the first ${[...named.keys()][0]}`,
  );
  findings.check(unreferenced === 0, () => `${unreferenced} objects are nobody's after the collector came`);
  const drafts = filesBelow(join(dataDir, "assets", "tmp"));
  findings.check(
    drafts.length === 0,
    () => `${drafts.length} temporary files are left, the first ${drafts[0]}`,
  );
  return { referenced, unreferenced, unreferencedBytes };
}

/** The usual tasks, with larger pictures among them. */
export const rehearseLarge: typeof rehearse = (dice, marker) => {
  const { body, ...rest } = rehearse(dice, marker);
  return { ...rest, body: "size" in body ? { ...body, size: dice.pick(SIZES) } : body };
};
