import { expect, test } from "bun:test";
import { createWaitingCalls, oneLookAtATime } from "../../src/app/waiting-calls.ts";
import type { TaskId } from "../../src/domain/ids.ts";
import { createOrphans } from "../../src/service/orphans.ts";

/** Nodes by when they were last seen, and live tasks by the scopes of their calls. */
function setup(seen: Record<string, number>, waiting: Record<string, string>) {
  const orphans = createOrphans();
  let now = 100_000;
  let connected: ReadonlySet<string> | undefined;
  const look = createWaitingCalls({
    orphans,
    clock: { elapsed: () => 0 },
    self: "self",
    tasks: {
      orphans: async () => Object.entries(waiting).map(([id, syncScope]) => ({ id, syncScope }) as never),
    },
    nodes: {
      all: async () => ({
        nodes: Object.entries(seen).map(([id, seenAt]) => ({ id, seenAt }) as never),
        now,
      }),
      connected: async () => connected,
    },
  });
  return {
    look,
    left: (scope: string) => orphans.adopt(scope, 0),
    tell: (scope: string, id: string) => orphans.add(scope, id as TaskId, 1),
    connect(...ids: string[]): void {
      connected = new Set(ids);
    },
    at(ms: number): void {
      now = ms;
    },
  };
}

test("a call that waits at a node which reports again is not left", async () => {
  const seen = { other: 99_500 };
  const { look, left, at } = setup(seen, { task_1: "a other", task_2: "b" });
  await look();
  [seen.other] = [101_500];
  at(102_000);
  await look();
  expect(left("a")).toBeUndefined();
  expect(left("b")).toBe("task_2" as TaskId);
});

test("a call that its node says to be left is left, though that node reports", async () => {
  const seen = { other: 99_500 };
  const { look, left, tell, at } = setup(seen, { task_1: "a other" });
  await look();
  tell("a", "task_1");
  seen.other = 101_500;
  at(102_000);
  await look();
  expect(left("a")).toBe("task_1" as TaskId);
});

test("a call that waited at a node which was killed just before the start is left at once", async () => {
  const { look, left, at } = setup({ killed: 99_500 }, { task_1: "a killed" });
  await look();
  at(102_000);
  await look();
  expect(left("a")).toBe("task_1" as TaskId);
});

test("a call that waits at a node is left once that is gone, and another one's is not", async () => {
  const seen = { killed: 99_500, other: 99_500 };
  const waiting: Record<string, string> = {};
  const { look, left, at } = setup(seen, waiting);
  await look();
  Object.assign(waiting, { task_1: "a killed", task_2: "b other" });
  [seen.killed, seen.other] = [101_000, 101_000];
  at(102_000);
  await look();
  expect(left("a")).toBeUndefined();
  seen.other = 111_500;
  at(112_000);
  await look(false);
  expect(left("a")).toBeUndefined();
  await look();
  expect([left("a"), left("b")]).toEqual(["task_1" as TaskId, undefined]);
});

test("a call that waited at a node is left as soon as that has no connection any more", async () => {
  const seen = { killed: 99_500, other: 99_500 };
  const waiting: Record<string, string> = {};
  const { look, left, at, connect } = setup(seen, waiting);
  connect("self", "killed", "other");
  await look();
  Object.assign(waiting, { task_1: "a killed", task_2: "b other" });
  at(100_300);
  await look();
  connect("self", "other");
  // After the database was away, others have not connected yet.
  await look(false);
  expect(left("a")).toBeUndefined();
  await look();
  expect([left("a"), left("b")]).toEqual(["task_1" as TaskId, undefined]);
});

test("a call of a node that had lost its connections for a moment is taken back", async () => {
  const seen = { other: 99_500 };
  const waiting: Record<string, string> = {};
  const { look, left, at, connect } = setup(seen, waiting);
  connect("self", "other");
  await look();
  waiting.task_1 = "a other";
  connect("self");
  at(100_300);
  await look();
  connect("self", "other");
  seen.other = 100_500;
  at(101_000);
  await look();
  expect(left("a")).toBeUndefined();
});

test("looks that are wanted at once are one, and one just now is enough", async () => {
  let now = 0;
  const looks: PromiseWithResolvers<void>[] = [];
  const { recently } = oneLookAtATime(
    () => {
      const look = Promise.withResolvers<void>();
      looks.push(look);
      return look.promise;
    },
    { elapsed: () => now },
  );
  const both = [recently(true), recently(true)];
  expect(looks).toHaveLength(1);
  looks[0]?.reject(new Error("The database is away."));
  await Promise.all(both);
  now = 199;
  await recently(true);
  expect(looks).toHaveLength(1);
  now = 200;
  const third = recently(true);
  expect(looks).toHaveLength(2);
  looks[1]?.resolve();
  await third;
});
