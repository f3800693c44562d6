import { expect, setDefaultTimeout, test } from "bun:test";
import { readingOf } from "../../cli/client/overview.ts";
import { EXIT } from "../../cli/exit-codes.ts";
import { formatAge, formatMs, overviewLine } from "../../cli/format/overview-view.ts";
import { runProgram } from "../../cli/program.ts";
import { refusal, type Script, startScriptedServer, success } from "./scripted-server.ts";
import { fakeContext, spawnSvc, svc } from "./support.ts";
import { overview } from "./tui/top/overviews.ts";

setDefaultTimeout(30_000);

const PATH = "GET /admin/v1/overview";
const TOKEN = "mt-svc-of-the-tests";

const envOf = ({ url }: { url: string }) => ({ SVC_SERVER: url, SVC_MANAGEMENT_TOKEN: TOKEN });
const answering = (script: Script[string]) => startScriptedServer({ [PATH]: script });

test("one reading as JSON is what the server said", async () => {
  using server = answering(() => success(overview()));
  const ended = await svc(["top", "--once", "--json"], { env: envOf(server) });
  expect([ended.exitCode, JSON.parse(ended.stdout), ended.stderr]).toEqual([EXIT.ok, overview(), ""]);
  expect(server.seen[0]?.headers.get("authorization")).toBe(`Bearer ${TOKEN}`);
});

test("one reading in a pipe is one line of names and values", async () => {
  using server = answering(() => success(overview()));
  const { stdout } = await svc(["top", "--once"], { env: envOf(server) });
  expect(stdout).toBe(overviewLine(readingOf(overview())));
  expect(stdout.trimEnd().split("\t")).toEqual([
    ...[
      "time=1700000120",
      "requests_per_second=12.5",
      "errors_4xx_per_second=0.5",
      "errors_5xx_per_second=0",
    ],
    ...["creates_per_second=1.25", "queued=12", "oldest_seconds=242", "under_way=3", "completed_hour=3"],
    ...["failed_hour=3", "spend_hour=1.250000", "callbacks_owed=4", "rss_bytes=74000000", "lag_p50_ms=0.4"],
    ...["lag_max_ms=12.3", "free_bytes=41000000000", "waits=2", "streams=1"],
    ...["content_refused_hour=3", "content_outages_hour=1"],
  ]);
});

test("an answer that is no overview is told, and nothing is printed", async () => {
  using server = answering(() => success({ hello: "world" }));
  for (const args of [["--once"], ["--once", "--json"], ["--json"], []]) {
    const { exitCode, stdout, stderr } = await svc(["top", ...args], { env: envOf(server) });
    expect([exitCode, stdout]).toEqual([EXIT.error, ""]);
    expect(stderr).toContain("no overview");
  }
});

test("one reading on a terminal is figures and three tables", async () => {
  using server = answering(() => success(overview()));
  const context = fakeContext({ env: envOf(server), isTerminal: true });
  expect(await runProgram(["top", "--once", "--no-color"], context)).toBe(EXIT.ok);
  const screen = context.stdout.text();
  expect(screen).toContain("queued            12, the oldest for 4m");
  expect(screen).toMatch(
    /MODEL +DONE +FAILED +OK +P50 +P95\nmodel-01 +0 +0 +- +- +-\nmodel-02 +1 +1 +50% +1\.0s +1m01s/,
  );
  expect(screen).toMatch(/fal +12 +4m +3 +3\nsandbox +0 +- +0 +off/);
  expect(screen).toContain("fal-ai/veo3");
});

test("in a pipe a line comes with each interval, and a server that goes away is waited for", async () => {
  using server = answering((_, times) =>
    times === 2
      ? refusal(503, "service_unavailable", "The server is stopping.")
      : success(overview({ seconds: times })),
  );
  const child = spawnSvc(["top", "--json", "--interval", "200ms"], { env: envOf(server) });
  const lines: string[] = [];
  let rest = "";
  for await (const chunk of child.stdout) {
    rest += new TextDecoder().decode(chunk);
    const parts = rest.split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
    if (lines.length >= 3) child.kill("SIGINT");
  }
  expect(await child.exited).toBe(EXIT.interrupted);
  const secondsOf = (line: string) => JSON.parse(line).windows.seconds;
  expect(lines.slice(0, 3).map(secondsOf)).toEqual([1, 3, 4]);
  const stderr = await child.stderr.text();
  expect(stderr).toContain("The server is stopping. It is asked until it answers.");
});

test.each<[string, Script[string], number, RegExp]>([
  [
    "a token that is refused",
    () => refusal(401, "invalid_api_key", "There is no such token."),
    EXIT.auth,
    /svc tokens create/,
  ],
  [
    "a server without an overview",
    () => refusal(404, "not_found", "Nothing."),
    EXIT.notFound,
    /may be older/,
  ],
])("%s ends it with a hint", async (_, script, code, hint) => {
  using server = answering(script);
  const ended = await svc(["top"], { env: envOf(server) });
  expect([ended.exitCode, ended.stdout]).toEqual([code, ""]);
  expect(ended.stderr).toMatch(hint);
});

test("without a token, and with an interval that is none, nothing is asked", async () => {
  using server = answering(() => success(overview()));
  expect((await svc(["top"], { env: { SVC_SERVER: server.url } })).exitCode).toBe(EXIT.auth);
  for (const interval of ["0", "100ms", "2h", "soon"])
    expect((await svc(["top", "--interval", interval], { env: envOf(server) })).exitCode).toBe(EXIT.usage);
  expect(server.seen).toEqual([]);
});

test("a server that nobody reaches at the start is an error at once", async () => {
  const ended = await svc(["top"], {
    env: { SVC_SERVER: "http://127.0.0.1:9", SVC_MANAGEMENT_TOKEN: TOKEN },
  });
  expect(ended.exitCode).toBe(EXIT.unreachable);
});

test("durations and ages take few cells", () => {
  expect([undefined, 0, 999, 1_000, 59_999, 60_000, 200_000, 3_599_999, 3_900_000].map(formatMs)).toEqual([
    ...["-", "0ms", "999ms", "1.0s", "59.9s", "1m00s", "3m20s", "59m59s", "1h05m"],
  ]);
  expect([-5, 0, 59, 60, 3_599, 3_600, 86_399, 86_400].map(formatAge)).toEqual([
    ...["0s", "0s", "59s", "1m", "59m", "1h", "23h", "1d"],
  ]);
});
