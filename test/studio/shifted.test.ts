import { expect, test } from "bun:test";
import { type Area, drawPlane, type Matrix, type SourcePlane } from "../../src/studio/plane.ts";
import { createRandom } from "../../src/studio/random.ts";
import { runsOf } from "../../src/studio/shifted.ts";

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

function draw(source: SourcePlane, back: Matrix, area: Area, strength: number): Uint8Array {
  const pixels = Uint8Array.from({ length: 120 * 40 }, (_, k) => (k * 7) % 256);
  drawPlane({ pixels, width: 120 }, source, back, area, strength);
  return pixels;
}

test("a plane that is only shifted is drawn as any other one, to the bit", () => {
  const area = { left: 0, top: 0, right: 120, bottom: 40 };
  for (let i = 0; i < 60; i++) {
    const source = plane();
    const [e, f] = [random.range(-60, 60), random.range(-20, 20)];
    const back = i % 3 === 0 ? shift(Math.round(e), Math.round(f)) : shift(e, f);
    const strength = i % 2 === 0 ? 256 : random.int(1, 255);
    const runs = runsOf(source.alpha, WIDTH, HEIGHT);
    const general = draw({ ...source, runs: undefined }, back, area, strength);
    expect(draw({ ...source, runs }, back, area, strength)).toEqual(general);
  }
});

test("an opaque plane that is only shifted is drawn as one whose alpha is 255 everywhere", () => {
  // No sample is at the edge, where only an opaque plane goes on.
  const area = { left: 3, top: 2, right: 80, bottom: 20 };
  for (const [e, f] of [[4, 5] as const, [4.25, 5], [4, 5.75], [7.3, 2.9]]) {
    const source = { ...plane(), runs: undefined };
    const opaque = draw({ ...source, alpha: undefined }, shift(e, f), area, 256);
    expect(opaque).toEqual(draw({ ...source, alpha: source.alpha.fill(255) }, shift(e, f), area, 256));
  }
});
