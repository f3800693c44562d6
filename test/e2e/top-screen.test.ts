import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { refusal, startScriptedServer, success } from "../cli/scripted-server.ts";
import { overview } from "../cli/tui/top/overviews.ts";
import { emptyFolder } from "../helpers/server.ts";
import { inTerminal, type TerminalProcess } from "./support/terminal.ts";

setDefaultTimeout(120_000);

const MAIN = join(import.meta.dir, "../../cli/main.ts");

/** What the server answers from now on. */
let data = overview({ count: 30 });
let isGone = false;
let isRevoked = false;
let onAsked = () => {};
const server = startScriptedServer({
  "GET /admin/v1/overview": () => {
    onAsked();
    if (isRevoked) return refusal(401, "invalid_api_key", "The token was revoked.");
    return isGone ? refusal(503, "service_unavailable", "The server is stopping.") : success(data);
  },
});
afterAll(() => server[Symbol.dispose]());

/** Resolves when the server was asked so many times more. */
function answered(times: number): Promise<void> {
  return new Promise((resolve) => {
    onAsked = () => {
      times -= 1;
      if (times === 0) resolve();
    };
  });
}

function top(columns: number, rows: number, more: Readonly<Record<string, string>> = {}): TerminalProcess {
  const env = { SVC_SERVER: server.url, SVC_MANAGEMENT_TOKEN: "mt-svc-of-the-tests", ...more };
  // What --verbose says would be in the way.
  const args = [MAIN, "top", "--interval", "200ms", "--verbose"];
  return inTerminal(args, emptyFolder("top"), env, { columns, rows, command: [process.execPath] });
}

/** SGR of the colours that the screen has otherwise: red, green, cyan. */
const COLOURS = [31, 32, 36];
const RESTORED = { isOtherScreen: false, isCursorHidden: false, isBracketingPastes: false, isWrapping: true };

/** A frame may come in pieces: its last line comes last. */
const isLive = (frame: readonly string[]) =>
  / live *$/.test(frame[0] ?? "") && frame.at(-1)?.startsWith("q quit") === true;

/** The same address in every run, and no cells that are empty at their ends. */
const linesOf = (terminal: TerminalProcess) =>
  terminal.frame().map((line) => line.replace(/127\.0\.0\.1:\d{5}/, "127.0.0.1:00000").trimEnd());

const FACTS_OF_TWO = [
  "queued    12 for 4m           running   3 of 512",
  "callbacks 4 for 2h            spend 1h  1.25 USD",
  "memory    74 MB               loop lag  0 to 12 ms",
  "disk free 41 GB               database  12.3 MB+4 KB",
  "waits     2                   streams   1",
  "refused   3, outages 1",
];

test("at 60 by 20 there is one table below all figures", async () => {
  const terminal = top(60, 20, { NO_COLOR: "1" });
  await terminal.draws(isLive);
  expect(linesOf(terminal)).toEqual([
    "svc 1.2.3  box  up 2m  http://127.0.0.1:00000           live",
    "requests     12.5/s  4xx 0.5  5xx 0        █▁▂▃▄▅▆▇█▁▂▃▄▅▆▇█",
    "creates      1.25/s  30 of 465 failed      ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁",
    ...FACTS_OF_TWO,
    " models 30  lanes 2  providers 2   1-8 of 30",
    "MODEL▾                     DONE  FAILED     OK    P50    P95",
    "model-01                      0       0      -      -      -",
    "model-02                      1       1    50%   1.0s  1m01s",
    "model-03                      2       2    50%   2.0s  2m02s",
    "model-04                      3       0    50%   3.0s  3m03s",
    "model-05                      4       1    50%   4.0s  4m04s",
    "model-06                      5       2    50%   5.0s  5m05s",
    "model-07                      6       0    50%   6.0s  6m06s",
    "model-08                      7       1    50%   7.0s  7m07s",
    "q quit  ? help  tab table  s sort: model  ↑↓ scroll  p pause",
  ]);
  terminal.press("q");
  expect(await terminal.exited).toBe(0);
  expect(terminal.state()).toEqual(RESTORED);
  // Nobody asked for colours.
  for (const colour of COLOURS) expect(terminal.raw()).not.toContain(`\u001b[${colour}m`);
});

test("where there are few lines, the last figures and words of help are left out, and nothing else", async () => {
  const terminal = top(40, 12);
  await terminal.draws(isLive);
  expect(linesOf(terminal)).toEqual([
    "svc 1.2.3  box  up 2m  http://127.… live",
    "requests     12.5/s  4xx 0.5  5xx 0    …",
    "creates      1.25/s  30 of 465 failed  …",
    "queued    12 for 4m",
    "running   3 of 512",
    "callbacks 4 for 2h",
    "spend 1h  1.25 USD",
    "memory    74 MB",
    " models 30  lanes 2  providers 2   1-1 …",
    "MO…    DONE  FAILED     OK    P50    P95",
    "mo…       0       0      -      -      -",
    "q quit  ? help  tab table  s sort: mode…",
  ]);
  terminal.press("?");
  await terminal.draws(/this help/);
  expect(linesOf(terminal)[0]).toMatch(/^svc 1\.2\.3 .* live$/);
  expect(linesOf(terminal)[10]?.trim()).toBe("▾ marks it");
  terminal.press("\u001b");
  await terminal.draws(/^queued/m);
  terminal.resize(80, 6);
  await terminal.draws((frame) => isLive(frame) && frame.length === 6);
  expect(linesOf(terminal).map((line) => line.split(" ")[0])).toEqual([
    ...["svc", "requests", "creates", "queued", "spend", "q"],
  ]);
  terminal.press("q");
  expect(await terminal.exited).toBe(0);
});

test("at 80 by 24 three figures fit in a line", async () => {
  const terminal = top(80, 24);
  await terminal.draws(isLive);
  const lines = linesOf(terminal);
  expect(lines).toHaveLength(24);
  expect(lines.slice(3, 9)).toEqual([
    "queued    12 for 4m       running   3 of 512        callbacks 4 for 2h",
    "spend 1h  1.25 USD        memory    74 MB           loop lag  0 to 12 ms",
    "disk free 41 GB           database  12.3 MB+4 KB    waits     2",
    "streams   1               refused   3, outages 1",
    " models 30  lanes 2  providers 2   1-14 of 30",
    "MODEL▾                                         DONE  FAILED     OK    P50    P95",
  ]);
  expect(lines[22]).toMatch(/^model-14 +13 +1 +50% +13\.0s +13m13s$/);
  expect(lines[23]).toMatch(/^q quit {2}\? help/);
  terminal.press("\u0003");
  expect(await terminal.exited).toBe(130);
  expect(terminal.raw()).toContain("\u001b[32m");
  expect(terminal.state()).toEqual(RESTORED);
});

test("at 200 by 60 all tables are side by side, and it is redrawn for every other size", async () => {
  const terminal = top(200, 60);
  await terminal.draws(isLive);
  const wide = linesOf(terminal);
  expect(wide.slice(3, 8)).toEqual([
    expect.stringMatching(/^queued +12 for 4m +running +3 of 512 +callbacks +4 for 2h .* disk free 41 GB$/),
    "database  12.3 MB+4 KB      waits     2                 streams   1                 refused   3, outages 1",
    expect.stringMatching(/^ models 30 +lanes 2 +providers 2$/),
    expect.stringMatching(/^MODEL▾ .* P95 {3}LANE▾ .* LIMIT {3}PROVIDER▾ .* REFUSED$/),
    expect.stringMatching(/^model-01 .* - {3}fal +12 +4m +3 +3 {3}fal +9 +1 +90% fal-ai\/veo3$/),
  ]);
  expect(wide[36]).toMatch(/^model-30 /);

  terminal.resize(60, 20);
  await terminal.draws(
    (frame) => frame[3]?.trimEnd() === FACTS_OF_TWO[0] && frame[19]?.startsWith("q quit") === true,
  );
  expect(linesOf(terminal)).toHaveLength(20);
  expect(linesOf(terminal)[18]).toMatch(/^model-08 /);
  terminal.resize(200, 60);
  await terminal.draws(
    (frame) => frame[59]?.startsWith("q quit") === true && frame[36]?.startsWith("model-30") === true,
  );
  expect(linesOf(terminal)).toEqual(wide);
  terminal.signal("SIGTERM");
  expect(await terminal.exited).toBe(143);
  expect(terminal.state()).toEqual(RESTORED);
});

test("keys scroll, sort, change the table, explain themselves, and pause", async () => {
  const terminal = top(60, 20);
  await terminal.draws(/1-8 of 30/);
  const row = (line: number) => linesOf(terminal)[line];
  for (const [keys, place] of [
    ["j", "2-9"],
    ["\u001b[B", "3-10"],
    ["k", "2-9"],
    ["\u001b[A", "1-8"],
    ["\u001b[6~", "9-16"],
    ["\u001b[5~", "1-8"],
    ["G", "23-30"],
    ["g", "1-8"],
    ["\u001b[F", "23-30"],
    ["\u001b[H", "1-8"],
  ] as const) {
    terminal.press(keys);
    await terminal.draws(new RegExp(` ${place} of 30`));
  }
  terminal.press("s");
  await terminal.draws(/DONE▾/);
  expect(row(11)).toMatch(/^model-30 +29 /);
  terminal.press("\t");
  await terminal.draws(/^LANE▾/m);
  expect(linesOf(terminal).slice(11, 13)).toEqual(
    [
      "fal                           12      4m          3      3",
      "sandbox                        0       -          0    off",
    ].map((line) => expect.stringMatching(new RegExp(line.replaceAll(/ +/g, " +")))),
  );
  terminal.press("\t");
  await terminal.draws(/^PROVIDER▾/m);
  terminal.press("\u001b[Z");
  await terminal.draws(/^LANE▾/m);

  terminal.press("?");
  await terminal.draws(/this help/);
  expect(linesOf(terminal)).toHaveLength(20);
  expect(linesOf(terminal)[0]).toMatch(/^svc 1\.2\.3 .* live$/);
  terminal.press("\u001b");
  await terminal.draws(/^LANE▾/m);

  terminal.press("p");
  await terminal.draws(/paused$/m);
  data = overview({ count: 30, tasks: { queued: 99, under_way: 3, limit: 512 } });
  await answered(3);
  expect(row(3)).toMatch(/^queued +12 for 4m/);
  terminal.press(" ");
  await terminal.draws(/^queued +99 for 4m/m);
  terminal.press("q");
  expect(await terminal.exited).toBe(0);
});

test("a server that goes away is said to, its last numbers stay, and it is back when it answers", async () => {
  data = overview({ count: 2 });
  const terminal = top(80, 24);
  await terminal.draws(isLive);
  isGone = true;
  await terminal.draws((frame) => frame[23]?.startsWith("The server is stopping. Asking again.") === true);
  expect(linesOf(terminal)[0]).toMatch(/no answer for \d+s$/);
  expect(linesOf(terminal)[3]).toMatch(/^queued +12 for 4m/);
  // Dim, which is SGR 2.
  expect(terminal.raw().slice(terminal.raw().lastIndexOf("no answer"))).toContain("\u001b[2m");
  isGone = false;
  await terminal.draws(isLive);
  data = overview({ count: 2, server: { version: "1.2.3", node: "box", not_ready: "disk_full" } });
  await terminal.draws(/takes no tasks: disk_full$/m);
  isRevoked = true;
  expect(await terminal.exited).toBe(4);
  isRevoked = false;
  expect(terminal.state()).toEqual(RESTORED);
  await terminal.shows(/The token was revoked\./);
});

test("names from the server cannot command the terminal, and leave lines as wide as they are", async () => {
  const evil = "\u001b]0;title\u0007\u001b[2J\u202emodel\n\tnext 👩‍👩‍👧 漢字";
  data = overview({
    models: [{ model: evil, completed: 1, failed: 0, success_rate: 1, p50_ms: 1, p95_ms: 1 }],
    server: { version: evil, node: evil, not_ready: null },
  });
  const terminal = top(80, 24);
  await terminal.draws(isLive);
  expect(terminal.raw()).not.toContain("\u001b]0;");
  expect(terminal.raw()).not.toContain("\u202e");
  expect(linesOf(terminal)[9]).toMatch(/^\\u001b\]0;title.* 1 +0 +100% +1ms +1ms$/);
  terminal.press("q");
  await terminal.exited;
});
