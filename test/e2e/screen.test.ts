import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { emptyFolder } from "../helpers/server.ts";
import { inTerminal } from "./support/terminal.ts";

setDefaultTimeout(120_000);

const PROGRAM = join(import.meta.dir, "support/screen-program.tsx");
/** Afterwards the shell says how it finds the terminal. */
const IN_A_SHELL = `"${process.execPath}" "${PROGRAM}"; echo "code $?"; stty -a | tr ';' '\\n'; echo "the end"`;

function start(size: { columns?: number; rows?: number } = {}, before = "true") {
  return inTerminal(
    ["-c", `${before}; ${IN_A_SHELL}`],
    emptyFolder("screen"),
    {},
    { ...size, command: ["sh"] },
  );
}

const AS_BEFORE = {
  isOtherScreen: false,
  isCursorHidden: false,
  isBracketingPastes: false,
  isWrapping: true,
};

test.each([
  ["q", 0],
  ["e", 7],
  ["t", 1],
  ["u", 1],
  ["b", 1],
])("the terminal is as it was when the program ends by %s", async (key, code) => {
  const terminal = start({ columns: 80, rows: 50 });
  await terminal.draws((frame) => frame[0] === "80x50:" && terminal.state().isBracketingPastes);
  expect(terminal.state()).toEqual({
    isOtherScreen: true,
    isCursorHidden: true,
    isBracketingPastes: true,
    isWrapping: false,
  });
  terminal.press(key);
  await terminal.draws(/the end/);
  expect(terminal.state()).toEqual(AS_BEFORE);
  const shown = terminal.frame().join("\n");
  expect(shown).toContain(`code ${code}`);
  expect(shown).not.toContain("80x50");
  expect(shown).toMatch(/(?<!-)icanon/);
  expect(shown).toMatch(/(?<!-)echo\b/);
  expect(shown).toMatch(/(?<!-)isig/);
});

test.each([
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("the terminal is as it was after %s", async (signal, code) => {
  const terminal = inTerminal([PROGRAM], emptyFolder("screen"), {}, { command: [process.execPath] });
  await terminal.draws(/160x50:/);
  terminal.signal(signal);
  expect(await terminal.exited).toBe(code);
  expect(terminal.state()).toEqual(AS_BEFORE);
  expect(terminal.frame().join("").trim()).toBe("");
});

test("a terminal that is taken away ends the program, as a signal of that name does", async () => {
  const terminal = inTerminal([PROGRAM], emptyFolder("screen"), {}, { command: [process.execPath] });
  await terminal.draws(/160x50:/);
  terminal.hangUp();
  expect(await terminal.exited).toBe(129);
});

test("keys that come together are all heard, and pasted text is no key", async () => {
  const terminal = start();
  await terminal.draws(/160x50:/);
  terminal.press("jjG\u001b[A\u001b[6~\t\u001b[Z\r\u007f");
  terminal.press("\u001b[200~quit\u001b[201~");
  terminal.press("\u0003");
  await terminal.draws(/: j j G up pagedown tab shift\+tab enter backspace pasted\(quit\) ctrl\+c$/m);
});

test("a resized terminal is drawn anew, larger and smaller", async () => {
  const terminal = start({ columns: 100, rows: 30 });
  await terminal.draws(/^100x30:/);
  terminal.resize(200, 60);
  await terminal.draws((frame) => frame.join("").trim() === "200x60:");
  terminal.resize(60, 20);
  await terminal.draws((frame) => frame.join("").trim() === "60x20:");
});

test.each([
  ["stty cols 0 rows 0", "80x24"],
  ["stty cols 60000 rows 60000", "1000x400"],
])("a terminal that lies about its size is drawn on all the same: %s", async (lie, believed) => {
  const terminal = start({}, lie);
  await terminal.draws(new RegExp(`^${believed}:`));
  terminal.press("q");
  await terminal.draws(/code 0/);
});

test("text is copied by the terminal itself", async () => {
  const terminal = start();
  await terminal.draws(/160x50:/);
  terminal.press("y");
  await terminal.draws(/: y/);
  expect(terminal.raw()).toContain(`\u001b]52;c;${btoa("copied")}\u0007`);
});
