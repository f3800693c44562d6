/*
 * As much of WebAssembly as kernels.ts is written in, so that no compiler is needed for a few loops. Instructions are bytes; one that takes
 * values is written as a function of the instructions that make them. Numbers of instructions: https://webassembly.github.io/spec/core/binary/
 * (checked 2026-11-23).
 */

export type Code = readonly number[];

/** A function of 32-bit numbers without a result. */
export interface Kernel {
  readonly name: string;
  readonly parameters: number;
  /** Further 32-bit numbers, and then vectors of 128 bits, that follow the parameters. */
  readonly numbers: number;
  readonly vectors: number;
  readonly body: Code;
}

const I32 = 0x7f;
const V128 = 0x7b;
const EMPTY = 0x40;

const unsigned = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];

function signed(value: number): number[] {
  const isLast = value >= -64 && value < 64;
  return isLast ? [value & 127] : [(value & 127) | 128, ...signed(value >> 7)];
}

export const get = (local: number): Code => [0x20, local];
export const set = (local: number, value: Code): Code => [...value, 0x21, local];
export const number = (value: number): Code => [0x41, ...signed(value)];
export const all = (...parts: readonly Code[]): Code => parts.flat();
/** Runs `body` again and again, as long as its last value is not 0. */
export const repeat = (body: Code, condition: Code): Code => [
  0x03,
  EMPTY,
  ...body,
  ...condition,
  0x0d,
  0,
  0x0b,
];
export const when = (condition: Code, then: Code, otherwise: Code = []): Code => [
  ...condition,
  0x04,
  EMPTY,
  ...then,
  ...(otherwise.length === 0 ? [] : [0x05, ...otherwise]),
  0x0b,
];

const binary =
  (...instruction: number[]) =>
  (left: Code, right: Code): Code => [...left, ...right, ...instruction];

export const add = binary(0x6a);
export const subtract = binary(0x6b);
export const multiply = binary(0x6c);
export const and = binary(0x71);
export const or = binary(0x72);
export const shiftLeft = binary(0x74);
export const shiftRight = binary(0x75);
export const isLess = binary(0x49);
export const isEqual = binary(0x46);

export const load8 = (at: Code, offset = 0): Code => [...at, 0x2d, 0, ...unsigned(offset)];
/** Two bytes, the first one lowest. */
export const load16 = (at: Code, offset = 0): Code => [...at, 0x2f, 0, ...unsigned(offset)];
export const store8 = (at: Code, value: Code): Code => [...at, ...value, 0x3a, 0, 0];

const load64 = (at: Code, offset: number): Code => [...at, 0x29, 0, ...unsigned(offset)];
const or64 = binary(0x84);
const and64 = binary(0x83);

/**
 * For each of `places`, checks the eight bytes there and the eight bytes that begin one later: whether one is not 0, and whether all
 * are 255.
 */
export function eightBytes(places: readonly Code[]) {
  const words = places.flatMap((at) => [load64(at, 0), load64(at, 1)]);
  return {
    areEmpty: [...words.reduce(or64), 0x50],
    areFull: [...words.reduce(and64), 0x42, 0x7f, 0x51],
  };
}

const vector = (instruction: number): number[] => [0xfd, ...unsigned(instruction)];
const vectors = (instruction: number) => binary(...vector(instruction));

/** Eight lanes of 16 bits. */
export const lanes = {
  add: vectors(0x8e),
  subtract: vectors(0x91),
  multiply: vectors(0x95),
  shiftRight: vectors(0x8d),
  /** The same number in every lane. */
  of: (value: Code): Code => [...value, ...vector(0x10)],
  /** Eight bytes, one in each lane. */
  load: (at: Code, offset = 0): Code => [...at, ...vector(0x02), 0, ...unsigned(offset)],
  /** Stores eight bytes, one from each lane. */
  store: (at: Code, value: Code, spare: number): Code =>
    all(at, set(spare, value), get(spare), get(spare), vector(0x66), vector(0x5b), [0, 0, 0]),
};

/** Four lanes of 32 bits. */
export const wide = {
  add: vectors(0xae),
  shiftRight: vectors(0xad),
  of: (value: Code): Code => [...value, ...vector(0x11)],
  /** Products of the first four lanes of 16 bits, and of the last four. */
  firstProducts: vectors(0xbe),
  lastProducts: vectors(0xbf),
  /** Eight lanes of 16 bits from twice four. */
  join: vectors(0x86),
};

/** A module that works on one memory, which it imports as `studio.memory`, and exports the kernels by name. */
export function moduleOf(kernels: readonly Kernel[]): Uint8Array<ArrayBuffer> {
  const types = kernels.map(({ parameters }) => [0x60, ...list(Array(parameters).fill([I32])), 0]);
  const bodies = kernels.map(({ numbers, vectors: wides, body }) => {
    const code = [2, ...unsigned(numbers), I32, ...unsigned(wides), V128, ...body, 0x0b];
    return [...unsigned(code.length), ...code];
  });
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, types),
    ...section(2, [[...text("studio"), ...text("memory"), 0x02, 0x00, 0x00]]),
    ...section(
      3,
      kernels.map((_, i) => [i]),
    ),
    ...section(
      7,
      kernels.map(({ name }, i) => [...text(name), 0x00, i]),
    ),
    ...section(10, bodies),
  ]);
}

const list = (entries: readonly (readonly number[])[]): number[] => [
  ...unsigned(entries.length),
  ...entries.flat(),
];
const text = (value: string): number[] => list([...Buffer.from(value)].map((byte) => [byte]));

function section(id: number, entries: readonly (readonly number[])[]): number[] {
  const content = list(entries);
  return [id, ...unsigned(content.length), ...content];
}
