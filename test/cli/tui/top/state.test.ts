import { expect, test } from "bun:test";
import { readingOf } from "../../../../cli/client/overview.ts";
import { askedBy } from "../../../../cli/tui/top/keys.ts";
import { layoutOf } from "../../../../cli/tui/top/layout.ts";
import {
  initialState,
  reduce,
  shownOf,
  type TopEvent,
  type TopState,
} from "../../../../cli/tui/top/state.ts";
import { TABLES, tableLines } from "../../../../cli/tui/top/tables.ts";
import type { JsonObject } from "../../../../src/domain/json.ts";
import { overview, STARTED_AT } from "./overviews.ts";

const after = (events: readonly TopEvent[], state: TopState = initialState("http://server")): TopState =>
  events.reduce(reduce, state);
const read = (data: JsonObject, at = 0): TopEvent => ({ kind: "reading", reading: readingOf(data), at });

/** An overview after so many seconds whose seconds carry their own numbers. */
function numbered(seconds: number, startedAt = STARTED_AT): JsonObject {
  const count = Math.min(60, seconds);
  const bySecond = Array.from({ length: count }, (_, i) => seconds - count + 1 + i);
  const server = {
    version: "1",
    node: "n",
    started_at: startedAt,
    time: startedAt + seconds,
    not_ready: null,
  };
  return overview({ seconds, server, requests: { per_second: 1, by_class: {}, by_second: bySecond } });
}

test("each second is there once and in its order, however often the server is asked", () => {
  const asked = [5, 5, 6, 9, 40, 95];
  const state = after(asked.map((seconds) => read(numbered(seconds))));
  expect(state.live?.requests).toEqual(Array.from({ length: 95 }, (_, i) => i + 1));
});

test("bars begin anew where seconds are missing, and with a server that was started anew", () => {
  expect(after([read(numbered(70)), read(numbered(200))]).live?.requests[0]).toBe(141);
  const restarted = after([read(numbered(70)), read(numbered(3, STARTED_AT + 100))]);
  expect(restarted.live?.requests).toEqual([1, 2, 3]);
});

test("trouble keeps the numbers and tells since when, until the next reading", () => {
  const lost = after([read(numbered(5), 1_000), { kind: "trouble", message: "gone", at: 4_500 }]);
  expect(lost.trouble).toEqual({ message: "gone", forMs: 3_500 });
  expect(shownOf(lost)?.reading.seconds).toBe(5);
  expect(after([read(numbered(9), 6_000)], lost).trouble).toBeUndefined();
});

test("a pause keeps what is shown while the numbers go on, and its end shows the latest", () => {
  const paused = after([read(numbered(5)), { kind: "pause" }, read(numbered(8))]);
  expect(shownOf(paused)?.reading.seconds).toBe(5);
  expect(shownOf(reduce(paused, { kind: "pause" }))?.requests).toHaveLength(8);
});

test("a table scrolls no further than to its last row", () => {
  const state = after([read(overview({ count: 30 }))]);
  const starts = [5, -2, 100, -1, -100, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let at = state;
  const seen = starts.map((by) => {
    at = reduce(at, { kind: "scroll", by, height: 10 });
    return at.starts.models;
  });
  expect(seen).toEqual([5, 3, 20, 19, 0, 20, 0]);
  expect(reduce(state, { kind: "scroll", by: 1, height: 40 })).toBe(state);
});

test("every table goes through its orders and comes back to the first", () => {
  const models = (state: TopState) =>
    tableLines("models", readingOf(overview({ count: 4 })), state.sorts.models, 60).rows.map(({ id }) => id);
  let state = after([read(overview())]);
  const orders = Array.from({ length: 6 }, () => {
    const order = models(state).map((id) => id.replace("model-", ""));
    state = reduce(state, { kind: "sort" });
    return order.join(" ");
  });
  expect(orders).toEqual([
    "01 02 03 04",
    "04 03 02 01",
    "03 02 01 04",
    "02 03 04 01",
    "04 03 02 01",
    "01 02 03 04",
  ]);
});

test("the tables follow one another in both directions", () => {
  const names = (by: 1 | -1) => {
    let state = initialState("s");
    return TABLES.map(() => {
      state = reduce(state, { kind: "table", by });
      return state.table;
    });
  };
  expect(names(1)).toEqual(["lanes", "providers", "models"]);
  expect(names(-1)).toEqual(["providers", "lanes", "models"]);
});

test.each([
  ["q", { kind: "quit" }],
  ["ctrl+c", { kind: "interrupt" }],
  ["?", { kind: "help", isShown: true }],
  ["escape", { kind: "help", isShown: false }],
  ["tab", { kind: "table", by: 1 }],
  ["right", { kind: "table", by: 1 }],
  ["shift+tab", { kind: "table", by: -1 }],
  ["left", { kind: "table", by: -1 }],
  ["up", { kind: "scroll", by: -1, height: 7 }],
  ["k", { kind: "scroll", by: -1, height: 7 }],
  ["down", { kind: "scroll", by: 1, height: 7 }],
  ["j", { kind: "scroll", by: 1, height: 7 }],
  ["pageup", { kind: "scroll", by: -7, height: 7 }],
  ["pagedown", { kind: "scroll", by: 7, height: 7 }],
  ["home", { kind: "scroll", by: Number.NEGATIVE_INFINITY, height: 7 }],
  ["g", { kind: "scroll", by: Number.NEGATIVE_INFINITY, height: 7 }],
  ["end", { kind: "scroll", by: Number.POSITIVE_INFINITY, height: 7 }],
  ["G", { kind: "scroll", by: Number.POSITIVE_INFINITY, height: 7 }],
  ["s", { kind: "sort" }],
  ["p", { kind: "pause" }],
  [" ", { kind: "pause" }],
  ["x", undefined],
] as const)("the key %s asks for %j", (key, asked) => {
  expect(askedBy(key, false, 7)).toEqual(asked);
});

test.each([
  [20, 5],
  [60, 20],
  [80, 24],
  [139, 40],
  [140, 40],
  [200, 60],
] as const)("at %i by %i every line of every table is as wide as its place", (columns, rows) => {
  const reading = readingOf(overview({ count: 40 }));
  for (const table of TABLES) {
    const { panels, factWidth, factsPerLine } = layoutOf({ columns, rows }, table);
    expect(factWidth * factsPerLine).toBeLessThanOrEqual(columns);
    for (const { table: name, width } of panels) {
      const { head, rows: lines } = tableLines(name, reading, 1, width);
      for (const line of [head, ...lines.map((each) => each.line)]) expect(Bun.stringWidth(line)).toBe(width);
    }
  }
});

test("an overview that lacks or mistakes a part is read as one without those numbers, and what is none is refused", () => {
  const bare = { server: {}, tasks: {} };
  expect(readingOf(bare)).toMatchObject({ node: "", queued: 0, models: [], lanes: [] });
  for (const none of [{}, { server: {} }, { server: "box", tasks: [] }])
    expect(() => readingOf(none)).toThrow("is no overview");
  const odd = {
    ...bare,
    models: [1, null, { model: 5, p50_ms: "x" }],
    lanes: "none",
    requests: { by_second: [1, "2", null] },
  };
  expect(readingOf(odd)).toMatchObject({
    models: [{ model: "", completed: 0, p50Ms: undefined }],
    requests: { bySecond: [1, 0, 0] },
  });
});
