import type { Check, CheckVerdict, ModeratedRequest, OnOutage } from "../domain/ports/moderation.ts";
import { type After, startDeadline } from "../toolkit/deadline.ts";
import { createGate } from "./gate.ts";

/** Settings of a check that asks another program. */
export interface AskedOptions {
  readonly name: string;
  readonly onOutage: OnOutage;
  readonly fields?: readonly string[] | undefined;
  readonly timeoutMs: number;
  readonly concurrency: number;
}

/** The other program gave no verdict. */
export class NoVerdict extends Error {
  override readonly name = "NoVerdict";
}

/** @throws NoVerdict, with a clause to put after the check's name */
type Ask = (request: ModeratedRequest, signal: AbortSignal) => Promise<CheckVerdict>;

/** A check that asks another program, within its time and not about too many requests at once. */
export function askedCheck(options: AskedOptions, { after }: { readonly after: After }, ask: Ask): Check {
  const { name, onOutage, fields, timeoutMs } = options;
  const gate = createGate(options.concurrency);
  return {
    ...{ name, onOutage, fields, isQuick: false },
    async run(request, signal) {
      const deadline = startDeadline({ after }, signal(), { delayMs: timeoutMs, what: "no verdict" });
      let leave: (() => void) | undefined;
      try {
        leave = await gate.enter(request.accountId, deadline.signal);
        if (leave === undefined) return outage("is asked about too many requests at once");
        return await ask(request, deadline.signal);
      } catch (error) {
        if (deadline.hasPassed()) return outage(`gave no verdict within ${timeoutMs / 1000} s`);
        if (deadline.signal.aborted) return outage("was called off");
        if (error instanceof NoVerdict) return outage(error.message);
        throw error;
      } finally {
        leave?.();
        deadline.end();
      }
    },
  };
}

function outage(reason: string): CheckVerdict {
  return { kind: "outage", reason };
}

/** Names that others give for what was found: a category, a code. What is none could be a text, which no log may hold. */
const REASON = /^[A-Za-z0-9][A-Za-z0-9_./-]{0,63}$/;

export function reasonIn(given: unknown): string | undefined {
  return typeof given === "string" && REASON.test(given) ? given : undefined;
}
