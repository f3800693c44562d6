import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { startServer, stopServers } from "../helpers/server.ts";
import { type Answer, createApi } from "./support/api.ts";
import { keyIn, svcJson } from "./support/command.ts";
import { readDatabase } from "./support/database.ts";
import { ALLOW_LOOPBACK } from "./support/slow-source.ts";

setDefaultTimeout(60_000);

afterEach(stopServers);

interface Created {
  readonly group_id: string;
  readonly task_ids: readonly [string, string, string];
}

/** The test that reads it looks at what it is. */
const dataOf = <Data>({ text }: Pick<Answer, "text">): Data => (JSON.parse(text) as { data: Data }).data;

test("a group's address is told once of its end, signed, though a crash comes before it", async () => {
  const posts: { headers: Record<string, string>; body: string }[] = [];
  const arrived = Promise.withResolvers<void>();
  await using receiver = Bun.serve({
    ...{ hostname: "127.0.0.1", port: 0 },
    async fetch(request) {
      posts.push({ headers: Object.fromEntries(request.headers), body: await request.text() });
      arrived.resolve();
      return new Response(null, { status: 204 });
    },
  });
  const first = await startServer({ args: ALLOW_LOOPBACK });
  const { folder, port, dataDir } = first;
  const printed = await svcJson([
    "keys",
    "create",
    "--name",
    "g",
    "--callback-secret",
    "new",
    "--data-dir",
    dataDir,
  ]);
  const { callback_secret } = printed as { callback_secret: string };
  const api = createApi(first.url, keyIn(printed));
  const created = await api.send("/v1/groups", {
    body: {
      ...{ prompt: "A fox", models: ["sandbox-image"], policy: "cheapest", parameters: { size: "16x16" } },
      grid: { sandbox: [{ delay_ms: 0 }, { delay_ms: 1_500 }, { delay_ms: 0, outcome: "moderated" }] },
      callback_url: `${receiver.url}hook`,
    },
  });
  const { group_id, task_ids } = dataOf<Created>(created);
  await api.underWay(task_ids[1]);
  first.signal("SIGKILL");
  await first.exited;
  const second = await startServer({ folder, port, args: ALLOW_LOOPBACK });
  await arrived.promise;
  const [post] = posts;
  const told = new Webhook(callback_secret).verify(post?.body ?? "", post?.headers ?? {});
  expect(told).toMatchObject({
    ...{ group_id, status: "completed", policy: "cheapest", winner: task_ids[0] },
    usage: { cost: "0.020000", currency: "USD" },
    tasks: [
      { task_id: task_ids[0], model: "sandbox-image", status: "completed", result: [expect.any(String)] },
      { task_id: task_ids[1], status: "completed", result: [expect.any(String)] },
      { task_id: task_ids[2], status: "failed", error_code: "CONTENT_MODERATED" },
    ],
  });
  const { contact_sheet } = told as { contact_sheet: string };
  const sheet = await fetch(contact_sheet);
  expect([sheet.status, sheet.headers.get("content-type")]).toEqual([200, "image/webp"]);
  const all = await api.send("/v1/callbacks");
  const { callbacks } = dataOf<{ callbacks: { id: string; task_id: string }[] }>(all);
  expect(callbacks.map(({ task_id }) => task_id)).toEqual([task_ids[1]]);
  const read = await api.send(`/v1/callbacks/${callbacks[0]?.id}`);
  expect(dataOf(read)).toMatchObject({ payload: told });
  expect(await second.stop()).toBe(0);
  expect(readDatabase(dataDir, "SELECT event, state FROM callback")).toEqual([
    { event: "group_ended", state: "delivered" },
  ]);
  expect(posts).toHaveLength(1);
});

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
