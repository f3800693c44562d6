import { describe, expect, test } from "bun:test";
import { createOutput, type OutputFlags } from "../../../cli/format/output.ts";
import { styleFor } from "../../../cli/format/style.ts";
import { column } from "../../../cli/format/table.ts";
import { runProgram } from "../../../cli/program.ts";
import { fakeContext } from "../support.ts";

const COLUMNS = [column.id("ID"), column.text("NAME")];
const ROWS = [
  ["1", "a\tb"],
  ["22", "c"],
];
const VALUE = { things: [{ id: 1 }] };

async function listed(flags: OutputFlags, options: Parameters<typeof fakeContext>[0] = {}) {
  const context = fakeContext(options);
  const output = await createOutput(context, flags);
  await output.list(VALUE, COLUMNS, ROWS);
  return context.stdout.text();
}

describe("a list", () => {
  test("is tab-separated in a pipe and with --plain, without heading or colour", async () => {
    expect(await listed({})).toBe("1\ta b\n22\tc\n");
    expect(await listed({ plain: true }, { isTerminal: true })).toBe("1\ta b\n22\tc\n");
  });

  test("is a table on a terminal", async () => {
    const env = { NO_COLOR: "1" };
    expect(await listed({}, { isTerminal: true, env })).toBe("ID  NAME\n1   a b\n22  c\n");
  });

  test("is JSON with --json or SVC_OUTPUT=json, in one line in a pipe", async () => {
    expect(await listed({ json: true })).toBe('{"things":[{"id":1}]}\n');
    expect(await listed({}, { env: { SVC_OUTPUT: "json" } })).toBe('{"things":[{"id":1}]}\n');
    expect(await listed({ json: true }, { isTerminal: true })).toBe(`${JSON.stringify(VALUE, null, 2)}\n`);
  });

  test("has nothing to do with SVC_OUTPUT when a flag says otherwise", async () => {
    expect(await listed({ plain: true }, { env: { SVC_OUTPUT: "json" } })).toBe("1\ta b\n22\tc\n");
    expect(createOutput(fakeContext({ env: { SVC_OUTPUT: "xml" } }), {})).rejects.toThrow(
      "SVC_OUTPUT must be",
    );
  });
});

describe("colour", () => {
  test.each([
    ["is on a terminal", { isTerminal: true }, {}, true],
    ["is not in a pipe", { isTerminal: false }, {}, false],
    ["is not with NO_COLOR", { isTerminal: true, env: { NO_COLOR: "1" } }, {}, false],
    ["does not mind an empty NO_COLOR", { isTerminal: true, env: { NO_COLOR: "" } }, {}, true],
    ["is not on a dumb terminal", { isTerminal: true, env: { TERM: "dumb" } }, {}, false],
    ["is not with --no-color", { isTerminal: true }, { color: false }, false],
  ])("%s", async (_name, options, flags, isColoured) => {
    const context = fakeContext(options);
    const { red } = await styleFor(context, context.stdout, flags);
    expect(red("x") !== "x").toBe(isColoured);
  });
});

describe("talk", () => {
  test("goes to stderr, and is left out by --quiet and --json", async () => {
    for (const [flags, expected] of [
      [{}, "hello\n"],
      [{ quiet: true }, ""],
      [{ json: true }, ""],
    ] as const) {
      const context = fakeContext();
      (await createOutput(context, flags)).say("hello");
      expect([context.stdout.text(), context.stderr.text()]).toEqual(["", expected]);
    }
  });

  test("has no colour where it goes into a file, though results go to a terminal", async () => {
    const context = { ...fakeContext({ isTerminal: true }), stderr: fakeContext().stderr };
    (await createOutput(context, {})).done("Saved.");
    expect(context.stderr.text()).toBe("✓ Saved.\n");
  });

  test("about progress rewrites one line of a terminal, and is a line each elsewhere", async () => {
    const [pipe, terminal] = [fakeContext(), fakeContext({ isTerminal: true, env: { NO_COLOR: "1" } })];
    for (const context of [pipe, terminal]) {
      const output = await createOutput(context, {});
      output.change("one");
      output.change("two");
      output.say("done");
    }
    expect(pipe.stderr.text()).toBe("one\ntwo\ndone\n");
    expect(terminal.stderr.text()).toBe("one\r\u001b[2Ktwo\r\u001b[2Kdone\n");
  });
});

test("an error on a terminal is marked in red unless colours are off", async () => {
  const [coloured, plain] = [fakeContext({ isTerminal: true }), fakeContext({ isTerminal: true })];
  expect(await runProgram(["kyes"], coloured)).toBe(2);
  expect(await runProgram(["version", "--no-color", "--wrong"], plain)).toBe(2);
  expect(coloured.stderr.text()).toStartWith("\u001b[31m✗\u001b[39m Unknown command");
  expect(plain.stderr.text()).toStartWith("✗ Unknown option");
});
