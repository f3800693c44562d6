import { expect, test } from "bun:test";
import { createSlots } from "../../../src/providers/sandbox/slots.ts";

test("no more work runs at once than there are slots, in the order it came", async () => {
  const slots = createSlots(2);
  const begun: number[] = [];
  let running = 0;
  let most = 0;
  const work = (id: number) => async () => {
    begun.push(id);
    most = Math.max(most, ++running);
    await new Promise<void>((resolve) => setImmediate(resolve));
    running--;
    return id;
  };
  expect(await Promise.all([1, 2, 3, 4, 5].map((id) => slots.run(work(id))))).toEqual([1, 2, 3, 4, 5]);
  expect(begun).toEqual([1, 2, 3, 4, 5]);
  expect(most).toBe(2);
});

test("work that fails gives its slot back", async () => {
  const slots = createSlots(1);
  const failing = slots.run(() => Promise.reject(new Error("broken")));
  const next = slots.run(async () => "done");
  const refused = expect(failing).rejects.toThrow("broken");
  expect(await next).toBe("done");
  await refused;
});
