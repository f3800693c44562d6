import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import type { JsonObject } from "../../src/domain/json.ts";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { keyIn, svc, svcJson } from "./support/command.ts";
import { ALLOW_LOOPBACK } from "./support/slow-source.ts";

setDefaultTimeout(120_000);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };
const GIVEN = `whsec_${"Qm9".repeat(16)}`;
/** Longer than the seconds that timestamps have. */
const DELAY_SEC = "1.5";
/** What HTTP itself needs, or the client brings. */
const CONNECTION = ["accept", "accept-encoding", "connection", "content-length", "host"];
const SIGNATURE = ["webhook-id", "webhook-signature", "webhook-timestamp"];

interface Post {
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly atSec: number;
}

/** Where callbacks arrive; answers with the statuses given, then with 204. */
function openReceiver(statuses: readonly number[] = []) {
  const left = [...statuses];
  const posts: Post[] = [];
  const waiting: (() => void)[] = [];
  const receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const headers = Object.fromEntries(request.headers);
      posts.push({ headers, body: await request.text(), atSec: Date.now() / 1000 });
      for (const resolve of waiting.splice(0)) resolve();
      return new Response(null, { status: left.shift() ?? 204 });
    },
  });
  receivers.push(receiver);
  return {
    url: `http://127.0.0.1:${receiver.port}/hook`,
    async post(number: number): Promise<Post> {
      while (posts.length < number) await new Promise<void>((resolve) => waiting.push(resolve));
      const post = posts[number - 1];
      if (post === undefined) throw new Error(`There is no post ${number}.`);
      return post;
    },
  };
}

const receivers: { stop(now: boolean): Promise<void> }[] = [];
const secrets: string[] = [GIVEN];
let server: Server;
let count = 0;

beforeAll(async () => {
  server = await startServer({
    args: [...ALLOW_LOOPBACK, "--callbacks-delays-seconds", DELAY_SEC, "--log-level", "debug"],
  });
});

afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.stop(true);
});

afterAll(stopServers);

const local = async (...args: string[]) =>
  (await svcJson([...args, "--data-dir", server.dataDir])) as Record<string, unknown>;

/** The callback secret in an answer or in what a command printed. */
function secretIn(printed: Record<string, unknown>): string {
  const { callback_secret: secret } = printed;
  if (typeof secret !== "string") throw new Error("No callback secret was printed.");
  secrets.push(secret);
  return secret;
}

async function newKey(...flags: string[]) {
  const name = `signing-${++count}`;
  const printed = await local("keys", "create", "--name", name, ...flags);
  return { name, printed, api: createApi(server.url, keyIn(printed)) };
}

const update = (name: string, ...flags: string[]) => local("keys", "update", name, ...flags);

/** Asks for one more send of the callback of a task. */
async function redeliver(api: Api, task_id: string): Promise<void> {
  const { status, text } = await api.send("/v1/callbacks/redeliver", { body: { task_id } });
  if (status !== 200) throw new Error(`${status} ${text}`);
}

const accepts = (secret: string, { body, headers }: Post) => {
  try {
    return new Webhook(secret).verify(body, headers) as JsonObject;
  } catch (error) {
    return error instanceof Error ? error.message : undefined;
  }
};
const NO_MATCH = "No matching signature found";

describe("a key with a callback secret", () => {
  test("signs every send anew, with the same id, over the same bytes", async () => {
    const { api, printed } = await newKey("--callback-secret", "new");
    const secret = secretIn(printed);
    const { url: callback_url, post } = openReceiver([503]);
    const { task_id } = await api.make({ ...IMAGE, callback_url });
    const first = await post(1);
    const retry = await post(2);
    await redeliver(api, task_id);
    const again = await post(3);

    for (const each of [first, retry, again]) {
      expect(accepts(secret, each)).toMatchObject({ task_id, status: "completed" });
      expect(each.headers["webhook-id"]).toMatch(/^cb_/);
      expect(Math.abs(each.atSec - Number(each.headers["webhook-timestamp"]))).toBeLessThan(2);
    }
    for (const later of [retry, again]) {
      expect(later.body).toBe(first.body);
      expect(later.headers["webhook-id"]).toBe(first.headers["webhook-id"] ?? "");
      expect(Number(later.headers["webhook-timestamp"])).toBeGreaterThan(
        Number(first.headers["webhook-timestamp"]),
      );
    }
    expect(accepts(GIVEN, first)).toBe(NO_MATCH);
    expect(accepts(secret, { ...first, body: first.body.replace("completed", "failed") })).toBe(NO_MATCH);
  });

  test("signs the end of a failed task too", async () => {
    const { api, printed } = await newKey("--callback-secret", "new");
    const { url: callback_url, post } = openReceiver();
    await api.make({ ...IMAGE, callback_url, sandbox: { delay_ms: 0, outcome: "moderated" } });
    expect(accepts(secretIn(printed), await post(1))).toMatchObject({ error_code: "CONTENT_MODERATED" });
  });
});

test("a key without one sends the headers of the contract alone; a running server follows a change at the next send", async () => {
  const { api, name, printed } = await newKey();
  expect(printed.callback_secret).toBeUndefined();
  const { url: callback_url, post } = openReceiver();
  const { task_id } = await api.make({ ...IMAGE, callback_url });
  const unsigned = await post(1);
  const { "content-type": type, "user-agent": agent } = unsigned.headers;
  expect([type, agent]).toEqual(["application/json", "Service-Callback/1.0"]);
  expect(
    Object.keys(unsigned.headers)
      .filter((each) => !CONNECTION.includes(each))
      .sort(),
  ).toEqual(["content-type", "user-agent"]);

  const secret = secretIn(await update(name, "--callback-secret", "new"));
  await redeliver(api, task_id);
  const signed = await post(2);
  expect(accepts(secret, signed)).toMatchObject({ task_id });
  expect(signed.body).toBe(unsigned.body);
  expect(Object.keys(signed.headers).sort()).toEqual([...Object.keys(unsigned.headers), ...SIGNATURE].sort());

  await update(name, "--callback-secret", "none");
  await redeliver(api, task_id);
  // Whether the connection is kept is known after the first ones.
  const { connection: _, ...headers } = unsigned.headers;
  expect(await post(3)).toMatchObject({ headers, body: unsigned.body });
  expect(Object.keys((await post(3)).headers)).toEqual(Object.keys(unsigned.headers));
});

test("a secret that is replaced with a grace signs too until that is over; a rotated key signs on", async () => {
  const { api, name, printed } = await newKey("--callback-secret", "new");
  const { url: callback_url, post } = openReceiver();
  const { task_id } = await api.make({ ...IMAGE, callback_url });
  const old = secretIn(printed);
  expect(accepts(old, await post(1))).toMatchObject({ task_id });

  await local("keys", "rotate", name, "--grace", "1h");
  const next = secretIn(await update(name, "--callback-secret", "new", "--callback-secret-grace", "24h"));
  await redeliver(api, task_id);
  for (const each of [old, next]) expect(accepts(each, await post(2))).toMatchObject({ task_id });

  await update(name, "--callback-secret", "new", "--callback-secret-grace", "0s").then(secretIn);
  await redeliver(api, task_id);
  for (const each of [old, next]) expect(accepts(each, await post(3))).toBe(NO_MATCH);
});

describe("over the management API, a callback secret", () => {
  const token = async () => String((await local("tokens", "create", "--name", `t${++count}`)).token);

  test("is made and shown once, is taken, and is ended by null", async () => {
    const admin = createApi(server.url, await token());
    const ask = async (path: string, body: JsonObject, method = "PATCH") => {
      const { status, text, data } = await admin.send(path, { method, body });
      if (status !== 200) throw new Error(`${status} ${text}`);
      return { ...data } as Record<string, unknown>;
    };
    const made = await ask("/admin/v1/keys", { name: "managed", callback_secret: "new" }, "POST");
    const secret = secretIn(made);
    const api = createApi(server.url, String(made.key));
    const { url: callback_url, post } = openReceiver();
    const { task_id } = await api.make({ ...IMAGE, callback_url });
    expect(accepts(secret, await post(1))).toMatchObject({ task_id });

    const body = { callback_secret: GIVEN, callback_secret_grace_seconds: 3600 };
    const changed = await ask("/admin/v1/keys/managed", body);
    expect(changed).toMatchObject({ signs_callbacks: true });
    expect(changed.callback_secret).toBeUndefined();
    await redeliver(api, task_id);
    for (const each of [secret, GIVEN]) expect(accepts(each, await post(2))).toMatchObject({ task_id });

    for (const path of ["/admin/v1/keys", "/admin/v1/keys/managed"]) {
      expect((await admin.send(path)).text).not.toContain("whsec_");
    }
    expect(await ask("/admin/v1/keys/managed", { callback_secret: null })).toMatchObject({
      signs_callbacks: false,
    });
  });

  test("that cannot be is refused by its name, is not repeated and changes nothing", async () => {
    const admin = createApi(server.url, await token());
    await newKey();
    const short = GIVEN.slice(0, -1);
    const path = `/admin/v1/keys/signing-${count}`;
    const given = [short, "", `${GIVEN} ${GIVEN}`, 7, true, [GIVEN], { secret: GIVEN }];
    for (const callback_secret of given) {
      for (const [method, to, body] of [
        ["PATCH", path, { callback_secret }],
        ["POST", "/admin/v1/keys", { name: "never", callback_secret }],
      ] as const) {
        const { status, text, body: answer } = await admin.send(to, { method, body });
        expect([status, answer.data?.error_code, answer.data?.param]).toEqual([
          400,
          "invalid_request",
          "callback_secret",
        ]);
        expect(text).not.toContain(short);
      }
    }
    const graced = { callback_secret: null, callback_secret_grace_seconds: 60 };
    expect((await admin.send(path, { method: "PATCH", body: graced })).body.data?.param).toBe(
      "callback_secret_grace_seconds",
    );
    expect((await admin.send(path)).text).toContain('"signs_callbacks":false');
    expect((await admin.send("/admin/v1/keys")).text).not.toContain('"never"');
  });
});

test("no secret is in a log, a list or the audit, and the books are none the worse", async () => {
  const audit = await svc(["audit", "--data-dir", server.dataDir]);
  const lists = await svc(["keys", "list", "--json", "--data-dir", server.dataDir]);
  const printed = [server.stdout(), server.stderr(), audit.stdout, audit.stderr, lists.stdout].join("\n");
  expect([audit.exitCode, lists.exitCode]).toEqual([0, 0]);
  expect(printed).toContain('"signs_callbacks":true');
  expect(secrets.length).toBeGreaterThan(5);
  for (const secret of secrets) expect(printed).not.toContain(secret.slice("whsec_".length, -1));
});
