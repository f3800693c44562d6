import { expect, test } from "bun:test";

/** What a program that logs these two lines leaves on stderr. */
async function linesOf(level: string): Promise<Record<string, unknown>[]> {
  const program = `
    import { openLog } from "./src/runtime/log.ts";
    const log = await openLog({ level: "${level}", format: "json" });
    log.debug({}, "hidden");
    log.info({ task: "task_1", ms: 4, nothing: undefined, text: 'a "quote" \\n' }, "plain");
    log.error({ task: "task_1", ms: 4, nothing: undefined, err: new TypeError("broken") }, "with an error");
    log.flush();
  `;
  const child = Bun.spawn([process.execPath, "-e", program], {
    stderr: "pipe",
    cwd: `${import.meta.dir}/../..`,
  });
  const text = await new Response(child.stderr).text();
  expect(await child.exited).toBe(0);
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

test("lines with and without an error have the same form: level, time, fields, message", async () => {
  const [plain, failed] = await linesOf("info");
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(plain).toEqual({ level: "info", time, task: "task_1", ms: 4, text: 'a "quote" \n', msg: "plain" });
  expect(Object.keys(plain ?? {})).toEqual(["level", "time", "task", "ms", "text", "msg"]);
  const err = expect.objectContaining({ type: "TypeError", message: "broken", stack: expect.any(String) });
  expect(failed).toEqual({ level: "error", time, task: "task_1", ms: 4, err, msg: "with an error" });
  expect(Object.keys(failed ?? {})).toEqual(["level", "time", "task", "ms", "err", "msg"]);
});

test("an error is told by its name, with its cause", async () => {
  const program = `
    import { openLog } from "./src/runtime/log.ts";
    class x extends Error { name = "StorageError" }
    const log = await openLog({ level: "info", format: "json" });
    log.error({ err: new x("The disk is full", { cause: new Error("no space") }) }, "it failed");
    log.flush();
  `;
  const child = Bun.spawn([process.execPath, "-e", program], {
    stderr: "pipe",
    cwd: `${import.meta.dir}/../..`,
  });
  expect(JSON.parse(await child.stderr.text()).err).toMatchObject({
    type: "StorageError",
    message: "The disk is full: no space",
    stack: expect.stringContaining("caused by: Error: no space"),
  });
});

test("a full disk is told without the code that noticed it", async () => {
  const program = `
    import { StorageError } from "./src/domain/ports/task-store.ts";
    import { openLog } from "./src/runtime/log.ts";
    const log = await openLog({ level: "info", format: "json" });
    for (const kind of ["full", "read_only", "busy"])
      log.error({ err: new StorageError(kind, "Nothing was kept.", new Error("ENOSPC")) }, "it failed");
    log.flush();
  `;
  const child = Bun.spawn([process.execPath, "-e", program], {
    stderr: "pipe",
    cwd: `${import.meta.dir}/../..`,
  });
  const told = (await child.stderr.text())
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).err);
  expect(told.map(({ message }) => message)).toEqual(Array(3).fill("Nothing was kept.: ENOSPC"));
  expect(told.map(({ stack }) => typeof stack)).toEqual(["undefined", "undefined", "string"]);
});

test("a level can be changed while the log is written", async () => {
  const program = `
    import { openLog } from "./src/runtime/log.ts";
    const log = await openLog({ level: "warn", format: "json" });
    log.info({}, "hidden");
    log.setLevel("debug");
    log.debug({ level_now: log.level() }, "shown");
    log.setLevel("warn");
    log.debug({}, "hidden again");
    log.flush();
  `;
  const child = Bun.spawn([process.execPath, "-e", program], {
    stderr: "pipe",
    cwd: `${import.meta.dir}/../..`,
  });
  const lines = (await child.stderr.text()).trim().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ msg: "shown", level_now: "debug" }]);
});

test("a level leaves out what is below it", async () => {
  expect((await linesOf("error")).map(({ msg }) => msg)).toEqual(["with an error"]);
});

test("what others wrote is no command to a terminal that shows the lines, and still the same text", async () => {
  const path = "/\u009b31m\u202e\u2028\u007f\u001bé";
  const program = `
    import { openLog } from "./src/runtime/log.ts";
    const log = await openLog({ level: "info", format: "json" });
    log.info({ path: ${JSON.stringify(path)} }, "request");
    log.error({ err: new Error(${JSON.stringify(path)}) }, "failed");
    log.flush();
  `;
  const child = Bun.spawn([process.execPath, "-e", program], {
    stderr: "pipe",
    cwd: `${import.meta.dir}/../..`,
  });
  const text = await child.stderr.text();
  expect(text.match(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu)?.filter((each) => each !== "\n")).toEqual([]);
  const [request, failed] = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect([request.path, failed.err.message]).toEqual([path, path]);
});

test("a log for people has its own colours, and none that others wrote", async () => {
  const program = `
    import { openLog } from "./src/runtime/log.ts";
    const log = await openLog({ level: "info", format: "pretty", isColoured: true });
    log.info({ name: "\\u001b[31m\\u009b31m" }, "request");
    log.flush();
  `;
  const child = Bun.spawn([process.execPath, "-e", program], {
    stderr: "pipe",
    cwd: `${import.meta.dir}/../..`,
  });
  const text = await child.stderr.text();
  expect(text).toContain("\u001b[32mINFO");
  expect(text).toContain("name=\\u001b[31m\\u009b31m");
});
