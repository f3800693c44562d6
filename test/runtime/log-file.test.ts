import { afterEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LogFile, logPart } from "../../src/runtime/log-file.ts";
import { hasLog, LogReader } from "../../src/runtime/log-reading.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function setup(mostBytes = 400) {
  const parent = mkdtempSync(join(tmpdir(), "svc-logs-"));
  folders.push(parent);
  const folder = join(parent, "logs");
  const troubles: string[] = [];
  const file = new LogFile({ folder, mostBytes, onTrouble: ({ message }) => void troubles.push(message) });
  return { folder, file, troubles };
}

/** Ten bytes each. */
const line = (number: number) => `line ${String(number).padStart(4, "0")}\n`;
const numbersIn = (lines: Iterable<string>) => [...lines].map((text) => Number(text.slice(5)));

describe("the files of a log", () => {
  test("never have more bytes than they may, and hold the latest lines, for this user alone", () => {
    const { folder, file } = setup();
    for (let i = 0; i < 1_000; i++) file.write(line(i));
    const names = readdirSync(folder).sort();
    expect(names).toEqual(["svc.1.log", "svc.2.log", "svc.3.log", "svc.log"]);
    const stats = names.map((name) => statSync(join(folder, name)));
    expect(stats.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(400);
    expect(stats.map(({ mode }) => mode & 0o777)).toEqual(Array(4).fill(0o600));
    const numbers = numbersIn(new LogReader(folder).unread());
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, i) => 1_000 - numbers.length + i));
    expect(numbers.length).toBeGreaterThanOrEqual(30);
  });

  test("go on where an earlier process ended", () => {
    const { folder, file } = setup();
    file.write(line(1));
    file.stop();
    new LogFile({ folder, mostBytes: 400, onTrouble() {} }).write(line(2));
    expect(readFileSync(logPart(folder, 0), "utf8")).toBe(line(1) + line(2));
  });

  test("are begun anew once they are removed or moved away, but not without the folder above them", () => {
    const { folder, file, troubles } = setup();
    file.write(line(1));
    rmSync(logPart(folder, 0));
    file.write(line(2));
    renameSync(logPart(folder, 0), join(folder, "old"));
    file.write(line(3));
    expect(readFileSync(join(folder, "old"), "utf8")).toBe(line(2));
    expect(readFileSync(logPart(folder, 0), "utf8")).toBe(line(3));
    rmSync(folder, { recursive: true });
    file.write(line(4));
    expect(readFileSync(logPart(folder, 0), "utf8")).toBe(line(4));
    expect(troubles).toEqual([]);

    renameSync(join(folder, ".."), `${join(folder, "..")}-moved`);
    file.write(line(5));
    expect([troubles.length, existsSync(join(folder, ".."))]).toEqual([1, false]);
    renameSync(`${join(folder, "..")}-moved`, join(folder, ".."));
  });

  test("that cannot be written are told of once, and written again when they can be", () => {
    const { folder, file, troubles } = setup();
    writeFileSync(folder, "in the way");
    for (let i = 0; i < 3; i++) file.write(line(i));
    expect(troubles).toHaveLength(1);
    rmSync(folder);
    file.write(line(3));
    expect(numbersIn([...new LogReader(folder).unread()].filter((text) => text !== ""))).toEqual([3]);
    rmSync(folder, { recursive: true });
    mkdirSync(logPart(folder, 0), { recursive: true });
    file.stop();
    file.write(line(4));
    expect(troubles).toHaveLength(2);
  });

  test("end the telling where it comes back as a line", () => {
    const { folder, troubles } = setup();
    writeFileSync(folder, "in the way");
    const file: LogFile = new LogFile({
      ...{ folder, mostBytes: 400 },
      onTrouble({ message }) {
        troubles.push(message);
        file.write(line(0));
      },
    });
    file.write(line(1));
    expect(troubles).toHaveLength(1);
  });
});

describe("a reader of a log", () => {
  test("gets each line once, whatever files begin while it reads", () => {
    const { folder, file } = setup();
    expect(hasLog(folder)).toBe(false);
    file.write(line(0));
    expect(hasLog(folder)).toBe(true);
    const reader = new LogReader(folder);
    const read = numbersIn(reader.unread());
    for (let i = 1; i < 300; i++) {
      file.write(line(i));
      // Fewer lines than the files hold.
      if (i % 17 === 0) read.push(...numbersIn(reader.unread()));
    }
    read.push(...numbersIn(reader.unread()));
    expect(read).toEqual(Array.from({ length: 300 }, (_, i) => i));
    reader.close();
  });

  test("gets no line again when somebody removes the file that it reads", () => {
    const { folder, file } = setup();
    for (let i = 0; i < 25; i++) file.write(line(i));
    const reader = new LogReader(folder);
    expect(numbersIn(reader.unread())).toHaveLength(25);
    rmSync(logPart(folder, 0));
    file.write(line(25));
    expect(numbersIn(reader.unread())).toEqual([25]);
    file.write(line(26));
    expect(numbersIn(reader.unread())).toEqual([26]);
    reader.close();
  });

  test("waits for the end of a line", () => {
    const { folder, file } = setup();
    file.write("line 00");
    const reader = new LogReader(folder);
    expect([...reader.unread()]).toEqual([]);
    file.write("07\nline");
    expect([...reader.unread()]).toEqual(["line 0007"]);
  });
});
