import { expect, test } from "bun:test";
import type { AuditReport } from "../../src/domain/ports/audit.ts";
import { auditEndpoints } from "../../src/http/admin/audit/routes.ts";
import type { ManagedExchange } from "../../src/http/exchange.ts";
import type { Reply } from "../../src/http/reply.ts";

/** A clock whose timers run when it gets there. */
function createClock() {
  let now = 0;
  const timers: { at: number; run: () => void }[] = [];
  return {
    elapsed: () => now,
    after(delayMs: number, run: () => void) {
      const timer = { at: now + delayMs, run };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer), 1);
    },
    set(to: number) {
      now = to;
      for (const timer of [...timers]) if (timer.at <= now) timer.run();
    },
    waiting: () => timers.length,
  };
}

function setup() {
  const clock = createClock();
  const answer = Promise.withResolvers<AuditReport>();
  const audits = { run: () => answer.promise };
  const [endpoint] = auditEndpoints({ audits, keepOpen: () => {}, clock });
  /** Asks now, with as much time as the default address has. */
  const ask = () => {
    const deadline = clock.elapsed() + 119_500;
    const exchange = { query: () => new URLSearchParams(), edgeDeadline: () => deadline };
    return endpoint?.handle(exchange as unknown as ManagedExchange & never);
  };
  return { clock, answer, ask };
}

const sums = { credited: 0n, captured: 0n, refunded: 0n, balance: 0n, held: 0n };
const REPORT: AuditReport = {
  rows: { accounts: 0, ledgerEntries: 0, tasks: 0, liveTasks: 0, quotas: 0, usageDays: 0 },
  sealed: { depth: "checksums", tasks: 0, ledgerEntries: 0 },
  ...{ sums, differences: [] },
};

test("who asks for an audit that takes too long is told for how long it goes on, and gets its answer later", async () => {
  const { clock, answer, ask } = setup();
  const late = outcomeOf(ask());
  clock.set(119_500);
  expect(await late).toMatchObject({
    code: "upstream_timeout",
    facts: { kind: "audit_goes_on", forSec: 120 },
  });
  clock.set(130_000);
  const again = outcomeOf(ask());
  clock.set(249_500);
  expect(await again).toMatchObject({ facts: { kind: "audit_goes_on", forSec: 250 } });
  const last = outcomeOf(ask());
  answer.resolve(REPORT);
  expect(await last).toMatchObject({ status: 200 });
  expect(clock.waiting()).toBe(0);
});

/** An answer, or why there is none. */
async function outcomeOf(reply: Reply | Promise<Reply> | undefined): Promise<unknown> {
  try {
    return await reply;
  } catch (error) {
    return error;
  }
}
