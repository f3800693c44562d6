import { expect, test } from "bun:test";
import { type Callback, type Delivery, placeOf } from "../../src/domain/callback/callback.ts";
import { createHostWidths } from "../../src/scheduler/host-widths.ts";
import { fakeClock } from "../helpers/engine.ts";
import { ACCOUNT, accountId } from "../helpers/store.ts";

const OK: Delivery = { kind: "delivered", status: 200 };
const QUICK = 20;
const SLOW = 2_000;

const to = (host: string, account = ACCOUNT) => ({ accountId: account, host }) as Callback;
const HOST = to("receiver.example");

function openWidths(most = 32) {
  const clock = fakeClock();
  const widths = createHostWidths(most, clock);
  const end = (delivery: Delivery, tookMs: number, times = 1, callback = HOST) => {
    for (let i = 0; i < times; i++) widths.ended(callback, delivery, tookMs);
  };
  const widthOf = (callback = HOST) => widths.wider.get(placeOf(callback)) ?? widths.first;
  return { clock, end, widthOf };
}

test("a host has four sends at first, one more after each quick delivery, and no more than the most", () => {
  const { end, widthOf } = openWidths();
  expect(widthOf()).toBe(4);
  end(OK, QUICK, 3);
  expect(widthOf()).toBe(7);
  end(OK, QUICK, 100);
  expect(widthOf()).toBe(32);
});

test("a slow delivery takes one away, down to four", () => {
  const { end, widthOf } = openWidths();
  end(OK, QUICK, 3);
  end(OK, SLOW);
  expect(widthOf()).toBe(6);
  end(OK, SLOW, 10);
  expect(widthOf()).toBe(4);
});

test("after trouble a host has half as many, and ten minutes later more again", () => {
  for (const trouble of [
    { kind: "refused", status: 503 },
    { kind: "unreachable", reason: "no answer in time" },
  ] as const) {
    const { clock, end, widthOf } = openWidths();
    end(OK, QUICK, 16);
    end(trouble, QUICK);
    expect(widthOf()).toBe(10);
    end(OK, QUICK, 20);
    expect(widthOf()).toBe(10);
    clock.advance(10 * 60_000);
    end(OK, QUICK, 2);
    expect(widthOf()).toBe(12);
    end(trouble, QUICK, 9);
    expect(widthOf()).toBe(4);
  }
});

test("a send that never left or was cut off by a stop says nothing of the host", () => {
  const { end, widthOf } = openWidths();
  end(OK, QUICK, 16);
  end({ kind: "forbidden", reason: "is private" }, QUICK);
  end({ kind: "interrupted" }, QUICK);
  expect(widthOf()).toBe(20);
});

test("each account has widths of its own, and a lower limit is kept", () => {
  const { end, widthOf } = openWidths();
  end(OK, QUICK, 4);
  expect(widthOf(to("receiver.example", accountId(2)))).toBe(4);
  expect(widthOf(to("other.example"))).toBe(4);
  const narrow = openWidths(1);
  narrow.end(OK, QUICK, 4);
  expect(narrow.widthOf()).toBe(1);
});

test("only so many hosts are remembered, the latest ones", () => {
  const { end, widthOf } = openWidths();
  for (let i = 0; i <= 10_000; i++) end(OK, QUICK, 1, to(`host-${i}.example`));
  expect(widthOf(to("host-0.example"))).toBe(4);
  expect(widthOf(to("host-10000.example"))).toBe(5);
});
