import { afterEach, describe, expect, test } from "bun:test";
import { createClient } from "../../cli/client/client.ts";
import { createForwarder, forwardedForm, forwardedText, isAcknowledged } from "../../cli/client/forward.ts";
import { systemTiming } from "../../cli/client/retry.ts";
import { rawServer } from "../egress/servers.ts";

const POST = { headers: { "Content-Type": "application/json" }, body: "{}" };
const open: { stop(now: boolean): Promise<void> }[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) await server.stop(true);
});

function openReceiver(answer: () => Response | Promise<Response>): string {
  const receiver = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, fetch: answer });
  open.push(receiver);
  return `http://127.0.0.1:${receiver.port}/`;
}

function forwarder(url: string, timeoutMs = 10_000) {
  const signal = new AbortController().signal;
  const settings = { server: "http://127.0.0.1:1", key: "sk-svc-test" };
  const client = createClient(settings, { timing: systemTiming, signal, userAgent: "svc/test" });
  return createForwarder(client, { url, now: systemTiming.now, signal, timeoutMs });
}

describe("a receiver", () => {
  test("that does not answer is given up after its time", async () => {
    const forward = forwarder(
      openReceiver(() => new Promise<Response>(() => {})),
      40,
    );
    expect(forwardedForm(await forward(POST))).toEqual({
      status: null,
      duration_ms: expect.any(Number),
      error: "no answer within 40 ms",
    });
  });

  test("that answers without an end is left after a little of it, and has acknowledged", async () => {
    const left = Promise.withResolvers<void>();
    let pieces = 0;
    const forward = forwarder(
      openReceiver(
        () =>
          new Response(
            new ReadableStream({
              async pull(controller) {
                pieces += 1;
                controller.enqueue(new Uint8Array(16 * 1024));
                await Bun.sleep(1);
              },
              cancel: () => left.resolve(),
            }),
          ),
      ),
    );
    const forwarded = await forward(POST);
    expect([forwarded.status, isAcknowledged(forwarded)]).toEqual([200, true]);
    await left.promise;
    expect(pieces).toBeLessThan(200);
  });

  test("whose answer stops in the middle has acknowledged all the same", async () => {
    const forward = forwarder(
      openReceiver(
        () =>
          new Response(new ReadableStream({ start: (to) => to.enqueue(new Uint8Array(10)) }), {
            status: 202,
          }),
      ),
    );
    const forwarded = await forward(POST);
    expect([forwarded.status, forwarded.error]).toEqual([202, null]);
    expect(forwarded.durationMs).toBeLessThan(15_000);
  });

  test("is spared headers that no request can have, which end nothing", async () => {
    const forward = forwarder(openReceiver(() => new Response()));
    const forwarded = await forward({ headers: { "a b": "c" }, body: "{}" });
    expect([forwarded.status, forwarded.error]).toEqual([null, expect.stringMatching(/header/i)]);
  });

  test("gets its callbacks whatever proxy the environment names", async () => {
    const url = openReceiver(() => new Response());
    const before = process.env.HTTP_PROXY;
    process.env.HTTP_PROXY = "http://127.0.0.1:1";
    try {
      expect((await forwarder(url)(POST)).status).toBe(200);
    } finally {
      if (before === undefined) delete process.env.HTTP_PROXY;
      else process.env.HTTP_PROXY = before;
    }
  });

  test.each([
    ["101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket", "UnrequestedUpgrade"],
    ["200 OK\r\nContent-Length: many", "InvalidContentLength"],
  ])("that answers with %p is said to speak no HTTP", async (answer, code) => {
    await using receiver = await rawServer((socket) => socket.end(`HTTP/1.1 ${answer}\r\n\r\n`));
    const { status, error } = await forwarder(`http://127.0.0.1:${receiver.port}/`)(POST);
    expect([status, error]).toEqual([null, `an answer that is not HTTP as it should be (${code})`]);
  });
});

test("a status text of any length is shown with its beginning", () => {
  const plain = (text: string) => text;
  const style = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain };
  const forwarded = { status: 200, statusText: `O\u001bK${"x".repeat(70_000)}`, durationMs: 1, error: null };
  expect(forwardedText(forwarded, style)).toBe(`200 O\\u001bK${"x".repeat(77)}… (1 ms)`);
});
