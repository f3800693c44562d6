import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { GONE_AFTER_MS } from "../../src/domain/ports/node-store.ts";
import { KEYS, type S3Request } from "../helpers/fake-s3.ts";
import {
  cleanEnvironment,
  emptyFolder,
  type Server,
  SVC,
  spawnServer,
  startServer,
} from "../helpers/server.ts";
import { HAS_POSTGRES } from "../moving/database-servers.ts";
import { createApi } from "./support/api.ts";
import { svc, svcJson } from "./support/command.ts";
import { usePostgresAndBucket } from "./support/postgres-and-bucket.ts";

setDefaultTimeout(120_000);

const SECRET_KEY = "k".repeat(43);
const PICTURES = 8;
const picture = { model: "sandbox-image", size: "64x64", sandbox: { delay_ms: 0 } };

describe.skipIf(!HAS_POSTGRES)("a data folder and its files", () => {
  const given = usePostgresAndBucket();

  /** How the bucket is reached; which one it is, a place names. */
  const reach = () => ({
    ...{
      SVC_SECRET_KEY: SECRET_KEY,
      SVC_ASSETS_ENDPOINT: given.s3.endpoint,
      SVC_ASSETS_REGION: given.s3.region,
    },
    ...{ SVC_ASSETS_KEY_ENV: "BUCKET_ID,BUCKET_SECRET" },
    ...{ BUCKET_ID: KEYS.accessKeyId, BUCKET_SECRET: KEYS.secretAccessKey },
  });
  const inBucket = () => ({ ...reach(), SVC_ASSETS_BUCKET: "media", SVC_ASSETS_PREFIX: "svc" });
  const stored = () => [...given.s3.objects.keys()].filter((key) => key.startsWith("svc/sha256/")).sort();

  /** Runs a command, and kills it when so many requests of a kind have come to the bucket. */
  async function killedAt(
    count: number,
    isCounted: (request: S3Request) => boolean,
    args: string[],
    env: object,
  ) {
    const child = Bun.spawn([SVC, ...args], {
      env: cleanEnvironment({ ...env }),
      stdout: "ignore",
      stderr: "ignore",
    });
    let seen = 0;
    given.s3.fault = (request) => {
      if (isCounted(request) && ++seen === count) child.kill("SIGKILL");
      return undefined;
    };
    await child.exited;
    given.s3.fault = () => undefined;
    expect(child.signalCode).toBe("SIGKILL");
  }

  /** What the audit says, without where it looked. */
  async function audited(args: readonly string[], env: Record<string, string>) {
    const {
      data_dir: _,
      database: __,
      ...report
    } = (await svcJson(["audit", "--local", ...args], { env })) as Record<string, unknown>;
    return report;
  }

  /** Resolves once no node counts as there, the one that was killed included. */
  async function untilAlone(url: string): Promise<void> {
    const sql = new SQL({ url, max: 1 });
    const seen = `select 1 from node where seen_at > extract(epoch from clock_timestamp()) * 1000 - ${GONE_AFTER_MS}`;
    while ((await sql.unsafe(seen)).length > 0) await Bun.sleep(100);
    await sql.close();
  }

  async function madeIn(server: Server) {
    const api = createApi(server.url, server.firstKey());
    const urls: string[] = [];
    for (let i = 0; i < PICTURES; i++) {
      const { result = [] } = await api.make({ ...picture, prompt: `picture ${i}` });
      urls.push(...result.map((url) => new URL(url).pathname));
    }
    const slow = await api.accept({ ...picture, prompt: "slow", sandbox: { delay_ms: 6_000 } });
    return { urls, slow };
  }

  /** Whether every picture is there and is what it was. */
  async function hashes(server: Server, paths: readonly string[]): Promise<string[]> {
    return Promise.all(
      paths.map(async (path) => {
        const answer = await fetch(server.url + path);
        return answer.status === 200
          ? new Bun.CryptoHasher("sha256").update(await answer.bytes()).digest("hex")
          : String(answer.status);
      }),
    );
  }

  test("go to PostgreSQL and a bucket with work under way, past two kills, are served by nodes of which one dies, and come back", async () => {
    const url = await given.postgres.newDatabase();
    const one = await startServer({ env: reach() });
    const { dataDir } = one;
    const key = one.firstKey();
    const { urls, slow } = await madeIn(one);
    const before = await hashes(one, urls);
    await one.stop();
    const books = await audited(["--data-dir", dataDir], reach());

    const there = ["db", "move", "--to", url, "--assets", "s3://media/svc", "--data-dir", dataDir];
    const isStored = ({ operation, key }: S3Request) => operation === "PutObject" && key.includes("sha256/");
    await killedAt(3, isStored, there, reach());
    expect(stored().length).toBeLessThan(PICTURES);
    // The folder is served again until a move has ended. No node begins on a half-moved database.
    const early = spawnServer({ env: { ...inBucket(), SVC_DATABASE: url, SVC_ASSETS_STORE: "s3" } });
    expect(await early.exited).not.toBe(0);
    await killedAt(1, isStored, there, reach());
    const moved = (await svcJson(there, { env: reach() })) as { files: object; differences: number };
    expect(moved).toMatchObject({ differences: 0, files: { files: PICTURES, damaged: [] } });
    expect(stored()).toEqual(before.map((sha256) => `svc/sha256/${sha256}`).sort());
    expect(await audited([], { ...inBucket(), SVC_DATABASE: url })).toEqual(books);
    expect((await svc(there, { env: reach() })).stderr).toContain("was moved to 127.0.0.1:");

    const node = (role: string) => ({
      env: {
        ...inBucket(),
        SVC_DATABASE: url,
        SVC_ASSETS_STORE: "s3",
        SVC_ROLE: role,
        SVC_SCHEDULER_LEASE_SECONDS: "2",
      },
    });
    const ready = async (server: Server) => {
      while ((await fetch(`${server.url}/readyz`).catch(() => undefined))?.status !== 200) {
        if (server.hasExited()) throw new Error(server.stderr());
        await Bun.sleep(20);
      }
      return server;
    };
    const worker = await ready(spawnServer(node("worker")));
    const api = await ready(spawnServer(node("api")));
    const client = createApi(api.url, key);
    await client.underWay(slow);
    process.kill(worker.pid, "SIGKILL");
    const second = await ready(spawnServer(node("worker")));
    const { status, result = [] } = await client.wait(slow);
    expect(status).toBe("completed");
    const paths = [...urls, new URL(result[0] ?? "").pathname];
    const inNodes = await hashes(api, paths);
    expect(inNodes.slice(0, PICTURES)).toEqual(before);
    await Promise.all([api.stop(), second.stop()]);
    const booksThere = await audited([], { ...inBucket(), SVC_DATABASE: url });

    await untilAlone(url);
    const home = emptyFolder("home-again");
    const back = ["db", "move", "--to", home, "--assets", join(home, "assets")];
    const env = { ...inBucket(), SVC_DATABASE: url };
    await killedAt(4, ({ operation }) => operation === "GetObject", back, env);
    expect(await svcJson(back, { env })).toMatchObject({ differences: 0, files: { files: PICTURES + 1 } });
    expect(await audited(["--data-dir", home], reach())).toEqual(booksThere);
    const again = await ready(spawnServer({ dataDir: home, env: reach() }));
    expect(await hashes(again, paths)).toEqual(inNodes);
    await again.stop();
    expect(await svcJson(["assets", "verify", "--data-dir", home], { env: reach() })).toMatchObject({
      damaged: [],
    });
  });

  test("a bucket goes over from a folder to the database, and a folder to another; another's bucket is refused", async () => {
    const [url, other] = [await given.postgres.newDatabase(), await given.postgres.newDatabase()];
    const env = { ...reach(), SVC_ASSETS_BUCKET: "media", SVC_ASSETS_PREFIX: "own" };
    const one = await startServer({ env: { ...env, SVC_ASSETS_STORE: "s3" } });
    const { urls } = await madeIn(one);
    await one.stop();
    const there = (to: string) => ["db", "move", "--to", to, "--data-dir", one.dataDir, "--assets"];
    const elsewhere = await svc([...there(url), "s3://media/elsewhere"], { env });
    expect(elsewhere.exitCode).toBe(7);
    expect(elsewhere.stderr).toContain("The files are in another bucket.");
    expect(await svcJson([...there(url), "s3://media/own"], { env })).toMatchObject({ differences: 0 });
    const owner = () => JSON.parse(given.s3.objects.get("own/owner.json")?.bytes.toString() ?? "{}").folder;
    expect(owner()).toStartWith("database_");

    // Somebody else's bucket takes nothing.
    const two = await startServer({ env: reach() });
    await madeIn(two);
    await two.stop();
    const count = given.s3.objects.size;
    const taken = ["db", "move", "--to", other, "--data-dir", two.dataDir, "--assets", "s3://media/own"];
    const refused = await svc(taken, { env: reach() });
    expect(refused.stderr).toContain("belongs to");
    expect(given.s3.objects.size).toBe(count);
    const shared = emptyFolder("shared");
    const toFolder = ["db", "move", "--to", other, "--data-dir", two.dataDir, "--assets", shared];
    expect(await svcJson(toFolder, { env: reach() })).toMatchObject({ files: { files: PICTURES } });
    expect(readdirSync(join(shared, "sha256")).length).toBeGreaterThan(0);

    const node = spawnServer({ env: { ...env, SVC_ASSETS_STORE: "s3", SVC_DATABASE: url } });
    while ((await fetch(`${node.url}/readyz`).catch(() => undefined))?.status !== 200) await Bun.sleep(20);
    expect(await hashes(node, urls)).not.toContain("404");
    // Nodes remove by themselves what nobody needs: a command beside them would take what they are about to use.
    const unneeded = `own/sha256/${"0".repeat(64)}`;
    given.s3.objects.set(unneeded, {
      bytes: Buffer.from("x"),
      etag: '"x"',
      checksum: undefined,
      storedAt: 0,
      type: "image/png",
    });
    const gc = await svc(["assets", "gc", "--local", "--yes", "--data-dir", emptyFolder("desk")], {
      env: { ...env, SVC_DATABASE: url },
    });
    expect([gc.exitCode === 0, given.s3.objects.has(unneeded)]).toEqual([false, true]);
    expect(gc.stderr).toContain("serves the database");
    await node.stop();
  });
});
