import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeCertificate } from "../egress/certificates.ts";
import { freePort } from "../helpers/free-port.ts";
import {
  ACCEPTING,
  compatRefusal,
  refusal,
  type Script,
  type ScriptedServer,
  startScriptedServer,
  success,
} from "./scripted-server.ts";
import { emptyFolder, type RunOptions, spawnSvc, svc } from "./support.ts";

const CREATE = "/v1/images/generations";
const MINIMAL = ["task", "submit", "-m", "image-1", "-p", "x"];
const AT_ONCE = { "Retry-After": "0" };

function run(server: ScriptedServer, args: readonly string[], options: RunOptions = {}) {
  return svc(args, {
    ...options,
    env: { SVC_SERVER: server.url, SVC_API_KEY: "sk-svc-test", ...options.env },
  });
}

const submit = (server: ScriptedServer, ...args: string[]) =>
  run(server, ["task", "submit", "--model", "image-1", "--prompt", "a lighthouse", ...args]);

/** Status answers of one image task, one after the other; the last one stays. */
const statuses = (...all: object[]): Script => ({
  "GET /v1/images/status/task_1": (_seen, times) =>
    success({ task_id: "task_1", ...all[Math.min(times, all.length) - 1] }),
});
const COMPLETED = { status: "completed", progress: 100, usage: { cost: "0.040000", currency: "USD" } };

describe("submitting", () => {
  test("of variations names its key, too", async () => {
    const path = "/v1/tasks/task_1/variations";
    using server = startScriptedServer({
      [`POST ${path}`]: () => refusal(503, "service_unavailable", "Draining.", { "x-should-retry": "false" }),
    });
    const { exitCode, stderr } = await run(server, ["task", "variations", "task_1", "-n", "4"]);
    const key = String(server.at(path)[0]?.headers.get("idempotency-key"));
    expect([exitCode, stderr.includes(`--idempotency-key ${key}`)]).toEqual([8, true]);
  });

  test("names its key where the server answers too late to know what became of it", async () => {
    const cut: Script = {
      ...ACCEPTING,
      [`POST ${CREATE}`]: (_seen, times) =>
        times === 1
          ? new Response("", { status: 502, headers: AT_ONCE })
          : refusal(503, "service_unavailable", "Draining.", { "x-should-retry": "false" }),
    };
    using server = startScriptedServer(cut);
    const { exitCode, stderr } = await submit(server);
    const key = String(server.at(CREATE)[0]?.headers.get("idempotency-key"));
    expect([exitCode, server.at(CREATE).length, stderr.includes(`--idempotency-key ${key}`)]).toEqual([
      8,
      2,
      true,
    ]);
  });

  test("sends model, prompt and inputs with a key of its own, and prints the task", async () => {
    using server = startScriptedServer(ACCEPTING);
    const { exitCode, stdout } = await submit(
      server,
      "-i",
      "n=2",
      "--callback-url",
      "https://a.example/c",
      "--json",
    );
    expect(exitCode).toBe(0);
    const [request] = server.at(CREATE);
    expect(request?.body).toEqual({
      model: "image-1",
      prompt: "a lighthouse",
      callback_url: "https://a.example/c",
      n: 2,
    });
    expect(request?.headers.get("authorization")).toBe("Bearer sk-svc-test");
    expect(JSON.parse(stdout)).toEqual({
      task_id: "task_1",
      kind: "image",
      model: "image-1",
      cost: "0.040000",
      replayed: false,
      idempotency_key: request?.headers.get("idempotency-key"),
      request_id: "req_1",
    });
  });

  test("prints nothing but the id into a pipe", async () => {
    using server = startScriptedServer(ACCEPTING);
    const first = await submit(server);
    expect(first.stdout).toBe("task_1\n");
    expect(first.stderr).toContain("svc task wait task_1");
    expect(await submit(server, "--quiet")).toEqual({ exitCode: 0, stdout: "task_1\n", stderr: "" });
    const keys = server.at(CREATE).map(({ headers }) => headers.get("idempotency-key"));
    expect(new Set(keys).size).toBe(2);
  });

  test("repeats what may pass with the same key and body", async () => {
    using server = startScriptedServer({
      ...ACCEPTING,
      [`POST ${CREATE}`]: (_seen, times) => {
        if (times === 1) return refusal(503, "service_unavailable", "Full.", AT_ONCE);
        if (times === 2) return refusal(429, "rate_limit_exceeded", "Slow.", AT_ONCE);
        if (times === 3) return refusal(409, "idempotency_in_progress", "Wait.", AT_ONCE);
        return success({ task_id: "task_1" }, { "X-Idempotent-Replay": "true" });
      },
    });
    const { exitCode, stdout } = await submit(server, "--json");
    expect([exitCode, JSON.parse(stdout).replayed]).toEqual([0, true]);
    const requests = server.at(CREATE);
    expect(requests).toHaveLength(4);
    expect(new Set(requests.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(1);
    expect(new Set(requests.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });

  test("uses the key it is given, and says so with -v", async () => {
    using server = startScriptedServer(ACCEPTING);
    const { stderr } = await submit(server, "--idempotency-key", "order-7", "-v");
    expect(server.at(CREATE)[0]?.headers.get("idempotency-key")).toBe("order-7");
    expect(stderr).toContain("Idempotency-Key: order-7\n");
    expect(stderr).toContain(`POST ${CREATE} 200`);
    expect(stderr).not.toContain("sk-svc-test");
  });

  test("sends a video model's request to the videos", async () => {
    using server = startScriptedServer({
      "GET /v1/models/video-1": () => success({ id: "video-1", kind: "video", schema: {} }),
      "POST /v1/videos/generations": () => success({ task_id: "task_2" }),
    });
    expect((await run(server, ["task", "submit", "-m", "video-1", "-q"])).stdout).toBe("task_2\n");
  });

  test("reads standard input for @-", async () => {
    using server = startScriptedServer(ACCEPTING);
    await run(server, ["task", "submit", "-m", "image-1", "-i", "prompt=@-"], { stdin: "from a pipe\n" });
    expect(server.at(CREATE)[0]?.body).toEqual({ model: "image-1", prompt: "from a pipe" });
  });

  test("with --wait prints the task as it ended", async () => {
    const ended = { ...COMPLETED, result: ["http://x/assets/asset_1.png"] };
    using server = startScriptedServer({
      ...ACCEPTING,
      ...statuses({ status: "processing", progress: 10 }, ended),
    });
    const { exitCode, stdout, stderr } = await submit(server, "--wait", "--json");
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toEqual({ task_id: "task_1", ...ended });
    expect(server.at("/v1/images/status/task_1")[0]?.path).toEndWith("?wait=30");
    expect((await submit(server, "--wait", "-q")).stdout).toBe("http://x/assets/asset_1.png\n");
  });
});

describe("a refusal", () => {
  test.each([
    [400, "invalid_request", 13],
    [402, "insufficient_quota", 6],
    [403, "permission_denied", 4],
    [404, "model_not_available", 5],
    [409, "idempotency_conflict", 7],
    [413, "request_too_large", 13],
    [422, "invalid_request", 13],
    [429, "rate_limit_exceeded", 8],
    [500, "internal_error", 1],
    [503, "service_unavailable", 8],
    [504, "upstream_timeout", 9],
  ])("with %i %s ends with exit code %i", async (status, code, expected) => {
    using server = startScriptedServer({
      ...ACCEPTING,
      [`POST ${CREATE}`]: () => refusal(status, code, "No.", AT_ONCE),
    });
    const { exitCode, stdout, stderr } = await submit(server, "--json");
    expect({ exitCode, stdout }).toEqual({ exitCode: expected, stdout: "" });
    expect(JSON.parse(stderr).error).toMatchObject({ code, message: "No.", request_id: "req_1", status });
  });

  test("of the key is read in its own envelope, and says what to do", async () => {
    using server = startScriptedServer({
      "GET /v1/models": () => compatRefusal(401, "invalid_api_key", "The API key is not valid."),
    });
    const { exitCode, stderr } = await run(server, ["models", "list"]);
    expect(exitCode).toBe(4);
    expect(stderr).toStartWith("error: The API key is not valid. (request req_1)\n  Set SVC_API_KEY");
  });

  test("by something that is no svc server is told as such", async () => {
    using server = startScriptedServer({ "GET /v1/models": () => new Response("<html>hello") });
    const { exitCode, stderr } = await run(server, ["models", "list"]);
    expect([exitCode, stderr]).toEqual([11, expect.stringContaining("does not answer like an svc server")]);
  });

  test("of a path by another program's page is told as such, and a proxy's other errors by their status", async () => {
    const page = (status: number) => () =>
      new Response("<h1>No</h1>", { status, headers: { "Content-Type": "text/html" } });
    using server = startScriptedServer({ "GET /v1/models": page(404), "GET /v1/tasks": page(413) });
    const foreign = await run(server, ["models", "list"]);
    expect(foreign.exitCode).toBe(11);
    expect(foreign.stderr).toStartWith(
      `error: ${server.url} does not answer like an svc server (HTTP 404).\n`,
    );
    expect((await run(server, ["task", "list"])).exitCode).toBe(13);
  });

  test("by a server of another version is followed by one warning", async () => {
    using server = startScriptedServer({ "GET /": () => Response.json({ name: "svc", version: "9.0.0" }) });
    const { exitCode, stderr } = await run(server, ["models", "list"]);
    expect(exitCode).toBe(5);
    expect(stderr.match(/is svc 9\.0\.0, and this is svc/g)).toHaveLength(1);
    expect(server.at("/")[0]?.headers.get("authorization")).toBe(null);
  });

  test("by redirection is not followed, so that the key stays where it belongs", async () => {
    using elsewhere = startScriptedServer({});
    using server = startScriptedServer({
      "GET /v1/models": () => Response.redirect(`${elsewhere.url}/v1/models`, 307),
    });
    const { exitCode, stderr } = await run(server, ["models", "list"]);
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining(`It redirects to ${elsewhere.url}/v1/models`),
    ]);
    expect(elsewhere.seen).toEqual([]);
  });

  test("of TLS is told with what to do, and not tried again", async () => {
    using server = startScriptedServer({});
    const to = async (url: string) =>
      await svc(["models", "list"], { env: { SVC_SERVER: url, SVC_API_KEY: "sk-svc-test" } });
    const plain = server.url.replace("http:", "https:");
    expect(await to(plain)).toEqual({
      exitCode: 11,
      stdout: "",
      stderr: `error: Cannot reach ${plain}: nobody speaks TLS there.\n  svc itself speaks no TLS: without a proxy in front of it, write http://.\n`,
    });
    const certificate = makeCertificate(["IP:127.0.0.1"]);
    // Without openssl.
    if (certificate === undefined) return;
    await using secure = Bun.serve({ port: 0, tls: certificate, fetch: () => Response.json({}) });
    const { exitCode, stderr } = await to(`https://127.0.0.1:${secure.port}`);
    expect([exitCode, stderr]).toEqual([11, expect.stringContaining("NODE_EXTRA_CA_CERTS=FILE")]);
  });

  test("for want of a server ends with exit code 11, and of a key with 4", async () => {
    const env = { SVC_SERVER: `http://127.0.0.1:${freePort()}`, SVC_API_KEY: "sk-svc-test" };
    const gone = await svc(["models", "list", "--json"], { env });
    expect([gone.exitCode, JSON.parse(gone.stderr).error.code]).toEqual([11, "server_unreachable"]);
    const keyless = await svc(["models", "list"], { env: { SVC_SERVER: env.SVC_SERVER } });
    expect([keyless.exitCode, keyless.stderr]).toEqual([
      4,
      expect.stringContaining("svc keys create --name NAME"),
    ]);
  });
});

describe("waiting", () => {
  test.each([
    ["failed", 3, "UPSTREAM_ERROR"],
    ["cancelled", 10, "task_cancelled"],
    ["processing", 9, "still_running"],
  ])("for a task that is %s at the end has exit code %i", async (status, expected, code) => {
    using server = startScriptedServer(
      statuses({ status, error_code: status === "failed" ? "UPSTREAM_ERROR" : undefined }),
    );
    const { exitCode, stdout, stderr } = await run(server, [
      "task",
      "wait",
      "task_1",
      "--timeout",
      "0",
      "--json",
    ]);
    expect(exitCode).toBe(expected);
    expect(JSON.parse(stdout)).toMatchObject({ task_id: "task_1", status });
    expect(JSON.parse(stderr).error).toMatchObject({ code, task_id: "task_1" });
  });

  test("in vain says how to go on", async () => {
    using server = startScriptedServer(statuses({ status: "pending" }));
    const { stderr } = await run(server, ["task", "wait", "task_1", "--timeout", "0"]);
    expect(stderr).toContain(
      "task_1 is still pending after 0 ms.\n  It goes on without you; `svc task wait task_1` waits again.\n",
    );
  });

  test("finds videos as well as images, and knows when there is neither", async () => {
    const absent = () => refusal(404, "task_not_found", "There is no such task.");
    using server = startScriptedServer({
      "GET /v1/images/status/task_1": absent,
      "GET /v1/images/status/task_2": absent,
      "GET /v1/videos/status/task_2": () =>
        success({ task_id: "task_2", status: "completed", result: ["http://x/a.mp4"] }),
      "GET /v1/videos/status/task_1": absent,
    });
    expect((await run(server, ["task", "wait", "task_2", "-q"])).stdout).toBe("http://x/a.mp4\n");
    expect((await run(server, ["task", "wait", "task_1"])).exitCode).toBe(5);
  });

  test("ends at Ctrl-C with exit code 130, and says how to go on", async () => {
    const asked = Promise.withResolvers<void>();
    using server = startScriptedServer({
      "GET /v1/images/status/task_1": ({ path }) => {
        if (!path.includes("wait=")) return success({ task_id: "task_1", status: "pending" });
        asked.resolve();
        return new Promise<Response>(() => {});
      },
    });
    const child = spawnSvc(["task", "wait", "task_1"], {
      env: { SVC_SERVER: server.url, SVC_API_KEY: "sk-svc-test" },
    });
    await asked.promise;
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
    expect(await child.stderr.text()).toContain("svc task wait task_1");
  });
});

describe("results", () => {
  const files = (count: number): Script => ({
    "GET /assets/asset_1.png": () => new Response("first", { headers: { "Content-Type": "image/png" } }),
    "GET /assets/asset_2": () => new Response("second", { headers: { "Content-Type": "image/webp" } }),
    "GET /assets/asset_3.png": () => refusal(404, "not_found", "Gone."),
    "GET /v1/images/status/task_1": ({ headers }) => {
      const origin = `http://${headers.get("host")}`;
      const all = [
        `${origin}/assets/asset_1.png`,
        `${origin}/assets/asset_2`,
        `${origin}/assets/asset_3.png`,
      ];
      return success({ task_id: "task_1", ...COMPLETED, result: all.slice(0, count) });
    },
  });

  test("are saved in a folder under the task's name, numbered when there are several", async () => {
    const cwd = emptyFolder();
    using server = startScriptedServer(files(2));
    const { exitCode, stdout } = await run(server, ["task", "download", "task_1", "-o", "new/", "--json"], {
      cwd,
    });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      task_id: "task_1",
      files: [
        { path: join(cwd, "new/task_1-1.png"), url: `${server.url}/assets/asset_1.png`, size_bytes: 5 },
        { path: join(cwd, "new/task_1-2.webp"), url: `${server.url}/assets/asset_2`, size_bytes: 6 },
      ],
    });
    expect(readdirSync(join(cwd, "new")).sort()).toEqual(["task_1-1.png", "task_1-2.webp"]);
    expect(readFileSync(join(cwd, "new/task_1-2.webp"), "utf8")).toBe("second");
  });

  test("are saved under the file name given", async () => {
    const cwd = emptyFolder();
    using server = startScriptedServer({ ...ACCEPTING, ...files(1) });
    const { stdout } = await run(server, [...MINIMAL, "-o", "a.png", "-q"], { cwd });
    expect(stdout).toBe("./a.png\n");
    expect(readFileSync(join(cwd, "a.png"), "utf8")).toBe("first");
    await run(server, ["task", "wait", "task_1", "-o", "b"], { cwd });
    mkdirSync(join(cwd, "folder"));
    await run(server, ["task", "download", "task_1", "-o", "folder"], { cwd });
    await run(server, ["task", "download", "task_1"], { cwd });
    expect(readdirSync(cwd).sort()).toEqual(["a.png", "b.png", "folder", "task_1.png"]);
    expect(readdirSync(join(cwd, "folder"))).toEqual(["task_1.png"]);
  });

  test("keep a name that promises another type, which is told", async () => {
    const cwd = emptyFolder();
    using server = startScriptedServer({ ...ACCEPTING, ...files(1) });
    const named = await run(server, [...MINIMAL, "-o", "a.jpeg"], { cwd });
    expect(named).toMatchObject({ exitCode: 0, stdout: "./a.jpeg\n" });
    expect(named.stderr).toContain("! a.jpeg holds image/png, whatever its name says.");
    for (const name of ["a.PNG", "a.tmp", "a"]) {
      const { exitCode, stderr } = await run(server, [...MINIMAL, "-o", name], { cwd });
      expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining("whatever its name says")]);
    }
  });

  test("take the place of a file only with --force, and a taken name is told before anything is made", async () => {
    const cwd = emptyFolder();
    writeFileSync(join(cwd, "a.png"), "old");
    using server = startScriptedServer({ ...ACCEPTING, ...files(1) });
    const refused = await run(server, [...MINIMAL, "-o", "a.png"], { cwd });
    expect(refused).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: `error: ${join(cwd, "a.png")} is there already.\n  Give another name with -o, or --force to replace it.\n`,
    });
    expect(server.at(CREATE)).toEqual([]);
    expect(readFileSync(join(cwd, "a.png"), "utf8")).toBe("old");
    expect((await run(server, [...MINIMAL, "-o", "a.png", "--force"], { cwd })).exitCode).toBe(0);
    expect(readFileSync(join(cwd, "a.png"), "utf8")).toBe("first");
  });

  test("saved again under the task's name are the same file, unless another file has it", async () => {
    const cwd = emptyFolder();
    using server = startScriptedServer(files(1));
    const save = async () => (await run(server, ["task", "download", "task_1"], { cwd })).stdout;
    expect([await save(), await save()]).toEqual(["./task_1.png\n", "./task_1.png\n"]);
    writeFileSync(join(cwd, "task_1.png"), "another");
    expect([await save(), await save()]).toEqual(["./task_1-2.png\n", "./task_1-2.png\n"]);
    expect(readdirSync(cwd).sort()).toEqual(["task_1-2.png", "task_1.png"]);
  });

  test("go to standard output with -o -, one and nothing else", async () => {
    using server = startScriptedServer({ ...ACCEPTING, ...files(1) });
    const one = await run(server, ["task", "download", "task_1", "-o", "-"]);
    expect(one).toEqual({ exitCode: 0, stdout: "first", stderr: "" });
    const json = await run(server, [...MINIMAL, "-o", "-", "--json"]);
    expect([json.exitCode, json.stderr]).toEqual([2, expect.stringContaining("give one of them")]);
    using several = startScriptedServer({ ...ACCEPTING, ...files(2) });
    const two = await run(several, ["task", "download", "task_1", "-o", "-"]);
    expect([two.exitCode, two.stdout, two.stderr]).toEqual([
      2,
      "",
      expect.stringContaining("-o - takes one result, and there are 2."),
    ]);
    const asked = await run(several, [...MINIMAL, "-i", "n=2", "-o", "-"]);
    expect([asked.exitCode, several.at(CREATE)]).toEqual([2, []]);
  });

  test("are opened with the desktop's program, without a shell", async () => {
    const [cwd, bin] = [emptyFolder(), emptyFolder()];
    writeFileSync(join(bin, "xdg-open"), `#!/bin/sh\nprintf '%s\\n' "$@" >>${bin}/opened\n`, { mode: 0o755 });
    const env = { PATH: `${bin}:${process.env.PATH}` };
    using server = startScriptedServer(files(2));
    await run(server, ["task", "download", "task_1", "-o", "$(x) y.png", "--open"], { cwd, env });
    const { stdout } = await run(server, ["task", "open", "task_1", "--result", "2"], { env });
    const url = `${server.url}/assets/asset_2`;
    expect(stdout).toBe(`${url}\n`);
    expect(readFileSync(join(bin, "opened"), "utf8")).toBe(`${join(cwd, "$(x) y-1.png")}\n${url}\n`);
    const absent = await run(server, ["task", "open", "task_1"], { env: { PATH: emptyFolder() } });
    expect([absent.exitCode, absent.stderr]).toEqual([
      0,
      expect.stringContaining("there is no xdg-open here"),
    ]);
    expect((await run(server, ["task", "open", "task_1", "--result", "3"], { env })).exitCode).toBe(2);
  });

  test.each(["exe", "bat", "jar", "html"])(
    "get no ending by which a desktop would run them: %s",
    async (extension) => {
      const cwd = emptyFolder();
      using server = startScriptedServer({
        [`GET /assets/asset_1.${extension}`]: () => new Response("anything"),
        "GET /v1/images/status/task_1": ({ headers }) => {
          const result = [`http://${headers.get("host")}/assets/asset_1.${extension}`];
          return success({ task_id: "task_1", ...COMPLETED, result });
        },
      });
      await run(server, ["task", "download", "task_1"], { cwd });
      expect(readdirSync(cwd)).toEqual(["task_1"]);
    },
  );

  test("are fetched without the key", async () => {
    using server = startScriptedServer(files(1));
    await run(server, ["task", "download", "task_1"]);
    const [asset] = server.at("/assets/asset_1.png");
    expect([asset?.headers.get("authorization"), asset?.headers.get("x-api-key")]).toEqual([null, null]);
  });

  test("are fetched where the server leads, without the key", async () => {
    const cwd = emptyFolder();
    using bucket = startScriptedServer({ "GET /object": () => new Response("elsewhere") });
    using server = startScriptedServer({
      ...files(1),
      "GET /assets/asset_1.png": () => Response.redirect(`${bucket.url}/object?X-Amz-Signature=1`, 302),
    });
    const { exitCode } = await run(server, ["task", "download", "task_1", "-o", "a.png"], { cwd });
    expect([exitCode, readFileSync(join(cwd, "a.png"), "utf8")]).toEqual([0, "elsewhere"]);
    expect(bucket.seen.map(({ headers }) => headers.get("authorization"))).toEqual([null]);
  });

  test("leave nothing half done behind", async () => {
    const cwd = emptyFolder();
    using server = startScriptedServer(files(3));
    const { exitCode, stderr } = await run(server, ["task", "download", "task_1", "-o", "out/"], { cwd });
    expect([exitCode, stderr]).toEqual([5, expect.stringContaining("asset_3.png: Gone.")]);
    expect(readdirSync(join(cwd, "out")).sort()).toEqual(["task_1-1.png", "task_1-2.webp"]);
  });

  test("that cannot be put in their place leave no partial file, and are still to be had", async () => {
    const cwd = emptyFolder();
    mkdirSync(join(cwd, "a.png"));
    using server = startScriptedServer(files(1));
    const { exitCode, stderr } = await run(server, ["task", "download", "task_1", "-o", "a"], { cwd });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("a.png is there already")]);
    expect(stderr).toContain("`svc task download task_1 -o FOLDER` fetches them");
    expect(readdirSync(cwd)).toEqual(["a.png"]);
  });

  test.each(["/dev/null", "taken/a.png"])("cannot be saved as %s", async (path) => {
    const cwd = emptyFolder();
    writeFileSync(join(cwd, "taken"), "");
    using server = startScriptedServer({ ...ACCEPTING, ...files(1) });
    expect((await run(server, [...MINIMAL, "-o", path, "--force"], { cwd })).exitCode).toBe(2);
    expect(server.at(CREATE)).toEqual([]);
  });

  test("with other than a web address are not fetched", async () => {
    const cwd = emptyFolder();
    writeFileSync(join(cwd, "secret"), "secret");
    const result = [`file://${cwd}/secret`];
    using server = startScriptedServer(statuses({ ...COMPLETED, result }));
    const { exitCode } = await run(server, ["task", "download", "task_1", "-o", "copy"], { cwd });
    expect([exitCode, existsSync(join(cwd, "copy"))]).toEqual([1, false]);
  });

  test("of a task that is not over, or failed, are not there", async () => {
    using server = startScriptedServer(
      statuses({ status: "processing" }, { status: "failed" }, { status: "cancelled" }),
    );
    const codes: number[] = [];
    for (let i = 0; i < 3; i++) codes.push((await run(server, ["task", "download", "task_1"])).exitCode);
    expect(codes).toEqual([9, 3, 10]);
  });
});

describe("the other commands", () => {
  test("list tasks with the filters given, and name the next page", async () => {
    const task = {
      task_id: "task_1",
      kind: "image",
      model: "image-1",
      created_at: 1_700_000_000,
      ...COMPLETED,
    };
    using server = startScriptedServer({ "GET /v1/tasks": () => success({ tasks: [task], next: "task_1" }) });
    const filters = [
      "--status",
      "completed",
      "--kind",
      "image",
      "-m",
      "image-1",
      "--limit",
      "1",
      "--after",
      "task_9",
    ];
    const { stdout, stderr } = await run(server, ["task", "list", ...filters]);
    expect(server.seen[0]?.path).toBe(
      "/v1/tasks?status=completed&kind=image&model=image-1&limit=1&after=task_9",
    );
    expect(stdout).toBe("task_1\timage\timage-1\tcompleted\t100 %\t2023-11-14 22:13:20Z\t0.040000 USD\n");
    expect(stderr).toBe(
      "More: svc task list --status completed --kind image --model image-1 --limit 1 --after task_1\n",
    );
    const secret = ["--key", `sk-svc-${"0".repeat(38)}`];
    const odd = await run(server, ["task", "list", "--model", "it's", ...secret]);
    expect(odd.stderr).toBe("More: svc task list --model 'it'\\''s' --after task_1\n");
    expect(JSON.parse((await run(server, ["task", "list", "--json"])).stdout)).toEqual({
      tasks: [task],
      next: "task_1",
    });
  });

  test("show and cancel a task", async () => {
    using server = startScriptedServer({
      ...statuses({ status: "processing", progress: 40 }),
      "POST /v1/tasks/task_1/cancel": () => success({ task_id: "task_1", status: "cancelled" }),
    });
    expect((await run(server, ["task", "get", "task_1"])).stdout).toContain("progress\t40 %\n");
    expect((await run(server, ["tasks", "cancel", "task_1"])).stdout).toBe("cancelled\n");
  });

  test("show models and their fields", async () => {
    using server = startScriptedServer({
      ...ACCEPTING,
      "GET /v1/models": () => success({ models: [{ id: "image-1", kind: "image" }] }),
    });
    expect((await run(server, ["models", "list", "--json"])).stdout).toBe(
      '{"models":[{"id":"image-1","kind":"image"}]}\n',
    );
    const { stdout } = await run(server, ["model", "show", "image-1"]);
    expect(stdout).toContain("price\t0.040000 USD per output\n");
    expect(stdout).toContain("prompt *\tstring\t\t\tWhat to make.\n");
    expect(stdout).toContain("n\tinteger\t1 to 10\t1\t\n");
  });

  test("take the server and the key from flags before variables", async () => {
    using server = startScriptedServer({ "GET /v1/models": () => success({ models: [] }) });
    const env = { SVC_SERVER: "http://127.0.0.1:1", SVC_API_KEY: "other" };
    const address = server.url.replace("http://", "");
    expect(
      (await svc(["models", "list", "--server", `${address}/v1/`, "--key", "mine"], { env })).exitCode,
    ).toBe(0);
    expect(server.seen[0]?.headers.get("authorization")).toBe("Bearer mine");
  });
});

describe("with a management token", () => {
  const MANAGED = {
    ...{
      task_id: "task_1",
      status: "processing",
      kind: "image",
      model: "image-1",
      created_at: 1_795_000_000,
    },
    ...{
      account: { id: "acc_1", name: "studio" },
      key: { id: "key_1", name: "web" },
      provider: "fal/second",
    },
  };
  const script: Script = {
    "GET /admin/v1/tasks": () => success({ tasks: [MANAGED], next: null }),
    "POST /admin/v1/tasks/task_1/cancel": () => success({ ...MANAGED, cancel_requested: true }),
    "GET /v1/tasks": () => success({ tasks: [], next: null }),
  };
  const operator = { env: { SVC_API_KEY: "", SVC_MANAGEMENT_TOKEN: "mt-svc-test" } };

  test("tasks of all accounts are listed with whose they are and who has them, narrowed as asked", async () => {
    using server = startScriptedServer(script);
    const { stdout } = await run(server, ["task", "list"], operator);
    expect(stdout).toBe(
      "task_1\timage\timage-1\tprocessing\t\t2026-11-18 11:06:40Z\t\tstudio\tweb\tfal/second\n",
    );
    const asked = ["--account", "studio", "--status", "processing", "--search", "a fox"];
    await run(server, ["task", "list", ...asked], operator);
    const [first, second] = server.at("/admin/v1/tasks");
    expect(first?.headers.get("authorization")).toBe("Bearer mt-svc-test");
    expect(Object.fromEntries(new URL(second!.path, server.url).searchParams)).toMatchObject({
      ...{ account: "studio", status: "processing", q: "a fox" },
    });
  });

  test("a task of another account is cancelled", async () => {
    using server = startScriptedServer(script);
    const { stdout, stderr } = await run(server, ["task", "cancel", "task_1"], operator);
    expect([stdout, stderr]).toEqual(["processing\n", "task_1 is asked to stop; it is processing.\n"]);
  });

  test("a key at hand goes before it, unless all accounts or one of them are meant", async () => {
    using server = startScriptedServer(script);
    const both = { env: { SVC_MANAGEMENT_TOKEN: "mt-svc-test" } };
    const listed = async (...args: string[]) => (await run(server, ["task", "list", ...args], both)).stdout;
    expect(await listed()).toBe("");
    expect(await listed("--all-accounts")).toStartWith("task_1");
    expect(await listed("--account", "studio")).toStartWith("task_1");
  });

  test("what is no such token is told how to give one", async () => {
    using server = startScriptedServer({
      "GET /admin/v1/tasks": () => compatRefusal(401, "invalid_api_key", "This is an API key."),
    });
    const { exitCode, stderr } = await run(
      server,
      ["task", "list", "--all-accounts", "--token", "sk-svc-x"],
      {
        env: { SVC_API_KEY: "" },
      },
    );
    expect(exitCode).toBe(4);
    expect(stderr).toContain("Give a valid token with SVC_MANAGEMENT_TOKEN");
  });
});
