import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../helpers/free-port.ts";
import { emptyFolder, type Server, startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { keyIn, prepaidKey, svc, svcJson } from "./support/command.ts";
import { stateOf } from "./support/database.ts";
import { untilFollowed } from "./support/follows.ts";
import { decode, plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const TASK_ID = /^task_[0-9a-z]{26}$/;
const SMALL = ["--model", "sandbox-image", "--prompt", "x", "-i", "size=24x16"];
const QUICK = ["-i", 'sandbox:={"delay_ms":0}'];

let server: Server;
let key = "";

beforeAll(async () => {
  server = await startServer();
  key = server.firstKey();
});

afterAll(stopServers);

/** A client command against the server of this file. */
const client = (...args: string[]) => svc(args, { env: access() });
const access = (with_: string = key) => ({ SVC_SERVER: server.url, SVC_API_KEY: with_ });
const clientJson = (...args: string[]) => svcJson(args, { env: access() });
const local = (...args: string[]) => svcJson([...args, "--data-dir", server.dataDir]);

/** The id of a task in whatever form a command printed it. */
const idIn = (printed: unknown) => /task_[0-9a-z]{26}/.exec(JSON.stringify(printed))?.[0] ?? "";

async function submit(sandbox: object): Promise<string> {
  return idIn(await clientJson("task", "submit", ...SMALL, "-i", `sandbox:=${JSON.stringify(sandbox)}`));
}

describe("svc task", () => {
  test("submit --wait --json prints the finished task and nothing else", async () => {
    const { exitCode, stdout, stderr } = await client(
      "task",
      "submit",
      ...SMALL,
      ...QUICK,
      "--wait",
      "--json",
    );
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      task_id: expect.stringMatching(TASK_ID),
      status: "completed",
      result: [expect.stringContaining("/assets/asset_")],
    });
  });

  test("submit, get, wait and list show the same task", async () => {
    const id = await submit({ delay_ms: 300 });
    expect(await clientJson("task", "get", id)).toMatchObject({ task_id: id });
    const waited = await client("task", "wait", id, "--json");
    expect(waited.exitCode).toBe(0);
    expect(JSON.parse(waited.stdout)).toMatchObject({ task_id: id, status: "completed" });
    expect(JSON.stringify(await clientJson("task", "list", "--limit", "5"))).toContain(id);
  });

  test("download -o saves the results, whole, in a folder", async () => {
    const id = idIn(await clientJson("task", "submit", ...SMALL, ...QUICK, "-i", "n=2", "--wait"));
    const folder = emptyFolder();
    expect((await client("task", "download", id, "-o", folder)).exitCode).toBe(0);
    const files = readdirSync(folder);
    expect(files).toHaveLength(2);
    for (const file of files) {
      expect(await decode(readFileSync(join(folder, file)))).toMatchObject({
        format: "png",
        width: 24,
        height: 16,
      });
    }
  });

  test("submit sends a file given as name=@file", async () => {
    const folder = emptyFolder();
    writeFileSync(join(folder, "in.png"), await plainImage(40, 32));
    const args = [
      "task",
      "submit",
      "--model",
      "sandbox-image",
      "--prompt",
      "x",
      "-i",
      "image_url=@in.png",
      ...QUICK,
      "--wait",
    ];
    const task = await svcJson(args, { folder, env: access() });
    expect(task).toMatchObject({ status: "completed" });
  });

  test("cancel ends a task, and waiting for it then exits with 10", async () => {
    const id = await submit({ outcome: "hang" });
    expect((await client("task", "cancel", id, "--json")).exitCode).toBe(0);
    expect((await client("task", "wait", id)).exitCode).toBe(10);
  });
});

describe("an exit code tells scripts what happened:", () => {
  test("3, the task failed", async () => {
    const failing = ["-i", 'sandbox:={"delay_ms":0,"outcome":"failed"}'];
    expect((await client("task", "submit", ...SMALL, ...failing, "--wait")).exitCode).toBe(3);
  });

  test("9, time is up and the task still runs; its id is printed", async () => {
    const id = await submit({ outcome: "hang" });
    const { exitCode, stdout, stderr } = await client("task", "wait", id, "--timeout", "1s");
    expect(exitCode).toBe(9);
    expect(stdout + stderr).toContain(id);
    await client("task", "cancel", id);
  });

  test("4, no key or a refused one", async () => {
    expect((await svc(["task", "list"], { env: { SVC_SERVER: server.url } })).exitCode).toBe(4);
    expect((await svc(["task", "list"], { env: access(`${key.slice(0, -1)}!`) })).exitCode).toBe(4);
  });

  test("5, there is no such task", async () => {
    expect((await client("task", "get", "task_01jd0000000000000000000000")).exitCode).toBe(5);
  });

  test("6, a prepaid account is empty", async () => {
    const poor = await prepaidKey(server.dataDir, "poor", "0.02");
    const spend = () => svc(["task", "submit", ...SMALL, ...QUICK, "--wait"], { env: access(poor) });
    expect([(await spend()).exitCode, (await spend()).exitCode, (await spend()).exitCode]).toEqual([0, 0, 6]);
    const refused = await createApi(server.url, poor).create({ model: "sandbox-image", prompt: "x" });
    expect([refused.status, refused.data.error_code]).toEqual([402, "insufficient_quota"]);
    expect(stateOf(server.dataDir).held).toBe(0);
  });

  test("7, a task that has ended cannot be cancelled", async () => {
    const id = idIn(await clientJson("task", "submit", ...SMALL, ...QUICK, "--wait"));
    expect((await client("task", "cancel", id)).exitCode).toBe(7);
  });

  test("11, nobody answers", async () => {
    const env = { SVC_SERVER: `http://127.0.0.1:${freePort()}`, SVC_API_KEY: key };
    expect((await svc(["task", "list"], { env })).exitCode).toBe(11);
  });

  test("13, the request was rejected, with the server's words as JSON on stderr", async () => {
    const blank = ["--model", "sandbox-image", "--prompt", " "];
    const { exitCode, stdout, stderr } = await client("task", "submit", ...blank, "--json");
    expect({ exitCode, stdout }).toEqual({ exitCode: 13, stdout: "" });
    expect(JSON.parse(stderr)).toMatchObject({
      error: {
        code: "invalid_request",
        message: expect.stringContaining("prompt "),
        request_id: expect.any(String),
      },
    });
  });

  test("2, the command itself is wrong", async () => {
    expect((await client("task", "sumbit")).exitCode).toBe(2);
    expect((await client("task", "get")).exitCode).toBe(2);
    const { exitCode, stderr } = await client("task", "submit", ...SMALL, "-i", "n=99");
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("-i n must be 1 to 10; got 99.")]);
  });
});

describe("keys and tokens", () => {
  test("are made, listed and revoked beside the running server, which refuses a revoked key within a second", async () => {
    const made = keyIn(await local("keys", "create", "--name", "short-lived"));
    const api = createApi(server.url, made);
    expect((await api.send("/v1/models")).status).toBe(200);
    const listed = JSON.stringify(await local("keys", "list"));
    expect(listed).toContain("short-lived");
    expect(listed).not.toContain(made);

    await local("keys", "revoke", "short-lived", "--yes");
    await untilFollowed(
      () => api.send("/v1/models"),
      ({ status }) => status === 401,
    );
    expect((await svc(["task", "list"], { env: access(made) })).exitCode).toBe(4);
  });

  test("of the management kind open no model API", async () => {
    const made = JSON.stringify(await local("tokens", "create", "--name", "operator"));
    const token = /mt-svc-[0-9A-Za-z]{38}/.exec(made)?.[0] ?? "";
    const answer = await createApi(server.url, token).send("/v1/models");
    expect([answer.status, answer.body.error?.code]).toEqual([401, "invalid_api_key"]);
  });

  test("show one account nothing of another's tasks", async () => {
    const id = await submit({ delay_ms: 0 });
    const stranger = createApi(server.url, await prepaidKey(server.dataDir, "stranger", "1.00"));
    expect((await stranger.send(`/v1/images/status/${id}`)).data.error_code).toBe("task_not_found");
    expect((await stranger.send(`/v1/tasks/${id}/cancel`, { method: "POST" })).status).toBe(404);
    expect((await stranger.send("/v1/tasks")).data.tasks).toEqual([]);
    const request = { model: "sandbox-video", prompt: "x", duration: 1, task_id: id };
    expect((await stranger.create(request)).status).toBe(400);
  });
});

test("svc models lists what the server offers", async () => {
  expect(JSON.stringify(await clientJson("models", "list"))).toContain("sandbox-video-motion");
});
