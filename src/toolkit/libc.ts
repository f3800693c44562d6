import { dlopen, type FFIFunction, type Library } from "bun:ffi";

/** glibc, and musl on both processors. */
const NAMES = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];

/** Functions of Linux's C library; undefined where there is none. */
export function openLibc<Functions extends Readonly<Record<string, FFIFunction>>>(
  functions: Functions,
): Library<Functions>["symbols"] | undefined {
  for (const name of NAMES) {
    try {
      return dlopen(name, functions).symbols;
    } catch {
      // Another C library: try the next name.
    }
  }
  return undefined;
}
