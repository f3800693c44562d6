import { dlopen, FFIType, ptr } from "bun:ffi";

/** What left or came to this network namespace, by where it was going: `address:port`, or an address alone. */
export interface PacketLog {
  /** Packets by destination so far. */
  counts(): Record<string, number>;
  stop(): void;
}

const AF_PACKET = 17;
const SOCK_RAW = 3;
/** Every protocol, in network byte order. */
const ETH_P_ALL = 0x0300;
const MSG_DONTWAIT = 0x40;
const ETHERNET_BYTES = 14;
const TCP_AND_UDP = new Set([6, 17]);
const LOOK_EVERY_MS = 5;

/** Listens on every interface of the namespace, loopback too. Needs to be root. @throws Error where that is not possible */
export function recordPackets(): PacketLog {
  const { symbols } = dlopen("libc.so.6", {
    socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    recv: { args: [FFIType.i32, FFIType.ptr, FFIType.u64, FFIType.i32], returns: FFIType.i64 },
  });
  const socket = symbols.socket(AF_PACKET, SOCK_RAW, ETH_P_ALL);
  if (socket < 0) throw new Error("There is no raw socket to be had.");
  const counts: Record<string, number> = {};
  const buffer = Buffer.alloc(65_536);
  const drain = () => {
    for (;;) {
      const size = Number(symbols.recv(socket, ptr(buffer), buffer.length, MSG_DONTWAIT));
      if (size < 0) return;
      const destination = destinationOf(buffer.subarray(0, size));
      if (destination !== undefined) counts[destination] = (counts[destination] ?? 0) + 1;
    }
  };
  const timer = setInterval(drain, LOOK_EVERY_MS);
  return {
    counts: () => {
      drain();
      return { ...counts };
    },
    stop: () => clearInterval(timer),
  };
}

function destinationOf(frame: Buffer): string | undefined {
  const packet = frame.subarray(ETHERNET_BYTES);
  const version = (packet[0] ?? 0) >> 4;
  if (version === 4) {
    const headerBytes = ((packet[0] ?? 0) & 0x0f) * 4;
    return withPort(packet.subarray(16, 20).join("."), packet[9] ?? 0, packet.subarray(headerBytes));
  }
  if (version !== 6) return undefined;
  const groups = Array.from({ length: 8 }, (_, index) => packet.readUInt16BE(24 + 2 * index).toString(16));
  return withPort(new URL(`http://[${groups.join(":")}]`).hostname, packet[6] ?? 0, packet.subarray(40));
}

function withPort(address: string, protocol: number, payload: Buffer): string {
  return TCP_AND_UDP.has(protocol) ? `${address}:${payload.readUInt16BE(2)}` : address;
}
