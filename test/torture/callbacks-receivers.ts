import type { Socket, TCPSocketListener } from "bun";
import { MANNERS, type Manner, type Plan } from "./callbacks-plans.ts";
import type { Dice } from "./dice.ts";

/** A point in the course of a delivery, as its receiver sees it. */
export const MOMENTS = ["connected", "received", "half answered", "answered"] as const;
export type Moment = (typeof MOMENTS)[number];

/** One POST that arrived whole. */
export interface Receipt {
  /** `performance.now()` of its last byte. */
  readonly atMs: number;
  /** The server process it came from, counted from 1, and how long that had been there. */
  readonly process: number;
  readonly processAgeMs: number;
  readonly body: string;
  /** The status that was written in full. */
  status?: number;
}

export interface Receivers {
  /** By marker. */
  readonly receipts: ReadonlyMap<string, readonly Receipt[]>;
  /** Of any host, the most connections that one server process had open at once. */
  mostAtOnce(): number;
  originOf(manner: Manner, dice: Dice): string;
  /** Connections from now on are those of a new process. */
  nextProcess(): void;
  /** Calls back once, within the receiver's own work, when a delivery gets to this point. */
  onNext(moment: Moment, listener: () => void): void;
  stop(): void;
}

const PORTS_PER_MANNER = 4;

interface Connection {
  readonly process: number;
  received: string;
  isRead: boolean;
}

/** Receivers on ports of their own by manner, so that those that hang hold up none but themselves. */
export function openReceivers(plans: ReadonlyMap<string, Plan>): Receivers {
  const receipts = new Map<string, Receipt[]>();
  const listeners = new Map<Manner, TCPSocketListener<Connection>[]>();
  let armed: { moment: Moment; listener: () => void } | undefined;
  let process = 0;
  const startedAtMs: number[] = [];
  let mostAtOnce = 0;

  function pass(moment: Moment): void {
    if (armed?.moment !== moment) return;
    const { listener } = armed;
    armed = undefined;
    listener();
  }

  function listen(): TCPSocketListener<Connection> {
    // By process: a killed one's connections may be seen to close late.
    const open = new Map<number, number>();
    const count = (of: number, change: number) => {
      const now = (open.get(of) ?? 0) + change;
      open.set(of, now);
      mostAtOnce = Math.max(mostAtOnce, now);
    };
    return Bun.listen<Connection>({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open(socket) {
          socket.data = { process, received: "", isRead: false };
          count(process, 1);
          pass("connected");
        },
        data(socket, bytes) {
          const { data } = socket;
          data.received += bytes.toString("latin1");
          const post = data.isRead ? undefined : wholePost(data.received);
          if (post === undefined) return;
          data.isRead = true;
          void receive(socket, post);
        },
        close: ({ data }) => count(data.process, -1),
        error() {
          // A killed process resets what it had open.
        },
      },
    });
  }

  async function receive(socket: Socket<Connection>, post: { marker: string; body: string }): Promise<void> {
    const plan = plans.get(post.marker);
    const before = receipts.get(post.marker) ?? [];
    const atMs = performance.now();
    const { process } = socket.data;
    const processAgeMs = atMs - (startedAtMs[process] ?? 0);
    const receipt: Receipt = { atMs, process, processAgeMs, body: post.body };
    receipts.set(post.marker, [...before, receipt]);
    pass("received");
    if (plan === undefined) throw new Error(`A callback came for ${post.marker}, which nobody asked for.`);
    const isWrong = before.length < plan.times;
    switch (plan.manner) {
      case "hangs":
        return;
      case "dawdles":
        await Bun.sleep(plan.afterMs);
        return answer(socket, receipt, 200);
      case "refuses":
        return answer(socket, receipt, 500);
      case "recovers":
        return answer(socket, receipt, isWrong ? 503 : 204);
      case "resets":
        return isWrong ? socket.terminate() : answer(socket, receipt, 200);
      case "breaks off":
        if (!isWrong) return answer(socket, receipt, 200);
        socket.end("HTTP/1.1 20");
        return;
      case "halves":
        receipt.status = 200;
        socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        return;
      case "accepts":
        return answer(socket, receipt, 200);
    }
  }

  function answer(socket: Socket<Connection>, receipt: Receipt, status: number): void {
    const text = `HTTP/1.1 ${status} Answer\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
    const half = text.length >> 1;
    socket.write(text.slice(0, half));
    socket.flush();
    pass("half answered");
    receipt.status = status;
    socket.write(text.slice(half));
    socket.flush();
    pass("answered");
    socket.end();
  }

  for (const manner of MANNERS) listeners.set(manner, Array.from({ length: PORTS_PER_MANNER }, listen));
  return {
    receipts,
    mostAtOnce: () => mostAtOnce,
    originOf(manner, dice) {
      const port = listeners.get(manner)?.[dice.between(0, PORTS_PER_MANNER - 1)]?.port;
      return `http://127.0.0.1:${port}`;
    },
    nextProcess() {
      process += 1;
      startedAtMs[process] = performance.now();
      armed = undefined;
    },
    onNext(moment, listener) {
      armed = { moment, listener };
    },
    stop() {
      for (const each of [...listeners.values()].flat()) each.stop(true);
    },
  };
}

/** @returns undefined until all of it is there */
function wholePost(received: string): { marker: string; body: string } | undefined {
  const headEnd = received.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = received.slice(0, headEnd);
  const [, marker] = /^POST \/(\S+) HTTP\/1\.1\r\n/.exec(head) ?? [];
  const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
  if (marker === undefined || Number.isNaN(length)) throw new Error(`No callback looks like this: ${head}`);
  const body = received.slice(headEnd + 4);
  return body.length < length ? undefined : { marker, body };
}
