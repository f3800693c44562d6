import { afterAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { listed, live, taskId } from "../cli/tui/watch/tasks.ts";
import { emptyFolder, SVC, startServer, stopServers } from "../helpers/server.ts";
import { arranged, type Ended, prepaidKey, svc, svcJson } from "./support/command.ts";
import { inTerminal, type TerminalProcess } from "./support/terminal.ts";
import { startWatchedServer, type WatchedOptions, type WatchedServer } from "./support/watched-server.ts";

afterAll(stopServers);

const KEY = "sk-svc-of-the-tests";
const envOf = (server: { readonly url: string }) => ({ SVC_SERVER: server.url, SVC_API_KEY: KEY });

interface Started {
  readonly terminal: TerminalProcess;
  readonly server: WatchedServer;
  readonly folder: string;
}

async function watching(
  options: WatchedOptions,
  { columns = 80, rows = 24, args = [] as string[], env = {} } = {},
): Promise<Started> {
  const server = startWatchedServer(options);
  const folder = emptyFolder("watch");
  const terminal = inTerminal(
    ["task", "watch", ...args],
    folder,
    { ...envOf(server), ...env },
    { columns, rows },
  );
  await terminal.draws(/live/);
  return { terminal, server, folder };
}

const TASKS = [
  live(3, { model: "video-1", kind: "video", created_at: Math.floor(Date.now() / 1000) - 65 }),
  listed(2, {
    status: "failed",
    error_code: "timeout",
    error_message: "It took too long.",
    usage: undefined,
  }),
  listed(1, { result: ["http://127.0.0.1:1/result"] }),
];

const AS_BEFORE = {
  isOtherScreen: false,
  isCursorHidden: false,
  isBracketingPastes: false,
  isWrapping: true,
};

describe("the screen", () => {
  test("at 80×24 shows tasks, counts, spend and the keys that matter", async () => {
    const { terminal } = await watching({ tasks: TASKS });
    await terminal.draws(/today 1\.230000 USD/);
    const [title, tabs, pace, head, ...rows] = terminal.frame();
    expect(title).toMatch(/^svc task watch {2}http:\/\/127\.0\.0\.1:\d+ +today 1\.230000 USD {2}live$/);
    expect(tabs).toBe(" all 3  pending 0  processing 1  completed 1  failed 1  cancelled 0");
    expect(pace).toMatch(/^ 0\/min +▁+ {2}newest first$/);
    expect(head).toMatch(/^ {2}TASK +STATUS +PROGRESS +MODEL +TIME$/);
    expect(rows[0]).toMatch(/^❯ task_00000…0+3 {2}processing {2}██░░░ {2}40 % {2}video-1 +1 m/);
    expect(rows[1]).toMatch(/^ {2}task_00000…0+2 {2}failed +image-1 +2 s$/);
    expect(rows[2]).toMatch(/^ {2}task_00000…0+1 {2}completed +█████ 100 % {2}image-1 +2 s$/);
    expect(rows.at(-1)).toStartWith("? help  q quit  Enter open");
    terminal.press("q");
    expect(await terminal.exited).toBe(0);
    expect(terminal.state()).toEqual(AS_BEFORE);
  });

  test("at 60×20 and 200×60 fills the width, and no line is longer", async () => {
    for (const [columns, rows] of [
      [60, 20],
      [200, 60],
    ] as const) {
      const { terminal } = await watching({ tasks: TASKS }, { columns, rows });
      await terminal.draws(/today 1\.23/);
      const frame = terminal.frame();
      expect(frame[0]).toHaveLength(columns);
      expect(frame.at(-1)).toContain("? help");
      if (columns === 200) expect(frame[4]).toContain(taskId(3));
      if (columns === 200) expect(frame[5]).toContain("It took too long.");
      terminal.press("\u0003");
      expect(await terminal.exited).toBe(130);
    }
  });

  test("follows changes, new tasks and a resize", async () => {
    const { terminal, server } = await watching({ tasks: TASKS });
    server.change(live(3, { progress: 80 }));
    await terminal.draws(/████░ {2}80 %/);
    server.change(live(4, { status: "pending", progress: 0, queue_position: 7 }));
    await terminal.draws(/all 4 {2}pending 1/);
    terminal.resize(120, 30);
    await terminal.draws((frame) => frame.length === 30 && /7 before/.test(frame[4] ?? ""));
    terminal.resize(60, 20);
    await terminal.draws((frame) => frame[0]?.length === 60 && (frame.at(-1) ?? "").startsWith("? help"));
    server.change(listed(3));
    await terminal.draws(/done 2/);
    terminal.press("q");
    await terminal.exited;
  });

  test("keys move, choose, search, sort and explain", async () => {
    const { terminal } = await watching({ tasks: TASKS });
    terminal.press("j");
    await terminal.draws(/❯ task_00000…0+2 /);
    terminal.press("\u001b[B");
    await terminal.draws(/❯ task_00000…0+1 /);
    terminal.press("k");
    await terminal.draws(/❯ task_00000…0+2 /);
    terminal.press("G");
    await terminal.draws(/❯ task_00000…0+1 /);
    terminal.press("g");
    await terminal.draws(/❯ task_00000…0+3 /);
    terminal.press("\u001b[6~");
    await terminal.draws(/❯ task_00000…0+1 /);
    terminal.press("\u001b[5~");
    await terminal.draws(/❯ task_00000…0+3 /);
    terminal.press("\t");
    await terminal.draws(/No task is pending/);
    terminal.press("\u001b[Z5");
    await terminal.draws((frame) => !frame.some((line) => line.includes("completed  ")));
    terminal.press("1/video");
    await terminal.draws(/\/video▏ {2}1 found/);
    terminal.press("\r");
    await terminal.draws(/\/video {2}1 found/);
    terminal.press("\u001b");
    await terminal.draws((frame) => !/found/.test(frame[2] ?? ""));
    terminal.press("s");
    await terminal.draws(/oldest first/);
    terminal.press("?");
    await terminal.draws(/create one like it; asks/);
    terminal.press("\u001b");
    await terminal.draws(/oldest first/);
    // Pasted text is no key: this would cancel a task.
    terminal.press("\u001b[200~cy\u001b[201~");
    terminal.press("q");
    expect(await terminal.exited).toBe(0);
  });

  test("tasks are cancelled and created anew after a yes, and never without", async () => {
    const { terminal, server } = await watching({ tasks: TASKS });
    terminal.press("c");
    await terminal.draws(/Cancel task_0+3\? y\/n/);
    terminal.press("n");
    await terminal.draws(/\? help/);
    expect(server.seen.some((each) => each.startsWith("POST"))).toBe(false);
    terminal.press("cy");
    await terminal.draws(/task_0+3 is cancelled\./);
    await terminal.draws(/cancelled 1/);
    terminal.press("r");
    await terminal.draws(/Create a task like task_0+3, at today's price\? y\/n/);
    terminal.press("y");
    await terminal.draws(/task_of_the_retry was created like task_0+3/);
    terminal.press("c");
    await terminal.draws(/task_0+3 has ended: it is cancelled\./);
    terminal.press("q");
    await terminal.exited;
  });

  test("ids and addresses are copied by the terminal, and results saved here", async () => {
    const file = new Uint8Array(
      await sharp({ create: { width: 8, height: 8, channels: 3, background: "red" } })
        .png()
        .toBuffer(),
    );
    const server = startWatchedServer({ tasks: [], file });
    const folder = emptyFolder("watch");
    server.change(listed(1, { result: [`${server.url}/result`] }));
    const terminal = inTerminal(
      ["task", "watch"],
      folder,
      { ...envOf(server), PATH: folder },
      { columns: 80, rows: 24 },
    );
    await terminal.draws(/completed 1/);
    terminal.press("y");
    await terminal.draws(/copied task_0+1/);
    expect(terminal.raw()).toContain(`\u001b]52;c;${btoa(taskId(1))}\u0007`);
    terminal.press("Y");
    await terminal.draws(/copied http/);
    expect(terminal.raw()).toContain(`\u001b]52;c;${btoa(`${server.url}/result`)}\u0007`);
    terminal.press("d");
    await terminal.draws(new RegExp(`saved \\./${taskId(1)}`));
    expect(existsSync(join(folder, `${taskId(1)}.png`)) || existsSync(join(folder, taskId(1)))).toBe(true);
    terminal.press("o");
    await terminal.draws(/Cannot open http.*there is no xdg-open here/);
    // With its picture, in the terminal's colours.
    terminal.press("\r");
    await terminal.draws(/▀▀▀▀/);
    expect(terminal.raw()).toContain("38;5;");
    terminal.press("q");
    await terminal.exited;
  });

  test("what a task was asked for can neither break the frame nor command the terminal", async () => {
    const prompt = `${"灯台👩‍👩‍👧🇩🇪שלום ".repeat(2_900)}\u001b[2J\u001b]0;title\u0007\u202e`;
    expect(prompt.length).toBeGreaterThan(32_000);
    const story = {
      request: { prompt: `\u001b[2J\u009b3J\u202e${prompt}`, mode: "text-to-image", n: 1, parameters: {} },
      timeline: [{ stage: "queued", at: "2026-01-02T03:04:05.678Z", duration_ms: 1500 }],
      hold: { amount: "0.080000", currency: "USD" },
      advice: "Try again later.",
    };
    for (const columns of [60, 80, 200]) {
      const { terminal } = await watching(
        {
          tasks: [
            listed(1, {
              model: "\u001b[31m灯\u0007台\u202e",
              status: "failed",
              error_message: "bad\u001b[2J\n👍🏽",
            }),
          ],
          story,
        },
        { columns },
      );
      terminal.press("\r");
      await terminal.draws(/Try again later/);
      const frame = terminal.frame();
      expect(frame[0]).toStartWith("svc task watch");
      expect(frame.at(-1)).toStartWith("Esc close");
      expect(frame.join("\n")).toContain("\\u001b[2J\\u009b3J\\u202e");
      for (const line of frame) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns);
      for (const command of ["\u001b[2J\u009b", "\u001b]0;", "\u202e", "\u0007台"])
        expect(terminal.raw()).not.toContain(command);
      terminal.press("\u001b[6~");
      await terminal.draws(/queued 1\.5 s/);
      terminal.press("q");
      await terminal.exited;
    }
  });

  test("of 10,000 tasks, those on the screen are drawn, and at rest nothing is", async () => {
    const tasks = Array.from({ length: 10_000 }, (_, i) => listed(10_000 - i));
    const { terminal } = await watching({ tasks });
    await terminal.draws(/all 10000/);
    terminal.press("G");
    await terminal.draws(/❯ task_00000…0+1 /);
    const before = terminal.raw().length;
    terminal.press("k");
    await terminal.draws(/❯ task_00000…0+2 /);
    // Two rows change: nothing else is told to the terminal.
    expect(terminal.raw().length - before).toBeLessThan(1_000);
    // A frame ends with this.
    while (!terminal.raw().endsWith("\u001b[?2026l")) await Bun.sleep(10);
    const atRest = terminal.raw().length;
    await Bun.sleep(2_500);
    expect(terminal.raw().length).toBe(atRest);
    terminal.press("q");
    await terminal.exited;
  });

  test("a server that goes away and comes back is said so, and nothing is lost", async () => {
    const { terminal, server } = await watching({ tasks: TASKS });
    await server.leave();
    await terminal.draws(/no answer$/m);
    expect(terminal.frame().at(-1)).toContain("Trying again.");
    expect(terminal.frame().join("\n")).toContain("video-1");
    server.comeBack();
    await server.listened();
    server.change(listed(3));
    await terminal.draws(/completed 2/);
    await terminal.draws(/live$/m);
    terminal.press("q");
    expect(await terminal.exited).toBe(0);
  });

  test("what could not be read of an open task is read when the server is back", async () => {
    const { terminal, server } = await watching({ tasks: TASKS, story: { advice: "Try again later." } });
    await server.leave();
    await terminal.draws(/no answer$/m);
    terminal.press("\r");
    await terminal.draws(/Cannot reach [\s\S]*Cannot reach/);
    server.comeBack();
    await terminal.draws(/Try again later/);
    expect(terminal.frame().join("\n")).not.toContain("Cannot reach");
    terminal.press("q");
    await terminal.exited;
  });

  test("Ctrl-Z gives the terminal back to the shell, and fg takes it again", async () => {
    const server = startWatchedServer({ tasks: TASKS });
    const shell = inTerminal([], emptyFolder("watch"), envOf(server), {
      ...{ columns: 80, rows: 24, command: ["bash", "--norc", "--noprofile", "-i"] },
    });
    shell.press(`${SVC} task watch\r`);
    await shell.draws(/live$[\s\S]*video-1/m);
    shell.press("\u001a");
    await shell.draws(/Stopped/);
    expect(shell.state()).toMatchObject({ isOtherScreen: false, isCursorHidden: false, isWrapping: true });
    shell.press("fg\r");
    await shell.draws(/live$[\s\S]*video-1/m);
    expect(shell.state().isOtherScreen).toBe(true);
    shell.press("q");
    // What is typed before the shell asks goes to the command that ends.
    await shell.draws((frame) => /[#$] ?$/.test(frame.filter((line) => line !== "").at(-1) ?? ""));
    shell.press("exit 7\r");
    expect(await shell.exited).toBe(7);
  });

  test("at 60×20 its keys are explained without a word cut off", async () => {
    const { terminal } = await watching({ tasks: TASKS }, { columns: 60, rows: 20 });
    terminal.press("?");
    await terminal.draws(/Ctrl-C +quit/);
    expect(terminal.frame().slice(2).join("\n")).not.toContain("…");
    terminal.press("q");
    await terminal.exited;
  });

  test("where there are few lines, the last words of help are left out, and then what is above the tasks", async () => {
    const { terminal } = await watching({ tasks: TASKS }, { columns: 60, rows: 10 });
    terminal.press("?");
    await terminal.draws(/select a task/);
    const starts = () => terminal.frame().map((line) => line.trim().split(/ {2,}/)[0]);
    expect(starts()).toEqual([
      ...["svc task watch", "all 3", "0/min", "↑ ↓, j k"],
      ...["PgUp PgDn Space by a screen; of an open task, its text", "Home End, g G"],
      ...["Enter, Esc", "Tab, ← →, 1-6", "/", "Esc close"],
    ]);
    terminal.press("\u001b");
    await terminal.draws(/failed/);
    terminal.resize(60, 4);
    await terminal.draws((frame) => /live$/.test(frame[0] ?? "") && frame[3]?.startsWith("? help") === true);
    expect(starts()).toEqual(["svc task watch", "TASK", expect.stringMatching(/^❯ task_/), "? help"]);
    terminal.press("q");
    expect(await terminal.exited).toBe(0);
  });

  test.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
    ["SIGINT", 130],
  ] as const)("%s leaves the terminal as it was", async (signal, code) => {
    const { terminal } = await watching({ tasks: TASKS });
    terminal.signal(signal);
    expect(await terminal.exited).toBe(code);
    expect(terminal.state()).toEqual(AS_BEFORE);
    expect(terminal.frame().join("\n")).not.toContain("video-1");
  });

  test("without colours says the same, and without a terminal that can move its cursor prints lines", async () => {
    const { terminal } = await watching({ tasks: TASKS }, { env: { NO_COLOR: "1" } });
    await terminal.draws(/today/);
    for (const colour of [31, 32, 36]) expect(terminal.raw()).not.toContain(`\u001b[${colour}m`);
    terminal.press("q");
    await terminal.exited;
    const server = startWatchedServer({ tasks: TASKS });
    const dumb = inTerminal(["task", "watch"], emptyFolder("watch"), { ...envOf(server), TERM: "dumb" });
    await server.listened();
    server.change(live(3, { progress: 55 }));
    await dumb.shows(/task_0+3\tprocessing\t55/);
    expect(dumb.raw()).not.toContain("\u001b");
    dumb.press("\u0003");
    expect(await dumb.exited).toBe(130);
  });
});

describe("named tasks", () => {
  test("are watched until they have ended, and decide the exit code", async () => {
    const { terminal, server } = await watching({ tasks: TASKS }, { args: [taskId(3), taskId(1)] });
    await terminal.draws(/all 2/);
    server.change(listed(4));
    server.change(listed(3, { status: "failed", error_message: "No lighthouse." }));
    expect(await terminal.exited).toBe(3);
    expect(terminal.state()).toEqual(AS_BEFORE);
    expect(terminal.screen()).toContain(`${taskId(3)}\tfailed\t100\n${taskId(1)}\tcompleted\t100\n`);
    expect(terminal.screen()).toContain(`${taskId(3)} failed: No lighthouse.`);
  });

  test("that are left before they ended are no success", async () => {
    const { terminal } = await watching({ tasks: TASKS }, { args: [taskId(3)] });
    terminal.press("q");
    expect(await terminal.exited).toBe(130);
  });

  test("of another account are not there", async () => {
    using server = startWatchedServer({ tasks: TASKS });
    const { exitCode, stderr } = await svc(["task", "watch", taskId(9)], { env: envOf(server) });
    expect(exitCode).toBe(5);
    expect(stderr).toContain(`There is no task ${taskId(9)}.`);
  });
});

describe("without a terminal", () => {
  /** Prints until the server has told what it has to tell. */
  async function printed(args: readonly string[], tell: (server: WatchedServer) => void): Promise<Ended> {
    using server = startWatchedServer({ tasks: TASKS });
    const running = svc(["task", "watch", ...args], { env: envOf(server) });
    await server.listened();
    tell(server);
    return await running;
  }

  test("a line is printed for each change, tabs between its fields", async () => {
    const { stdout, exitCode, stderr } = await printed([taskId(3)], (server) => {
      server.change(live(3, { progress: 40 }));
      server.change(live(3, { progress: 90 }));
      server.change(live(3, { progress: 90, queue_position: 1 }));
      server.change(listed(3));
    });
    const lines = stdout.trim().split("\n");
    expect(lines.at(-1)).toBe(`${taskId(3)}\tcompleted\t100`);
    expect(lines.filter((line) => line.endsWith("\t90"))).toHaveLength(1);
    expect([exitCode, stderr]).toEqual([0, ""]);
  });

  test("tasks that have not ended are printed at once, the oldest first, and then what changes", async () => {
    const waiting = live(4, { status: "pending", progress: 0 });
    using server = startWatchedServer({ tasks: [live(5), waiting, ...TASKS] });
    const watch = Bun.spawn([SVC, "task", "watch"], {
      env: { ...envOf(server), HOME: emptyFolder("home") },
      stdout: "pipe",
    });
    const lines = linesOf(watch.stdout);
    expect([await lines(), await lines(), await lines()]).toEqual([
      `${taskId(3)}\tprocessing\t40`,
      `${taskId(4)}\tpending\t0`,
      `${taskId(5)}\tprocessing\t40`,
    ]);
    server.change(listed(4));
    expect(await lines()).toBe(`${taskId(4)}\tcompleted\t100`);
    watch.kill("SIGINT");
    expect(await watch.exited).toBe(130);
  });

  test("where no task is under way, it says so", async () => {
    using server = startWatchedServer({ tasks: [listed(1)] });
    const watch = Bun.spawn([SVC, "task", "watch"], {
      env: { ...envOf(server), HOME: emptyFolder("home") },
      ...{ stdout: "pipe", stderr: "pipe" },
    });
    expect(await linesOf(watch.stderr)()).toBe("No task is under way. Changes are printed as they come.");
    watch.kill("SIGINT");
    expect(await watch.stdout.text()).toBe("");
  });

  test("--json prints a line of JSON for each change", async () => {
    const { stdout, exitCode } = await printed([taskId(3), "--json"], (server) => {
      server.change(listed(3, { status: "cancelled" }));
    });
    const views = stdout
      .trim()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
    expect(views.at(-1)).toMatchObject({ task_id: taskId(3), status: "cancelled" });
    expect(exitCode).toBe(10);
  });

  test("a reader that has enough ends it", async () => {
    using server = startWatchedServer({ tasks: TASKS });
    const child = Bun.spawn(
      [
        "sh",
        "-c",
        `"${process.env.SVC_BIN ?? join(import.meta.dir, "../../dist/svc")}" task watch | head -1`,
      ],
      {
        env: { ...envOf(server), PATH: process.env.PATH ?? "" },
        stdout: "pipe",
      },
    );
    await server.listened();
    const timer = setInterval(() => server.change(live(3, { progress: Math.floor(Math.random() * 90) })), 50);
    expect(await child.stdout.text()).toMatch(/^task_0+3\tprocessing\t\d+\n$/);
    await child.exited;
    clearInterval(timer);
  });

  test("all accounts are watched with a management token only", async () => {
    using server = startWatchedServer({ tasks: TASKS });
    const without = await svc(["task", "watch", "--all-accounts"], { env: envOf(server) });
    expect(without.exitCode).toBe(4);
    expect(without.stderr).toContain("management token");
    const args = ["task", "watch", "--all-accounts", taskId(1), "--token", "mt-svc-x", "--json"];
    const { exitCode } = await svc(args, { env: { SVC_SERVER: server.url } });
    expect(exitCode).toBe(0);
    expect(server.seen).toContain("GET /admin/v1/events");
    expect(server.seen).toContain(`GET /admin/v1/tasks/${taskId(1)}`);
  });
});

test("tasks of a real server are watched to their end", async () => {
  const server = await startServer();
  const env = { SVC_SERVER: server.url, SVC_API_KEY: server.firstKey() };
  const submit = (more: string[]) =>
    svcJson(["task", "submit", "-m", "sandbox-image", "-p", "x", "-i", "size=16x16", ...more], { env });
  const { task_id: first } = (await submit([])) as { task_id: string };
  const { task_id: second } = (await submit(["-i", 'sandbox:={"outcome":"failed"}'])) as { task_id: string };
  const { stdout, exitCode } = await svc(["task", "watch", first, second], { env });
  expect(exitCode).toBe(3);
  expect(stdout).toContain(`${first}\tcompleted\t100`);
  expect(stdout).toContain(`${second}\tfailed\t`);
});

test("an operator watches the tasks of every account, and cancels one", async () => {
  const server = await startServer();
  const folder = ["--data-dir", server.dataDir];
  const { token } = (await arranged(["tokens", "create", "--name", "watcher", ...folder])) as {
    token: string;
  };
  const key = await prepaidKey(server.dataDir, "harbour", "5.00");
  const terminal = inTerminal(
    ["task", "watch", "--all-accounts"],
    emptyFolder("watch"),
    { SVC_SERVER: server.url, SVC_MANAGEMENT_TOKEN: token },
    { columns: 120, rows: 30 },
  );
  await terminal.draws(/No tasks yet/);
  const submit = [
    "task",
    "submit",
    "-m",
    "sandbox-image",
    "-p",
    "a lighthouse",
    "-i",
    'sandbox:={"outcome":"hang"}',
  ];
  await svcJson(submit, { env: { SVC_SERVER: server.url, SVC_API_KEY: key } });
  await terminal.draws(/ACCOUNT[\s\S]*❯ task_\S+ +harbour +processing/);
  terminal.press("\r");
  await terminal.draws(/prompt +a lighthouse[\s\S]*attempt +1 under_way; sandbox/);
  terminal.press("cy");
  await terminal.draws(/is cancelled\.|is asked to stop/);
  await terminal.draws(/cancelled 1/);
  terminal.press("r");
  await terminal.draws(/Only a key of the account that owns a task/);
  terminal.press("q");
  expect(await terminal.exited).toBe(0);
});

/** Reads one line after the other. */
function linesOf(stream: ReadableStream<Uint8Array>): () => Promise<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = "";
  return async () => {
    while (!text.includes("\n")) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`the stream ended after ${text}`);
      text += decoder.decode(value, { stream: true });
    }
    const [line = "", ...rest] = text.split("\n");
    text = rest.join("\n");
    return line;
  };
}
