import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { emptyFolder, svc } from "./support.ts";

/** A secret that must be in nothing that is printed. */
const CANARY = "canary-0123456789abcdefghijklmnopqrstuvwxyz";

let answer: () => Response = () => Response.json({ credits: 250 });
const arrived: { readonly path: string; readonly key: string | null }[] = [];
const upstream = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request) {
    arrived.push({ path: new URL(request.url).pathname, key: request.headers.get("x-key") });
    return answer();
  },
});
const base = `http://127.0.0.1:${upstream.port}`;

beforeEach(() => {
  arrived.length = 0;
  answer = () => Response.json({ credits: 250 });
});
afterAll(() => upstream.stop(true));

/** A data folder whose bfl is on this machine. */
async function folder(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const cwd = emptyFolder();
  mkdirSync(join(cwd, "svc-data/providers"), { recursive: true });
  const settings = `providers: { bfl: { base_url: "${base}" } }\n`;
  await Bun.write(join(cwd, "svc-data/svc.yaml"), settings);
  for (const [name, text] of Object.entries(files))
    await Bun.write(join(cwd, "svc-data/providers", name), text);
  return cwd;
}

const run = (args: readonly string[], cwd: string, env: Record<string, string> = { BFL_API_KEY: CANARY }) =>
  svc(["providers", ...args], { cwd, env });

const OWN = `provider: house
form: 1
title: House
base: https://house.example/api
auth: { header: x-key, value: "\${key}", key_env: HOUSE_KEY }
submit:
  post: /pictures
  json: { prompt: "\${prompt}" }
  outputs: { base64: "\${body.picture}" }
`;

describe("svc providers list", () => {
  test("has those that are switched on, and with --all every one and what it needs", async () => {
    const cwd = await folder({ "house.yaml": OWN });
    const on = await run(["list", "--json"], cwd);
    expect(JSON.parse(on.stdout).map(({ id }: { id: string }) => id)).toEqual(["sandbox", "bfl"]);
    const all = JSON.parse((await run(["list", "--all", "--json"], cwd)).stdout);
    const byId = Object.fromEntries(all.map((each: { id: string }) => [each.id, each]));
    expect(byId.openai).toMatchObject({
      kind: "code",
      code: true,
      available: false,
      needs: ["OPENAI_API_KEY"],
    });
    expect(byId.bfl).toMatchObject({
      ...{ kind: "form", available: true, needs: [], form: { own: false } },
      accounts: [{ name: "default", lane: "bfl", base_url: base, concurrency: 24 }],
    });
    expect(byId.house).toMatchObject({
      ...{ title: "House", available: false, needs: ["HOUSE_KEY"], accounts: [], models: [] },
      form: { own: true, file: "house.yaml" },
    });
  });

  test("needs no data folder, and says what is wrong with a file in one", async () => {
    expect((await run(["list", "--plain"], emptyFolder(), {})).stdout).toStartWith(
      "sandbox\tcode\ton\tdefault\t",
    );
    const { stderr, exitCode } = await run(
      ["list"],
      await folder({ "bad.yaml": OWN.replace("post", "pots") }),
    );
    expect(exitCode).toBe(0);
    expect(stderr).toContain(
      'providers/bad.yaml:7:3: submit has an unknown field "pots"; did you mean "post"?',
    );
  });
});

describe("svc providers show", () => {
  test("has everything but secrets", async () => {
    const { stdout } = await run(["show", "bfl", "--json"], await folder());
    const { facts, routes } = JSON.parse(stdout);
    expect(facts).toMatchObject({
      ...{ base: "https://api.bfl.ai", refusals: ["spent", "refused", "busy", "bad_input"], test: true },
      auth: [{ kind: "header", variables: ["BFL_API_KEY"] }],
    });
    expect(facts.flows).toContainEqual({ name: "images", operations: ["submit", "poll"] });
    expect(routes).toContainEqual({ model: "flux-2-pro", upstream_model: "flux-2-pro" });
  });

  test("prints the file that describes a provider as it is", async () => {
    const { stdout } = await run(["show", "house", "--yaml"], await folder({ "house.yaml": OWN }));
    expect(stdout).toBe(OWN);
  });

  test("names the nearest provider, and refuses --yaml for one that is code", async () => {
    const cwd = await folder();
    expect(await run(["show", "bfll"], cwd)).toEqual({
      ...{ exitCode: 5, stdout: "" },
      stderr: 'error: There is no provider "bfll". Did you mean "bfl"?\n',
    });
    expect((await run(["show", "fal", "--yaml"], cwd)).exitCode).toBe(1);
  });
});

describe("svc providers test", () => {
  test("asks what costs nothing, and tells the balance", async () => {
    const { exitCode, stdout } = await run(["test", "bfl", "--json"], await folder());
    expect(exitCode).toBe(0);
    expect(arrived).toEqual([{ path: "/v1/credits", key: CANARY }]);
    expect(JSON.parse(stdout)).toEqual({
      ok: true,
      accounts: [
        {
          ...{ provider: "bfl", account: "default", lane: "bfl", result: "ok", took_ms: expect.any(Number) },
          ...{ balance: 250, balance_usd: "2.500000" },
        },
      ],
    });
  });

  test("ends with 1 where the key is refused, and shows it nowhere", async () => {
    answer = () => Response.json({ detail: `Unknown key ${CANARY}` }, { status: 403 });
    const { exitCode, stdout, stderr } = await run(["test"], await folder());
    expect(exitCode).toBe(1);
    expect(stdout).toContain("bfl\tdefault\trefused\t");
    expect(stderr).toContain("1 of 2 accounts cannot be used.");
    expect(stdout + stderr).not.toContain(CANARY);
  });

  test("tells an empty account from a wrong key, and a wrong account from both", async () => {
    answer = () => Response.json({ detail: "no credits" }, { status: 402 });
    const cwd = await folder();
    expect((await run(["test", "bfl"], cwd)).stdout).toContain("bfl\tdefault\tspent\t");
    expect((await run(["test", "bfl", "--account", "second"], cwd)).exitCode).toBe(5);
    expect((await run(["test", "openai"], cwd)).stderr).toBe(
      "error: openai is switched off. It needs OPENAI_API_KEY.\n",
    );
  });
});

test("no command about providers prints a key", async () => {
  const cwd = await folder({ "house.yaml": OWN });
  const env = { BFL_API_KEY: CANARY, HOUSE_KEY: CANARY, OPENAI_API_KEY: CANARY, KLING_API_KEY: CANARY };
  for (const args of [
    ["list", "--all"],
    ["list", "--all", "--json"],
    ["show", "bfl"],
    ["show", "house", "--json"],
  ])
    for (const { stdout, stderr } of [await run(args, cwd, env)]) {
      expect(stdout).not.toBe("");
      expect(stdout + stderr).not.toContain(CANARY);
    }
});
