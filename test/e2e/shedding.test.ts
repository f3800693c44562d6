import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { startServer, stopServers } from "../helpers/server.ts";
import { type Answer, createApi } from "./support/api.ts";

setDefaultTimeout(120_000);
afterAll(stopServers);

const TINY = { model: "sandbox-image", prompt: "x", size: "1x1" };
const readiness = async (url: string) => (await fetch(`${url}/readyz`)).json();

test("creates of an account whose tasks wait too long are refused, and taken again once they do not", async () => {
  const args = ["--shed-queue-seconds", "0.1", "--sandbox-concurrency", "1"];
  const server = await startServer({ args });
  const api = createApi(server.url, server.firstKey());
  const accepted: string[] = [];
  let refused: Answer | undefined;
  while (refused === undefined) {
    const answer = await api.create({ ...TINY, sandbox: { delay_ms: 600_000 } });
    if (answer.status === 200) accepted.push(answer.data.task_id ?? "");
    else refused = answer;
  }
  expect([refused.status, refused.body.data?.error_code]).toEqual([503, "service_unavailable"]);
  expect(refused.body.message).toMatch(
    /^One more task of this account for sandbox-image would wait longer than 0\.1 s .* again in \d+ s\.$/,
  );
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(refused.headers.get("x-should-retry")).toBe("true");
  expect(await readiness(server.url)).toEqual({ status: "ready", shedding: ["queues"] });
  const [first = ""] = accepted;
  expect((await api.send(`/v1/images/status/${first}`)).status).toBe(200);
  expect((await api.send("/v1/tasks")).status).toBe(200);

  for (const id of accepted.slice(1)) await api.send(`/v1/tasks/${id}/cancel`, { method: "POST" });
  let again = await api.create(TINY);
  while (again.status === 503) again = await api.create(TINY);
  expect(again.status).toBe(200);
  const lines = server.stderr().split("\n");
  expect(lines.filter((line) => line.includes("the queue is too long"))).toHaveLength(1);
  expect(lines.filter((line) => line.includes('"status":503'))).toEqual([]);
});

test("a process above its memory refuses creates, lists and reads before it looks at a key, and stays alive and watched", async () => {
  const server = await startServer({ args: ["--shed-memory-mb", "16"] });
  const api = createApi(server.url, server.firstKey());
  await server.says(/overloaded: some requests are refused/);
  expect(await readiness(server.url)).toEqual({ status: "ready", shedding: ["creates", "lists", "reads"] });
  const paths = ["/v1/tasks", "/v1/images/status/task_0", "/v1/callbacks"];
  const answers = [await api.create(TINY), ...(await Promise.all(paths.map((path) => api.send(path))))];
  const anonymous = await fetch(`${server.url}/v1/images/generations`, { method: "POST", body: "{}" });
  expect([...answers, anonymous].map(({ status }) => status)).toEqual([503, 503, 503, 503, 503]);
  const compat = await api.send("/compat/v1/images/generations", { body: TINY });
  expect([compat.status, compat.body.error?.code]).toEqual([503, "service_unavailable"]);
  for (const { headers } of [...answers, compat])
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  for (const path of ["/healthz", "/v1/models", "/v1/account/status"])
    expect((await api.send(path)).status).toBe(200);
});
