import { describe, expect, test } from "bun:test";
import { askTerminal } from "../../../cli/picture/ask.ts";
import { depthOf, guessProtocol, readAnswer } from "../../../cli/picture/detect.ts";

const ASK = { ask: true, withSixels: "sixel" } as const;

test.each([
  [{ TERM: "xterm-kitty" }, { protocol: "kitty" }],
  [{ TERM: "xterm-256color", KITTY_WINDOW_ID: "1" }, { protocol: "kitty" }],
  [{ TERM: "xterm-ghostty" }, { protocol: "kitty" }],
  [{ TERM: "xterm-256color", TERM_PROGRAM: "ghostty" }, { protocol: "kitty" }],
  [{ TERM: "xterm-256color", TERM_PROGRAM: "iTerm.app" }, { protocol: "iterm" }],
  [{ TERM: "xterm-256color", LC_TERMINAL: "iTerm2" }, { protocol: "iterm" }],
  [{ TERM: "xterm-256color", TERM_PROGRAM: "WezTerm" }, { protocol: "iterm" }],
  [
    { TERM: "xterm-256color", TERM_PROGRAM: "vscode" },
    { ask: true, withSixels: "iterm" },
  ],
  [
    { TERM: "xterm-256color", TERM_PROGRAM: "vscode", KITTY_WINDOW_ID: "1" },
    { ask: true, withSixels: "iterm" },
  ],
  [{ TERM: "xterm-256color", TERM_PROGRAM: "Apple_Terminal" }, { protocol: "half" }],
  [{ TERM: "linux" }, { protocol: "half" }],
  [{ TERM: "xterm-256color" }, ASK],
  [{ TERM: "foot" }, ASK],
  [{ TERM: "xterm-256color", KITTY_WINDOW_ID: "" }, ASK],
  [{}, ASK],
  [{ TERM: "tmux-256color", TMUX: "/tmp/tmux-0/default,1,0" }, { protocol: "half" }],
  [{ TERM: "screen.xterm-256color", STY: "1.pts-0.host" }, { protocol: "half" }],
  [{ TERM: "tmux-256color" }, { protocol: "half" }],
  [{ TERM: "xterm-256color", ZELLIJ: "0", KITTY_WINDOW_ID: "1" }, { protocol: "half" }],
  [{ TERM: "tmux-256color", TMUX: "x", KITTY_WINDOW_ID: "1", TERM_PROGRAM: "tmux" }, { protocol: "half" }],
] as const)("%p means %p", (env, guess) => {
  expect(guessProtocol(env)).toEqual(guess);
});

test.each([
  [{ COLORTERM: "truecolor", TERM: "xterm-256color" }, "true-colour"],
  [{ COLORTERM: "24bit" }, "true-colour"],
  [{ TERM: "xterm-direct" }, "true-colour"],
  [{ TERM: "xterm-kitty" }, "true-colour"],
  [{ TERM_PROGRAM: "WezTerm", TERM: "xterm-256color" }, "true-colour"],
  [{ TERM: "xterm-256color" }, "256"],
  [{ TERM_PROGRAM: "Apple_Terminal", TERM: "xterm-256color" }, "256"],
  [{}, "256"],
] as const)("%p has colours: %s", (env, depth) => {
  expect(depthOf(env)).toBe(depth);
});

test.each([
  ["\u001b[?62;4;22c", { hasSixels: true, cell: undefined }],
  ["\u001b[6;18;9t\u001b[?65;1;4c", { hasSixels: true, cell: { width: 9, height: 18 } }],
  ["\u001b[?1;2c", { hasSixels: false, cell: undefined }],
  // The first number is a class of terminals.
  ["\u001b[?4c", { hasSixels: false, cell: undefined }],
  ["\u001b[?64;14;40;44c", { hasSixels: false, cell: undefined }],
  ["\u001b[?6c", { hasSixels: false, cell: undefined }],
  ["typed\u001b[6;0;0t\u001b[?62;4c", { hasSixels: true, cell: undefined }],
  ["\u001b[6;9999;9999t\u001b[?62;4c", { hasSixels: true, cell: undefined }],
  ["\u001b[?62;4", undefined],
  ["\u001b[6;18;9t", undefined],
  ["", undefined],
] as const)("the answer %p is read as %p", (text, answer) => {
  expect(readAnswer(text)).toEqual(answer);
});

/** A terminal and a clock that do what the test says. */
function scripted({ isInForeground = true } = {}) {
  let onBytes: ((bytes: Uint8Array) => void) | undefined;
  let written = "";
  const timers = new Map<number, () => void>();
  const answer = askTerminal({
    keyboard: {
      capture(take) {
        if (!isInForeground) return undefined;
        onBytes = take;
        return () => {
          onBytes = undefined;
        };
      },
    },
    write: (text) => {
      written += text;
    },
    after(ms, call) {
      timers.set(ms, call);
      return () => void timers.delete(ms);
    },
  });
  return {
    answer,
    written: () => written,
    isCaptured: () => onBytes !== undefined,
    says: (text: string) => onBytes?.(Buffer.from(text, "latin1")),
    passes: (ms: number) => timers.get(ms)?.(),
    timers: () => [...timers.keys()],
  };
}

describe("a terminal that is asked", () => {
  test("and answers in pieces is heard, and its keys are given back at once", async () => {
    const terminal = scripted();
    expect(terminal.written()).toBe("\u001b[16t\u001b[c");
    terminal.says("\u001b[6;20;");
    terminal.says("10t\u001b[?62");
    expect(terminal.isCaptured()).toBe(true);
    terminal.says(";4c");
    expect(await terminal.answer).toEqual({ hasSixels: true, cell: { width: 10, height: 20 } });
    expect([terminal.isCaptured(), terminal.timers()]).toEqual([false, []]);
  });

  test("and does not answer holds up nobody, and its keys are given back after a second", async () => {
    const terminal = scripted();
    terminal.passes(100);
    expect(await terminal.answer).toBeUndefined();
    expect(terminal.isCaptured()).toBe(true);
    terminal.passes(1000);
    expect(terminal.isCaptured()).toBe(false);
  });

  test("and answers late is not believed, but its answer goes nowhere else", async () => {
    const terminal = scripted();
    terminal.passes(100);
    terminal.says("\u001b[?62;4c");
    expect(await terminal.answer).toBeUndefined();
    expect([terminal.isCaptured(), terminal.timers()]).toEqual([false, []]);
  });

  test("and says a lot of something else is not believed", async () => {
    const terminal = scripted();
    for (let i = 0; i < 1000; i++) terminal.says("x".repeat(1000));
    terminal.passes(100);
    expect(await terminal.answer).toBeUndefined();
  });

  test("is not asked while another program has it", async () => {
    const terminal = scripted({ isInForeground: false });
    expect([await terminal.answer, terminal.written(), terminal.timers()]).toEqual([undefined, "", []]);
  });
});
