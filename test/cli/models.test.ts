import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { migrateLocal } from "../../src/app/migrate-local.ts";
import { formatCredential } from "../../src/domain/access/credential.ts";
import { startScriptedServer, success } from "./scripted-server.ts";
import { emptyFolder, svc } from "./support.ts";

const TOKEN = formatCredential("management_token", "a".repeat(32));
const model = (id: string, available: boolean) => ({
  ...{ id, kind: "image", name: id, description: "D.", modes: ["text-to-image"], available },
  price: { currency: "USD", version: "1", lines: [{ sku: id, unit: "output", amount: "0.010000" }] },
});
const ready = model("ready-1", true);
const missing = model("missing-1", false);
const route = { provider: "p", upstream_model: "u", needs: ["P_KEY"] };

const serve = () =>
  startScriptedServer({
    "GET /v1/models": () => success({ models: [ready, missing] }),
    "GET /v1/models/missing-1": () => success({ ...missing, schema: {} }),
    "GET /admin/v1/models": () => success({ models: [ready, { ...missing, routes: [route] }] }),
    "GET /admin/v1/models/missing-1": () => success({ ...missing, routes: [route], schema: {} }),
  });
type Server = ReturnType<typeof serve>;

const run = (server: Server, key: string, ...args: string[]) =>
  svc(["models", ...args], { env: { SVC_SERVER: server.url, SVC_API_KEY: key } });

/** First and last column of each line. */
const statuses = (stdout: string) =>
  stdout
    .trim()
    .split("\n")
    .map((line) => line.split("\t"))
    .map((cells) => [cells[0], cells.at(-1)]);

describe("svc models list", () => {
  test("lists what is available, and says that there is more", async () => {
    using server = serve();
    const { stdout, stderr } = await run(server, "k", "list");
    expect(statuses(stdout)).toEqual([["ready-1", "ready"]]);
    expect(stderr).toBe("1 more are not available at present; --all lists them.\n");
    expect(server.seen.map(({ path }) => path)).toEqual(["/v1/models?all=true"]);
  });

  test("lists everything with --all, as far as a caller is told", async () => {
    using server = serve();
    const { stdout, stderr } = await run(server, "k", "list", "--all");
    expect(statuses(stdout)).toEqual([
      ["ready-1", "ready"],
      ["missing-1", "not available"],
    ]);
    expect(stderr).toBe("");
  });

  test("gives each unit's price from the cheapest request to the dearest", async () => {
    const line = (unit: string, amount: string, when?: object) => ({ sku: amount, unit, amount, when });
    const lines = [
      line("second", "0.200000", { resolution: "720p" }),
      line("second", "0.080000", { resolution: ["360p", "480p"] }),
      line("second", "1.000000", { resolution: "4k" }),
      line("output", "0.010000"),
    ];
    const price = { currency: "USD", version: "1", lines, minimum: "0.500000" };
    using server = startScriptedServer({
      "GET /v1/models": () => success({ models: [{ ...ready, price }] }),
      "GET /v1/models/ready-1": () => success({ ...ready, price, schema: {} }),
    });
    const { stdout } = await run(server, "k", "list");
    expect(stdout.split("\t")[4]).toBe(
      "0.080000 to 1.000000 USD per second, 0.010000 USD per output, at least 0.500000 USD",
    );
    const shown = await run(server, "k", "show", "ready-1");
    expect(shown.stdout).toContain("price\t0.080000 USD per second at resolution 360p or 480p\n");
  });

  test("tells a management token what is missing", async () => {
    using server = serve();
    const { stdout } = await run(server, TOKEN, "list");
    expect(statuses(stdout)).toEqual([
      ["ready-1", "ready"],
      ["missing-1", "needs P_KEY"],
    ]);
  });
});

describe("svc models show", () => {
  test("of a model that is not available says where to look further", async () => {
    using server = serve();
    const { stdout } = await run(server, "k", "show", "missing-1");
    expect(stdout).toMatch(/^status\s+not available$/m);
    expect(stdout).toContain("svc models show missing-1 --data-dir DIR");
  });

  test("tells a management token the step to take", async () => {
    using server = serve();
    const { stdout } = await run(server, TOKEN, "show", "missing-1");
    expect(stdout).toMatch(/^status\s+needs P_KEY$/m);
    expect(stdout).toMatch(/^route\s+p u, needs P_KEY$/m);
    expect(stdout).toMatch(/^to do\s+Set P_KEY for `svc serve`, and start it again\.$/m);
  });
});

describe("on a data folder", () => {
  const dataDir = join(emptyFolder(), "data");
  beforeAll(() => migrateLocal({ dataDir }, "up"));
  const local = (args: string[], env: Record<string, string> = {}) =>
    svc(["models", ...args, "--data-dir", dataDir], { env });

  test("every model is listed with what is missing, without a server or a key", async () => {
    const listed = Object.fromEntries(statuses((await local(["list"])).stdout));
    expect(listed).toMatchObject({
      ...{ "sandbox-image": "ready", "gpt-image-2": "needs OPENAI_API_KEY", veo3: "needs FAL_KEY" },
    });
  });

  test("a key in the environment counts, and so does a provider that is switched off", async () => {
    const env = { OPENAI_API_KEY: "sk-test", SVC_SANDBOX_ENABLED: "false" };
    const listed = Object.fromEntries(statuses((await local(["list"], env)).stdout));
    expect(listed).toMatchObject({
      ...{ "sandbox-image": "needs sandbox.enabled", "gpt-image-2": "ready", veo3: "needs FAL_KEY" },
    });
  });

  test("a model is shown with the step to take, and an unknown one with the one that was meant", async () => {
    const { stdout } = await local(["show", "veo3"]);
    expect(stdout).toMatch(/^to do\s+Set FAL_KEY for `svc serve`, and start it again\.$/m);
    expect((await local(["show", "veo4"])).stderr).toContain('Did you mean "veo3"?');
  });
});
