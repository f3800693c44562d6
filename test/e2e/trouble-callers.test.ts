import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { arranged, keyIn, prepaidKey } from "./support/command.ts";
import { type Holding, hold } from "./support/holding.ts";
import { noisePng } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const CREATE = "/v1/images/generations";
const SYNC = "/compat/v1/images/generations";
const TINY = { model: "sandbox-image", prompt: "x", size: "1x1", sandbox: { delay_ms: 0 } };
const HANGING = { ...TINY, sandbox: { outcome: "hang" } };
const STREAMS_OF_A_KEY = 100;

let server: Server;
let api: Api;
let other: Api;
const held: Holding[] = [];
const dripping = new Map<string, Holding>();

const post = (path: string, headers: string) => `POST ${path} HTTP/1.1\r\n${headers}`;
const json = (length: number) => post(CREATE, `Content-Type: application/json\r\nContent-Length: ${length}`);
const DRIPS = {
  "a small JSON body": { head: json(200), piece: " " },
  "a large JSON body": { head: json(31_000_000), piece: " " },
  "a JSON body of unknown length": {
    head: post(CREATE, "Content-Type: application/json\r\nTransfer-Encoding: chunked"),
    piece: "1\r\n \r\n",
  },
  "a form": {
    head: post(
      "/compat/v1/images/edits",
      "Content-Type: multipart/form-data; boundary=B\r\nContent-Length: 5000000",
    ),
    piece: "-",
  },
} as const;

beforeAll(async () => {
  server = await startServer({ args: ["--sandbox-concurrency", "200"] });
  api = createApi(server.url, server.firstKey());
  other = createApi(server.url, await prepaidKey(server.dataDir, "other", "10.00"));
  // They take ten seconds, during which the other tests run.
  for (const [what, { head, piece }] of Object.entries(DRIPS)) {
    const each = hold(server.port, `${head}\r\n${credential(api)}`);
    each.drip(piece);
    dripping.set(what, each);
  }
});
afterEach(() => {
  for (const each of held.splice(0)) each.leave();
});
afterAll(async () => {
  for (const each of dripping.values()) each.leave();
  await stopServers();
});

function credential({ key }: Api): string {
  return `Host: test\r\nAuthorization: Bearer ${key}\r\n`;
}

function keep(at: Server, head: string): Holding {
  const each = hold(at.port, head);
  held.push(each);
  return each;
}

const follow = (at: Server, who: Api, path = "/v1/events") =>
  keep(at, `GET ${path} HTTP/1.1\r\n${credential(who)}`);

function sync(at: Server, who: Api, fields: object): Holding {
  const text = JSON.stringify({ ...HANGING, ...fields });
  const head = post(SYNC, `Content-Type: application/json\r\nContent-Length: ${text.length}`);
  const each = keep(at, `${head}\r\n${credential(who)}`);
  each.send(text);
  return each;
}

const refusal = (status: number, says: string) =>
  new RegExp(`^HTTP/1.1 ${status} .*\\r\\nRetry-After: 5\\r\\n.*${says}`, "s");

describe("while bodies drip", () => {
  test("uploads of 2 MB are answered at once, their own account's and another's", async () => {
    const image_url = `data:image/png;base64,${(await noisePng(700, 700)).toBase64()}`;
    for (const who of [api, other]) {
      const { status } = await who.create({ ...TINY, image_url });
      expect(status).toBe(200);
    }
    // None of them was cut before.
    for (const each of dripping.values()) expect(each.received()).toBe("");
  });
});

describe("streams of one key", () => {
  test("are a hundred at most, of any kind; one more is told when to come again, and not kept", async () => {
    const id = await api.accept(HANGING);
    const paths = ["/v1/events", "/v1/callbacks/events", `/v1/tasks/${id}/events`];
    const streams = Array.from({ length: STREAMS_OF_A_KEY }, (_, i) =>
      follow(server, api, paths[i % paths.length] ?? ""),
    );
    await Promise.all(streams.map((each) => each.says(/^HTTP\/1.1 200 .*retry: 3000/s)));
    for (const path of paths) {
      const refused = await follow(server, api, path).closed;
      expect(refused).toMatch(refusal(429, "rate_limit_exceeded"));
    }
    expect(await sync(server, api, { stream: true }).closed).toMatch(refusal(429, "rate_limit_exceeded"));
    // Others are not concerned, nor is anything else of the key.
    await follow(server, other).says(/retry: 3000/);
    expect((await api.create(TINY)).status).toBe(200);
    streams[0]?.leave();
    for (;;) {
      const next = follow(server, api);
      if ((await next.says(/\r\n\r\n/)).startsWith("HTTP/1.1 200")) break;
      await Bun.sleep(10);
    }
    await api.send(`/v1/tasks/${id}/cancel`, { method: "POST" });
  });

  test("that are asked for with HEAD, or left at once, take no place", async () => {
    for (let i = 0; i <= STREAMS_OF_A_KEY; i++) {
      const headers = { Authorization: `Bearer ${other.key}` };
      const { status } = await fetch(`${server.url}/v1/events`, { method: "HEAD", headers });
      expect(status).toBe(200);
    }
    for (let i = 0; i <= STREAMS_OF_A_KEY; i++) follow(server, other).leave();
    for (;;) {
      const next = follow(server, other);
      if ((await next.says(/\r\n\r\n/)).startsWith("HTTP/1.1 200")) break;
      await Bun.sleep(10);
    }
  });
});

describe("calls that wait", () => {
  test("are limited by key and by account, and one too many makes no task", async () => {
    const small = await startServer({
      args: [
        "--waits-key-concurrency",
        "2",
        "--waits-account-concurrency",
        "3",
        "--sandbox-concurrency",
        "9",
      ],
    });
    const first = createApi(small.url, small.firstKey());
    const id = await first.accept(HANGING);
    const status = (who: Api) => follow(small, who, `/v1/images/status/${id}?wait=20`);
    const waiting = sync(small, first, {});
    const tasks = async () => (await first.send("/v1/tasks")).data.tasks?.length;
    while ((await tasks()) !== 2) await Bun.sleep(10);
    // Whichever comes one too late is refused.
    const refusedOf = (who: Api) => Promise.race([status(who).closed, status(who).closed]);
    expect(await refusedOf(first)).toMatch(refusal(429, "This API key may have 2 calls"));
    expect(await sync(small, first, { prompt: "y" }).closed).toMatch(refusal(429, "This API key"));
    expect(await tasks()).toBe(2);
    // Nothing of a refused call goes on, nor stays.
    const unknown = follow(small, first, `/v1/images/status/${id.slice(0, -1)}?wait=20`);
    expect(await unknown.closed).toMatch(refusal(429, "This API key may have 2 calls"));
    const image_url = `data:image/png;base64,${(await noisePng(200, 200)).toBase64()}`;
    expect(await sync(small, first, { image_url }).closed).toMatch(refusal(429, "This API key"));
    expect(readdirSync(join(small.dataDir, "assets", "tmp"))).toEqual([]);
    const printed = await arranged(["keys", "create", "--name", "second", "--data-dir", small.dataDir]);
    const second = createApi(small.url, keyIn(printed));
    expect(await refusedOf(second)).toMatch(refusal(429, "This account may have 3 calls"));
    expect((await second.send(`/v1/images/status/${id}`)).status).toBe(200);
    // A place that was left can be taken again.
    waiting.leave();
    while ((await first.send(`/v1/images/status/${id}?wait=0.01`)).status !== 200) await Bun.sleep(10);
  });
});

describe("bodies with many files", () => {
  test("that stay unfinished keep few of them open, and others' uploads are taken", async () => {
    const image_url = `data:image/png;base64,${(await noisePng(200, 200)).toBase64()}`;
    const upload = async () => (await other.create({ ...TINY, image_url })).status;
    expect(await upload()).toBe(200);
    const uri = JSON.stringify(`data:image/png;base64,${"A".repeat(17_000)}`);
    const text = `{"image_urls":[${Array(32).fill(uri).join(",")}`;
    for (let i = 0; i < 24; i++) keep(server, `${json(3_000_000)}\r\n${credential(api)}`).send(text);
    let most = 0;
    const look = async () => {
      most = Math.max(most, readdirSync(join(server.dataDir, "assets", "tmp")).length);
      await Bun.sleep(20);
    };
    // All files of one body.
    while (most < 32) await look();
    for (let looks = 0; looks < 50; looks++) await look();
    expect(most).toBeLessThan(200);
    expect(await upload()).toBe(200);
  });
});

describe("with 256 descriptors", () => {
  test("six hundred streams of an account leave others health, creates and streams", async () => {
    const small = await startServer({ via: ["sh", "-c", 'ulimit -n 256 && exec "$0" "$@"'] });
    const first = createApi(small.url, small.firstKey());
    const second = createApi(small.url, await prepaidKey(small.dataDir, "second", "10.00"));
    const streams = Array.from({ length: 600 }, () => follow(small, first));
    await Promise.all(streams.map((each) => each.says(/\r\n\r\n/)));
    const taken = streams.filter((each) => each.received().startsWith("HTTP/1.1 200"));
    expect(taken.length).toBeLessThanOrEqual(96);
    expect((await fetch(`${small.url}/healthz`, { keepalive: false })).status).toBe(200);
    expect((await second.make(TINY)).status).toBe("completed");
    await follow(small, second).says(/retry: 3000/);
  });
});

describe("a body that drips", () => {
  test.each(Object.keys(DRIPS))("is refused, and its connection is closed: %s", async (what) => {
    const answer = await dripping.get(what)?.closed;
    expect(answer).toStartWith("HTTP/1.1 400");
    expect(answer).toContain("at least 16 KB a second are expected");
  });
});
