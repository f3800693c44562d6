import { afterAll, expect, test } from "bun:test";
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogOutput } from "../../src/runtime/log-output.ts";

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
const folder = mkdtempSync(join(tmpdir(), "log-output-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A pipe whose reader reads only when it is told to. */
function pipe() {
  const path = join(folder, crypto.randomUUID());
  Bun.spawnSync(["mkfifo", path]);
  const reader = openSync(path, O_RDONLY | O_NONBLOCK);
  const writer = openSync(path, O_WRONLY | O_NONBLOCK);
  const buffer = Buffer.alloc(1024 * 1024);
  function read(): string {
    try {
      return buffer.toString("utf8", 0, readSync(reader, buffer));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EAGAIN") return "";
      throw error;
    }
  }
  return { path, writer, read, close: () => closeSync(reader) };
}

const LINE = `${"x".repeat(999)}\n`;
const LINES = LINE.repeat(100);

test("lines wait for a reader that has stopped, and it gets all of them in order", () => {
  const { writer, read } = pipe();
  const output = createLogOutput(() => expect.unreachable(), writer);
  for (let i = 0; i < 8; i++) output.write(LINES);
  output.write("last\n");
  expect(output.flush()).toBe(false);
  let text = "";
  for (let isRead = false; !isRead; isRead = output.flush()) text += read();
  text += read();
  expect(text).toBe(`${LINES.repeat(8)}last\n`);
});

test("more lines than may wait are left out, and how many is told once they are read again", () => {
  const { writer, read } = pipe();
  const told: number[] = [];
  const output = createLogOutput((count) => {
    told.push(count);
    output.write(`${count} left out\n`);
  }, writer);
  for (let i = 0; i < 20; i++) output.write(LINES);
  let text = "";
  for (let isRead = false; !isRead; isRead = output.flush()) text += read();
  text += read();
  const written = text.split("\n").filter((line) => line.startsWith("x")).length;
  expect(told).toEqual([2_000 - written]);
  expect(written).toBeGreaterThan(1_000);
  expect(text).toEndWith(`${told[0]} left out\n`);
});

test("without a reader, nothing waits", () => {
  const { writer, close } = pipe();
  const output = createLogOutput(() => expect.unreachable(), writer);
  for (let i = 0; i < 8; i++) output.write(LINES);
  close();
  expect(output.flush()).toBe(true);
});

test.each(["json", "pretty"])("a program goes on while nobody reads its log (%s)", async (format) => {
  const { path, read } = pipe();
  const program = `
    import { openLog } from "./src/runtime/log.ts";
    const log = await openLog({ level: "info", format: "${format}" });
    for (let i = 0; i < 300; i++) log.warn({ text: "${"x".repeat(1_000)}" }, "a line");
    console.log("it goes on");
    await log.end();
    process.exit(0);
  `;
  const child = Bun.spawn(["sh", "-c", 'exec "$0" -e "$1" 2>"$2"', process.execPath, program, path], {
    ...{ stdout: "pipe", cwd: `${import.meta.dir}/../..`, timeout: 20_000 },
  });
  expect(await child.stdout.text()).toBe("it goes on\n");
  expect(await child.exited).toBe(0);
  expect(read()).toContain("a line");
});
