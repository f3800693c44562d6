import { describe, expect, test } from "bun:test";
import { createLifecycle } from "../../src/app/lifecycle.ts";

/** A lifecycle over two rooms that notes what happens to them. */
function setup({ failure }: { failure?: Error } = {}) {
  const notes: string[] = [];
  const gate = Promise.withResolvers<void>();
  const lifecycle = createLifecycle(async (releases) => {
    releases.push(() => void notes.push("close cellar"));
    await gate.promise;
    releases.push(async () => void notes.push("close attic"));
    if (failure !== undefined) throw failure;
    return { started: "open", drain: async ({ force }) => void notes.push(`drain, force ${force === true}`) };
  });
  return { lifecycle, notes, letIn: gate.resolve };
}

describe("a lifecycle", () => {
  test("drains, then closes in the reverse order of opening", async () => {
    const { lifecycle, notes, letIn } = setup();
    letIn();
    expect(await lifecycle.start()).toBe("open");
    await lifecycle.stop();
    expect(notes).toEqual(["drain, force false", "close attic", "close cellar"]);
  });

  test("stops once, however often it is asked to", async () => {
    const { lifecycle, notes, letIn } = setup();
    letIn();
    await lifecycle.start();
    await Promise.all([lifecycle.stop({ force: true }), lifecycle.stop()]);
    expect(notes).toEqual(["drain, force true", "close attic", "close cellar"]);
  });

  test("closes what a failed start had opened, and reports the failure", async () => {
    const { lifecycle, notes, letIn } = setup({ failure: new Error("no cellar key") });
    letIn();
    expect(lifecycle.start()).rejects.toThrow("no cellar key");
    await lifecycle.stop();
    expect(notes).toEqual(["close attic", "close cellar"]);
  });

  test("waits for a start under way before it stops", async () => {
    const { lifecycle, notes, letIn } = setup();
    const starting = lifecycle.start();
    const stopping = lifecycle.stop();
    expect(notes).toEqual([]);
    letIn();
    await Promise.all([starting, stopping]);
    expect(notes).toEqual(["drain, force false", "close attic", "close cellar"]);
  });
});
