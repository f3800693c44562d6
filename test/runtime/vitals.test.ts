import { expect, test } from "bun:test";
import { watchVitals } from "../../src/runtime/vitals.ts";
import { fakeClock } from "../helpers/engine.ts";

test("lateness is told with the part of it that the thread computed", () => {
  const clock = fakeClock();
  let computed = 0;
  const told: [lateMs: number, computedMs: number][] = [];
  const vitals = watchVitals({
    clock,
    computedMs: () => computed,
    lagged: (...lag) => void told.push(lag),
  });
  const pass = (ms: number, computedMs: number) => {
    computed += computedMs;
    clock.advance(ms);
  };
  pass(100, 30);
  pass(600, 590);
  pass(600, 20);
  expect(told).toEqual([
    [0, 0],
    [500, 500],
    [500, 20],
  ]);
  vitals.stop();
});

test("the memory can be asked for when no file can be opened any more", async () => {
  const vitals = new URL("../../src/runtime/vitals.ts", import.meta.url).href;
  const script = `
    const { readHeldBytes } = await import(${JSON.stringify(vitals)});
    const before = readHeldBytes();
    const { openSync } = await import("node:fs");
    try { for (;;) openSync("/dev/null", "r"); } catch {}
    console.log(before > 0 && readHeldBytes() === before);`;
  const child = Bun.spawn(["sh", "-c", `ulimit -n 100 && exec "$0" --eval "$1"`, process.execPath, script]);
  expect(await new Response(child.stdout).text()).toBe("true\n");
});
