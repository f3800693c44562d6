import { afterAll, expect, test } from "bun:test";
import { emptyFolder, svc } from "./support.ts";

const webUi = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request) =>
    new URL(request.url).pathname === "/sdapi/v1/sd-models"
      ? Response.json(["a", "b", "c", "d"].map((name) => ({ title: name, model_name: name })))
      : Response.json({ detail: "Not Found" }, { status: 404 }),
});
afterAll(() => webUi.stop(true));
const base = `http://127.0.0.1:${webUi.port}`;

async function discover(env: Record<string, string>, ...args: readonly string[]) {
  const cwd = emptyFolder();
  return svc(["providers", "discover", "--port", String(webUi.port), ...args], { cwd, env });
}

/** Other engines may run on this machine. */
const ours = (stdout: string) => stdout.split("\n").filter((line) => line.includes(base));

test("an engine is shown with its models and what switches it on", async () => {
  const { exitCode, stdout } = await discover({});
  expect(exitCode).toBe(0);
  expect(ours(stdout).map((line) => line.split("\t"))).toEqual([
    [
      ...["Stable Diffusion web UI", base, "sdapi", "off"],
      ...["a, b, c and 1 more", `SDAPI_BASE_URL=${base}`],
    ],
  ]);
});

test("JSON has all models, the variable and the setting, and whether it is on", async () => {
  const { stdout } = await discover({ SDAPI_BASE_URL: `${base}/` }, "--json");
  const { engines } = JSON.parse(stdout);
  expect(engines.filter((each: { base_url: string }) => each.base_url === base)).toEqual([
    {
      engine: "Stable Diffusion web UI",
      provider: "sdapi",
      base_url: base,
      switched_on: true,
      models: ["a", "b", "c", "d"],
      switch_on: {
        env: [`SDAPI_BASE_URL=${base}`],
        svc_yaml: `providers.sdapi.base_url: ${base}`,
      },
    },
  ]);
});

test("a range that is too large is told, and what is no port is refused", async () => {
  const { stderr } = await discover({ SVC_EGRESS_ALLOW: "10.0.0.0/8" });
  expect(stderr).toContain("10.0.0.0/8 has too many addresses to look at.");
  const cwd = emptyFolder();
  expect(await svc(["providers", "discover", "--port", "web"], { cwd, env: {} })).toMatchObject({
    exitCode: 2,
  });
});
