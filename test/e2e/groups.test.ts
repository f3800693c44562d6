import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { EXIT } from "../../cli/exit-codes.ts";
import { emptyFolder, startServer, stopServers } from "../helpers/server.ts";
import { type Answer, createApi } from "./support/api.ts";
import { keyIn, svc, svcJson } from "./support/command.ts";
import { readDatabase } from "./support/database.ts";
import { ALLOW_LOOPBACK } from "./support/slow-source.ts";

setDefaultTimeout(120_000);

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

test("svc group makes, watches, lists and stops groups, and its exit code says how they ended", async () => {
  const server = await startServer();
  const run = (...args: string[]) =>
    svc(["group", ...args], { env: { SVC_API_KEY: server.firstKey(), SVC_SERVER: server.url } });
  const quick = ["-m", "sandbox-image", "-i", "size=16x16", "-i", 'sandbox:={"delay_ms":0}'];
  const made = await run(
    "create",
    "A fox",
    ...quick,
    "-g",
    "seed=1,2",
    "--policy",
    "cheapest",
    "--wait",
    "--json",
  );
  expect(made.exitCode).toBe(0);
  const group = JSON.parse(made.stdout) as { group_id: string; tasks: unknown[]; contact_sheet: string };
  expect(group).toMatchObject({ status: "completed", policy: "cheapest", winner: expect.any(String) });
  expect([group.tasks.length, group.contact_sheet.includes(group.group_id)]).toEqual([2, true]);
  const shown = await run("show", group.group_id, "--field", "contact_sheet");
  expect(shown.stdout.trim()).toBe(group.contact_sheet);

  const folder = emptyFolder("requests");
  const requests = [{ model: "sandbox-image", prompt: "A hare", sandbox: { outcome: "hang" } }];
  await Bun.write(join(folder, "requests.json"), JSON.stringify(requests));
  const hanging = await run("create", "--requests", join(folder, "requests.json"));
  const id = hanging.stdout.trim();
  expect([hanging.exitCode, id]).toEqual([0, expect.stringMatching(/^grp_/)]);
  const listed = JSON.parse((await run("list", "--json")).stdout) as { groups: { group_id: string }[] };
  expect(listed.groups.map(({ group_id }) => group_id)).toEqual([id, group.group_id]);
  const watching = run("watch", id);
  expect((await run("cancel", id)).exitCode).toBe(0);
  expect((await watching).exitCode).toBe(10);
  const failed = await run(
    "create",
    "x",
    "-m",
    "sandbox-image",
    "-i",
    'sandbox:={"outcome":"moderated","delay_ms":0}',
    "-w",
  );
  expect([failed.exitCode, failed.stderr.includes("No task of grp_")]).toEqual([3, true]);
  const late = await run("create", "--requests", join(folder, "requests.json"), "-w", "--timeout", "1s");
  expect(late.exitCode).toBe(9);
  for (const [args, told] of [
    [["create", "A fox"], "Give a model"],
    [["create", "A fox", ...quick, "-g", "seed=1", "-g", "seed=2"], "given twice"],
    [["create", "A fox", ...quick, "-g", "seed:=3"], "must be a JSON list"],
    [["create", "A fox", ...quick, "-g", "size=16x16"], "grid.size"],
  ] as const) {
    const { exitCode, stderr } = await run(...args);
    expect([args, stderr.includes(told), exitCode === EXIT.usage || exitCode === EXIT.rejected]).toEqual([
      args,
      true,
      true,
    ]);
  }
  expect(await server.stop()).toBe(0);
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
