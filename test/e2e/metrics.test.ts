import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readDocument } from "../docs/blocks.ts";
import { freePort } from "../helpers/free-port.ts";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { svc, svcJson } from "./support/command.ts";
import { readScrape, type ScrapedMetric, sampleValue } from "./support/scrape.ts";

setDefaultTimeout(120_000);

const IMAGE = { model: "sandbox-image", size: "16x16", sandbox: { delay_ms: 0 } };
const PROMPT = "a fox that nobody should read of";

let server: Server;
let api: Api;
let token: string;
let own: string;
/** What the server says after it has worked. */
let text: string;
let metrics: Map<string, ScrapedMetric>;

const scrape = (url: string, credential = "") =>
  fetch(`${url}/metrics`, {
    keepalive: false,
    headers: credential === "" ? {} : { Authorization: `Bearer ${credential}` },
  });

beforeAll(async () => {
  const port = freePort();
  own = `http://127.0.0.1:${port}`;
  server = await startServer({ args: ["--metrics-address", `127.0.0.1:${port}`] });
  const tokens = ["tokens", "create", "--name", "prometheus", "--data-dir", server.dataDir];
  ({ token } = (await svcJson(tokens)) as { token: string });
  api = createApi(server.url, server.firstKey());
  await api.make({ ...IMAGE, prompt: PROMPT });
  await api.make({ ...IMAGE, prompt: PROMPT, sandbox: { delay_ms: 0, outcome: "failed" } });
  const cancelled = await api.accept({ ...IMAGE, prompt: PROMPT, sandbox: { delay_ms: 60_000 } });
  await api.send(`/v1/tasks/${cancelled}/cancel`, { method: "POST" });
  await api.wait(cancelled);
  await api.create({ model: "no-such-model", prompt: PROMPT });
  await fetch(`${server.url}/no/such/path/${api.key}?key=${api.key}`, { keepalive: false });
  // What is stored is absent until it was counted once.
  do {
    ({ text } = await api.send("/metrics", { headers: { Authorization: `Bearer ${token}` } }));
    metrics = readScrape(text);
  } while (sampleValue(metrics, "svc_books_age_seconds") === undefined);
});
afterAll(stopServers);

/** The rows of the table in the document, without the heading. */
async function documented(): Promise<Map<string, { type: string; labels: string[]; help: string }>> {
  const rows = (await readDocument("docs/monitoring.md"))
    .split("\n")
    .filter((line) => /^\| `(?:svc|process)_\w+` \| (?:counter|gauge|histogram) \|/.test(line))
    .map((line) => line.split("|").map((cell) => cell.trim()));
  return new Map(
    rows.map(([, name = "", type = "", labels = "", help = ""]) => [
      name.slice(1, -1),
      { type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = ""]) => label), help },
    ]),
  );
}

describe("a scrape of the executable", () => {
  test("has the metrics of the manual's table, with their types, labels and meanings, and no others", async () => {
    const table = await documented();
    const told = [...metrics].map(([name, { type, help }]) => ({ name, type, help }));
    expect(told).toEqual([...table].map(([name, { type, help }]) => ({ name, type, help })));
    for (const [name, { type, samples }] of metrics)
      for (const { labels } of samples) {
        const { le: _, ...rest } = labels;
        expect([name, ...Object.keys(type === "histogram" ? rest : labels)]).toEqual([
          name,
          ...(table.get(name)?.labels ?? []),
        ]);
      }
  });

  test("counts what the server did", () => {
    const of = (name: string, labels?: Record<string, string>) => sampleValue(metrics, name, labels);
    const model = "sandbox-image";
    expect({
      created: of("svc_tasks_created_total", { model }),
      completed: of("svc_tasks_ended_total", { model, status: "completed" }),
      failed: of("svc_tasks_ended_total", { model, status: "failed" }),
      cancelled: of("svc_tasks_ended_total", { model, status: "cancelled" }),
      attempts: of("svc_attempts_ended_total", { lane: "sandbox", outcome: "completed" }),
      charged: of("svc_charged_usd_total", { model }),
      submitting: of("svc_task_stage_duration_seconds_count", { lane: "sandbox", stage: "submitting" }),
      creates: of("svc_http_requests_total", { route: "/v1/images/generations", status: "200" }),
      unknown: of("svc_http_requests_total", { route: "other", status: "404" }),
      files: of("svc_assets", { role: "output" }),
      held: of("svc_held_usd"),
      ready: of("svc_ready"),
      limit: of("svc_lane_limit_tasks", { lane: "sandbox" }),
    }).toEqual({
      ...{ created: 3, completed: 1, failed: 1, cancelled: 1, attempts: 1, charged: 0.01, submitting: 3 },
      ...{ creates: 3, unknown: 1, files: 1, held: 0, ready: 1, limit: 64 },
    });
    for (const name of ["process_open_fds", "process_cpu_seconds_total", "svc_disk_free_bytes"])
      expect(of(name)).toBeGreaterThan(0);
  });

  test("holds no prompt, key, token, id, and no name of a path or a model that there is not", () => {
    for (const secret of [PROMPT, api.key, token, "-svc-", "task_0", "no-such-model", "/no/such"])
      expect(text).not.toContain(secret);
  });

  test.skipIf(Bun.which("promtool") === null)("passes promtool's check", async () => {
    const check = Bun.spawn(["promtool", "check", "metrics"], { stdin: new Blob([text]), stderr: "pipe" });
    expect([await check.stderr.text(), await check.exited]).toEqual(["", 0]);
  });
});

describe("metrics", () => {
  test("are for management tokens alone at the API's address", async () => {
    expect((await api.send("/metrics")).status).toBe(401);
    const nobody = await scrape(server.url);
    expect([nobody.status, await nobody.json()]).toMatchObject([401, { error: { code: "invalid_api_key" } }]);
  });

  test("need no token at an address of their own, which answers nothing else", async () => {
    const answer = await scrape(own);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      200,
      "text/plain; version=0.0.4; charset=utf-8",
    ]);
    expect([...readScrape(await answer.text()).keys()]).toEqual([...metrics.keys()]);
    const others = ["/v1/models", "/admin/v1/keys", "/", "/healthz"].map((path) =>
      fetch(own + path, { keepalive: false, headers: { Authorization: `Bearer ${token}` } }),
    );
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    const posted = await fetch(`${own}/metrics`, { method: "POST", keepalive: false, body: "x" });
    expect(posted.status).toBe(405);
  });

  test("need no token anywhere when the operator says so", async () => {
    const open = await startServer({ env: { SVC_METRICS_PUBLIC: "true" } });
    const answer = await scrape(open.url);
    expect([answer.status, sampleValue(readScrape(await answer.text()), "svc_ready")]).toEqual([200, 1]);
    await open.stop();
  });

  test("tell of an address that is taken, and how to choose another", async () => {
    const taken = Number(new URL(own).port);
    const address = `127.0.0.1:${taken}`;
    const { exitCode, stderr } = await svc([
      "serve",
      ...["--port", String(freePort()), "--metrics-address", address],
    ]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`Port ${taken} is in use`);
    expect(stderr).toContain(`--metrics-address 127.0.0.1:${taken + 1}`);
  });
});
