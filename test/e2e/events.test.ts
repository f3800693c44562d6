import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";

setDefaultTimeout(120_000);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16" };
/** Shorter than the tasks that are watched. */
const EDGE_SEC = 1;
const SLOW = { ...IMAGE, sandbox: { delay_ms: 2_000 } };

let server: Server;
let api: Api;

beforeAll(async () => {
  server = await startServer({ args: ["--edge-timeout-seconds", String(EDGE_SEC)] });
  api = createApi(server.url, server.firstKey());
});

afterAll(stopServers);

interface Event {
  readonly id: number;
  readonly name: string;
  readonly data: { readonly status?: string; readonly [field: string]: unknown };
}

/** Follows a task as a client would, with what it last saw. */
function follow(to: Api, id: string, lastEventId?: string): Promise<Response> {
  const headers = {
    Authorization: `Bearer ${to.key}`,
    ...(lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId }),
  };
  return fetch(`${to.url}/v1/tasks/${id}/events`, { headers, keepalive: false });
}

function eventsOf(text: string): Event[] {
  return [...text.matchAll(/^id: (\d+)\nevent: (\w+)\ndata: (.*)\n\n/gm)].map(
    ([, id, name = "", data = ""]) => ({
      id: Number(id),
      name,
      data: JSON.parse(data),
    }),
  );
}

describe("the events of a task", () => {
  test("tell each state with what its status says, and end with the task, however long it takes", async () => {
    const id = await api.accept(SLOW);
    const response = await follow(api, id);
    expect(response.status).toBe(200);
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
      "x-request-id": expect.stringMatching(/^req_/),
    });
    const text = await response.text();
    expect(text).toStartWith("retry: 3000\n\n");
    const events = eventsOf(text);
    expect(events.map((event) => event.name)).toEqual(events.map((event) => event.data.status ?? ""));
    expect(events.at(0)?.name).toMatch(/pending|processing/);
    const numbers = events.map((event) => event.id);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    const status = (await api.send(`/v1/images/status/${id}`)).data;
    expect(events.at(-1)).toEqual({ id: 3100, name: "completed", data: { ...status } });
  });

  test("go on where a client left off", async () => {
    const { task_id: id } = await api.make({ ...IMAGE, sandbox: { delay_ms: 0 } });
    for (const seen of [undefined, "1000", "2099", "", "x", "-1", "1e3", "99999999"]) {
      const events = eventsOf(await (await follow(api, id, seen)).text());
      expect(events.map((event) => [event.id, event.name])).toEqual([[3100, "completed"]]);
    }
    expect(await (await follow(api, id, "3100")).text()).toBe("retry: 3000\n\n: nothing new\n\n");
  });

  test("word a failed video as its status does", async () => {
    const { task_id: id } = await api.make({
      model: "sandbox-video",
      prompt: "x",
      duration: 1,
      sandbox: { outcome: "failed", delay_ms: 0 },
    });
    const [event] = eventsOf(await (await follow(api, id)).text());
    expect(event?.name).toBe("failed");
    expect(event?.data).toEqual({ ...(await api.send(`/v1/videos/status/${id}`)).data });
    expect(event?.data).toHaveProperty("error");
  });

  test.each(["nonsense", "task_01jd0000000000000000000000", "%00"])("of %s are not found", async (id) => {
    const answer = await api.send(`/v1/tasks/${id}/events`);
    expect([answer.status, answer.data.error_code]).toEqual([404, "task_not_found"]);
  });

  test("are for those with a key alone", async () => {
    const id = await api.accept({ ...IMAGE, sandbox: { delay_ms: 0 } });
    const answer = await api.send(`/v1/tasks/${id}/events`, { headers: { Authorization: "" } });
    expect([answer.status, answer.body.error?.code]).toEqual([401, "invalid_api_key"]);
  });
});

test("clients that go away leave nothing that would hold up the service's end, and those who stay are let go", async () => {
  const other = await startServer();
  const client = createApi(other.url, other.firstKey());
  const id = await client.accept({ ...IMAGE, sandbox: { outcome: "hang" } });
  await client.underWay(id);
  const leaving = new AbortController();
  for (let i = 0; i < 50; i++) {
    await fetch(`${client.url}/v1/tasks/${id}/events`, {
      headers: { Authorization: `Bearer ${client.key}` },
      keepalive: false,
      signal: leaving.signal,
    });
  }
  const staying = await follow(client, id);
  leaving.abort();
  other.signal("SIGTERM");
  // Its progress may have moved since.
  expect(new Set(eventsOf(await staying.text()).map((event) => event.name))).toEqual(new Set(["processing"]));
  expect(await other.exited).toBe(0);
});

test("a pending task says how many go before it, until it starts", async () => {
  const other = await startServer({ args: ["--sandbox-concurrency", "1"] });
  const client = createApi(other.url, other.firstKey());
  const first = await client.accept({ ...IMAGE, sandbox: { outcome: "hang" } });
  await client.underWay(first);
  const queued: string[] = [];
  for (let i = 0; i < 3; i++) queued.push(await client.accept({ ...IMAGE, sandbox: { delay_ms: 0 } }));
  const positions = async () => {
    const states = await Promise.all(queued.map((id) => client.send(`/v1/images/status/${id}`)));
    return states.map(({ data }) => data.queue_position);
  };
  expect(await positions()).toEqual([0, 1, 2]);
  const watched = await follow(client, queued[2] ?? "");
  await client.send(`/v1/tasks/${first}/cancel`, { method: "POST" });
  const events = eventsOf(await watched.text());
  expect(events[0]?.data).toMatchObject({ status: "pending", queue_position: 2 });
  expect(events.at(-1)?.name).toBe("completed");
  expect(await positions()).toEqual([undefined, undefined, undefined]);
});
