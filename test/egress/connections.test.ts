import { expect, test } from "bun:test";
import type { Socket } from "node:net";
import type { EgressOptions } from "../../src/egress/egress.ts";
import { makeCertificate } from "./certificates.ts";
import { localEgress, NEVER, type RawServer, rawServer, reply, scriptedResolver } from "./servers.ts";

const POST = { body: "{}" };
const TRIAL_MS = 1_000;
const certificate = makeCertificate(["DNS:receiver.test", "DNS:other.test"]);

/** Timers that run when the test says so. */
function manualClock() {
  const timers = new Set<{ readonly delayMs: number; readonly callback: () => void }>();
  return {
    after(delayMs: number, callback: () => void) {
      const timer = { delayMs, callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    elapsed: () => 0,
    /** Runs the timers of this delay. */
    pass(delayMs: number) {
      for (const timer of [...timers].filter((each) => each.delayMs === delayMs)) {
        timers.delete(timer);
        timer.callback();
      }
    },
  };
}

const names = { "receiver.test": [["127.0.0.1"]], "other.test": [["127.0.0.1"]] };

function open({ port }: { readonly port: number }, options: Partial<EgressOptions> = {}) {
  const clock = manualClock();
  const { resolve } = scriptedResolver(names);
  const egress = localEgress({ clock, resolve, ...options });
  return {
    clock,
    deliver: (host = "receiver.test", path = "/") =>
      egress.deliver(`http://${host}:${port}${path}`, POST, NEVER),
    deliverSecurely: (host: string) => egress.deliver(`https://${host}:${port}/`, POST, NEVER),
  };
}

/** An egress that has seen that the place leaves connections open. */
async function openKept(server: RawServer, options: Partial<EgressOptions> = {}) {
  const opened = open(server, options);
  expect((await opened.deliver()).kind).toBe("delivered");
  // The answer ends before its request closes, which begins the trial.
  await Bun.sleep(0);
  opened.clock.pass(TRIAL_MS);
  await eventually(() => server.connections.open === 0);
  return opened;
}

const kindsOf = (server: RawServer) =>
  server.requests.map((request) => /^Connection: (.*)$/im.exec(request)?.[1]?.trim());

async function eventually(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 2_000 && !holds(); tries += 1) await Bun.sleep(5);
  expect(holds()).toBe(true);
}

test("a connection that was left open after a trial is used for one callback after the other", async () => {
  await using server = await rawServer((socket) => socket.write(reply(200, {}, "thanks")));
  const { deliver, clock } = open(server);
  await deliver();
  await Bun.sleep(0);
  // Nothing is known yet.
  await deliver();
  expect(server.connections.opened).toBe(2);
  clock.pass(TRIAL_MS);
  await eventually(() => server.connections.open === 0);
  for (let i = 0; i < 3; i += 1)
    expect(await deliver()).toMatchObject({ kind: "delivered", status: 200, excerpt: "thanks" });
  expect(server.connections.opened).toBe(3);
  expect(kindsOf(server)).toEqual(["keep-alive", "close", "keep-alive", "keep-alive", "keep-alive"]);
});

test("as many connections are opened as callbacks are under way at once", async () => {
  const waiting: Socket[] = [];
  await using server = await rawServer((socket, request) =>
    request.includes("POST /held") ? waiting.push(socket) : socket.write(reply(204)),
  );
  const { deliver } = await openKept(server);
  const held = [deliver("receiver.test", "/held"), deliver("receiver.test", "/held")];
  await eventually(() => waiting.length === 2);
  expect((await deliver()).kind).toBe("delivered");
  expect(server.connections.opened).toBe(4);
  for (const socket of waiting) socket.write(reply(204));
  await Promise.all(held);
  for (let i = 0; i < 3; i += 1) await deliver();
  expect(server.connections.opened).toBe(4);
});

test("a place that closes its connections gets one for each callback", async () => {
  await using server = await rawServer((socket) => socket.end(reply(200)));
  const { deliver, clock } = open(server);
  for (let i = 0; i < 4; i += 1) {
    expect((await deliver()).kind).toBe("delivered");
    await eventually(() => server.connections.open === 0);
    clock.pass(TRIAL_MS);
  }
  expect(server.connections.opened).toBe(4);
  expect(kindsOf(server)).toEqual(["keep-alive", "close", "close", "close"]);
});

test("a kept connection serves no other name, though it leads to the same address", async () => {
  await using server = await rawServer((socket) => socket.write(reply(200)));
  const { deliver, clock } = await openKept(server);
  await deliver();
  await deliver("other.test");
  await Bun.sleep(0);
  clock.pass(TRIAL_MS);
  await deliver("other.test");
  await deliver();
  await deliver("other.test");
  // Two of trials, and one for each name.
  expect(server.connections.opened).toBe(4);
});

test("a kept connection is no way to a name that now leads elsewhere", async () => {
  await using server = await rawServer((socket) => socket.write(reply(200)));
  const script = { "receiver.test": [["127.0.0.1"], ["127.0.0.1"], ["10.0.0.1"]] };
  const { deliver } = await openKept(server, { resolve: scriptedResolver(script).resolve });
  expect((await deliver()).kind).toBe("delivered");
  expect((await deliver()).kind).toBe("forbidden");
  expect(server.requests).toHaveLength(2);
});

test("a callback whose kept connection breaks is not sent again unrecorded, and the next ones have their own", async () => {
  let breaks = false;
  await using server = await rawServer((socket) => (breaks ? socket.destroy() : socket.write(reply(200))));
  const { deliver } = await openKept(server);
  await deliver();
  breaks = true;
  expect((await deliver()).kind).toBe("unreachable");
  expect(server.requests).toHaveLength(3);
  breaks = false;
  for (let i = 0; i < 2; i += 1) expect((await deliver()).kind).toBe("delivered");
  expect(kindsOf(server).slice(-2)).toEqual(["close", "close"]);
});

test("what a receiver says unasked, or beyond its answer, is no answer to the next callback", async () => {
  const sockets = new Set<Socket>();
  let more = "";
  await using server = await rawServer((socket) => {
    sockets.add(socket);
    socket.write(Buffer.concat([reply(200), Buffer.from(more)]));
  });
  const { deliver } = await openKept(server);
  await deliver();
  for (const socket of sockets) socket.write(reply(500, {}, "unasked"));
  await eventually(() => server.connections.open === 0);
  more = reply(500, {}, "beyond").toString();
  expect(await deliver()).toMatchObject({ kind: "delivered", status: 200 });
  more = "";
  expect(await deliver()).toMatchObject({ kind: "delivered", status: 200 });
});

test("a connection whose answer is too long to be read to its end is closed", async () => {
  let body = "short";
  await using server = await rawServer((socket) => socket.write(reply(200, {}, body)));
  const { deliver } = await openKept(server);
  body = "x".repeat(1_000_000);
  expect((await deliver()).kind).toBe("delivered");
  await eventually(() => server.connections.open === 0);
  body = "short";
  expect(await deliver()).toMatchObject({ kind: "delivered", excerpt: "short" });
});

test.skipIf(certificate === undefined)(
  "over TLS, a kept connection is one whose certificate has that name",
  async () => {
    const ports: (number | undefined)[] = [];
    using server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      ...(certificate === undefined ? {} : { tls: certificate }),
      fetch(request, server) {
        ports.push(server.requestIP(request)?.port);
        return new Response("thanks");
      },
    });
    const { deliverSecurely, clock } = open({ port: server.port ?? 0 }, { ca: certificate?.cert });
    for (const host of ["receiver.test", "other.test"]) {
      expect((await deliverSecurely(host)).kind).toBe("delivered");
      await Bun.sleep(0);
      clock.pass(TRIAL_MS);
      await deliverSecurely(host);
      await deliverSecurely(host);
    }
    const [, first, second, , third, fourth] = ports;
    expect(first).toBe(second as number);
    expect(third).toBe(fourth as number);
    expect(third).not.toBe(first as number);
  },
);
