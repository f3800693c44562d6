import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { startServer, stopServers } from "../helpers/server.ts";
import { createApi, download } from "./support/api.ts";
import { readDatabase } from "./support/database.ts";
import { decode } from "./support/pictures.ts";

setDefaultTimeout(120_000);

afterEach(stopServers);

test("a task cut off by SIGKILL completes after the restart, and its upstream was asked once", async () => {
  const first = await startServer();
  const { folder, port, dataDir } = first;
  const api = createApi(first.url, first.firstKey());
  const id = await api.accept({
    model: "sandbox-image",
    prompt: "slow",
    size: "48x32",
    sandbox: { delay_ms: 1_500 },
  });
  await api.underWay(id);
  first.signal("SIGKILL");
  expect(await first.exited).toBeNull();

  const second = await startServer({ folder, port });
  const task = await api.wait(id);
  expect(task).toMatchObject({ status: "completed", usage: { cost: "0.010000" } });
  expect(await decode(await download(task.result?.[0]))).toMatchObject({ width: 48, height: 32 });
  expect(await second.stop()).toBe(0);

  const operations = readDatabase<{ task_id: string; submissions: number }>(
    join(dataDir, "sandbox"),
    "SELECT task_id, submissions FROM operation",
    "upstream.db",
  );
  expect(operations).toEqual([{ task_id: id, submissions: 1 }]);
  expect(readDatabase(dataDir, "SELECT kind FROM ledger_entry ORDER BY id")).toEqual([
    { kind: "hold" },
    { kind: "capture" },
  ]);
});

test("what was answered with 200 is there after SIGKILL, however soon it comes", async () => {
  let server = await startServer();
  const { folder, port } = server;
  const api = createApi(server.url, server.firstKey());
  const ids: string[] = [];
  for (let round = 0; round < 4; round++) {
    const request = {
      model: "sandbox-image",
      prompt: `round ${round}`,
      size: "16x16",
      sandbox: { delay_ms: 0 },
    };
    ids.push(...(await Promise.all(Array.from({ length: 8 }, () => api.accept(request)))));
    server.signal("SIGKILL");
    await server.exited;
    server = await startServer({ folder, port });
  }
  const ends = await Promise.all(ids.map(async (id) => (await api.wait(id)).status));
  expect(ends).toEqual(ids.map(() => "completed"));
  await server.stop();
});
