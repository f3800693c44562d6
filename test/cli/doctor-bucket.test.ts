import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Finding } from "../../src/app/doctor/finding.ts";
import { type FakeS3, KEYS, startFakeS3 } from "../helpers/fake-s3.ts";
import { emptyFolder, svc } from "./support.ts";

setDefaultTimeout(60_000);

let s3: FakeS3;
let cwd: string;
let aheadMs = 0;
beforeEach(async () => {
  aheadMs = 0;
  s3 = await startFakeS3({ now: () => Date.now() + aheadMs });
  cwd = emptyFolder();
  expect((await svc(["migrate"], { cwd })).exitCode).toBe(0);
});
afterEach(() => s3.stop());

type Env = Readonly<Record<string, string>>;
const keys = { AWS_ACCESS_KEY_ID: KEYS.accessKeyId, AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey };
const bucket = (): Env => ({
  ...keys,
  SVC_ASSETS_BUCKET: "media",
  SVC_ASSETS_PREFIX: "svc",
  SVC_ASSETS_ENDPOINT: s3.endpoint,
  SVC_ASSETS_REGION: s3.region,
});
const inFolder = (): Env => ({ SVC_BACKUP_EVERY: "1d", SVC_BACKUP_TO: join(cwd, "backups") });
const inBucket = (): Env => ({
  ...keys,
  SVC_BACKUP_EVERY: "1d",
  SVC_BACKUP_TO: "s3://media/backups",
  SVC_BACKUP_ENDPOINT: s3.endpoint,
  SVC_BACKUP_REGION: s3.region,
});

async function doctor(env: Env): Promise<(Omit<Finding, "fix"> & { fix: string | null })[]> {
  return JSON.parse((await svc(["doctor", "--json"], { cwd, env })).stdout).checks;
}

async function run(env: Env, ...args: string[]): Promise<void> {
  const { exitCode, stderr } = await svc(args, { cwd, env });
  if (exitCode !== 0) throw new Error(`svc ${args.join(" ")}: ${stderr}`);
}

const backup = (env: Env): Promise<void> => run(env, "db", "backup", env.SVC_BACKUP_TO ?? "");
/** Runs a fix that is a command of ours, up to the comment behind it. */
const runFix = (env: Env, fix: string) =>
  run(env, ...(fix.split("   #")[0] ?? "").replaceAll("'", "").split(" ").slice(1));
const deny = (operation: string) => () => {
  s3.fault = (request) =>
    request.operation === operation ? { status: 403, code: "AccessDenied" } : undefined;
};
const otherOwner = (prefix: string) => {
  const owner = { format: "svc-owner", folder: "folder_x", host: "h", path: "/srv/other", at: "2026" };
  const bytes = Buffer.from(JSON.stringify(owner));
  s3.objects.set(`${prefix}owner.json`, { bytes, etag: '"o"', checksum: undefined, storedAt: 0, type: "" });
};

interface Broken {
  readonly id: string;
  readonly status?: "warn";
  readonly env?: () => Env;
  readonly set?: (env: Env) => unknown;
  readonly message?: RegExp;
  readonly fix: RegExp;
  /** Does what the fix says. @returns the variables then, an object where they are others */
  readonly mend?: (env: Env, fix: string) => unknown;
}

const allow = () => {
  s3.fault = () => undefined;
};

const BROKEN: Readonly<Record<string, Broken>> = {
  "a bucket without keys": {
    id: "bucket",
    env: () => ({ ...bucket(), AWS_SECRET_ACCESS_KEY: "" }),
    fix: /^export AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=…$/,
    mend: () => bucket(),
  },
  "a key that nobody knows": {
    id: "bucket",
    env: () => ({ ...bucket(), AWS_ACCESS_KEY_ID: "SOMEBODY" }),
    fix: /^export AWS_ACCESS_KEY_ID=… /,
    mend: () => bucket(),
  },
  "a secret with a typing error": {
    id: "bucket",
    env: () => ({ ...bucket(), AWS_SECRET_ACCESS_KEY: "wrong" }),
    fix: /^export AWS_SECRET_ACCESS_KEY=… .*AWS_ACCESS_KEY_ID$/,
    mend: () => bucket(),
  },
  "another region": {
    id: "bucket",
    env: () => ({ ...bucket(), SVC_ASSETS_REGION: "eu-elsewhere-1" }),
    fix: /^assets\.region: eu-test-1$/,
    mend: (env, fix) => ({ ...env, SVC_ASSETS_REGION: fix.split(": ")[1] ?? "" }),
  },
  "a bucket that is not there": {
    id: "bucket",
    set: () => {
      s3.hasBucket = false;
    },
    fix: /^Make the bucket media, or change assets\.bucket /,
    mend: () => {
      s3.hasBucket = true;
    },
  },
  "a service that does not answer": {
    id: "bucket",
    env: () => ({ ...bucket(), SVC_ASSETS_ENDPOINT: "http://127.0.0.1:1" }),
    fix: /^See that http:\/\/127\.0\.0\.1:1 answers .*assets\.endpoint\.$/,
    mend: () => bucket(),
  },
  ...Object.fromEntries(
    [
      ["ListObjectsV2", "s3:ListBucket"],
      ["PutObject", "s3:PutObject"],
      ["GetObject", "s3:GetObject"],
      ["DeleteObject", "s3:DeleteObject"],
      ["ListMultipartUploads", "s3:ListBucketMultipartUploads"],
    ].map(([operation = "", action]): [string, Broken] => [
      `a key that may not ${operation}`,
      { id: "bucket", set: deny(operation), fix: new RegExp(`let this key do ${action} `), mend: allow },
    ]),
  ),
  "a clock that is an hour behind": {
    id: "bucket_clock",
    status: "warn",
    set: () => {
      aheadMs = 3_600_000;
    },
    message: /(3599|3600) s behind/,
    fix: /^timedatectl/,
    mend: () => {
      aheadMs = 0;
    },
  },
  "a service without conditions": {
    id: "bucket_conditions",
    status: "warn",
    set: () => {
      s3.lacks = ["condition"];
    },
    message: /does not know conditional writes/,
    fix: /^Give each data folder a prefix of its own/,
    mend: () => {
      s3.lacks = [];
    },
  },
  "uploads that nobody completed": {
    id: "bucket_uploads",
    status: "warn",
    set: () => {
      s3.uploads.set("u", { key: "svc/sha256/x", type: "", begunAt: 0, parts: new Map() });
    },
    message: /^1 uploads in parts .*1970-01-01/,
    fix: /^Start the server/,
    mend: () => void s3.uploads.clear(),
  },
  "the bucket of another data folder": {
    id: "bucket_owner",
    set: () => otherOwner("svc/"),
    message: /\/srv\/other of the host h/,
    fix: /^svc assets claim --data-dir \S+ --yes {3}# /,
    mend: runFix,
  },
  "a folder of backups that is not there": {
    id: "backup_place",
    env: inFolder,
    fix: /^mkdir -p -m 700 /,
    mend: () => void mkdirSync(join(cwd, "backups")),
  },
  "no backup yet": {
    id: "backups",
    status: "warn",
    env: inFolder,
    set: () => mkdirSync(join(cwd, "backups")),
    fix: /^svc db backup \S+ --keep 7 --data-dir /,
    mend: runFix,
  },
  "a newest backup of last month": {
    id: "backups",
    status: "warn",
    env: inFolder,
    async set(env) {
      await backup(env);
      const [name = ""] = readdirSync(join(cwd, "backups")).filter((each) => each.endsWith("Z"));
      renameSync(join(cwd, "backups", name), join(cwd, "backups/2026-01-01T00-00-00Z"));
    },
    message: /one is due every 1440/,
    fix: /^svc db backup /,
    mend: runFix,
  },
  "a newest backup that is damaged": {
    id: "backup_newest",
    env: inFolder,
    async set(env) {
      await backup(env);
      const [name = ""] = readdirSync(join(cwd, "backups")).filter((each) => each.endsWith("Z"));
      truncateSync(join(cwd, "backups", name, "data/svc.db"), 8192);
    },
    message: /svc\.db has other bytes/,
    fix: /^svc db check \S+ .*svc db backup/,
    mend: backup,
  },
  "a bucket of backups in another region": {
    id: "backup_bucket",
    env: () => ({ ...inBucket(), SVC_BACKUP_REGION: "elsewhere" }),
    fix: /^backup\.region: eu-test-1$/,
    mend: () => inBucket(),
  },
  "a bucket of backups that is another data folder's": {
    id: "backup_owner",
    env: inBucket,
    set: () => otherOwner("backups/"),
    fix: /^svc db backup s3:\/\/media\/backups --claim --data-dir \S+ {3}# /,
    mend: runFix,
  },
  "no backup in the bucket": {
    id: "backups",
    status: "warn",
    env: inBucket,
    fix: /^svc db backup s3:\/\/media\/backups --keep 7 --data-dir /,
    mend: runFix,
  },
  "a backup in the bucket without its database": {
    id: "backup_newest",
    env: inBucket,
    async set(env) {
      await backup(env);
      for (const key of s3.objects.keys()) if (key.includes("/files/")) s3.objects.delete(key);
    },
    message: /svc\.db is not there/,
    fix: /^svc db check s3:\/\/media\/backups /,
    // The second of the same second has a name of its own.
    mend: backup,
  },
};

describe("svc doctor finds", () => {
  test.each(Object.entries(BROKEN))("%s, and the fix is true", async (_, broken) => {
    const { id, status = "error", message = /./, fix, set, mend } = broken;
    const env = (broken.env ?? bucket)();
    await set?.(env);
    const found = (await doctor(env)).filter((each) => each.id === id && each.status !== "ok");
    expect(found).toEqual([
      { id, status, message: expect.stringMatching(message), fix: expect.stringMatching(fix) },
    ]);
    expect(JSON.stringify(found)).not.toContain(KEYS.secretAccessKey);
    const after = ((await mend?.(env, found[0]?.fix ?? "")) as Env | undefined) ?? env;
    const looked = (await doctor(after)).filter((each) => each.id === id);
    expect(looked.map((each) => each.status)).toEqual(["ok"]);
    expect([...s3.objects.keys()].filter((key) => key.includes("svc-doctor-"))).toEqual(
      _.includes("DeleteObject") ? [expect.any(String)] : [],
    );
  });
});

test("looking gives a data folder no id, and a bucket no owner", async () => {
  const checks = await doctor(bucket());
  expect(checks.filter(({ id, status }) => id.startsWith("bucket") && status !== "ok")).toEqual([]);
  expect(readdirSync(join(cwd, "svc-data")).sort()).not.toContain("folder.id");
  expect(s3.objects.size).toBe(0);
  rmSync(join(cwd, "svc-data"), { recursive: true });
  writeFileSync(join(cwd, "note"), "");
  await doctor({ ...bucket(), ...inFolder() });
  expect(readdirSync(cwd)).toEqual(["note"]);
});
