import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../src/domain/json.ts";
import { type PollResult, ProviderError, type SubmitRequest } from "../../../src/domain/ports/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { type Comfy, SAVED, startComfy } from "./engine.ts";
import { createProvider, submission } from "./harness.ts";

const signal = new AbortController().signal;

/** What happens at the server between two requests of ours. */
type Event = "nothing" | "begin" | "end" | "fail" | "others" | "restart" | "lose";
const often: Event[] = ["nothing", "begin", "begin", "end", "end", "fail", "others", "lose"];

interface World {
  readonly comfy: Comfy;
  /** Prompts of others, and which of them were gone through to their end. */
  readonly others: Set<string>;
  /** Ids of prompts that ended well. */
  readonly made: string[];
  restarts: number;
}

/** Lets something happen before, or after, each request is answered. */
function script(world: World, events: readonly Event[]): void {
  const { comfy, others, made } = world;
  const left = [...events];
  const happen = (event: Event | undefined) => {
    const [running] = comfy.running;
    if (event === "begin") comfy.begin();
    else if (event === "end" && running !== undefined) {
      made.push(running.id);
      comfy.end({ outputs: SAVED });
    } else if (event === "fail" && running !== undefined)
      comfy.end({ exception: { exception_type: "RuntimeError", exception_message: "x" } });
    else if (event === "others") {
      comfy.addOthers(1);
      for (const { id, clientId } of comfy.pending) if (clientId === "others") others.add(id);
    } else if (event === "restart") {
      world.restarts += 1;
      comfy.restart();
      for (const client of comfy.clients.values()) client.close();
    }
  };
  comfy.instead = async (path, request) => {
    if (path === "GET /ws") return undefined;
    const event = left.shift() ?? (comfy.running.length > 0 ? "end" : "begin");
    happen(event);
    if (event !== "lose") return undefined;
    if (path !== "POST /prompt") return new Response("", { status: 503 });
    // It arrives, and the answer does not.
    const { instead } = comfy;
    comfy.instead = () => undefined;
    await fetch(request.url, { method: "POST", body: await request.text() });
    comfy.instead = instead;
    return new Response("", { status: 502 });
  };
}

/** One task, followed as the scheduler follows it. @returns how it ended, and all attempts of it */
async function follow(comfy: Comfy, isCancelled: boolean) {
  const clock = fakeClock();
  const provider = createProvider({ baseUrl: comfy.origin, clock });
  const attempts: string[] = [];
  const ask = async <T>(question: () => Promise<T>): Promise<T | undefined> => {
    clock.advance(3_000);
    try {
      return await question();
    } catch (error) {
      if (error instanceof ProviderError && error.disposition !== "fail") return undefined;
      throw error;
    }
  };
  const sent = async (request: SubmitRequest): Promise<Json | undefined> => {
    try {
      const answer = await provider.submit(request, signal);
      return answer.kind === "operation" ? answer.operation : undefined;
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      for (let tries = 0; error.disposition === "unknown" && tries < 100; tries += 1) {
        const found = await ask(async () => provider.recover?.(request, signal));
        if (found?.kind === "found") return found.operation;
        if (found !== undefined) return undefined;
      }
      return undefined;
    }
  };
  let end: PollResult | undefined;
  for (let tries = 0; end === undefined && tries < 20; tries += 1) {
    const operation = await sent(submission());
    if (operation === undefined) continue;
    attempts.push((operation as { prompt_id: string }).prompt_id);
    for (let polls = 0; polls < 100; polls += 1) {
      if (isCancelled && polls >= 1) await ask(async () => provider.cancel?.(operation, signal));
      const answer = await ask(async () => provider.poll?.(operation, signal));
      if (answer === undefined || answer.kind === "pending") continue;
      // Only what is lost is made again.
      if (answer.kind !== "failed" || answer.isLost !== true || isCancelled) end = answer;
      break;
    }
  }
  await provider.stop?.();
  return { end, attempts };
}

test("in whatever order things happen, no prompt of others is touched, and none of ours is made twice", async () => {
  const happening = fc.array(fc.constantFrom(...often), { maxLength: 40 });
  const restartAt = fc.option(fc.nat(30), { freq: 2 });
  await fc.assert(
    fc.asyncProperty(happening, restartAt, fc.boolean(), async (events, at, isCancelled) => {
      const comfy = await startComfy();
      const world: World = { comfy, others: new Set(), made: [], restarts: 0 };
      try {
        script(world, at === null ? events : events.toSpliced(at, 0, "restart"));
        const { end, attempts } = await follow(comfy, isCancelled);
        const ours = comfy.prompts.map(({ prompt_id }) => String(prompt_id));
        const count = (kept: (id: string) => boolean) => world.made.filter(kept).length;

        expect(new Set(ours).size).toBe(ours.length);
        // What a restart loses may have been made already.
        expect(count((id) => ours.includes(id))).toBeLessThanOrEqual(1 + world.restarts);
        for (const id of comfy.interrupted) expect(ours).toContain(id);
        if (!isCancelled) expect(comfy.interrupted).toEqual([]);
        if (world.restarts === 0) {
          const waits = new Set([...comfy.pending, ...comfy.running].map(({ id }) => id));
          for (const id of world.others) expect(waits.has(id) || comfy.history.has(id)).toBe(true);
          // Nothing was lost, so nothing was sent a second time.
          expect(attempts.length).toBeLessThanOrEqual(1);
        }
        if (end?.kind === "succeeded") expect(count((id) => id === attempts.at(-1))).toBe(1);
        if (end?.kind === "cancelled") expect(isCancelled).toBe(true);
      } finally {
        await comfy.stop();
      }
    }),
    { numRuns: 100 },
  );
}, 60_000);
