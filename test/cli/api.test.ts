import { afterEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "../../cli/program.ts";
import {
  compatRefusal,
  refusal,
  type Script,
  type ScriptedServer,
  startScriptedServer,
  success,
} from "./scripted-server.ts";
import { emptyFolder, fakeContext, svc } from "./support.ts";

let server: ScriptedServer | undefined;
afterEach(() => server?.[Symbol.dispose]());

function withServer(script: Script) {
  const started = startScriptedServer(script);
  server = started;
  const env = {
    XDG_CONFIG_HOME: emptyFolder(),
    SVC_SERVER: started.url,
    SVC_API_KEY: "sk-secret",
    SVC_MANAGEMENT_TOKEN: "mt-secret",
  };
  return {
    server: started,
    run: (...args: string[]) => svc(["api", ...args], { env }),
    async onTerminal(...args: string[]) {
      const context = fakeContext({ isTerminal: true, env });
      const exitCode = await runProgram(["api", ...args], context);
      return { exitCode, stdout: context.stdout.text(), stderr: context.stderr.text() };
    },
  };
}

describe("svc api", () => {
  test("prints the body as it is, and sends the key", async () => {
    const body = '{"code":200,"data":{"tasks":[]}}';
    const { server, run } = withServer({ "GET /v1/tasks": () => new Response(body) });
    expect(await run("GET", "/v1/tasks")).toEqual({ exitCode: 0, stdout: body, stderr: "" });
    expect(server.seen[0]?.headers.get("authorization")).toBe("Bearer sk-secret");
  });

  test("sends the token to /metrics and below /admin, the key below /v1 and /compat, and nothing elsewhere", async () => {
    const any = () => new Response("{}");
    const { server, run } = withServer({
      ...{ "GET /admin/v1/keys": any, "GET /v1/models": any, "GET /compat/v1/models": any },
      ...{ "GET /healthz": any, "GET /assets/x.png": any, "GET /metrics": any },
    });
    for (const path of [
      "/admin/v1/keys",
      "v1/models",
      "/compat/v1/models",
      "/healthz",
      "/assets/x.png",
      "/metrics",
    ])
      await run("get", path);
    // A path that only looks like another one is taken for what it is.
    await run("GET", "/v1/../admin/v1/keys");
    expect(server.seen.map(({ headers }) => headers.get("authorization"))).toEqual([
      "Bearer mt-secret",
      "Bearer sk-secret",
      "Bearer sk-secret",
      null,
      null,
      "Bearer mt-secret",
      "Bearer mt-secret",
    ]);
  });

  test.each(["https://evil.example/v1/tasks", "http://127.0.0.1:1/v1/tasks", "file:///etc/passwd"])(
    "refuses %s, which is another server",
    async (address) => {
      const { server, run } = withServer({});
      const { exitCode, stdout, stderr } = await run("GET", address);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
      expect(stderr).toContain("your key is for that one alone");
      expect(server.seen).toEqual([]);
    },
  );

  test("keeps to the server whatever a path begins with", async () => {
    const { server, run } = withServer({});
    for (const path of ["//evil.example/v1", "@evil.example/v1", ":1/v1", `/v1/tasks`])
      await run("GET", path);
    await run("GET", `${server.url}/v1/models`);
    expect(server.seen).toHaveLength(5);
  });

  test("does not follow a redirect, and says where it leads", async () => {
    const { server, run } = withServer({
      "GET /v1/models": () => Response.redirect("https://evil.example/", 302),
    });
    const { exitCode, stderr } = await run("GET", "/v1/models");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("It redirects to https://evil.example/");
    expect(server.seen).toHaveLength(1);
  });

  test("makes a query of fields for GET, and a JSON body elsewhere", async () => {
    const { server, run } = withServer({
      "GET /v1/tasks": () => success({}),
      "POST /v1/images/generations": () => success({}),
      "PATCH /v1/x": () => success({}),
    });
    await run("GET", "/v1/tasks?kind=image", "-f", "status=completed", "-f", "limit:=5");
    const fields = ["-f", "prompt=a=b", "-f", "n:=2", "-f", 'sandbox:={"delay_ms":0}'];
    await run("post", "/v1/images/generations", ...fields, "-H", "Idempotency-Key: a");
    expect(server.seen[0]?.path).toBe("/v1/tasks?kind=image&status=completed&limit=5");
    expect(server.seen[1]).toMatchObject({
      method: "POST",
      body: { prompt: "a=b", n: 2, sandbox: { delay_ms: 0 } },
    });
    expect(server.seen[1]?.headers.get("idempotency-key")).toBe("a");
    expect(server.seen[1]?.headers.get("content-type")).toBe("application/json");
  });

  test("sends a file as the body", async () => {
    const { server, run } = withServer({ "POST /v1/x": () => success({}) });
    const file = join(emptyFolder(), "body.json");
    writeFileSync(file, '{"a": 1}');
    await run("POST", "/v1/x", "--input", file);
    expect(server.seen[0]?.body).toEqual({ a: 1 });
    expect(await run("POST", "/v1/x", "--input", `${file}.none`)).toMatchObject({ exitCode: 2 });
    expect(await run("POST", "/v1/x", "--input", file, "-f", "a=b")).toMatchObject({ exitCode: 2 });
  });

  test.each([
    [400, () => refusal(400, "invalid_request", "No."), 13],
    [401, () => compatRefusal(401, "invalid_api_key", "No."), 4],
    [404, () => refusal(404, "task_not_found", "No."), 5],
    [402, () => refusal(402, "insufficient_quota", "No."), 6],
    [409, () => refusal(409, "task_not_cancellable", "No."), 7],
    [503, () => refusal(503, "service_unavailable", "No."), 8],
    [500, () => refusal(500, "internal_error", "No."), 1],
  ])(
    "prints the body of a %i too, and ends with its exit code, without another try",
    async (_, answer, code) => {
      const { server, run } = withServer({ "GET /v1/x": answer });
      const { exitCode, stdout, stderr } = await run("GET", "/v1/x");
      expect({ exitCode, stdout }).toEqual({ exitCode: code, stdout: `${await answer().text()}\n` });
      expect(stderr).toStartWith("error: No.");
      expect(server.seen).toHaveLength(1);
    },
  );

  test("prints status and headers with -i, and all pages with --paginate", async () => {
    const { server, run } = withServer({
      "GET /v1/tasks": ({ path }) =>
        path.includes("after=c1") ? success({ tasks: [2], next: null }) : success({ tasks: [1], next: "c1" }),
    });
    const { stdout } = await run("GET", "/v1/tasks", "-f", "limit=1", "--paginate");
    const pages = stdout.trimEnd().split("\n");
    expect(pages.map((line) => JSON.parse(line).data.tasks)).toEqual([[1], [2]]);
    expect(server.seen.map(({ path }) => path)).toEqual(["/v1/tasks?limit=1", "/v1/tasks?limit=1&after=c1"]);
    expect((await run("GET", "/v1/tasks", "-i")).stdout).toMatch(
      /^HTTP 200 OK\n(.+\n)*x-request-id: req_1\n(.+\n)*\n\{/i,
    );
  });

  test("on a terminal prints JSON for people, and no command to the terminal", async () => {
    const { onTerminal } = withServer({
      "GET /v1/a": () => Response.json({ a: "\u001b[2J" }),
      "GET /v1/b": () =>
        new Response("x\u001b]0;owned\u0007\ny", { headers: { "Content-Type": "text/plain" } }),
      "GET /v1/c": () =>
        new Response(new Uint8Array([0, 27, 91]), { headers: { "Content-Type": "image/png" } }),
    });
    expect((await onTerminal("GET", "/v1/a")).stdout).toBe('{\n  "a": "\\u001b[2J"\n}\n');
    expect((await onTerminal("GET", "/v1/b")).stdout).toBe("x\\u001b]0;owned\\u0007\ny\n");
    const picture = await onTerminal("GET", "/v1/c");
    expect(picture).toMatchObject({ exitCode: 2, stdout: "" });
    expect(picture.stderr).toContain("The answer is image/png");
  });

  test.each([
    [["FETCH", "/v1/x"], '"FETCH" is not a method'],
    [["GET", "/v1/x", "-f", "novalue"], '"novalue" is not a field'],
    [["POST", "/v1/x", "-f", "n:={"], "n is not valid JSON"],
    [["GET", "/v1/x", "-H", "nocolon"], '"nocolon" is not a header'],
    [["POST", "/v1/x", "--paginate"], "--paginate is for GET alone"],
  ])("refuses %j", async (args, message) => {
    const { server, run } = withServer({});
    const { exitCode, stderr } = await run(...args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
    expect(server.seen).toEqual([]);
  });

  test("says that an answer was cut off", async () => {
    using listener = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data: (socket) =>
          void socket.end(
            'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"a":',
          ),
      },
    });
    const args = ["GET", "/v1/tasks", "--server", `http://127.0.0.1:${listener.port}`];
    const { run, onTerminal } = withServer({});
    for (const { exitCode, stderr } of [await run(...args), await onTerminal(...args)]) {
      expect(exitCode).toBe(11);
      expect(Bun.stripANSI(stderr)).toMatch(/ did not send the whole answer: .*closed unexpectedly\.\n$/);
    }
  });

  test("gets no page twice", async () => {
    const { server, run } = withServer({ "GET /v1/tasks": () => success({ tasks: [], next: "same" }) });
    const { exitCode, stderr } = await run("GET", "/v1/tasks", "--paginate");
    expect([exitCode, stderr]).toEqual([1, "error: The server says that a page is followed by itself.\n"]);
    expect(server.seen).toHaveLength(2);
  });

  test("gives its credentials to nothing beside a server that has a path", async () => {
    const { server, run } = withServer({ "GET /admin/v1/keys": () => success({}) });
    await run("GET", `${server.url}/admin/v1/keys`, "--server", `${server.url}/svc`);
    expect(server.seen.map(({ headers }) => headers.get("authorization"))).toEqual([null]);
  });
});
