import { expect, test } from "bun:test";
import { bodyOf } from "../../src/alerting/message.ts";
import type { Notice } from "../../src/domain/alerts.ts";

const SENDER = { host: "gateway", version: "0.1.0" };

function notice(fields: Partial<Notice> = {}): Notice {
  return { state: "firing", kind: "low_balance", subject: "", summary: "", since: 0, ...fields };
}

const lowBalances = (count: number) =>
  Array.from({ length: count }, (_, i) =>
    notice({
      subject: `acc_${i}`,
      summary: `Account tenant-${i} has 0.000000 USD left; 1.000000 is its level.`,
    }),
  );

const read = (notices: readonly Notice[]) => JSON.parse(bodyOf(notices, SENDER));

test("a chat gets no longer text than it takes, and programs get every alert", () => {
  const { text, alerts } = read(lowBalances(100));
  expect(alerts).toHaveLength(100);
  expect(text.length).toBeLessThan(2_000);
  const lines = text.split("\n");
  expect(lines[0]).toBe("svc on gateway: low_balance firing");
  expect(lines.at(-1)).toBe(`… and ${100 - (lines.length - 2)} more`);
  expect(lines.at(-2)).toContain(`Account tenant-${lines.length - 3} has`);
});

test("what concerns the server as a whole comes first in the text", () => {
  const disk = notice({ kind: "disk_low", summary: "The disk has 1 MB left." });
  const { text, alerts } = read([...lowBalances(100), disk]);
  expect(text.split("\n")[1]).toStartWith("✗: disk_low: The disk has 1 MB left.");
  expect(alerts.at(-1)).toMatchObject({ on: "disk_low", subject: null });
});

test("one alert that is too long for a chat is cut", () => {
  const { text, alerts } = read([notice({ kind: "disk_low", summary: "x".repeat(5_000) })]);
  expect(text.length).toBeLessThan(2_000);
  expect(text).toEndWith("x…");
  expect(alerts[0].summary).toHaveLength(5_000);
});

test("a few alerts are all in the text", () => {
  const { text } = read(lowBalances(3));
  expect(text.split("\n")).toHaveLength(4);
});
