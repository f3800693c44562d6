import { expect, test } from "bun:test";
import { readTraceparent, traceparentOf } from "../../src/domain/tracing.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

test("a traceparent is read as it is written, and says whether its trace is recorded", () => {
  for (const isSampled of [true, false]) {
    const context = { traceId: TRACE, spanId: SPAN, isSampled };
    expect(readTraceparent(traceparentOf(context))).toEqual(context);
  }
  // Of a later version, which may have more.
  expect(readTraceparent(`01-${TRACE}-${SPAN}-03-more`)?.isSampled).toBe(true);
});

test.each([
  null,
  undefined,
  "",
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE}-${SPAN}-01-more`,
  `ff-${TRACE}-${SPAN}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${"0".repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${"0".repeat(16)}-01`,
  `00-${TRACE}-${SPAN}-01\n`,
  `00-${TRACE}-${SPAN}-0x`,
])("a traceparent is ignored that the standard says to ignore: %p", (text) => {
  expect(readTraceparent(text)).toBeUndefined();
});
