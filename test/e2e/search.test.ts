import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { arranged, keyIn, svc, svcJson } from "./support/command.ts";
import { readDatabase } from "./support/database.ts";

setDefaultTimeout(120_000);
afterAll(stopServers);

const IMAGE = { model: "sandbox-image", size: "16x16", sandbox: { delay_ms: 0 } };

test("tasks are found by words of their prompts, until they are deleted or the search is switched off", async () => {
  const first = await startServer();
  const at = ["--data-dir", first.dataDir];
  const key = first.firstKey();
  const api = createApi(first.url, key);
  const make = async (prompt: string) => (await api.make({ ...IMAGE, prompt })).task_id;
  const [cat, dog, both] = [await make("a cat"), await make("犬の写真"), await make("Cat & dog, at DUSK")];
  const env = { SVC_SERVER: first.url, SVC_API_KEY: key };
  const found = async (text: string): Promise<string[]> => {
    const { tasks } = (await svcJson(["task", "list", "--search", text], { env })) as {
      tasks: { task_id: string }[];
    };
    return tasks.map(({ task_id }) => task_id);
  };
  while (!(await found("dusk")).includes(both)) await Bun.sleep(100);
  expect(await found("CAT")).toEqual([both, cat]);
  expect(await found("写真")).toEqual([dog]);
  expect(await found('cat" OR "犬')).toEqual([]);

  const other = keyIn(
    await arranged(["accounts", "create", "other", ...at]).then(() =>
      arranged(["keys", "create", "--name", "other", "--account", "other", ...at]),
    ),
  );
  const asOther = JSON.parse((await createApi(first.url, other).send("/v1/tasks?q=cat")).text);
  expect(asOther.data).toEqual({ tasks: [], next: null });
  const token = (await svc(["tokens", "create", "--name", "reader", "--plain", ...at])).stdout.trim();
  const managed = async (query: string) => {
    const headers = { Authorization: `Bearer ${token}` };
    const { data } = (await (await fetch(`${first.url}/admin/v1/tasks?${query}`, { headers })).json()) as {
      data: { tasks: { task_id: string }[] };
    };
    return data.tasks.map(({ task_id }) => task_id);
  };
  expect(await managed("q=cat")).toEqual([both, cat]);
  expect(await managed("q=cat&account=other")).toEqual([]);

  await svcJson(["task", "delete", cat, "--yes"], { env });
  expect([await found("cat"), await managed("q=cat")]).toEqual([[both], [both]]);
  await first.stop();

  const second = await startServer({ folder: first.folder, env: { SVC_SEARCH_PROMPTS: "off" } });
  const refused = await createApi(second.url, key).send("/v1/tasks?q=cat");
  expect([refused.status, JSON.parse(refused.text).data]).toMatchObject([400, { param: "q" }]);
  const indexed = () =>
    readDatabase<{ rows: number }>(first.dataDir, "select count(*) as rows from task_search_docsize");
  while (indexed()[0]?.rows !== 0) await Bun.sleep(50);
  await second.stop();

  const third = await startServer({ folder: first.folder });
  const again = createApi(third.url, key);
  while (!(await again.send("/v1/tasks?q=cat")).text.includes(both)) await Bun.sleep(100);
});
