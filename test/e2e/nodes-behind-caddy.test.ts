import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { KEYS } from "../helpers/fake-s3.ts";
import { freePort } from "../helpers/free-port.ts";
import { png } from "../helpers/media.ts";
import { emptyFolder, type Server, spawnServer } from "../helpers/server.ts";
import { HAS_POSTGRES } from "../moving/database-servers.ts";
import { svc } from "./support/command.ts";
import { usePostgresAndBucket } from "./support/postgres-and-bucket.ts";

setDefaultTimeout(120_000);

const CADDYFILE = join(import.meta.dir, "../../deploy/nodes.Caddyfile");
const CLIENTS = 4;
/** Between a client's rounds: enough requests meet every start and end, and the nodes have time to start. */
const PAUSE_MS = 50;
const picture = { model: "sandbox-image", prompt: "a lighthouse", size: "16x16", sandbox: { delay_ms: 50 } };

/** What compose.nodes.yaml starts, by hand: PostgreSQL, a bucket, two nodes that answer, two that work, and Caddy with its file. */
describe.skipIf(!HAS_POSTGRES || Bun.which("caddy") === null)(
  "two nodes that answer and two that work behind Caddy",
  () => {
    const given = usePostgresAndBucket();

    async function ready(server: Server): Promise<Server> {
      while ((await fetch(`${server.url}/readyz`).catch(() => undefined))?.status !== 200) {
        if (server.hasExited()) throw new Error(server.stderr());
        await Bun.sleep(20);
      }
      return server;
    }

    async function startCaddy(apis: readonly Server[], longPorts: readonly number[]) {
      const port = freePort();
      const home = emptyFolder("caddy");
      const [one, two] = apis.map(({ port: each }) => `127.0.0.1:${each}`);
      const [oneLong, twoLong] = longPorts.map((each) => `127.0.0.1:${each}`);
      const child = Bun.spawn(["caddy", "run", "--config", CADDYFILE, "--adapter", "caddyfile"], {
        env: {
          ...{ PATH: process.env.PATH ?? "", HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home },
          ...{ SVC_PROXY_PORT: String(port), SVC_API_1: one, SVC_API_2: two },
          ...{ SVC_API_1_LONG: oneLong, SVC_API_2_LONG: twoLong },
        },
        stdout: "ignore",
        stderr: Bun.file(join(home, "err")),
      });
      const url = `http://127.0.0.1:${port}`;
      while ((await fetch(`${url}/readyz`).catch(() => undefined))?.status !== 200) {
        if (child.exitCode !== null) throw new Error(await Bun.file(join(home, "err")).text());
        await Bun.sleep(20);
      }
      const stop = async () => {
        child.kill("SIGTERM");
        await child.exited;
      };
      return { url, stop };
    }

    /** All of them, on a new database. */
    async function startAll() {
      const url = await given.postgres.newDatabase();
      const env = {
        ...{ SVC_DATABASE: url, SVC_SECRET_KEY: "k".repeat(43), SVC_ASSETS_STORE: "s3" },
        ...{
          SVC_ASSETS_BUCKET: "media",
          SVC_ASSETS_PREFIX: `svc-${freePort()}`,
          SVC_TRUSTED_PROXIES: "127.0.0.1",
        },
        ...{ SVC_ASSETS_ENDPOINT: given.s3.endpoint, SVC_ASSETS_REGION: given.s3.region },
        ...{ AWS_ACCESS_KEY_ID: KEYS.accessKeyId, AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey },
      };
      const longPorts = [freePort(), freePort()];
      const api = (i: number, port?: number) =>
        ready(
          spawnServer({
            ...(port === undefined ? {} : { port }),
            env: {
              ...env,
              SVC_ROLE: "api",
              SVC_NODE_NAME: `api-${i + 1}`,
              SVC_LONG_PORT: String(longPorts[i]),
            },
          }),
        );
      const worker = (i: number) =>
        ready(spawnServer({ env: { ...env, SVC_ROLE: "worker", SVC_NODE_NAME: `worker-${i}` } }));
      const apis = [await api(0), await api(1)];
      const workers = [await worker(1), await worker(2)];
      const key = apis[0]?.firstKey() ?? "";
      const caddy = await startCaddy(apis, longPorts);
      return { env, api, worker, apis, workers, key, caddy };
    }

    test("are drained and started again one by one, and no request of those who ask meanwhile fails", async () => {
      const { env, api, worker, apis, workers, key, caddy } = await startAll();
      let isOver = false;
      const wrong: string[] = [];
      const made = new Set<string>();
      let answers = 0;
      const ask = async (path: string, body?: object) => {
        const answer = await fetch(caddy.url + path, {
          method: body === undefined ? "GET" : "POST",
          headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
          ...(body && { body: JSON.stringify(body) }),
        }).catch((error: Error) => error);
        if (answer instanceof Error || answer.status !== 200) {
          wrong.push(
            answer instanceof Error
              ? `${path}: ${answer.message}`
              : `${path}: ${answer.status} ${await answer.text()}`,
          );
          return undefined;
        }
        answers += 1;
        return (await answer.json()) as { data: { task_id?: string; status?: string } };
      };
      const client = async () => {
        while (!isOver) {
          const id = (await ask("/v1/images/generations", picture))?.data.task_id;
          if (id === undefined) continue;
          made.add(id);
          await ask(`/v1/images/status/${id}?wait=0.2`);
          await ask("/v1/models");
          await Bun.sleep(PAUSE_MS);
        }
      };
      const clients = Array.from({ length: CLIENTS }, client);
      /** Lets so many more answers come. */
      const more = async (count: number) => {
        for (const until = answers + count; answers < until; ) await Bun.sleep(20);
      };
      for (const i of [0, 1]) {
        await more(50);
        const old = apis[i] as Server;
        old.signal("SIGTERM");
        expect(await old.exited).toBe(0);
        await more(50);
        apis[i] = await api(i, old.port);
      }
      for (const i of [0, 1]) {
        const old = workers[i] as Server;
        old.signal("SIGTERM");
        expect(await old.exited).toBe(0);
        await more(50);
        workers[i] = await worker(i + 1);
      }
      await more(50);
      isOver = true;
      await Promise.all(clients);
      expect(wrong).toEqual([]);
      for (const id of made) {
        let status: string | undefined;
        while (status !== "completed") {
          status = (await ask(`/v1/images/status/${id}?wait=5`))?.data.status;
          expect(["pending", "processing", "completed"]).toContain(status ?? "");
        }
      }
      expect(made.size).toBeGreaterThan(50);
      await caddy.stop();
      await Promise.all([...apis, ...workers].map((server) => server.stop()));
      const audit = await svc(["audit", "--local"], { env });
      expect(audit.exitCode).toBe(0);
    });

    test("know of a client's requests before, where an API has several for one thing", async () => {
      const { apis, workers, key, caddy } = await startAll();
      const send = (
        path: string,
        body: string | Uint8Array<ArrayBuffer>,
        headers: Record<string, string> = {},
      ) =>
        fetch(new URL(path, caddy.url), {
          method: "POST",
          headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json", ...headers },
          body,
          // Each on a connection of its own, as a balancer spreads them.
          keepalive: false,
        });
      const bytes = await png(8, 8);
      const upload = async () => {
        const begun = await send("/gemini/upload/v1beta/files", "{}", {
          ...{ "X-Goog-Upload-Protocol": "resumable", "X-Goog-Upload-Command": "start" },
        });
        const { pathname } = new URL(begun.headers.get("x-goog-upload-url") ?? "http://none");
        const ended = await send(pathname, bytes, {
          ...{ "X-Goog-Upload-Command": "upload, finalize", "X-Goog-Upload-Offset": "0" },
        });
        return ended.status;
      };
      const uploads: number[] = [];
      for (let i = 0; i < 6; i++) uploads.push(await upload());
      expect(uploads).toEqual([200, 200, 200, 200, 200, 200]);

      const drawing = { prompt: "x", sandbox: { outcome: "hang" } };
      const settings = { override_settings: { sd_model_checkpoint: "sandbox-image" } };
      const draw = send("/sdapi/v1/txt2img", JSON.stringify({ ...drawing, ...settings }));
      for (let length = 0; length === 0; ) {
        const headers = { Authorization: `Bearer ${key}` };
        const answer = await fetch(`${caddy.url}/queue/status`, { headers, keepalive: false });
        length = ((await answer.json()) as { queue_size: number }).queue_size;
      }
      expect((await send("/sdapi/v1/interrupt", "{}")).status).toBe(200);
      expect(((await (await draw).json()) as { images: unknown[] }).images).toEqual([]);
      await caddy.stop();
      await Promise.all([...apis, ...workers].map((server) => server.stop()));
    });
  },
);
