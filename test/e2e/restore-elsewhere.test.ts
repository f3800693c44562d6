import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment, emptyFolder, SVC, startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";

setDefaultTimeout(120_000);
afterAll(stopServers);

/** A machine of its own, as far as the network and processes go: all of these end with the first. */
const ISOLATED = "unshare --net --mount --pid --fork --mount-proc --kill-child=SIGKILL".split(" ");
const canIsolate =
  process.platform === "linux" &&
  ["unshare", "ip", "curl"].every((name) => Bun.which(name) !== null) &&
  Bun.spawnSync([...ISOLATED, "ip", "link", "set", "lo", "up"]).success;

/** What is done on the other machine, where nothing listens on any port: restore, check the books, serve, read. */
const THERE = `
ip link set lo up
svc db restore - --data-dir ./restored 2>&1 <svc.tar
svc audit --data-dir ./restored --field adds_up
svc serve --data-dir ./restored --port 8787 >serve.log 2>&1 &
until curl -sf -o ready.json http://127.0.0.1:8787/readyz; do sleep 0.05; done
cat ready.json; echo
curl -s -H "Authorization: Bearer $SVC_API_KEY" "http://127.0.0.1:8787/v1/images/status/$TASK" | grep -o '"status":"[a-z]*"'
curl -s "http://127.0.0.1:8787$ASSET" | sha256sum
svc task submit --server http://127.0.0.1:8787 --model sandbox-image --prompt "a fox" --wait --field status
`;

test.skipIf(!canIsolate)(
  "a backup that is piped to another machine is restored there, and serves (needs root on Linux)",
  async () => {
    const server = await startServer();
    const api = createApi(server.url, server.firstKey());
    const image = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };
    const { task_id: id, result } = await api.make(image);
    const url = String((result as string[])[0]);
    const sha256 = new Bun.CryptoHasher("sha256").update(await (await fetch(url)).bytes()).digest("hex");
    const elsewhere = emptyFolder("elsewhere");
    const backup = Bun.spawn([SVC, "db", "backup", "-", "--data-dir", server.dataDir], {
      ...{ cwd: emptyFolder("command"), env: cleanEnvironment() },
      ...{ stdout: Bun.file(join(elsewhere, "svc.tar")), stderr: "ignore" },
    });
    expect(await backup.exited).toBe(0);
    await server.stop();

    symlinkSync(SVC, join(elsewhere, "svc"));
    const env = {
      PATH: `${elsewhere}:${process.env.PATH}`,
      ...{ SVC_API_KEY: server.firstKey(), TASK: String(id), ASSET: new URL(url).pathname },
    };
    const child = Bun.spawn([...ISOLATED, "sh", "-c", THERE], {
      ...{ cwd: elsewhere, env: cleanEnvironment(env), timeout: 50_000 },
      ...({ stdout: "pipe", stderr: "pipe" } as const),
    });
    const said = await child.stdout.text();
    expect(said).toContain("Everything later is not in it.");
    expect(said.split("\n").slice(-6)).toEqual([
      ...["true", '{"status":"ready"}', '"status":"completed"', `${sha256}  -`, "completed", ""],
    ]);
  },
);
