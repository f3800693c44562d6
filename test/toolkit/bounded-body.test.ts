import { describe, expect, test } from "bun:test";
import { readBounded } from "../../src/toolkit/bounded-body.ts";
import { startDeadline } from "../../src/toolkit/deadline.ts";

/** An answer of these pieces, and whether its rest was cancelled. */
function answer(pieces: readonly string[], headers: Record<string, string> = {}) {
  const left = [...pieces];
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = left.shift();
        if (piece === undefined) controller.close();
        else controller.enqueue(new TextEncoder().encode(piece));
      },
      cancel() {
        isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { response: new Response(body, { headers }), isCancelled: () => isCancelled, left };
}

const bounds = (maxBytes: number) => ({ maxBytes, tooLarge: () => new Error("too large") });

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(body)).toString();
}

describe("a bounded body", () => {
  test("of as many bytes as allowed is read whole", async () => {
    expect(await textOf(readBounded(answer(["ab", "cd"]).response, bounds(4)))).toBe("abcd");
    expect(await textOf(readBounded(new Response(null), bounds(4)))).toBe("");
  });

  test("of one byte more is refused at that byte, and its rest cancelled", async () => {
    const { response, isCancelled, left } = answer(["ab", "cde", "fgh"]);
    await expect(textOf(readBounded(response, bounds(4)))).rejects.toThrow("too large");
    expect([isCancelled(), left]).toEqual([true, ["fgh"]]);
  });

  test("that declares more than allowed is refused unread", async () => {
    const { response, isCancelled, left } = answer(["ab"], { "content-length": "5" });
    await expect(textOf(readBounded(response, bounds(4)))).rejects.toThrow("too large");
    expect([isCancelled(), left]).toEqual([true, ["ab"]]);
  });

  test("is cancelled when its reader stops", async () => {
    const { response, isCancelled, left } = answer(["ab", "cd"]);
    for await (const _ of readBounded(response, bounds(4))) break;
    expect([isCancelled(), left]).toEqual([true, ["cd"]]);
  });

  test("may pause so long, not counting the time of its reader", async () => {
    const running: string[] = [];
    const clock = {
      after: (delayMs: number) => {
        running.push(`${delayMs}`);
        return () => void running.pop();
      },
    };
    const deadline = startDeadline(clock, new AbortController().signal);
    const body = readBounded(answer(["ab", "cd"]).response, {
      ...bounds(4),
      idle: { deadline, delayMs: 30, what: "no more came" },
    });
    const reading = body.next();
    expect(running).toEqual(["30"]);
    await reading;
    expect(running).toEqual([]);
  });

  test("may be as slow as its pace for longer than one pause, not counting the time of its reader", async () => {
    let now = 0;
    const pauses: number[] = [];
    const clock = {
      after: (delayMs: number) => {
        pauses.push(delayMs);
        return () => {};
      },
    };
    const deadline = startDeadline(clock, new AbortController().signal);
    const comes = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      now += 20;
      controller.enqueue(new Uint8Array(10));
    };
    const body = readBounded(new Response(new ReadableStream({ pull: comes }, { highWaterMark: 0 })), {
      ...bounds(40),
      idle: { deadline, delayMs: 30, what: "no more came" },
      pace: { leastBytesPerMs: 1, elapsed: () => now },
    });
    for (let pieces = 0; pieces < 4; pieces += 1) {
      await body.next();
      now += 1_000;
    }
    expect(pauses).toEqual([30, 20, 10, 0]);
  });
});
