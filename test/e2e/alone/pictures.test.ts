import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { dirname } from "node:path";
import { readHalfBlocks, readIterm, readKitty, readSixels } from "../../cli/picture/readers.ts";
import {
  cleanEnvironment,
  emptyFolder,
  type Server,
  SVC,
  startServer,
  stopServers,
} from "../../helpers/server.ts";
import { svcJson } from "../support/command.ts";

setDefaultTimeout(120_000);

/** What a terminal is asked where nothing else tells what it can do. */
const QUESTION = "\u001b[16t\u001b[c";
const HAS_SIXELS = "\u001b[6;20;10t\u001b[?62;4;22c";
const HAS_NONE = "\u001b[?62;22c";

let server: Server;
let task: string;
let env: Record<string, string>;

beforeAll(async () => {
  server = await startServer();
  env = { SVC_SERVER: server.url, SVC_API_KEY: server.firstKey() };
  task = await make("sandbox-image", "-i", "seed=2", "-i", "aspect_ratio=16:9");
});
afterAll(stopServers);

async function make(model: string, ...inputs: string[]): Promise<string> {
  const submit = ["task", "submit", "-m", model, "-p", "a lighthouse", ...inputs, "--wait"];
  const made = await svcJson(submit, { env });
  if (typeof made === "object" && made !== null && "task_id" in made) return String(made.task_id);
  throw new Error("No task was made.");
}

/** What a terminal does each time it has been told something. */
type Habit = (shown: string, type: (text: string) => void) => void;

/** Answers once, as soon as it was told this. */
function answering(answer: string, after = QUESTION): Habit {
  let isDone = false;
  return (shown, type) => {
    if (isDone || !shown.includes(after)) return;
    isDone = true;
    type(answer);
  };
}

const silent: Habit = () => {};

interface Session {
  /** All that the terminal was told. */
  readonly raw: string;
  /** What was left for the shell to read when the command had ended, as the shell quotes it. */
  readonly leftover: string;
  readonly exitCode: number;
  /** Whether the terminal was left as it had been. */
  readonly isRestored: boolean;
}

/** Runs a command in a shell with a terminal of its own, 80 × 24. */
async function session(command: string, habit: Habit, more: Record<string, string> = {}): Promise<Session> {
  let raw = "";
  const decoder = new TextDecoder();
  const script = [
    "before=$(stty -g)",
    command,
    "code=$?",
    "after=$(stty -g)",
    "read -rs -t 0.2 -n 500 rest",
    `printf '\\nEND code=%s restored=%s rest=%q\\n' $code $([ "$before" = "$after" ] && echo yes) "$rest"`,
  ];
  const child = Bun.spawn(["bash", "-c", script.join("\n")], {
    cwd: emptyFolder("pictures"),
    env: cleanEnvironment({
      ...env,
      PATH: `${dirname(SVC)}:${process.env.PATH}`,
      TERM: "xterm-256color",
      COLORTERM: "truecolor",
      ...more,
    }),
    terminal: {
      cols: 80,
      rows: 24,
      data(terminal, data) {
        raw += decoder.decode(data, { stream: true });
        habit(raw, (text) => void terminal.write(text));
      },
    },
  });
  await child.exited;
  raw = raw.replaceAll("\r\n", "\n");
  const [, code, restored, leftover = ""] = /END code=(\d+) restored=(\w*) rest=(.*)\n/.exec(raw) ?? [];
  return { raw, leftover, exitCode: Number(code), isRestored: restored === "yes" };
}

const download = () => `svc task download ${task} -o .`;
/** A task that takes longer than anybody looks. */
const SLOW = `svc task submit -m sandbox-image -p slow -i 'sandbox:={"delay_ms": 60000}' -o .`;

/** What a session ends with when nothing went wrong. */
const CLEAN = { leftover: "''", exitCode: 0, isRestored: true };

describe("a terminal that is not known", () => {
  test("and says that it has sixels gets them", async () => {
    const { raw, ...end } = await session(download(), answering(HAS_SIXELS));
    expect(end).toEqual(CLEAN);
    const { width, height } = readSixels(raw);
    expect([height, Math.round((width / height) * 9)]).toEqual([240, 16]);
  });

  test("and says that it has none gets half blocks", async () => {
    const { raw, ...end } = await session(download(), answering(HAS_NONE));
    expect(end).toEqual(CLEAN);
    const { width, height } = await readHalfBlocks(raw.replaceAll(QUESTION, ""), 80);
    expect([height, Math.round((width / height) * 9)]).toEqual([24, 16]);
  });

  test("takes Ctrl-C while it is asked", async () => {
    const { raw, ...end } = await session(SLOW, answering("\u0003"));
    expect(end).toEqual({ ...CLEAN, exitCode: 130 });
    expect(raw).toContain("Interrupted.");
  });

  test("is left as it was by SIGTERM", async () => {
    const command =
      "(echo PID $BASHPID. && exec svc task submit -m sandbox-video -p waves -i duration=10 -o .)";
    let isDone = false;
    const { exitCode, isRestored, leftover } = await session(command, (shown) => {
      const [, pid] = /PID (\d+)\./.exec(shown) ?? [];
      if (isDone || pid === undefined || !shown.includes(QUESTION)) return;
      isDone = true;
      process.kill(Number(pid), "SIGTERM");
    });
    expect({ exitCode, isRestored, leftover }).toEqual({ ...CLEAN, exitCode: 143 });
  });

  // At the same time: no answer has to come in time.
  test.concurrent("and answers nothing gets half blocks", async () => {
    const { raw, ...end } = await session(download(), silent);
    expect(end).toEqual(CLEAN);
    expect(raw).toContain("▀");
  });

  test.concurrent("and answers when it is too late gets half blocks, and the shell gets nothing", async () => {
    let asked = 0;
    let answered = 0;
    const answer = answering(HAS_SIXELS, "▀");
    const habit: Habit = (shown, type) => {
      if (asked === 0 && shown.includes(QUESTION)) asked = performance.now();
      answer(shown, (text) => {
        type(text);
        answered = performance.now();
      });
    };
    const { raw, ...end } = await session(download(), habit);
    // After a second nobody listens any more. A machine as busy as that shows nothing here.
    if (answered - asked < 500) expect(end).toEqual(CLEAN);
    expect(raw).not.toContain("\u001bP");
  });

  test.concurrent("and says what no terminal says gets half blocks, and the shell gets nothing", async () => {
    const lie = `\u001b[6;0;99999t\u001b[?62;4${"x".repeat(5_000)}`;
    const { raw, ...end } = await session(download(), answering(lie));
    expect(end).toEqual(CLEAN);
    expect(raw).toContain("▀");
  });

  test.concurrent("is not asked by a job in the background", async () => {
    const { raw, ...end } = await session(`set -m; ${download()} & wait $!`, answering("leaked"));
    expect(end).toEqual(CLEAN);
    expect([raw.includes(QUESTION), raw.includes("▀")]).toEqual([false, true]);
  });
});

describe("a terminal that is known is not asked, and gets", () => {
  test.concurrent("kitty's pictures", async () => {
    const { raw, ...end } = await session(download(), answering("leaked"), { TERM: "xterm-kitty" });
    expect(end).toEqual(CLEAN);
    expect(await readKitty(raw)).toHaveLength(1);
  });

  test.concurrent("iTerm2's pictures", async () => {
    const { raw, ...end } = await session(download(), answering("leaked"), { TERM_PROGRAM: "iTerm.app" });
    expect(end).toEqual(CLEAN);
    expect(await readIterm(raw)).toHaveLength(1);
  });

  test.concurrent("half blocks under tmux", async () => {
    const { raw, ...end } = await session(download(), answering("leaked"), { TMUX: "/tmp/none,1,0" });
    expect(end).toEqual(CLEAN);
    expect(raw).toContain("▀");
  });

  test.concurrent("nothing where it is dumb, or there should be no colours", async () => {
    for (const more of [{ TERM: "dumb" }, { NO_COLOR: "1" }, { SVC_PREVIEW: "none" }]) {
      const { raw, ...end } = await session(download(), answering("leaked"), more);
      expect(end).toEqual(CLEAN);
      expect(picturesIn(raw)).toEqual([]);
    }
  });
});

test("the first picture of a video that was made here is shown, with its length", async () => {
  const video = await make("sandbox-video", "-i", "duration=1");
  const { raw, ...end } = await session(`svc task download ${video} -o wave.mp4`, answering(HAS_SIXELS));
  expect(end).toEqual(CLEAN);
  const { width, height } = readSixels(raw);
  expect(Math.round((width / height) * 9)).toBe(16);
  expect(raw).toMatch(/^wave\.mp4 {2}\d+×\d+, 1 s$/m);
});

test("several pictures are shown together", async () => {
  const several = await make("sandbox-image", "-i", "n=3");
  const { raw, ...end } = await session(`svc task download ${several} -o sun.png`, answering(HAS_NONE));
  expect(end).toEqual(CLEAN);
  expect(Bun.stripANSI(raw)).toMatch(/^1 sun-1\.png +2 sun-2\.png +3 sun-3\.png$/m);
});

test("a pipe gets paths, and its terminal no picture", async () => {
  const { raw, ...end } = await session(`${download()} | od -c | head -1`, answering("leaked"));
  expect(end).toEqual(CLEAN);
  expect(picturesIn(raw)).toEqual([]);
  expect(raw).toMatch(/^0000000 +\. +\//m);
});

/** The beginnings of pictures and questions that a terminal was told. */
function picturesIn(raw: string): string[] {
  return ["▀", "\u001bP", "\u001b_G", "\u001b]1337", QUESTION].filter((begin) => raw.includes(begin));
}
