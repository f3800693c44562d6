import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { arranged, keyIn, svc, svcJson } from "./support/command.ts";

setDefaultTimeout(120_000);
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
  const short = keyIn(await arranged(["keys", "create", "--name", "short", "--retain", "1s", ...at]));
  const keyed = createApi(first.url, short);
  expect((await keyed.create({ ...IMAGE, retain_seconds: 2 })).status).toBe(400);
  const made = async (one: typeof api, body: object) => {
    const { task_id: id, result } = await one.make({ ...IMAGE, ...body } as typeof IMAGE);
    return { id, url: String((result as string[])[0]) };
  };
  const kept = await made(api, { prompt: "kept" });
  const own = await made(api, { prompt: "own", retain_seconds: 1 });
  const byKey = await made(keyed, { prompt: "by key" });
  await arranged(["accounts", "create", "guest", "--credit", "5.00", ...at]);
  await svcJson(["accounts", "update", "guest", "--retain-outputs", "1s", ...at]);
  const guest = keyIn(await arranged(["keys", "create", "--name", "guest", "--account", "guest", ...at]));
  const asGuest = createApi(first.url, guest);
  expect((await asGuest.create({ ...IMAGE, retain_seconds: 2 })).status).toBe(400);
  const byAccount = await made(asGuest, { prompt: "by account" });
  const gone = async (url: string) => {
    while ((await fetch(url)).status !== 404) await Bun.sleep(100);
  };
  await Promise.all([gone(own.url), gone(byKey.url), gone(byAccount.url)]);
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

test("a purged account has nothing left but its money, beside a running server and without one", async () => {
  const server = await startServer();
  const at = ["--data-dir", server.dataDir];
  const keyOf = async (name: string) => {
    await arranged(["accounts", "create", name, "--credit", "5.00", ...at]);
    return keyIn(await arranged(["keys", "create", "--name", `${name} key`, "--account", name, ...at]));
  };
  const [leaver, stayer] = [await keyOf("leaver"), await keyOf("stayer")];
  const api = createApi(server.url, leaver);
  const { result } = await api.make({ ...IMAGE, prompt: "leaving" });
  const { result: other } = await createApi(server.url, stayer).make({ ...IMAGE, prompt: "staying" });
  const hanging = await api.accept({ ...IMAGE, sandbox: { outcome: "hang" } } as never);
  await api.underWay(hanging);
  const busy = await svc(["accounts", "purge", "leaver", "--yes", ...at]);
  expect(busy.exitCode).toBe(7);
  let ended = busy;
  while (ended.exitCode === 7) ended = await svc(["accounts", "purge", "leaver", "--yes", "--json", ...at]);
  expect(JSON.parse(ended.stdout)).toMatchObject({ tasks: 2, files: 0, files_left: 1, verified: true });
  const urlOf = (list: unknown) => String((list as string[])[0]);
  while ((await fetch(urlOf(result))).status !== 404) await Bun.sleep(50);
  expect((await fetch(urlOf(other))).status).toBe(200);
  while ((await api.send("/v1/tasks")).status !== 401) await Bun.sleep(50);
  expect(await svcJson(["audit", ...at])).toMatchObject({ adds_up: true });
  await server.stop();
  expect(await svcJson(["accounts", "purge", "stayer", "--yes", ...at])).toMatchObject({
    ...{ tasks: 1, files: 1, files_left: 0, verified: true },
    remains: { tasks: 0, files: 0, callbacks: 0, keys: 0 },
  });
  expect(await svcJson(["audit", ...at])).toMatchObject({ adds_up: true });
});
