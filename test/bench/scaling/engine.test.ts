import { describe, expect, test } from "bun:test";
import { World } from "./engine.ts";
import { Flusher, Places } from "./stations.ts";

const SERVICE_US = 1_000;

/** A queue with arrivals and services by chance, after a time in which it settles. */
function queue({ load, servers = 1, seed = 7 }: { load: number; servers?: number; seed?: number }) {
  const world = new World(seed);
  const places = new Places(world, servers);
  const arrive = () => {
    world.after(world.exponential(SERVICE_US / (load * servers)), () => {
      arrive();
      places.serve(world.exponential(SERVICE_US), () => {});
    });
  };
  arrive();
  world.run(1e8);
  places.reset();
  world.run(8e8);
  return { ...places.passed(), seconds: 700 };
}

describe("one server with arrivals and services by chance", () => {
  for (const load of [0.3, 0.6, 0.9]) {
    test(`at ${load * 100} in 100 holds as many, for as long, as theory says`, () => {
      const { utilisation, meanInside, meanStayUs } = queue({ load });
      expect(Math.abs(utilisation / load - 1)).toBeLessThan(0.02);
      expect(Math.abs(meanInside / (load / (1 - load)) - 1)).toBeLessThan(0.08);
      expect(Math.abs(meanStayUs / (SERVICE_US / (1 - load)) - 1)).toBeLessThan(0.08);
    });
  }
});

test("two servers hold as many as theory says", () => {
  const load = 0.8;
  // M/M/2: L = 2ρ / (1 − ρ²).
  expect(Math.abs(queue({ load, servers: 2 }).meanInside / ((2 * load) / (1 - load ** 2)) - 1)).toBeLessThan(
    0.06,
  );
});

test("as many are inside as come a second, times how long they stay: Little's law", () => {
  for (const load of [0.5, 0.8]) {
    const { meanInside, meanStayUs, left, seconds } = queue({ load });
    expect(Math.abs(((left / seconds) * (meanStayUs / 1e6)) / meanInside - 1)).toBeLessThan(0.01);
  }
});

test("whoever has come has left or is still inside", () => {
  const { arrived, left, inside } = queue({ load: 0.95 });
  expect(arrived).toBe(left + inside);
  expect(left).toBeGreaterThan(100_000);
});

test("a seed gives the same run, and another seed another", () => {
  expect(queue({ load: 0.7 })).toEqual(queue({ load: 0.7 }));
  expect(queue({ load: 0.7, seed: 8 })).not.toEqual(queue({ load: 0.7 }));
});

test("events run by time, and those of one moment as they were planned", () => {
  const world = new World(1);
  const seen: string[] = [];
  for (const [us, name] of [
    [30, "c"],
    [10, "a"],
    [20, "b"],
    [10, "a then"],
  ] as const)
    world.after(us, () => void seen.push(`${name} ${world.now}`));
  world.after(5, () => world.after(5, () => void seen.push("last of ten")));
  world.run(25);
  expect(seen).toEqual(["a 10", "a then 10", "last of ten", "b 20"]);
  world.run(30);
  expect([seen.at(-1), world.now]).toEqual(["c 30", 30]);
});

test("a thousand times come out sorted", () => {
  const world = new World(3);
  const seen: number[] = [];
  for (let i = 0; i < 1_000; i++)
    world.after(Math.floor(world.random() * 500), () => void seen.push(world.now));
  world.run(500);
  expect(seen).toEqual(seen.toSorted((one, other) => one - other));
  expect(seen).toHaveLength(1_000);
});

test("a place is given to who asked first, and an account's row to one at a time", () => {
  const world = new World(1);
  const row = new Places(world, 1);
  const seen: string[] = [];
  for (const name of ["first", "second", "third"])
    row.serve(10, () => void seen.push(`${name} ${world.now}`));
  world.run(100);
  expect(seen).toEqual(["first 10", "second 20", "third 30"]);
});

test("one flush is for all who came before it began", () => {
  const world = new World(1);
  const log = new Flusher(world, 100);
  const seen: string[] = [];
  const join = (at: number, name: string) =>
    world.after(at, () => log.join(() => void seen.push(`${name} ${world.now}`)));
  join(0, "a");
  join(10, "b");
  join(90, "c");
  join(250, "d");
  world.run(1_000);
  expect(seen).toEqual(["a 100", "b 200", "c 200", "d 350"]);
  expect(log.utilisation()).toBeCloseTo(0.3);
});
