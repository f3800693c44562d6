import type { JsonObject } from "../../src/domain/json.ts";
import { type Holding, hold } from "../e2e/support/holding.ts";
import { bombPng } from "../helpers/media.ts";
import { createDice } from "./dice.ts";
import { ATTACKS, type AttackName } from "./isolation-options.ts";

const [name = "", url = "", key = "", seed = "0", deafUrl = ""] = process.argv.slice(2);
const port = Number(new URL(url).port);
const dice = createDice(Number(seed), name);

const TINY = { model: "sandbox-image", prompt: "x", size: "1x1", sandbox: { delay_ms: 0 } };
const HANGING = { ...TINY, sandbox: { outcome: "hang" } };
const CREATE = "/v1/images/generations";
const SYNC = "/compat/v1/images/generations";
const AGAIN_AFTER_MS = 500;
const AUTHORIZATION = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };

const send = (path: string, init: RequestInit = {}) =>
  fetch(url + path, { headers: AUTHORIZATION, ...init }).catch(() => undefined);
const post = (path: string, body: JsonObject | string, headers: Readonly<Record<string, string>> = {}) =>
  send(path, {
    method: "POST",
    headers: { ...AUTHORIZATION, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

/** So many at once, each again and again as fast as it is answered. */
function workers(count: number, work: () => Promise<unknown>): void {
  const worker = async () => {
    for (;;) await work();
  };
  for (let i = 0; i < count; i++) void worker();
}

/** So many connections, each made again soon after it is closed. */
function connections(count: number, open: () => Holding): void {
  const keep = async () => {
    for (;;) {
      await open().closed;
      await Bun.sleep(AGAIN_AFTER_MS * (0.5 + dice.next()));
    }
  };
  for (let i = 0; i < count; i++) void keep();
}

function request(line: string, headers: Readonly<Record<string, string>> = {}, isReading = true): Holding {
  const all = { Host: "test", ...AUTHORIZATION, ...headers };
  const head = Object.entries(all).map(([field, value]) => `${field}: ${value}\r\n`);
  return hold(port, `${line} HTTP/1.1\r\n${head.join("")}`, { isReading });
}

const unread = (path: string) => request(`GET ${path}`, {}, false);

async function create(fields: JsonObject = {}): Promise<string> {
  const response = await post(CREATE, { ...TINY, ...fields });
  const answer = (await response?.json()) as { data?: { task_id?: string } } | undefined;
  return answer?.data?.task_id ?? "";
}

const drain = (response: Response | undefined) => response?.arrayBuffer().catch(() => undefined);

async function script(): Promise<string> {
  const page = await (await send("/docs"))?.text();
  return `/docs/${/docs\/(reference-[^"]+)/.exec(page ?? "")?.[1]}`;
}

/** What a hostile tenant does. Each goes on until the process is ended. */
const attacks: Readonly<Record<AttackName, () => Promise<void> | void>> = {
  drip() {
    connections(300, () => {
      const body = request(`POST ${CREATE}`, { "Content-Length": String(dice.between(1_000, 31_000_000)) });
      body.drip(" ");
      return body;
    });
  },
  declared() {
    connections(300, () => {
      const body = request(`POST ${dice.chance(0.5) ? CREATE : SYNC}`, { "Content-Length": "31000000" });
      body.send(`{"image_url": "data:image/png;base64,${"A".repeat(200_000)}`);
      return body;
    });
  },
  "small declared"() {
    connections(2_000, () => {
      const body = request(`POST ${dice.chance(0.5) ? CREATE : SYNC}`, {
        "Content-Length": String(dice.between(1_000, 70_000)),
      });
      body.send(`{"prompt": "${"a".repeat(dice.between(1, 900))}`);
      return body;
    });
  },
  streams() {
    connections(2_000, () => request(`GET ${dice.chance(0.5) ? "/v1/events" : "/v1/callbacks/events"}`));
  },
  bombs() {
    const pixels = `data:image/png;base64,${Buffer.from(bombPng(5_000, 5_000)).toString("base64")}`;
    const bodies = [
      JSON.stringify({ ...TINY, image_url: pixels }),
      JSON.stringify({ ...TINY, metadata: Array.from({ length: 400_000 }, () => 0) }),
      `${"[".repeat(900_000)}`,
      `{"prompt": "${"\\u0061".repeat(150_000)}"}`,
    ];
    workers(8, async () => drain(await post(CREATE, bodies[dice.between(0, bodies.length - 1)] ?? "")));
  },
  async "slow readers"() {
    for (let i = 0; i < 100; i++) await create();
    const id = await create({ size: "2048x2048" });
    await drain(await send(`/v1/images/status/${id}?wait=20`));
    const status = (await (await send(`/v1/images/status/${id}`))?.json()) as {
      data?: { result?: string[] };
    };
    const asset = new URL(status.data?.result?.[0] ?? url).pathname;
    const paths = [asset, "/v1/tasks?limit=100", "/openapi.json", "/v1/events"] as const;
    connections(300, () => unread(dice.pick(paths)));
  },
  async docs() {
    const path = await script();
    connections(300, () => unread(path));
    workers(4, async () =>
      drain(await send(path, { method: "HEAD", headers: { "Accept-Encoding": "identity" } })),
    );
  },
  "rate floods"() {
    const wrong = { Authorization: "Bearer sk-svc-wrong" };
    workers(32, async () => drain(await post(CREATE, { ...TINY, prompt: "" })));
    workers(16, async () => drain(await post(CREATE, TINY)));
    workers(16, async () => drain(await post(CREATE, TINY, wrong)));
  },
  async "list scans"() {
    const left = Array.from({ length: 2_000 }, (_, i) => i);
    const fill = async () => {
      while (left.pop() !== undefined) await create();
    };
    await Promise.all(Array.from({ length: 16 }, fill));
    const paths = [
      "/v1/tasks?limit=100",
      "/v1/callbacks?limit=100",
      "/v1/account/status",
      "/v1/models",
    ] as const;
    workers(32, async () => drain(await send(dice.pick(paths))));
  },
  "callback floods"() {
    workers(16, async () => drain(await post(CREATE, { ...TINY, callback_url: deafUrl })));
  },
  "cancel storms"() {
    workers(16, async () => {
      const response = await post(CREATE, HANGING);
      const { data } = ((await response?.json()) ?? {}) as { data?: { task_id?: string } };
      const path = `/v1/tasks/${data?.task_id}/cancel`;
      await Promise.all([1, 2, 3, 4].map(async () => drain(await send(path, { method: "POST" }))));
    });
  },
  "idempotency storms"() {
    let round = 0;
    workers(64, async () => {
      round += 1;
      const headers = { "Idempotency-Key": `storm-${Math.floor(round / 500)}` };
      await drain(await post(CREATE, { ...TINY, prompt: dice.chance(0.5) ? "x" : "y" }, headers));
    });
  },
};

const attack = ATTACKS.find((each) => each === name);
if (attack === undefined) throw new Error(`There is no attack "${name}".`);
await attacks[attack]();
process.stdout.write("under way\n");
