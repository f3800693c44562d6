import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import type { Scripted } from "../helpers/scripted-upstream.ts";
import { stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { type Bfl, startBfl } from "./support/bfl.ts";
import { prepaidKey, svc, svcJson } from "./support/command.ts";
import { serveDeclared } from "./support/declared.ts";

setDefaultTimeout(120_000);

let bfl: Bfl | undefined;
afterEach(async () => {
  bfl?.stop();
  await stopServers();
});

const SECRETS = ["one", "two", "three"].map((name) => `bfl-${name}-0123456789`);
const SETTINGS = (origin: string) => `providers:
  bfl:
    base_url: "${origin}"
    accounts:
      - { name: one, key_env: KEY_1 }
      - { name: two, key_env: KEY_2 }
      - { name: three, key_env: KEY_3 }
`;
const BROKEN: Scripted = {
  ...{ status: 500, headers: { "x-request-id": "bfl-request-1" } },
  json: { detail: `out of memory for ${SECRETS[0]}` },
};
/** A job that ended there without a charge. */
const ENDED: Scripted = { json: { id: "a fox", status: "Error", result: null } };

/** A server with three accounts: the first that is asked breaks, the second takes the job and fails uncharged, the third makes it. */
async function failedOverTwice() {
  bfl = await startBfl();
  const { submissions } = bfl;
  bfl.script = {
    submission: (_, count) => (count === 1 ? BROKEN : undefined),
    poll: () => (submissions.length === 2 ? ENDED : undefined),
  };
  const env = Object.fromEntries(SECRETS.map((secret, i) => [`KEY_${i + 1}`, secret]));
  const { api, folder, server } = await serveDeclared(SETTINGS(bfl.upstream.origin), env);
  const task = await api.make({ model: "flux-2-pro", prompt: "a fox" });
  const { token } = (await svcJson([
    ...["tokens", "create", "--name", "operator", "--data-dir", server.dataDir],
  ])) as { token: string };
  return { api, folder, server, id: String(task.task_id), token };
}

interface Way {
  readonly provider: string;
  readonly account?: string;
  readonly upstream_model: string;
  readonly verdict: string;
}
interface Trace {
  readonly task: { readonly task_id: string; readonly request_id: string };
  readonly routes_considered: readonly Way[];
  readonly attempts: readonly (Way & {
    readonly phases: object;
    readonly routes_considered: readonly Way[];
  })[];
}

const NAMES = /bfl|account"|upstream|verdict|"detail"|http_status|out of memory|"state"/;
const verdicts = (ways: readonly Way[]) =>
  Object.fromEntries(ways.map(({ account = "", verdict }) => [account, verdict]));

test("the trace of a task that failed over twice says where it went and why, to operators alone", async () => {
  const { api, server, id, token } = await failedOverTwice();
  const folder = ["--data-dir", server.dataDir];
  const trace = (await svcJson(["task", "trace", id, ...folder])) as Trace;
  const [first = "", second = "", third = ""] = trace.attempts.map(({ account }) => account ?? "");
  expect([first, second, third].toSorted()).toEqual(["one", "three", "two"]);
  expect(trace.attempts).toMatchObject([
    {
      ...{ number: 1, provider: "bfl", upstream_model: "flux-2-pro", state: "rejected", outcome: "refused" },
      ...{ http_status: 500, upstream_request_id: "bfl-request-1" },
      detail: expect.stringContaining("out of memory for [secret]"),
    },
    { number: 2, state: "done", outcome: "failed", http_status: 200, upstream_id: "a%20fox" },
    {
      number: 3,
      state: "done",
      outcome: "completed",
      http_status: 200,
      upstream_id: "a%20fox",
      cost: "0.030000",
    },
  ]);
  expect(trace.attempts.map(({ routes_considered: ways }) => verdicts(ways))).toEqual([
    { [first]: "chosen", [second]: "standby", [third]: "standby", "": "off" },
    { [first]: "tried", [second]: "chosen", [third]: "standby", "": "off" },
    { [first]: "tried", [second]: "tried", [third]: "chosen", "": "off" },
  ]);
  expect(trace.routes_considered).toEqual(trace.attempts[2]!.routes_considered);
  expect(trace.attempts.map(({ phases }) => Object.keys(phases))).toEqual([
    ["queue", "connect", "upload", "submit"],
    ["queue", "connect", "upload", "submit", "polls"],
    ["queue", "connect", "upload", "submit", "polls", "fetch", "store"],
  ]);
  expect(trace).toMatchObject({
    task: { task_id: id, status: "completed", account: { name: "studio" }, provider: `bfl/${third}` },
    assets: [{ role: "output", media_type: "image/png", width: 64, height: 48 }],
    price: { amount: "0.075000", charged: "0.030000" },
    callbacks: [],
  });

  const remote = ["--server", server.url, "--token", token];
  expect(await svcJson(["task", "trace", id, ...remote])).toEqual(trace);
  const { text, data } = await createApi(server.url, token).send(`/admin/v1/tasks/${id}/trace`);
  expect(data as unknown).toEqual(trace);
  for (const secret of [...SECRETS, api.key, token]) expect(text).not.toContain(secret);
});

test("the owner of a task sees its stages and phases, and no name", async () => {
  const { api, server, id } = await failedOverTwice();
  const { text, data } = await api.send(`/v1/tasks/${id}/trace`);
  expect(text).not.toMatch(NAMES);
  for (const secret of SECRETS) expect(text).not.toContain(secret);
  expect(data as unknown).toMatchObject({
    task: { task_id: id, status: "completed", key: { name: "studio" }, request: { prompt: "a fox" } },
    attempts: [
      { number: 1, outcome: "refused", phases: { queue: {}, submit: {} } },
      { number: 2, outcome: "failed" },
      { number: 3, outcome: "completed", phases: { polls: { count: 1 }, store: {} } },
    ],
    assets: [{ role: "output" }],
    price: { charged: "0.030000" },
  });
  expect(await svcJson(["task", "trace", id, "--server", server.url, "--key", api.key])).toEqual(data);

  const other = createApi(server.url, await prepaidKey(server.dataDir, "other", "1"));
  const problem = await other.send(`/v1/tasks/${id}/trace`);
  expect([problem.status, problem.data.error_code]).toEqual([404, "task_not_found"]);
});

test("for people, a trace is a line for each stage and a few for each attempt", async () => {
  const { folder, server, id } = await failedOverTwice();
  const { stdout, exitCode } = await svc(["task", "trace", id, "--data-dir", server.dataDir]);
  expect(exitCode).toBe(0);
  const lines = stdout.split("\n");
  expect(lines).toContainEqual(
    expect.stringMatching(/^attempt 1\tbfl\/\w+ flux-2-pro: refused, rejected after /),
  );
  expect(lines).toContainEqual(expect.stringMatching(/^\s*among\tbfl\/.* chosen/));
  expect(lines).toContainEqual(
    expect.stringMatching(/^\s*phases\tqueue .*, polls .* \(1\), fetch .*, store /),
  );
  expect(lines).toContain("  answer\t500 (request bfl-request-1)");
  const [, ...shown] = lines;
  const here = await svc(["task", "trace", id], { folder });
  expect(here.stdout.split("\n").slice(1)).toEqual(shown);
  const missing = await svc([
    "task",
    "trace",
    "task_01jd0000000000000000000000",
    "--data-dir",
    server.dataDir,
  ]);
  expect([missing.exitCode, missing.stdout]).toEqual([5, ""]);
});
