import { dlopen, FFIType, ptr } from "bun:ffi";

const AF_UNIX = 1;
const SOCK_DGRAM_CLOEXEC = 0o2000002;
const MSG_DONTWAIT = 0x40;
const LOOK_EVERY_MS = 2;

/** A Unix datagram socket, such as systemd's for messages of a service. */
export interface DatagramReceiver {
  readonly path: string;
  /** The next message, once it is there. */
  next(): Promise<string>;
  /** The next message, where it is there already. */
  now(): string | undefined;
  stop(): void;
}

/** @throws Error where there is none to be had */
export function openDatagramReceiver(path: string): DatagramReceiver {
  const { i32, i64, u32, u64, ptr: pointer } = FFIType;
  const { symbols: c } = dlopen("libc.so.6", {
    socket: { args: [i32, i32, i32], returns: i32 },
    bind: { args: [i32, pointer, u32], returns: i32 },
    recv: { args: [i32, pointer, u64, i32], returns: i64 },
    close: { args: [i32], returns: i32 },
  });
  const address = Buffer.concat([Buffer.from([AF_UNIX, 0]), Buffer.from(path)]);
  const socket = c.socket(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0);
  if (socket < 0 || c.bind(socket, ptr(address), address.length) !== 0)
    throw new Error(`There is no socket at ${path}.`);
  const buffer = Buffer.alloc(4096);
  const now = () => {
    const size = Number(c.recv(socket, ptr(buffer), buffer.length, MSG_DONTWAIT));
    return size < 0 ? undefined : buffer.toString("utf8", 0, size);
  };
  return {
    path,
    now,
    async next() {
      for (;;) {
        const message = now();
        if (message !== undefined) return message;
        await Bun.sleep(LOOK_EVERY_MS);
      }
    },
    stop: () => c.close(socket),
  };
}
