import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { readDatabase } from "./support/database.ts";
import { dataUri, plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", n: 2, sandbox: { delay_ms: 0 } };

let server: Server;
let api: Api;

beforeAll(async () => {
  server = await startServer();
  api = createApi(server.url, server.firstKey());
});

afterAll(stopServers);

const keyed = (key: string) => ({ "Idempotency-Key": key });

describe("a create with an idempotency key", () => {
  test("is answered again as it was, for a body that says the same in other words", async () => {
    const first = await api.create(IMAGE, keyed("again"));
    const other =
      '{ "n":2.0e0, "sandbox":{"delay_ms":0},"size":"\\u00316x16",\n"prompt":"x", "model":"sandbox-image" }';
    const second = await api.send("/v1/images/generations", { body: other, headers: keyed("again") });
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.text).toBe(first.text);
    expect(first.headers.get("x-idempotent-replay")).toBeNull();
    expect(second.headers.get("x-idempotent-replay")).toBe("true");
    expect(second.headers.get("x-request-cost")).toBe("0.020000");
    expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
  });

  test("is a conflict with another body", async () => {
    await api.accept(IMAGE, keyed("conflict"));
    const answer = await api.create({ ...IMAGE, prompt: "y" }, keyed("conflict"));
    expect([answer.status, answer.data.error_code]).toEqual([409, "idempotency_conflict"]);
  });

  test("is another one on another path", async () => {
    const first = await api.accept(IMAGE, keyed("path"));
    const second = await api.accept({ model: "sandbox-video", prompt: "x", duration: 1 }, keyed("path"));
    expect(second).not.toBe(first);
  });

  test("that was refused leaves the key free", async () => {
    expect((await api.create({ ...IMAGE, n: 99 }, keyed("corrected"))).status).toBe(400);
    const answer = await api.create(IMAGE, keyed("corrected"));
    expect([answer.status, answer.headers.get("x-idempotent-replay")]).toEqual([200, null]);
  });

  test("takes a key of 255 characters, printable ones of any kind", async () => {
    expect((await api.create(IMAGE, keyed("~ !\"'{}".padEnd(255, "k")))).status).toBe(200);
  });

  test("and an inline picture is stored once, however often it is sent", async () => {
    const body = { ...IMAGE, image_url: dataUri(await plainImage(24, 24)) };
    const first = await api.accept(body, keyed("inline"));
    expect(await api.accept(body, keyed("inline"))).toBe(first);
    const inputs = readDatabase(server.dataDir, "SELECT task_id FROM asset WHERE role = 'input'");
    expect(inputs).toEqual([{ task_id: first }]);
  });

  test("sent fifty times at once makes one task with one hold", async () => {
    const body = { ...IMAGE, prompt: "at once" };
    const answers = await Promise.all(Array.from({ length: 50 }, () => api.create(body, keyed("at once"))));
    const accepted = answers.filter(({ status }) => status === 200);
    const waiting = answers.filter(({ status }) => status === 409);
    expect(accepted.length + waiting.length).toBe(50);
    for (const answer of waiting) {
      expect([answer.data.error_code, answer.headers.get("retry-after")]).toEqual([
        "idempotency_in_progress",
        "1",
      ]);
    }
    const ids = new Set(accepted.map(({ data }) => data.task_id ?? ""));
    const [id = ""] = ids;
    expect(ids.size).toBe(1);
    await api.wait(id);
    const tasks = readDatabase(server.dataDir, "SELECT id FROM task WHERE request LIKE '%at once%'");
    expect(tasks).toEqual([{ id }]);
    const ledger = readDatabase<{ task_id: string; kind: string }>(
      server.dataDir,
      "SELECT task_id, kind FROM ledger_entry ORDER BY id",
    );
    expect(ledger.filter(({ task_id }) => task_id === id).map(({ kind }) => kind)).toEqual([
      "hold",
      "capture",
    ]);
  });

  test("is remembered by the next process, and a conflict is one there too", async () => {
    const first = await api.create(IMAGE, keyed("restart"));
    await server.stop();
    const { folder, port } = server;
    server = await startServer({ folder, port });
    const second = await api.create(IMAGE, keyed("restart"));
    expect([second.status, second.text]).toEqual([200, first.text]);
    expect(second.headers.get("x-idempotent-replay")).toBe("true");
    expect((await api.create({ ...IMAGE, n: 1 }, keyed("restart"))).status).toBe(409);
  });
});

test("the same create without a key makes a task each time", async () => {
  expect(await api.accept(IMAGE)).not.toBe(await api.accept(IMAGE));
});
