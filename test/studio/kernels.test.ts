import { expect, test } from "bun:test";
import { beginArena, createPlane, endArena, kernelsOf } from "../../src/studio/arena.ts";
import type { Kernels } from "../../src/studio/kernels.ts";
import { type Area, drawPlane, type Matrix, type SourcePlane } from "../../src/studio/plane.ts";
import { createRandom } from "../../src/studio/random.ts";

const [WIDTH, HEIGHT] = [97, 31];
const random = createRandom("shifted");

/** A premultiplied plane with empty, opaque and mixed parts of all lengths, a few rows of them of one kind alone. */
function plane() {
  const alpha = new Uint8Array(WIDTH * HEIGHT);
  for (let row = 0; row < HEIGHT; row++) {
    for (let x = 0; x < WIDTH; ) {
      const length = row % 5 === 0 ? WIDTH : random.int(1, 24);
      const kind = random.int(0, 2);
      for (let i = 0; i < length && x < WIDTH; i++, x++) {
        alpha[row * WIDTH + x] = kind === 0 ? 0 : kind === 1 ? 255 : random.int(0, 255);
      }
    }
  }
  const pixels = alpha.map((cover) => (cover * random.int(0, 255)) / 255);
  return { pixels, alpha, width: WIDTH, height: HEIGHT };
}

const shift = (e: number, f: number): Matrix => ({ a: 1, b: 0, c: 0, d: 1, e, f });

/** Draws twice: where the kernels find the planes, and where they do not. */
function drawBoth(source: SourcePlane, back: Matrix, area: Area, strength: number): Uint8Array[] {
  return [copyOf, inArena].map((place) => {
    const pixels = place(Uint8Array.from({ length: 120 * 40 }, (_, k) => (k * 7) % 256));
    const alpha = source.alpha === undefined ? undefined : place(source.alpha);
    const plane = { ...source, pixels: place(source.pixels), alpha };
    expect(kernelsOf(pixels, plane.pixels, alpha) !== undefined).toBe(place === inArena);
    drawPlane({ pixels, width: 120 }, plane, back, area, strength);
    return new Uint8Array(pixels);
  });
}

const copyOf = (bytes: Uint8Array) => new Uint8Array(bytes);

function inArena(bytes: Uint8Array): Uint8Array {
  const plane = createPlane(bytes.length);
  plane.set(bytes);
  return plane;
}

function turn(angle: number, zoom: number): Matrix {
  const [a, c] = [Math.cos(angle) * zoom, Math.sin(angle) * zoom];
  return { a, b: -c, c, d: a, e: random.range(-30, 60), f: random.range(-20, 30) };
}

test("the kernels draw planes that are shifted, turned and scaled as the general way does, to the bit", () => {
  beginArena();
  const area = { left: 0, top: 0, right: 120, bottom: 40 };
  for (let i = 0; i < 120; i++) {
    const { alpha, ...source } = plane();
    const [e, f] = [random.range(-60, 60), random.range(-20, 20)];
    const moves = [
      shift(Math.round(e), Math.round(f)),
      shift(e, f),
      turn(0, random.range(0.3, 2)),
      turn(random.range(-3, 3), random.range(0.3, 2)),
    ];
    const strength = random.chance(0.5) ? 256 : random.int(1, 255);
    for (const back of moves) {
      for (const cover of [alpha, undefined]) {
        const [general, fast] = drawBoth({ ...source, alpha: cover }, back, area, strength);
        expect(fast).toEqual(general as Uint8Array);
      }
    }
  }
  endArena();
});

test("an opaque plane that is only shifted is drawn as one whose alpha is 255 everywhere", () => {
  beginArena();
  // No sample is at the edge, where only an opaque plane goes on.
  const area = { left: 3, top: 2, right: 80, bottom: 20 };
  for (const [e, f] of [[4, 5] as const, [4.25, 5], [4, 5.75], [7.3, 2.9]]) {
    const { alpha, ...source } = plane();
    const opaque = drawBoth({ ...source, alpha: undefined }, shift(e, f), area, 256);
    const covered = drawBoth({ ...source, alpha: alpha.fill(255) }, shift(e, f), area, 256);
    expect(covered).toEqual(opaque);
  }
  endArena();
});

test("planes lie elsewhere before the arena begins, once it is full, and after it ends", () => {
  expect(kernelsOf(createPlane(16))).toBeUndefined();
  beginArena();
  const first = createPlane(16);
  const large = createPlane(100_000_000);
  expect(kernelsOf(first, large)).toBeDefined();
  const beyond = createPlane(100_000_000);
  expect(beyond).toHaveLength(100_000_000);
  expect(kernelsOf(beyond)).toBeUndefined();
  expect(kernelsOf(first, beyond)).toBeUndefined();
  expect(kernelsOf(createPlane(16))).toBe(kernelsOf(first) as Kernels);
  endArena();
  expect(kernelsOf(createPlane(16))).toBeUndefined();
});

test("a process that may not have the arena's memory draws in the general way", () => {
  const { Memory } = WebAssembly;
  try {
    WebAssembly.Memory = class {
      constructor() {
        throw new RangeError("Out of memory");
      }
    } as unknown as typeof Memory;
    beginArena();
  } finally {
    WebAssembly.Memory = Memory;
  }
  expect(kernelsOf(createPlane(16))).toBeUndefined();
});
