import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  emptyFolder,
  type Server,
  type ServerOptions,
  SVC,
  spawnServer,
  startServer,
  stopServers,
} from "../helpers/server.ts";
import { type Answer, type Api, createApi } from "./support/api.ts";
import { readDatabase } from "./support/database.ts";
import { ALLOW_LOOPBACK, openSlowSource, type SlowSource } from "./support/slow-source.ts";
import { inTerminal } from "./support/terminal.ts";

setDefaultTimeout(120_000);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16" };

const sources: SlowSource[] = [];

afterAll(async () => {
  for (const source of sources.splice(0)) await source.stop();
  await stopServers();
});

async function start(options: ServerOptions = {}): Promise<{ server: Server; api: Api }> {
  const server = await startServer(options);
  return { server, api: createApi(server.url, server.firstKey()) };
}

/** A server with one task whose first step is under way and stays so until the source is released. */
async function startBusy(): Promise<{ server: Server; api: Api; source: SlowSource; id: string }> {
  const { server, api } = await start({ args: ALLOW_LOOPBACK });
  const source = await openSlowSource();
  sources.push(source);
  const id = await api.accept({ ...IMAGE, image_url: source.url, sandbox: { delay_ms: 0 } });
  await source.asked;
  return { server, api, source, id };
}

/** Creates until one is refused; those taken before count as accepted. */
async function untilRefused(api: Api, accepted: string[]): Promise<Answer> {
  for (let tries = 0; tries < 500; tries++) {
    const answer = await api.create({ ...IMAGE, sandbox: { delay_ms: 0 } });
    if (answer.status !== 200) return answer;
    accepted.push(answer.data.task_id ?? "");
  }
  throw new Error("Creates are still taken.");
}

describe("SIGTERM", () => {
  test.concurrent("refuses new tasks, answers reads, lets the step under way end, and exits with 0", async () => {
    const { server, api, source, id } = await startBusy();
    const accepted = [id];
    server.signal("SIGTERM");
    const refused = await untilRefused(api, accepted);
    expect([refused.status, refused.data.error_code]).toEqual([503, "service_unavailable"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await api.send("/readyz")).status).toBe(503);
    expect((await api.send("/healthz")).status).toBe(200);
    expect((await api.wait(id, "image", 0)).status).toMatch(/pending|processing/);
    source.release();
    expect(await server.exited).toBe(0);

    const again = await start({ folder: server.folder, port: server.port, args: ALLOW_LOOPBACK });
    for (const each of accepted) expect((await again.api.wait(each)).status).toBe("completed");
  });

  test.concurrent("leaves a task that is upstream to the next process, which completes it without asking for it again", async () => {
    const { server, api } = await start();
    const id = await api.accept({ ...IMAGE, sandbox: { delay_ms: 700 } });
    await api.underWay(id);
    server.signal("SIGTERM");
    expect(await server.exited).toBe(0);

    const next = await start({ folder: server.folder, port: server.port });
    expect((await next.api.wait(id)).status).toBe("completed");
    const operations = readDatabase(
      join(server.dataDir, "sandbox"),
      "SELECT task_id, submissions FROM operation",
      "upstream.db",
    );
    expect(operations).toEqual([{ task_id: id, submissions: 1 }]);
  });

  test.concurrent("answers whoever waits for a task at once, with what is", async () => {
    const { server, api } = await start();
    const id = await api.accept({ ...IMAGE, sandbox: { outcome: "hang" } });
    await api.underWay(id);
    const waiting = api.wait(id, "image", 60);
    // A second request on its way shows that the first has arrived.
    await api.wait(id, "image", 0);
    server.signal("SIGTERM");
    expect((await waiting).status).toBe("processing");
    expect(await server.exited).toBe(0);
  });

  test.concurrent("given twice ends it without waiting, and nothing accepted is lost", async () => {
    const { server, api, source, id } = await startBusy();
    const accepted = [id];
    server.signal("SIGTERM");
    await untilRefused(api, accepted);
    server.signal("SIGTERM");
    const exitCode = await server.exited;
    expect(exitCode).not.toBeNull();
    source.release();

    const again = await start({ folder: server.folder, port: server.port, args: ALLOW_LOOPBACK });
    for (const each of accepted) expect((await again.api.wait(each)).status).toBe("completed");
  });

  test.concurrent("under load ends in order: nobody's task is lost, nothing goes wrong in the log", async () => {
    const { server, api } = await start();
    const accepted: string[] = [];
    const clients = Array.from({ length: 4 }, () => untilRefused(api, accepted).catch(() => undefined));
    await api.make({ ...IMAGE, sandbox: { delay_ms: 100 } });
    server.signal("SIGTERM");
    expect(await server.exited).toBe(0);
    await Promise.all(clients);
    const lines = server.stderr().split("\n");
    expect(
      lines.filter((line) => /"level":"(?:warn|error)"/.test(line) && !line.includes('"status":503')),
    ).toEqual([]);

    const next = await start({ folder: server.folder, port: server.port });
    for (const id of accepted) expect((await next.api.wait(id)).status).toBe("completed");
  });

  test.concurrent("while it starts ends it quietly: with 0, or by the signal when it came too soon to be heard", async () => {
    const folder = emptyFolder();
    for (let afterMs = 20; afterMs < 80; afterMs += 5) {
      const server = spawnServer({ folder });
      await Bun.sleep(afterMs);
      server.signal("SIGTERM");
      const exitCode = await server.exited;
      expect({ afterMs, isQuiet: exitCode === 0 || exitCode === null }).toEqual({ afterMs, isQuiet: true });
      expect(server.stderr()).not.toMatch(/"level":"error"|^error:/m);
    }
  });

  test.concurrent("and SIGINT alike end an idle server quickly", async () => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      const { server } = await start();
      server.signal(signal);
      expect(await server.exited).toBe(0);
    }
  });
});

describe("a client that falls silent", () => {
  test.concurrent.each([
    ["in its headers", "POST /v1/images/generations HTTP/1.1\r\nHost: a\r\nContent-"],
    [
      "in its body",
      "POST /v1/images/generations HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{",
    ],
  ])(
    "%s does not keep the server from ending",
    async (_, bytes) => {
      const { server, api } = await start();
      const socket = await Bun.connect({
        hostname: "127.0.0.1",
        port: Number(new URL(server.url).port),
        socket: { data() {} },
      });
      const head = bytes.replace("Host: a", `Host: a\r\nAuthorization: Bearer ${api.key}`);
      socket.write(head);
      socket.flush();
      expect((await api.send("/healthz")).status).toBe(200);
      server.signal("SIGTERM");
      expect(await server.exited).toBe(0);
      socket.terminate();
    },
    15_000,
  );
});

describe("a second server", () => {
  test.concurrent("on the same data folder refuses and names the folder, and the first goes on", async () => {
    const { server, api } = await start();
    const second = spawnServer({ folder: server.folder });
    expect(await second.exited).toBe(1);
    expect(second.stderr() + second.stdout()).toContain(server.dataDir);
    expect((await api.make({ ...IMAGE, sandbox: { delay_ms: 0 } })).status).toBe("completed");
  });

  test.concurrent("on the same port refuses and names the port", async () => {
    const { server } = await start();
    const second = spawnServer({ port: server.port });
    expect(await second.exited).toBe(1);
    expect(second.stderr() + second.stdout()).toMatch(
      new RegExp(`\\b${server.port}\\b.*in use|in use.*\\b${server.port}\\b`),
    );
  });
});

describe("a server whose terminal goes", () => {
  const begin = async (command: readonly string[]) => {
    const folder = emptyFolder("terminal");
    const terminal = inTerminal(["serve", "--port", "0", "--log-kept-mb", "1"], folder, {}, { command });
    const isOver = terminal.exited.then(() => true);
    const says = async (what: string) => {
      const log = join(folder, "svc-data/logs/svc.log");
      while (!existsSync(log) || !readFileSync(log, "utf8").includes(what))
        if (await Promise.race([isOver, Bun.sleep(20)])) throw new Error(`It ended without "${what}".`);
    };
    await says('"ready"');
    terminal.hangUp();
    return { folder, terminal, says };
  };

  test("stops in order", async () => {
    const { terminal, says } = await begin([SVC]);
    expect(await terminal.exited).toBe(0);
    await says('"stopped"');
  });

  test("goes on where it was started to outlive it, and SIGHUP has it read its settings", async () => {
    const { folder, terminal, says } = await begin(["nohup", SVC]);
    writeFileSync(join(folder, "svc-data/svc.yaml"), "log: { requests: false }\n", { mode: 0o600 });
    terminal.signal("SIGHUP");
    await says("settings were read anew");
    terminal.signal("SIGTERM");
    expect(await terminal.exited).toBe(0);
  });
});
