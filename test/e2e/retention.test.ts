import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { keyIn, svcJson } from "./support/command.ts";

setDefaultTimeout(60_000);
afterAll(stopServers);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };

test("files go when a request or a key says so, tasks by the setting, and the books stay exact", async () => {
  const first = await startServer({ env: { SVC_RETENTION_OUTPUTS_SECONDS: "3600" } });
  const at = ["--data-dir", first.dataDir];
  const api = createApi(first.url, first.firstKey());
  const refused = await api.create({ ...IMAGE, retain_seconds: 3601 });
  expect([refused.status, refused.body.message]).toEqual([
    400,
    "retain_seconds must be an integer from 1 to 3600, got 3601.",
  ]);
  const short = keyIn(await svcJson(["keys", "create", "--name", "short", "--retain", "1s", ...at]));
  const keyed = createApi(first.url, short);
  expect((await keyed.create({ ...IMAGE, retain_seconds: 2 })).status).toBe(400);
  const made = async (one: typeof api, body: object) => {
    const { task_id: id, result } = await one.make({ ...IMAGE, ...body } as typeof IMAGE);
    return { id, url: String((result as string[])[0]) };
  };
  const kept = await made(api, { prompt: "kept" });
  const own = await made(api, { prompt: "own", retain_seconds: 1 });
  const byKey = await made(keyed, { prompt: "by key" });
  const gone = async (url: string) => {
    while ((await fetch(url)).status !== 404) await Bun.sleep(100);
  };
  await Promise.all([gone(own.url), gone(byKey.url)]);
  const statusOf = async (id: string) => JSON.parse((await api.send(`/v1/images/status/${id}`)).text).data;
  expect(await statusOf(own.id)).toMatchObject({ status: "completed", files_removed_at: expect.any(Number) });
  expect((await fetch(kept.url)).status).toBe(200);
  expect(await statusOf(kept.id)).not.toHaveProperty("files_removed_at");
  const usage = await svcJson(["usage", ...at]);
  await first.stop();

  const second = await startServer({ folder: first.folder, env: { SVC_RETENTION_TASKS_SECONDS: "1" } });
  const again = createApi(second.url, second.firstKey());
  while ((await again.send("/v1/tasks")).text.includes("task_")) await Bun.sleep(100);
  expect((await again.send(`/v1/images/status/${kept.id}`)).status).toBe(404);
  expect(await svcJson(["usage", ...at])).toEqual(usage);
  expect(await svcJson(["audit", ...at])).toMatchObject({ adds_up: true });
});
