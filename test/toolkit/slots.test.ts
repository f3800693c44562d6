import { expect, test } from "bun:test";
import { createSlots } from "../../src/toolkit/slots.ts";

test("no more than the given number run at once, in the order they came, whatever fails", async () => {
  const slots = createSlots(2);
  const started: number[] = [];
  let running = 0;
  let most = 0;
  const work = (i: number) =>
    slots.run(async () => {
      started.push(i);
      running += 1;
      most = Math.max(most, running);
      await Bun.sleep(1);
      running -= 1;
      if (i % 3 === 0) throw new Error("failed");
      return i;
    });
  const results = await Promise.allSettled([0, 1, 2, 3, 4, 5, 6].map(work));
  expect(results.map(({ status }) => status === "fulfilled")).toEqual([
    false,
    true,
    true,
    false,
    true,
    true,
    false,
  ]);
  expect({ started, most, running }).toEqual({ started: [0, 1, 2, 3, 4, 5, 6], most: 2, running: 0 });
});

test("owners take turns, however much one of them has waiting", async () => {
  const slots = createSlots(1);
  const started: string[] = [];
  const work = (name: string, owner: string) =>
    slots.run(async () => {
      started.push(name);
    }, owner);
  await Promise.all([
    ...["a1", "a2", "a3", "a4"].map((name) => work(name, "a")),
    ...["b1", "b2"].map((name) => work(name, "b")),
    work("c1", "c"),
  ]);
  expect(started).toEqual(["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
});
