import {
  add,
  all,
  and,
  type Code,
  eightBytes,
  get,
  isEqual,
  isLess,
  type Kernel,
  lanes,
  load8,
  load16,
  moduleOf,
  multiply,
  number,
  or,
  repeat,
  set,
  shiftRight,
  store8,
  subtract,
  when,
  wide,
} from "./assembly.ts";

/*
 * The inner loops of plane.ts in WebAssembly: a sample, or eight at once, in a fraction of the time, and from the first row on, while the
 * runtime still watches what JavaScript does. They give the same samples to the bit. Addresses are bytes of the arena's memory.
 */
export interface Kernels {
  /**
   * Draws opaque samples, 8 at a time, that are shifted, but neither turned nor scaled.
   *
   * @param end of the target, a multiple of 8 after its beginning
   * @param right by how much the first sample lies right of `pixels`, and `down` below it, 0 … 255
   */
  copyShifted(target: number, end: number, pixels: number, width: number, right: number, down: number): void;
  /** The same over what is there. @param strength opacity, 0 … 256 */
  blendShifted(
    target: number,
    end: number,
    pixels: number,
    width: number,
    right: number,
    down: number,
    alpha: number,
    strength: number,
  ): void;
  /** Draws opaque samples that are turned or scaled. @param fx 16.16 fixed point, of the plane at `pixels`, as are the others */
  copyTurned(
    target: number,
    end: number,
    pixels: number,
    width: number,
    fx: number,
    fy: number,
    stepX: number,
    stepY: number,
    strength: number,
  ): void;
  blendTurned(
    target: number,
    end: number,
    pixels: number,
    width: number,
    fx: number,
    fy: number,
    stepX: number,
    stepY: number,
    strength: number,
    alpha: number,
  ): void;
}

const increase = (local: number, by: Code): Code => set(local, add(get(local), by));

/** The eight samples at `pixels`, each of four, whose weights are `right`, `down` and what they leave of 256. */
function eightSamples(
  pixels: number,
  width: number,
  [right, left, down, up]: readonly [number, number, number, number],
  [before, here]: readonly [number, number],
): Code {
  const column = (offset: number): Code =>
    lanes.add(
      lanes.multiply(lanes.load(get(pixels), offset), get(up)),
      lanes.multiply(lanes.load(add(get(pixels), get(width)), offset), get(down)),
    );
  const half = (products: typeof wide.firstProducts): Code =>
    wide.shiftRight(
      wide.add(
        wide.add(products(get(before), get(left)), products(get(here), get(right))),
        wide.of(number(32_768)),
      ),
      number(16),
    );
  return all(
    set(before, column(0)),
    set(here, column(1)),
    wide.join(half(wide.firstProducts), half(wide.lastProducts)),
  );
}

/** Weights as vectors, and what each leaves of 256. */
function weights(right: number, down: number, into: readonly [number, number, number, number]): Code {
  const rest = (local: number): Code => subtract(number(256), get(local));
  const values = [get(right), rest(right), get(down), rest(down)];
  return all(...into.map((local, i) => set(local, lanes.of(values[i] ?? []))));
}

function copyShifted(): Kernel {
  const [target, end, pixels, width, right, down] = [0, 1, 2, 3, 4, 5];
  const [weight, sums, spare] = [[6, 7, 8, 9] as const, [10, 11] as const, 12];
  const body = all(
    lanes.store(get(target), eightSamples(pixels, width, weight, sums), spare),
    increase(pixels, number(8)),
    increase(target, number(8)),
  );
  return {
    name: "copyShifted",
    parameters: 6,
    numbers: 0,
    vectors: 7,
    body: all(weights(right, down, weight), repeat(body, isLess(get(target), get(end)))),
  };
}

function blendShifted(): Kernel {
  const [target, end, pixels, width, right, down, alpha, strength] = [0, 1, 2, 3, 4, 5, 6, 7];
  const [weight, sums, spare] = [[8, 9, 10, 11] as const, [12, 13] as const, 14];
  const [value, kept, opacity, half] = [15, 16, 17, 18];
  const covers = eightBytes([get(alpha), add(get(alpha), get(width))]);
  const faded = (samples: Code): Code =>
    lanes.shiftRight(lanes.add(lanes.multiply(samples, get(opacity)), get(half)), number(8));
  const blended = all(
    set(kept, lanes.subtract(lanes.of(number(255)), faded(eightSamples(alpha, width, weight, sums)))),
    // What is kept of the target, divided by 255.
    set(kept, lanes.add(lanes.multiply(lanes.load(get(target)), get(kept)), get(half))),
    set(kept, lanes.shiftRight(lanes.add(get(kept), lanes.shiftRight(get(kept), number(8))), number(8))),
    lanes.store(get(target), lanes.add(faded(get(value)), get(kept)), spare),
  );
  const drawn = all(
    set(value, eightSamples(pixels, width, weight, sums)),
    when(
      and(covers.areFull, isEqual(get(strength), number(256))),
      lanes.store(get(target), get(value), spare),
      blended,
    ),
  );
  const body = all(
    when(covers.areEmpty, [], drawn),
    ...[pixels, alpha, target].map((local) => increase(local, number(8))),
  );
  return {
    name: "blendShifted",
    parameters: 8,
    numbers: 0,
    vectors: 11,
    body: all(
      weights(right, down, weight),
      set(opacity, lanes.of(get(strength))),
      set(half, lanes.of(number(128))),
      repeat(body, isLess(get(target), get(end))),
    ),
  };
}

/** What a turned sample is made of: a mean of four at `at`, weighted by `wx` and `wy`, 0 … 255, and shifted back to a byte. */
function meanOfFour(
  at: number,
  width: number,
  wx: number,
  wy: number,
  spare: readonly [number, number],
): Code {
  const [upper, lower] = spare;
  const across = (from: Code, into: number): Code =>
    all(
      set(into, load16(from)),
      set(
        into,
        add(
          multiply(and(get(into), number(255)), subtract(number(256), get(wx))),
          multiply(shiftRight(get(into), number(8)), get(wx)),
        ),
      ),
    );
  const sum = add(multiply(get(upper), subtract(number(256), get(wy))), multiply(get(lower), get(wy)));
  return all(
    across(get(at), upper),
    across(add(get(at), get(width)), lower),
    shiftRight(add(sum, number(32_768)), number(16)),
  );
}

interface Turned {
  readonly width: number;
  readonly fx: number;
  readonly fy: number;
  readonly offset: number;
  readonly wx: number;
  readonly wy: number;
}

/** Where the sample lies in its plane, and its weights. */
function placeOf({ width, fx, fy, offset }: Turned): Code {
  const row = multiply(shiftRight(get(fy), number(16)), get(width));
  return set(offset, add(row, shiftRight(get(fx), number(16))));
}

function weightsOf({ fx, fy, wx, wy }: Turned): Code {
  const fraction = (local: number): Code => and(shiftRight(get(local), number(8)), number(255));
  return all(set(wx, fraction(fx)), set(wy, fraction(fy)));
}

/** `value × strength`, rounded and shifted back to a byte. */
const byStrength = (value: Code, strength: number): Code =>
  shiftRight(add(multiply(value, get(strength)), number(128)), number(8));

function copyTurned(): Kernel {
  const [target, end, pixels, width, fx, fy, stepX, stepY, strength] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const place = { width, fx, fy, offset: 9, wx: 10, wy: 11 };
  const [spare, value, at] = [[12, 13] as const, 14, 15];
  const faded = shiftRight(
    add(
      add(
        multiply(get(value), get(strength)),
        multiply(load8(get(target)), subtract(number(256), get(strength))),
      ),
      number(128),
    ),
    number(8),
  );
  const body = all(
    placeOf(place),
    weightsOf(place),
    set(at, add(get(pixels), get(place.offset))),
    set(value, meanOfFour(at, width, place.wx, place.wy, spare)),
    store8(get(target), faded),
    increase(fx, get(stepX)),
    increase(fy, get(stepY)),
    increase(target, number(1)),
  );
  return {
    name: "copyTurned",
    parameters: 9,
    numbers: 7,
    vectors: 0,
    body: repeat(body, isLess(get(target), get(end))),
  };
}

function blendTurned(): Kernel {
  const [target, end, pixels, width, fx, fy, stepX, stepY, strength, alpha] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
  const place = { width, fx, fy, offset: 10, wx: 11, wy: 12 };
  const [spare, value, at, rest] = [[13, 14] as const, 15, 16, 17];
  const cover = meanOfFour(at, width, place.wx, place.wy, spare);
  const drawn = all(
    weightsOf(place),
    set(value, cover),
    set(rest, subtract(number(255), byStrength(get(value), strength))),
    set(rest, add(multiply(load8(get(target)), get(rest)), number(128))),
    set(rest, shiftRight(add(get(rest), shiftRight(get(rest), number(8))), number(8))),
    set(at, add(get(pixels), get(place.offset))),
    set(value, meanOfFour(at, width, place.wx, place.wy, spare)),
    store8(get(target), add(byStrength(get(value), strength), get(rest))),
  );
  const body = all(
    placeOf(place),
    set(at, add(get(alpha), get(place.offset))),
    when(or(load16(get(at)), load16(add(get(at), get(width)))), drawn),
    increase(fx, get(stepX)),
    increase(fy, get(stepY)),
    increase(target, number(1)),
  );
  return {
    name: "blendTurned",
    parameters: 10,
    numbers: 8,
    vectors: 0,
    body: repeat(body, isLess(get(target), get(end))),
  };
}

/** The kernels as a module that imports its memory as `studio.memory`. @returns undefined where the processor has no vectors of 128 bits */
export function compileKernels(): WebAssembly.Module | undefined {
  const bytes = moduleOf([copyShifted(), blendShifted(), copyTurned(), blendTurned()]);
  return WebAssembly.validate(bytes) ? new WebAssembly.Module(bytes) : undefined;
}
