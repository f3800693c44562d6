import { expect, test } from "bun:test";
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
/** More than is written at once, in lines of a hundred bytes, and then bytes. */
const LINES = Array.from({ length: 2_000 }, (_, i) => `${String(i).padStart(99, "0")}\n`);
const PROGRAM = `
import { closeSync, constants, openSync } from "node:fs";
import { createSink } from "./cli/standard-streams.ts";
const [path] = process.argv.slice(1);
if (path !== undefined) {
  // A pipe that a program is started with is one that lets it wait. This one becomes its standard output, too.
  closeSync(1);
  if (openSync(path, constants.O_WRONLY | constants.O_NONBLOCK) !== 1) throw new Error("Something else has become 1.");
}
const sink = createSink(1, () => process.stdout);
process.stderr.write("begins");
for (let i = 0; i < ${LINES.length}; i++) sink.write(String(i).padStart(99, "0") + "\\n");
await sink.writeBytes(new TextEncoder().encode("the end\\n"));
`;
const WRITTEN = `${LINES.join("")}the end\n`;

const run = (...args: string[]) =>
  Bun.spawn([process.execPath, "-e", PROGRAM, ...args], { cwd: ROOT, stdout: "pipe", stderr: "pipe" });

test("what is more than a pipe takes at once comes whole and in its order", async () => {
  const child = run();
  expect(await child.stdout.text()).toBe(WRITTEN);
  expect(await child.exited).toBe(0);
});

test("a pipe that is full, and does not let its writer wait, gets everything once it is read", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-streams-"));
  const path = join(folder, "pipe");
  expect(Bun.spawnSync(["mkfifo", path]).exitCode).toBe(0);
  const first = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  const filled = fill(writer);
  const child = run(path);
  // Nobody reads yet, so that the first line is refused.
  const { value } = await child.stderr.getReader().read();
  expect(new TextDecoder().decode(value)).toBe("begins");
  const reader = openSync(path, constants.O_RDONLY);
  closeSync(first);
  closeSync(writer);
  const cat = Bun.spawn(["cat"], { stdin: reader, stdout: "pipe" });
  closeSync(reader);
  expect((await cat.stdout.text()).slice(filled)).toBe(WRITTEN);
  expect(await child.exited).toBe(0);
  rmSync(folder, { recursive: true });
});

test("work goes on, and ends as it would, when nobody reads its messages any more", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-streams-"));
  const path = join(folder, "pipe");
  expect(Bun.spawnSync(["mkfifo", path]).exitCode).toBe(0);
  const program = `
import { closeSync, constants, openSync } from "node:fs";
import { createSink } from "./cli/standard-streams.ts";
const reader = openSync(process.argv[1], constants.O_RDONLY | constants.O_NONBLOCK);
closeSync(2);
if (openSync(process.argv[1], constants.O_WRONLY) !== 2) throw new Error("Something else has become 2.");
closeSync(reader);
const sink = createSink(2, () => process.stderr);
if (process.argv[2] === "short") sink.write("a message\\n");
else sink.write("a long message\\n".repeat(10_000));
await new Promise((resolve) => setTimeout(resolve));
sink.write("another\\n");
await sink.writeBytes(new TextEncoder().encode("the last\\n"));
process.stdout.write("done");
process.exitCode = 3;
`;
  for (const length of ["short", "long"]) {
    const command = [process.execPath, "-e", program, path, length];
    const child = Bun.spawn(command, { cwd: ROOT, stdout: "pipe" });
    expect([length, await child.stdout.text(), await child.exited]).toEqual([length, "done", 3]);
  }
  rmSync(folder, { recursive: true });
});

test("standard input is read to its end, as text and as bytes", async () => {
  const program = `
import { createSource } from "./cli/standard-streams.ts";
process.stdout.write(await createSource().READ());
`;
  const said = async (read: "readAll" | "readText") => {
    const child = Bun.spawn([process.execPath, "-e", program.replace("READ", read)], {
      ...{ cwd: ROOT, stdin: new Blob([WRITTEN]), stdout: "pipe" as const },
    });
    return await child.stdout.text();
  };
  expect([await said("readText"), await said("readAll")]).toEqual([WRITTEN, WRITTEN]);
});

/** @returns how many bytes a pipe took until it took no more */
function fill(writer: number): number {
  const piece = new Uint8Array(1_024).fill(0x2e);
  let filled = 0;
  try {
    for (;;) filled += writeSync(writer, piece);
  } catch {
    return filled;
  }
}

test.if(process.platform === "linux")("bytes that cannot be written are told of once", async () => {
  const program = `
import { createSink } from "./cli/standard-streams.ts";
const sink = createSink(1, () => process.stdout);
await sink.writeBytes(new Uint8Array(100)).catch((error) => process.stderr.write(error.message + "\\n"));
`;
  const child = Bun.spawn([process.execPath, "-e", program], {
    ...{ cwd: ROOT, stdout: Bun.file("/dev/full"), stderr: "pipe" },
  });
  expect(await child.stderr.text()).toBe("error: Cannot write the output: the disk is full.\n");
  expect(await child.exited).toBe(1);
});

test("a terminal that does not know its size is not taken for one of no width", async () => {
  const program = `
import { createSink } from "./cli/standard-streams.ts";
const { isTerminal, columns, rows } = createSink(1, () => process.stdout);
console.log(JSON.stringify({ isTerminal, columns, rows }));
`;
  const told = Promise.withResolvers<string>();
  const text = new TextDecoder();
  let shown = "";
  const child = Bun.spawn(
    ["sh", "-c", 'stty columns 0 rows 0; exec "$0" -e "$1"', process.execPath, program],
    {
      cwd: ROOT,
      terminal: {
        data(_terminal, bytes) {
          shown += text.decode(bytes);
          if (shown.includes("}")) told.resolve(shown);
        },
      },
    },
  );
  expect(JSON.parse(await told.promise)).toEqual({ isTerminal: true });
  expect(await child.exited).toBe(0);
});
