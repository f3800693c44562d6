import { expect, test } from "bun:test";
import { startScriptedServer, success } from "./scripted-server.ts";
import { emptyFolder, svc } from "./support.ts";

const allowed = async (state: object) => {
  const route = { lane: "openai", upstream_model: "gpt-image-2", ...state };
  using server = startScriptedServer({ "POST /admin/v1/routes/allow": () => success({ routes: [route] }) });
  const env = { SVC_SERVER: server.url, SVC_MANAGEMENT_TOKEN: "mt-svc-of-the-tests" };
  return (await svc(["routes", "allow", "openai", "gpt-image-2"], { env })).stderr;
};

test("svc routes list on a data folder says what is not listed, and what that needs", async () => {
  const cwd = emptyFolder();
  await svc(["migrate"], { cwd });
  const list = async (env: Record<string, string> = {}) => svc(["routes", "list"], { cwd, env });
  const { stdout, stderr } = await list();
  expect(stdout).not.toContain("bfl");
  expect(stderr).toMatch(
    /^\d+ more are switched off with these variables and settings: .*\bbfl \(needs BFL_API_KEY\)/m,
  );
  const on = await list({ BFL_API_KEY: "of-the-tests" });
  expect(on.stdout).toMatch(/^bfl\tflux-dev\tclosed/m);
  expect(on.stderr).not.toContain("BFL_API_KEY");
  expect(on.stderr).toContain("FAL_KEY");
});

test("svc routes allow says what it does not end: an account's block, and a pause that the provider asked for", async () => {
  expect(await allowed({ state: "closed" })).not.toContain("!");
  expect(await allowed({ state: "blocked" })).toContain(
    "! openai is blocked as a whole: `svc routes allow openai`.",
  );
  expect(await allowed({ state: "paused", until: 1_700_000_000 })).toContain(
    "! openai stays paused until 2023-11-14 22:13:20Z: its provider asked for that, and it ends by itself.",
  );
});

test("svc routes block says that a provider which is switched off here has no such account", async () => {
  const cwd = emptyFolder();
  await svc(["migrate"], { cwd });
  const block = async (account: string) => (await svc(["routes", "block", account], { cwd })).stderr;
  expect(await block("fal/second")).toContain("! No account that is switched on here has that name");
  expect(await block("sandbox/default")).not.toContain("!");
});
