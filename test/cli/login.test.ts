import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Keyboard } from "../../cli/context.ts";
import { runProgram } from "../../cli/program.ts";
import { askSecret } from "../../cli/secret-input.ts";
import { type Service, startService } from "./manage/two-places.ts";
import { type Script, startScriptedServer, success } from "./scripted-server.ts";
import { emptyFolder, fakeContext, svc } from "./support.ts";

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const configHome = () => ({ XDG_CONFIG_HOME: emptyFolder() });
const written = (env: { XDG_CONFIG_HOME: string }) =>
  JSON.parse(readFileSync(join(env.XDG_CONFIG_HOME, "svc/profiles.json"), "utf8")).profiles;

/** A terminal on which somebody types. */
function typing(...pieces: string[]) {
  const state = { isCaptured: false };
  const keyboard: Keyboard = {
    capture(onBytes) {
      state.isCaptured = true;
      for (const piece of pieces) onBytes(new TextEncoder().encode(piece));
      return () => {
        state.isCaptured = false;
      };
    },
  };
  return { keyboard, state };
}

describe("logging in", () => {
  test("with a key from standard input keeps it, and later commands use it", async () => {
    const env = configHome();
    const args = ["login", "--server", service.url, "--key-stdin", "--model", "sandbox-image"];
    const { exitCode, stdout, stderr } = await svc(args, { env, stdin: `${service.key}\n` });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "" });
    expect(stderr).toMatch(
      /^✓ Logged in to http:\S+ with key default \(sk-svc-\w{4}…\w{4}\) of account default\. Kept as profile "default" in \S+profiles\.json\.\n$/,
    );
    expect(written(env)).toEqual({
      default: { server: service.url, key: service.key, model: "sandbox-image" },
    });
    expect(await svc(["task", "list"], { env })).toMatchObject({ exitCode: 0 });
  });

  test("with a token beside a key of the same server keeps both; at another server only the new one", async () => {
    const env = configHome();
    const server = ["--server", service.url];
    await svc(["login", ...server, "--key-stdin"], { env, stdin: service.key });
    await svc(["login", "--token-stdin"], { env, stdin: service.token });
    expect(written(env).default).toEqual({ server: service.url, key: service.key, token: service.token });

    const again = service.url.replace("127.0.0.1", "localhost");
    const { stderr } = await svc(["login", "--server", again, "--token-stdin"], {
      env,
      stdin: service.token,
    });
    expect(stderr).toContain("with management token tests (mt-svc-");
    expect(written(env).default).toEqual({ server: again, token: service.token });
  });

  test("with what is no key, or the other kind, or is refused, keeps nothing and shows nothing", async () => {
    const env = configHome();
    const login = (flag: string, stdin: string) => svc(["login", "-s", service.url, flag], { env, stdin });
    const refused = await Promise.all([
      login("--key-stdin", "secret-of-another-service"),
      login("--key-stdin", ""),
      login("--key-stdin", service.token),
      login("--token-stdin", service.key),
      login("--key-stdin", "sk-svc-00000000000000000000000000000000000000"),
    ]);
    expect(refused.map(({ exitCode }) => exitCode)).toEqual([4, 4, 2, 2, 4]);
    const text = refused.map(({ stderr }) => stderr).join("");
    expect(text).toContain("This is not an API key, but a management token; it goes with --token-stdin.");
    for (const secret of ["secret-of-another", service.token, service.key])
      expect(text).not.toContain(secret);
    expect(() => written(env)).toThrow();
  });

  test("where nobody can be asked says how to give the secret", async () => {
    const { exitCode, stderr } = await svc(["login"], { env: configHome() });
    expect(exitCode).toBe(2);
    expect(stderr).toBe(
      "error: Nobody can be asked here.\n  Give --key-stdin or --token-stdin, and the secret on standard input.\n",
    );
  });

  test("on a terminal asks, and shows nothing of what is typed", async () => {
    const env = { ...configHome(), HOME: emptyFolder() };
    const context = fakeContext({ isTerminal: true, env });
    const { keyboard, state } = typing("x\u0015wrong", "\u007f".repeat(5), service.key, "\r");
    const exitCode = await runProgram(["login", "-s", service.url], { ...context, keyboard });
    expect(exitCode).toBe(0);
    expect(written(env).default.key).toBe(service.key);
    expect(context.stderr.text()).toContain(`API key or management token for ${service.url} (not shown): \n`);
    expect(context.stdout.text() + context.stderr.text()).not.toContain(service.key);
    expect(state.isCaptured).toBe(false);
  });

  test("that Ctrl-C ends gives the terminal back", async () => {
    const { keyboard, state } = typing("half a ke");
    const controller = new AbortController();
    const context = {
      ...fakeContext({ isTerminal: true }),
      keyboard,
      interruptible: () => controller.signal,
    };
    const asked = askSecret(context, "Key:", "");
    controller.abort();
    expect(asked).rejects.toMatchObject({ exitCode: 130 });
    await asked.catch(() => undefined);
    expect(state.isCaptured).toBe(false);
  });

  test("without encryption to another machine, or at another version, warns", async () => {
    const script: Script = {
      "GET /": () => Response.json({ name: "svc", version: "9.1.0" }),
      "GET /v1/account/status": () => success({ key: { name: "web" }, account: { name: "shop" } }),
    };
    using server = startScriptedServer(script);
    const args = ["login", "--server", server.url, "--key-stdin"];
    const { exitCode, stderr } = await svc(args, { env: configHome(), stdin: service.key });
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`! ${server.url} is svc 9.1.0, and this is svc `);
    for (const other of ["http://svc.invalid:1", "http://localhost.invalid:1", "http://127.invalid:1"]) {
      const plain = await svc(["login", "--server", other, "--key-stdin"], { env: configHome(), stdin: "x" });
      expect(plain.stderr).toStartWith(`! ${other} is not encrypted`);
    }
  });
});

describe("whoami", () => {
  test("shows the server, the key, its limits and what is available", async () => {
    const env = { ...configHome(), SVC_SERVER: service.url, SVC_API_KEY: service.key };
    const { exitCode, stdout, stderr } = await svc(["whoami"], { env });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^server\thttp:\S+ \(svc \d+\.\d+\.\d+\)\naccount\tdefault \(acc_\w+\)\n/);
    expect(stdout).toMatch(/\nkey\tdefault \(sk-svc-\w{4}…\w{4}\)\nexpires\tnever\n/);
    expect(stdout).toContain("available\tunlimited\n");
    expect(stdout).not.toContain(service.key);
  });

  test("shows a token and a key of one profile together", async () => {
    const env = configHome();
    await svc(["login", "-s", service.url, "--key-stdin"], { env, stdin: service.key });
    await svc(["login", "--token-stdin"], { env, stdin: service.token });
    const { stdout } = await svc(["whoami", "--json"], { env });
    expect(JSON.parse(stdout)).toMatchObject({
      server: service.url,
      profile: "default",
      management_token: { name: "tests" },
      account: { name: "default" },
      key: { name: "default" },
      can_create: true,
    });
  });

  test("without any credential says where one comes from", async () => {
    const { exitCode, stderr } = await svc(["whoami"], { env: configHome() });
    expect(exitCode).toBe(4);
    expect(stderr).toContain("Log in with `svc login`");
  });
});

describe("logging out", () => {
  test("removes one profile and leaves the others", async () => {
    const env = configHome();
    const login = (name: string) =>
      svc(["login", "-s", service.url, "--profile", name, "--key-stdin"], { env, stdin: service.key });
    await login("one");
    await login("two");
    expect(await svc(["logout", "--profile", "one"], { env })).toMatchObject({ exitCode: 0, stdout: "" });
    expect(Object.keys(written(env))).toEqual(["two"]);
    const { exitCode, stderr } = await svc(["logout"], { env });
    expect(exitCode).toBe(5);
    expect(stderr).toEndWith("  There are: two.\n");
  });
});
