import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { EXIT } from "../../cli/exit-codes.ts";
import { freePort } from "../helpers/free-port.ts";
import { refusal, success } from "./scripted-server.ts";
import { spawnSvc, svc } from "./support.ts";

const STATUS = { key: { name: "web", prefix: "sk-svc-ab…yz" } };
setDefaultTimeout(60_000);
const open: { stop(now: boolean): Promise<void> }[] = [];
const listeners: { kill(signal: "SIGKILL"): void }[] = [];

afterAll(async () => {
  // Those of tests that failed.
  for (const listener of listeners) listener.kill("SIGKILL");
  for (const server of open) await server.stop(true);
});

/** A stream of callbacks that a test writes. */
interface Stream {
  readonly headers: Headers;
  write(text: string): void;
  close(): void;
}

/** A server whose streams a test holds in its hands, one after the other. */
function openServer(refused: readonly Response[] = []) {
  const left = [...refused];
  const streams: Stream[] = [];
  const waiting: (() => void)[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/v1/account/status") return success(STATUS);
      if (pathname !== "/v1/callbacks/events") return refusal(404, "not_found", "Nothing.");
      const answer = streams.length > 0 ? left.shift() : undefined;
      if (answer !== undefined) return answer;
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(new TextEncoder().encode("retry: 3000\n\n"));
          streams.push({
            headers: request.headers,
            write: (text) => controller.enqueue(new TextEncoder().encode(text)),
            close: () => controller.close(),
          });
          for (const resolve of waiting.splice(0)) resolve();
        },
      });
      return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
    },
  });
  open.push(server);
  return {
    url: `http://127.0.0.1:${server.port}`,
    async stream(index: number): Promise<Stream> {
      for (;;) {
        const stream = streams[index];
        if (stream !== undefined) return stream;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
}

const body = (number: number, status = "completed") =>
  JSON.stringify({ task_id: `task_${number}`, status, note: 'é\u0000 "exactly"' });
const HEADERS = {
  "Content-Type": "application/json",
  "User-Agent": "Service-Callback/1.0",
  "webhook-id": "cb_1",
  "webhook-timestamp": "1795269600",
  "webhook-signature": "v1,c2lnbmF0dXJl",
};
const data = (number: number, more: object = {}) => ({
  task_id: `task_${number}`,
  callback_id: `cb_${number}`,
  url: "https://hooks.example/svc",
  headers: HEADERS,
  body: body(number),
  ...more,
});
const event = (number: number, more: object = {}) =>
  `id: ${number}\nevent: callback\ndata: ${JSON.stringify(data(number, more))}\n\n`;

/** A receiver of the user's own machine. */
function openReceiver(answer: (body: string) => Response | Promise<Response>) {
  const received: { method: string; path: string; headers: Headers; body: string }[] = [];
  const receiver = Bun.serve({
    hostname: "127.0.0.1",
    // Nobody else takes it when the receiver is gone.
    port: freePort(),
    async fetch(request) {
      const { method, headers, url } = request;
      const { pathname, search } = new URL(url);
      const text = await request.text();
      received.push({ method, path: pathname + search, headers, body: text });
      return answer(text);
    },
  });
  open.push(receiver);
  return { url: `127.0.0.1:${receiver.port}/hook?t=1`, received, stop: () => receiver.stop(true) };
}

/** `svc callbacks listen` as a process, whose lines are awaited. */
function listen(url: string, ...args: string[]) {
  const child = spawnSvc(["callbacks", "listen", ...args], {
    env: { SVC_SERVER: url, SVC_API_KEY: "sk-svc-test" },
  });
  listeners.push(child);
  return {
    stdout: linesOf(child.stdout),
    stderr: linesOf(child.stderr),
    async interrupt() {
      child.kill("SIGINT");
      return child.exited;
    },
    exited: child.exited,
  };
}

function linesOf(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = "";
  return {
    /** The next line; empty at the end. */
    async next(): Promise<string> {
      for (;;) {
        const at = text.indexOf("\n");
        if (at >= 0) {
          const line = text.slice(0, at);
          text = text.slice(at + 1);
          return line;
        }
        const { done, value } = await reader.read();
        if (done) return "";
        text += decoder.decode(value, { stream: true });
      }
    },
  };
}

const cells = (line: string) => line.split("\t").slice(1);

/* Together: those that wait for a pause of the program hold up no other. */
describe.concurrent("callbacks listen", () => {
  test("says on stderr whose callbacks it waits for, prints a line each, and ends at Ctrl-C with 130", async () => {
    const server = openServer();
    const { stdout, stderr, interrupt } = listen(server.url);
    const stream = await server.stream(0);
    expect(stream.headers.get("authorization")).toBe("Bearer sk-svc-test");
    expect(stream.headers.get("last-event-id")).toBeNull();
    expect(await stderr.next()).toBe(
      `Listening on ${server.url} for key web (sk-svc-ab…yz). Ctrl-C ends it.`,
    );
    stream.write(event(1) + event(2, { body: body(2, "failed\u001b[2J"), callback_id: null, url: null }));
    expect(cells(await stdout.next())).toEqual(["completed", "task_1"]);
    expect(cells(await stdout.next())).toEqual(["failed\\u001b[2J", "task_2"]);
    expect(await interrupt()).toBe(130);
    expect(await stderr.next()).toBe("error: Interrupted.");
    expect(await stderr.next()).toBe("  `svc callbacks listen --since-id 2` goes on from here.");
  });

  test("forwards exactly the headers and the body, with no credential, and tells how it was answered", async () => {
    const server = openServer();
    const receiver = openReceiver(() => new Response("thanks", { status: 201 }));
    const { stdout, interrupt } = listen(server.url, "--forward", receiver.url);
    (await server.stream(0)).write(event(1));
    expect(cells(await stdout.next())).toEqual([
      "completed",
      "task_1",
      expect.stringMatching(/^201 Created \(\d+ ms\)$/),
    ]);
    await interrupt();
    const [post] = receiver.received;
    expect(post).toMatchObject({ method: "POST", path: "/hook?t=1", body: body(1) });
    const sent = Object.fromEntries(post?.headers ?? []);
    for (const [name, value] of Object.entries(HEADERS)) expect(sent[name.toLowerCase()]).toBe(value);
    expect(
      Object.keys(sent)
        .filter((name) => name !== "connection")
        .sort(),
    ).toEqual(
      [
        ...Object.keys(HEADERS).map((name) => name.toLowerCase()),
        ...["accept", "accept-encoding", "content-length", "host"],
      ].sort(),
    );
  });

  test("follows no redirection, and goes on when the receiver refuses or is down", async () => {
    const server = openServer();
    const elsewhere = openReceiver(() => new Response());
    const receiver = openReceiver((text) =>
      text.includes("task_1")
        ? Response.redirect(`http://${elsewhere.url}`, 307)
        : new Response(null, { status: 500 }),
    );
    const { stdout, stderr, interrupt } = listen(server.url, "--forward", receiver.url);
    const stream = await server.stream(0);
    stream.write(event(1) + event(2));
    expect((await stdout.next()).split("\t")[3]).toStartWith("307 ");
    expect((await stdout.next()).split("\t")[3]).toStartWith("500 Internal Server Error");
    await receiver.stop();
    stream.write(event(3) + event(4) + event(5, { callback_id: null }));
    for (const _ of [3, 4, 5]) expect((await stdout.next()).split("\t")[3]).toBe("connection refused");
    expect(elsewhere.received).toEqual([]);
    await stderr.next();
    await stderr.next();
    expect(await stderr.next()).toContain(`svc callbacks redeliver cb_3 --forward http://${receiver.url}`);
    await interrupt();
    expect(await stderr.next()).toBe("error: Interrupted.");
  });

  test("has four posts under way at most, and tells of them in the order they came", async () => {
    const server = openServer();
    const holds = Array.from({ length: 6 }, () => Promise.withResolvers<void>());
    const arrived = Promise.withResolvers<void>();
    let underWay = 0;
    let most = 0;
    const receiver = openReceiver(async (text) => {
      underWay += 1;
      most = Math.max(most, underWay);
      if (underWay === 4) arrived.resolve();
      await holds[Number(/task_(\d)/.exec(text)?.[1])]?.promise;
      underWay -= 1;
      return new Response();
    });
    const { stdout, interrupt } = listen(server.url, "--forward", receiver.url);
    (await server.stream(0)).write([0, 1, 2, 3, 4, 5].map((number) => event(number)).join(""));
    await arrived.promise;
    // Time for a fifth, if there were one.
    await Bun.sleep(100);
    for (const hold of holds.toReversed()) hold.resolve();
    for (const number of [0, 1, 2, 3, 4, 5]) expect(cells(await stdout.next())[1]).toBe(`task_${number}`);
    expect(most).toBe(4);
    await interrupt();
  });

  test("with --print-json prints a line of JSON each, which holds what was posted and what came of it", async () => {
    const server = openServer();
    const receiver = openReceiver(() => new Response());
    const { stdout, stderr, interrupt } = listen(server.url, "--print-json", "--forward", receiver.url);
    (await server.stream(0)).write(event(1));
    const forward = { status: 200, duration_ms: expect.any(Number), error: null };
    expect(JSON.parse(await stdout.next())).toEqual({ ...data(1), forward });
    expect(await stderr.next()).toStartWith("Listening on ");
    await interrupt();
  });

  test("with --json is silent but for its data", async () => {
    const server = openServer();
    const { stdout, stderr, interrupt } = listen(server.url, "--json");
    (await server.stream(0)).write(event(1));
    expect(JSON.parse(await stdout.next())).toEqual({ ...data(1), forward: null });
    await interrupt();
    expect(JSON.parse(await stderr.next()).error).toMatchObject({ code: "interrupted", since_id: "1" });
  });

  test("comes back when the stream ends, after the last event it took", async () => {
    const server = openServer([refusal(503, "service_unavailable", "Stopping.", { "Retry-After": "0" })]);
    const { stdout, stderr, interrupt } = listen(server.url);
    const first = await server.stream(0);
    first.write(`: from 4\nid: 4\n\n${event(5)}`);
    await stdout.next();
    first.close();
    const second = await server.stream(1);
    expect(second.headers.get("last-event-id")).toBe("5");
    second.write(event(6));
    expect(cells(await stdout.next())).toEqual(["completed", "task_6"]);
    await stderr.next();
    expect(await stderr.next()).toBe("! Stopping. It is tried until it answers.");
    expect(await stderr.next()).toBe("Listening again.");
    await interrupt();
  });

  test.each([
    [["--since-id", "17"], "17"],
    [["--replay"], "0"],
  ])("with %j begins there", async (args, expected) => {
    const server = openServer();
    const { interrupt } = listen(server.url, ...args);
    expect((await server.stream(0)).headers.get("last-event-id")).toBe(expected);
    await interrupt();
  });

  test("ends with the server's words when the key is refused meanwhile", async () => {
    const server = openServer([refusal(401, "invalid_api_key", "The API key is revoked.")]);
    const { exited, stderr } = listen(server.url);
    (await server.stream(0)).close();
    expect(await exited).toBe(4);
    await stderr.next();
    expect(await stderr.next()).toStartWith("error: The API key is revoked.");
  });

  test.each([
    [["--since-id", "x"], "--since-id must be the number of an event"],
    [["--since-id", "1", "--replay"], "cannot be used with"],
    [["--forward", "ftp://x"], "--forward must be"],
  ])("%j is a mistake of the command line", async (args, said) => {
    const { exitCode, stderr } = await svc(["callbacks", "listen", ...args], { env: { SVC_API_KEY: "x" } });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(said)]);
  });

  test("says so when something else answers there", async () => {
    const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => success(STATUS) });
    open.push(server);
    const { exited, stderr } = listen(`http://127.0.0.1:${server.port}`);
    expect(await exited).toBe(EXIT.unreachable);
    expect(await stderr.next()).toContain("does not answer like an svc server");
  });
});
