import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Server, startServer, stopServers } from "../../helpers/server.ts";
import { type Api, createApi } from "../support/api.ts";
import { prepaidKey } from "../support/command.ts";
import { readDatabase } from "../support/database.ts";
import { type HangingHost, openHangingHost, openReceiver } from "../support/receivers.ts";
import { openSlowSource } from "../support/slow-source.ts";

setDefaultTimeout(120_000);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "1x1", sandbox: { delay_ms: 0 } };
const SERVE = ["--egress-allow", "127.0.0.0/8"] as const;
const CREATES_AT_ONCE = 16;
const CREDIT = "100.00";

const opened: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.stop();
  await stopServers();
});

function opening<T extends { stop(): unknown }>(resource: T): T {
  opened.push(resource);
  return resource;
}

const hanging = (count: number) => Array.from({ length: count }, () => opening(openHangingHost()));
const openOf = (hosts: readonly HangingHost[]) => hosts.reduce((sum, host) => sum + host.open(), 0);
const endedOf = (hosts: readonly HangingHost[]) => hosts.reduce((sum, host) => sum + host.ended(), 0);

async function start(args: readonly string[] = []): Promise<{ server: Server; api: Api }> {
  const server = await startServer({ args: [...SERVE, ...args] });
  return { server, api: createApi(server.url, server.firstKey()) };
}

/** Another account. */
async function openAccount(server: Server, name: string): Promise<Api> {
  return createApi(server.url, await prepaidKey(server.dataDir, name, CREDIT));
}

/** Makes so many tasks with a callback to each of the hosts, and returns when all have ended. */
async function owe(api: Api, hosts: readonly HangingHost[], each: number): Promise<void> {
  const urls = hosts.flatMap(({ url }) => Array.from({ length: each }, () => url));
  const worker = async () => {
    for (let url = urls.pop(); url !== undefined; url = urls.pop()) {
      const response = await fetch(`${api.url}/v1/images/generations`, {
        method: "POST",
        headers: { Authorization: `Bearer ${api.key}`, "Content-Type": "application/json" },
        body: JSON.stringify({ ...IMAGE, callback_url: url }),
      });
      if (response.status !== 200)
        throw new Error(`Not accepted: ${response.status} ${await response.text()}`);
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: CREATES_AT_ONCE }, worker));
}

async function untilEnded(server: Server, count: number): Promise<void> {
  const sql = "SELECT count(*) AS callbacks FROM callback";
  while ((readDatabase<{ callbacks: number }>(server.dataDir, sql)[0]?.callbacks ?? 0) < count)
    await Bun.sleep(20);
}

describe("a thousand callbacks to a host that never answers", () => {
  test("hold up none to other hosts, and take four connections", async () => {
    const { server, api } = await start();
    const [host] = hanging(1) as [HangingHost];
    await owe(api, [host], 1_000);
    await untilEnded(server, 1_000);
    // Four new ones begin now, and stay for ten seconds.
    const before = host.ended();
    host.drop(4);
    await host.until(() => host.ended() >= before + 4 && host.open() === 4);
    const ended = host.ended();
    const good = ["127.0.0.1", "127.0.0.2"].map((hostname) => opening(openReceiver({ hostname })));
    for (const { url } of good)
      await Promise.all(Array.from({ length: 10 }, () => api.accept({ ...IMAGE, callback_url: url })));
    for (const receiver of good) await receiver.received(10);
    // They had not waited for a send to it: each lasts ten seconds.
    expect(host.ended()).toBe(ended);
    expect(host.most()).toBe(4);
  });
});

describe("an account with a hundred hosts that never answer", () => {
  test("has as many sends at once as an account may have, and holds up no other account", async () => {
    const { server, api } = await start();
    const hosts = hanging(100);
    await owe(await openAccount(server, "hostile"), hosts, 3);
    while (openOf(hosts) < 64) await Bun.sleep(5);
    const receiver = opening(openReceiver());
    await Promise.all(Array.from({ length: 5 }, () => api.accept({ ...IMAGE, callback_url: receiver.url })));
    await receiver.received(5);
    expect(openOf(hosts)).toBe(64);
    expect(endedOf(hosts)).toBe(0);
  });

  test("leaves a task of another account its inputs, also when four such accounts have every send there is", async () => {
    const hosts = hanging(4 * 16);
    const earlier = await start(["--callbacks-concurrency", "1"]);
    const accounts = await Promise.all(
      [1, 2, 3, 4].map((number) => openAccount(earlier.server, `hostile-${number}`)),
    );
    for (const [index, account] of accounts.entries())
      await owe(account, hosts.slice(index * 16, index * 16 + 16), 6);
    await untilEnded(earlier.server, accounts.length * 16 * 6);
    earlier.server.signal("SIGKILL");
    await earlier.server.exited;
    // All are due at once now, so that they are under way together however slow the machine is.
    const { folder, dataDir } = earlier.server;
    const server = await startServer({ folder, dataDir, args: [...SERVE] });
    const api = createApi(server.url, server.firstKey());
    while (openOf(hosts) < 256) await Bun.sleep(5);
    const ended = endedOf(hosts);
    const source = opening(await openSlowSource());
    source.release();
    const task = await api.make({ ...IMAGE, image_url: source.url });
    expect(task.status).toBe("completed");
    expect(endedOf(hosts)).toBe(ended);
  });
});

describe("where three accounts take every send there is", () => {
  test("a fourth gets one within a turn of each", async () => {
    const { server } = await start(["--callbacks-concurrency", "8"]);
    const hosts = hanging(3);
    const accounts = await Promise.all([1, 2, 3].map((number) => openAccount(server, `hostile-${number}`)));
    for (const [index, account] of accounts.entries()) await owe(account, hosts.slice(index, index + 1), 20);
    while (openOf(hosts) < 8) await Bun.sleep(5);
    await untilEnded(server, 60);
    // The youngest, whom any order but that of turns would leave for last.
    const late = await openAccount(server, "late");
    const receiver = opening(openReceiver());
    const { task_id } = await late.make({ ...IMAGE, callback_url: receiver.url });
    let freed = 0;
    const isHere = () => receiver.posts.length > 0;
    for (; !isHere() && freed < 8; freed++) {
      const busiest = hosts.toSorted((a, b) => b.open() - a.open())[0];
      const ended = endedOf(hosts);
      busiest?.drop(1);
      // The place goes to somebody: to the one that waits, or again to one of the three.
      while (!isHere() && (endedOf(hosts) === ended || openOf(hosts) < 8)) await Bun.sleep(5);
    }
    expect(receiver.posts.map(({ body }) => body.task_id)).toEqual([task_id]);
    expect(freed).toBeLessThanOrEqual(4);
    expect(Math.max(...hosts.map((host) => host.most()))).toBeLessThanOrEqual(4);
  });
});
