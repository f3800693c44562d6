import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { readDatabase } from "./support/database.ts";

setDefaultTimeout(60_000);

afterEach(stopServers);

test("a group by first that is cut off by SIGKILL cancels the others after the restart", async () => {
  const first = await startServer();
  const { folder, port, dataDir } = first;
  const key = first.firstKey();
  const headers = {
    Authorization: `Bearer ${key}`,
    "Content-Type": "application/json",
    "Idempotency-Key": "race",
  };
  const body = JSON.stringify({
    ...{ prompt: "A fox", models: ["sandbox-image"], policy: "first", parameters: { size: "16x16" } },
    grid: { sandbox: [{ delay_ms: 45_000 }, { delay_ms: 1_500 }] },
  });
  const create = async () => {
    const answer = await fetch(`${first.url}/v1/groups`, { method: "POST", headers, body });
    return (await answer.json()) as { data: { group_id: string; task_ids: [string, string] } };
  };
  const { data } = await create();
  const api = createApi(first.url, key);
  await api.underWay(data.task_ids[1]);
  first.signal("SIGKILL");
  expect(await first.exited).toBeNull();

  const second = await startServer({ folder, port });
  expect((await api.wait(data.task_ids[1])).status).toBe("completed");
  expect((await api.wait(data.task_ids[0])).status).toBe("cancelled");
  expect((await create()).data).toEqual(data);
  const group = await fetch(`${first.url}/v1/groups/${data.group_id}`, { headers });
  expect(await group.json()).toMatchObject({
    data: { status: "completed", winner: data.task_ids[1], usage: { cost: "0.010000" } },
  });
  expect(await second.stop()).toBe(0);
  expect(readDatabase(dataDir, "SELECT count(*) AS tasks FROM task")).toEqual([{ tasks: 2 }]);
});
