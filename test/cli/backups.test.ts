import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type FakeS3, KEYS, startFakeS3 } from "../helpers/fake-s3.ts";
import { emptyFolder, svc } from "./support.ts";

let s3: FakeS3;
let cwd: string;
beforeAll(async () => {
  s3 = await startFakeS3();
  cwd = emptyFolder();
  expect((await svc(["migrate"], { cwd })).exitCode).toBe(0);
});
afterAll(() => s3.stop());

const inBucket = () => ({
  AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
  SVC_BACKUP_ENDPOINT: s3.endpoint,
  SVC_BACKUP_REGION: s3.region,
  SVC_BACKUP_TO: "s3://media/backups",
});

test.each([
  ["a folder", () => ({})],
  ["a bucket", inBucket],
])("backups in %s are listed, newest first, and what was cut off is not", async (_, envOf) => {
  const env: Record<string, string> = envOf();
  const place = env.SVC_BACKUP_TO ?? join(cwd, "backups");
  for (let i = 0; i < 2; i++) expect((await svc(["db", "backup", place], { cwd, env })).exitCode).toBe(0);
  if (env.SVC_BACKUP_TO === undefined) mkdirSync(join(place, "2026-01-01T00-00-00Z.part"));
  const listed = JSON.parse((await svc(["db", "backups", place, "--json"], { cwd, env })).stdout);
  expect(listed.place).toBe(place);
  const times: number[] = listed.backups.map(({ made_at }: { made_at: number }) => made_at);
  expect(times).toHaveLength(2);
  expect(times[0]).toBeGreaterThanOrEqual(times[1] ?? 0);
  const { stdout } = await svc(["db", "backups", ...(env.SVC_BACKUP_TO ? [] : [place])], { cwd, env });
  expect(stdout.split("\n").map((line) => line.split("\t")[0])).toEqual([
    ...listed.backups.map(({ name }: { name: string }) => name),
    "",
  ]);
});

test("a place that there is not, and none at all, are refused; one without backups says so", async () => {
  const none = await svc(["db", "backups"], { cwd });
  expect([none.exitCode, none.stderr]).toEqual([2, expect.stringContaining("backup.to")]);
  const missing = await svc(["db", "backups", "./nowhere"], { cwd });
  expect([missing.exitCode, missing.stderr]).toEqual([1, expect.stringContaining("nowhere")]);
  const empty = emptyFolder();
  const { exitCode, stdout, stderr } = await svc(["db", "backups", empty], { cwd });
  expect([exitCode, stdout, stderr]).toEqual([0, "", expect.stringContaining("no whole backup")]);
});
