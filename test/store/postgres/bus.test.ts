import { expect, test } from "bun:test";
import { createBus } from "../../../src/store/postgres/bus.ts";
import type { Driver } from "../../../src/store/postgres/driver.ts";

test("hints that do not reach the server are sent once it is back, each once, and a stop tries once more", async () => {
  const sent: string[] = [];
  let isAway = false;
  const aside: Driver["aside"] = {
    async ask(_, [payload]) {
      if (isAway) throw new Error("away");
      sent.push(
        ...String(payload)
          .split("\n")
          .slice(1)
          .map((line) => line.trim()),
      );
      isAway = sent.length === 1;
      return { rows: [], count: 0 };
    },
  };
  const bus = createBus({ aside } as Driver, "node");
  // More than one notification has room for.
  const long = " ".repeat(7_000);
  bus.tell(`left a${long}`);
  bus.tell(`left b${long}`);
  await bus.sent();
  expect(sent).toEqual(["left a"]);
  isAway = false;
  bus.tell("left c");
  while (sent.length < 3) await Bun.sleep(10);
  expect(sent).toEqual(["left a", "left b", "left c"]);
  isAway = true;
  bus.tell("left d");
  await bus.sent();
  expect(sent).toHaveLength(3);
});
