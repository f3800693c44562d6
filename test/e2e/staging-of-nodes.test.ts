import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { KEYS } from "../helpers/fake-s3.ts";
import { emptyFolder, type Server, spawnServer } from "../helpers/server.ts";
import { HAS_POSTGRES } from "../moving/database-servers.ts";
import { createApi } from "./support/api.ts";
import { usePostgresAndBucket } from "./support/postgres-and-bucket.ts";

setDefaultTimeout(120_000);

const HALF_AN_HOUR_SEC = 31 * 60;
const picture = { model: "sandbox-image", prompt: "a lighthouse", size: "64x64", sandbox: { delay_ms: 0 } };

describe.skipIf(!HAS_POSTGRES)("half-written files of nodes", () => {
  const given = usePostgresAndBucket();

  const shared = (url: string) => ({
    ...{ SVC_DATABASE: url, SVC_SECRET_KEY: "k".repeat(43), SVC_SCHEDULER_LEASE_SECONDS: "2" },
  });
  const inBucket = () => ({
    ...{ SVC_ASSETS_STORE: "s3", SVC_ASSETS_BUCKET: "media", SVC_ASSETS_PREFIX: "svc" },
    ...{ SVC_ASSETS_ENDPOINT: given.s3.endpoint, SVC_ASSETS_REGION: given.s3.region },
    ...{ AWS_ACCESS_KEY_ID: KEYS.accessKeyId, AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey },
  });

  async function node(
    env: Record<string, string>,
    dataDir = join(emptyFolder("node"), "svc-data"),
  ): Promise<Server> {
    const server = spawnServer({ env, dataDir });
    while ((await fetch(`${server.url}/readyz`).catch(() => undefined))?.status !== 200) {
      if (server.hasExited()) throw new Error(server.stderr());
      await Bun.sleep(20);
    }
    return server;
  }

  test("stay on the machine of a worker that dies while it sends one to the bucket, where nothing of it is left", async () => {
    const env = { ...shared(await given.postgres.newDatabase()), ...inBucket() };
    const api = await node({ ...env, SVC_ROLE: "api" });
    const worker = await node({ ...env, SVC_ROLE: "worker" });
    const isSending = Promise.withResolvers<void>();
    given.s3.fault = ({ operation, key }) => {
      if (operation !== "PutObject" || !key.includes("sha256/")) return undefined;
      isSending.resolve();
      return "silent";
    };
    const client = createApi(api.url, api.firstKey());
    const id = await client.accept(picture);
    await isSending.promise;
    worker.signal("SIGKILL");
    await worker.exited;
    given.s3.fault = () => undefined;
    const files = () => [...given.s3.objects.keys()].filter((key) => key.includes("sha256/"));
    expect(files()).toEqual([]);

    const second = await node({ ...env, SVC_ROLE: "worker" });
    const { status, result = [] } = await client.wait(id);
    expect([status, result.length]).toEqual(["completed", 1]);
    // The file of the result, and nothing else: neither a second one nor parts.
    expect([files().length, given.s3.uploads.size]).toEqual([1, 0]);
    expect([...given.s3.objects.keys()].filter((key) => !key.includes("sha256/"))).toEqual([
      "svc/owner.json",
    ]);
    // Nobody else has a folder for what is half-written there.
    const temporary = (server: Server) => join(server.dataDir, "assets", "tmp");
    const left = (server: Server) => (existsSync(temporary(server)) ? readdirSync(temporary(server)) : []);
    for (const server of [api, second]) expect(left(server)).toEqual([]);

    // Where the machine comes back, what it left goes once it is old; other nodes of the folder may be writing what is young.
    for (const name of left(worker)) agedBy(join(temporary(worker), name), HALF_AN_HOUR_SEC);
    const again = await node({ ...env, SVC_ROLE: "worker" }, worker.dataDir);
    expect(left(again)).toEqual([]);
    await Promise.all([api.stop(), second.stop(), again.stop()]);
  });

  test("in a folder that nodes share go when nobody wrote to them for half an hour, whoever left them", async () => {
    const media = emptyFolder("media");
    const env = { ...shared(await given.postgres.newDatabase()), SVC_ASSETS_PATH: media };
    const first = await node(env);
    await createApi(first.url, first.firstKey()).make(picture);
    const path = (name: string) => join(media, "tmp", name);
    const [left, inUse] = ["0", "1"].map((digit) => `asset_${digit.repeat(26)}`) as [string, string];
    for (const name of [left, inUse]) writeFileSync(path(name), "half");
    agedBy(path(left), HALF_AN_HOUR_SEC);
    const second = await node(env);
    expect(readdirSync(join(media, "tmp"))).toEqual([inUse]);
    await Promise.all([first.stop(), second.stop()]);
  });
});

function agedBy(path: string, seconds: number): void {
  const then = Date.now() / 1000 - seconds;
  utimesSync(path, then, then);
}
