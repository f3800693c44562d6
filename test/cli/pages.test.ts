import { describe, expect, test } from "bun:test";
import { runProgram } from "../../cli/program.ts";
import { startScriptedServer, success } from "./scripted-server.ts";
import { fakeContext, svc } from "./support.ts";

/** A server with 250 tasks, which come in pages of as many as asked for. */
function openServer() {
  return startScriptedServer({
    "GET /v1/tasks": ({ path }) => {
      const query = new URL(path, "http://server").searchParams;
      const from = Number(query.get("after") ?? 0);
      const to = Math.min(from + Number(query.get("limit") ?? 20), 250);
      const tasks = Array.from({ length: to - from }, (_, i) => ({
        task_id: `task_${from + i}`,
        status: "completed",
      }));
      return success({ tasks, next: to === 250 ? null : String(to) });
    },
  });
}

const access = (url: string) => ({ SVC_SERVER: url, SVC_API_KEY: "sk-svc-1" });
const ids = Array.from({ length: 250 }, (_, i) => `task_${i}`);

describe("svc task list --all", () => {
  test("prints every page: objects, one on each line", async () => {
    using server = openServer();
    const { stdout, stderr, exitCode } = await svc(
      ["task", "list", "--all", "--json", "--status", "completed"],
      {
        env: access(server.url),
      },
    );
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    const lines = stdout.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).task_id)).toEqual(ids);
    expect(server.seen.map(({ path }) => path)).toEqual([
      "/v1/tasks?status=completed&limit=100",
      "/v1/tasks?status=completed&limit=100&after=100",
      "/v1/tasks?status=completed&limit=100&after=200",
    ]);
  });

  test("prints one value of each with --field, and lines with tabs into a pipe", async () => {
    using server = openServer();
    const env = access(server.url);
    const [fields, plain] = await Promise.all([
      svc(["task", "list", "--all", "--field", "task_id"], { env }),
      svc(["task", "list", "--all"], { env }),
    ]);
    expect(fields.stdout.trimEnd().split("\n")).toEqual(ids);
    expect(
      plain.stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.split("\t")[0]),
    ).toEqual(ids);
    expect(plain.stderr).toBe("");
  });

  test("draws one table of all on a terminal", async () => {
    using server = openServer();
    const context = fakeContext({ isTerminal: true, env: access(server.url) });
    expect(await runProgram(["task", "list", "--all"], context)).toBe(0);
    const lines = Bun.stripANSI(context.stdout.text()).trimEnd().split("\n");
    expect(lines).toHaveLength(251);
    expect(lines[0]).toStartWith("TASK");
  });
});

test.each([
  [["--limit", "0"], '--limit must be a whole number from 1 to 100, got "0".'],
  [["--limit", "101"], '--limit must be a whole number from 1 to 100, got "101".'],
  [["--limit", "5", "--all"], "'--all' cannot be used with option '--limit <count>'"],
])("svc task list %p is a mistake of the command line", async (flags, says) => {
  const { exitCode, stderr } = await svc(["task", "list", ...flags], { env: access("http://127.0.0.1:9") });
  expect(exitCode).toBe(2);
  expect(stderr).toContain(says);
});
