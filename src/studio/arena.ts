import { compileKernels, type Kernels } from "./kernels.ts";

/** Most memory for the pictures of one video. Pages that are never written to use none of the machine's memory. */
const ARENA_PAGES = 2_048;
const PAGE_BYTES = 65_536;
/** What the kernels may read beyond a plane: eight samples and the one after them. */
const SPARE_BYTES = 16;

let compiled: WebAssembly.Module | undefined;
/** By the memory that their planes lie in. */
const kernelsOfMemory = new WeakMap<ArrayBufferLike, Kernels>();
let arena: { readonly buffer: ArrayBuffer; usedBytes: number } | undefined;

/**
 * Lets planes made from now on lie where the kernels find them, until the next call. Where a plane lies changes the time of drawing and nothing
 * else: any other one is drawn by the general way in plane.ts.
 */
export function beginArena(): void {
  arena = undefined;
  compiled ??= compileKernels();
  if (compiled === undefined) return;
  const memory = reserve();
  if (memory === undefined) return;
  const { exports } = new WebAssembly.Instance(compiled, { studio: { memory } });
  // Safe: the module was made from kernels of these names and parameters.
  kernelsOfMemory.set(memory.buffer, exports as unknown as Kernels);
  arena = { buffer: memory.buffer, usedBytes: 0 };
}

/** @returns undefined if the process may not have this much address space */
function reserve(): WebAssembly.Memory | undefined {
  try {
    return new WebAssembly.Memory({ initial: ARENA_PAGES, maximum: ARENA_PAGES });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Gives the memory back once nothing drawn in it is needed. */
export function endArena(): void {
  arena = undefined;
}

/** A plane of zeros, in the arena as long as there is room. */
export function createPlane(sizeBytes: number): Uint8Array<ArrayBuffer> {
  const at = arena?.usedBytes ?? 0;
  if (arena === undefined || at + sizeBytes + SPARE_BYTES > ARENA_PAGES * PAGE_BYTES)
    return new Uint8Array(sizeBytes);
  arena.usedBytes = at + Math.ceil((sizeBytes + SPARE_BYTES) / 16) * 16;
  return new Uint8Array(arena.buffer, at, sizeBytes);
}

/** The kernels that can draw planes of this memory. */
export function kernelsOf(...planes: readonly (Uint8Array | undefined)[]): Kernels | undefined {
  const [first] = planes;
  if (first === undefined || planes.some((plane) => plane !== undefined && plane.buffer !== first.buffer))
    return undefined;
  return kernelsOfMemory.get(first.buffer);
}
