import { expect, test } from "bun:test";
import { styleFor } from "../../../cli/format/style.ts";
import { column, renderTable } from "../../../cli/format/table.ts";
import { fakeContext } from "../support.ts";

const COLUMNS = [column.word("KIND"), column.number("AMOUNT"), column.text("REASON")];

async function drawn(rows: readonly (readonly string[])[], { width = 80, env = { NO_COLOR: "1" } } = {}) {
  const context = fakeContext({ isTerminal: true, env });
  return renderTable(COLUMNS, rows, { style: await styleFor(context, context.stdout, {}), width });
}

test("cells stand below their headings by what a terminal shows of them", async () => {
  const rows = [
    ["credit", "5.00", "Rechnung\t12"],
    ["日本", "-12.00", "絵 🎨"],
    ["", "", ""],
  ];
  const lines = ["KIND    AMOUNT  REASON", "credit    5.00  Rechnung 12", "日本    -12.00  絵 🎨", "", ""];
  expect((await drawn(rows)).text.split("\n")).toEqual(lines);
  const coloured = (await drawn(rows, { env: { NO_COLOR: "" } })).text;
  expect(coloured).not.toBe(lines.join("\n"));
  expect(Bun.stripANSI(coloured).split("\n")).toEqual(lines);
  expect((await drawn(rows, { width: 22 })).text.split("\n")[1]).toBe("credit    5.00  Rechn…");
});

test("sixty thousand rows are drawn alike, in a time that grows with their number", async () => {
  const { text } = await drawn(Array.from({ length: 60_000 }, (_, i) => ["credit", String(i), "task"]));
  const lines = text.split("\n");
  expect([lines.length, lines[1], lines[60_000]]).toEqual([
    60_002,
    "credit       0  task",
    "credit   59999  task",
  ]);
  // In one piece this takes minutes.
}, 60_000);
