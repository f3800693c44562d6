import { FFIType, ptr } from "bun:ffi";
import { openLibc } from "../../src/toolkit/libc.ts";

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;
/** Bytes of `sun_path` in Linux's `sockaddr_un` (unix(7)). */
const MAX_PATH_BYTES = 108;

const { i32, i64, u32, u64, ptr: pointer } = FFIType;
const SYMBOLS = {
  socket: { args: [i32, i32, i32], returns: i32 },
  sendto: { args: [i32, pointer, u64, i32, pointer, u32], returns: i64 },
} as const;

/**
 * Opens a way to send messages to a Unix datagram socket of Linux, which neither Bun nor its node:dgram has. A message that cannot
 * be sent at once is dropped.
 *
 * @param address a path, or a name of the abstract namespace after `@`
 * @returns what is wrong where there is no way
 */
export function openDatagrams(address: string): ((message: string) => void) | string {
  const path = Buffer.from(address);
  if (!/^[/@]./.test(address)) return "it is neither a path nor an abstract name.";
  if (path.length >= MAX_PATH_BYTES) return "it is too long.";
  if (address.startsWith("@")) path[0] = 0;
  const target = Buffer.alloc(2 + path.length);
  target.writeUInt16LE(AF_UNIX);
  path.copy(target, 2);
  const c = openLibc(SYMBOLS);
  const socket = c?.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) ?? -1;
  if (c === undefined || socket < 0) return "this system has no such sockets.";
  return (message) => {
    const bytes = Buffer.from(message);
    c.sendto(socket, ptr(bytes), bytes.length, MSG_DONTWAIT | MSG_NOSIGNAL, ptr(target), target.length);
  };
}
