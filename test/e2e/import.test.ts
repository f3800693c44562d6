import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { createSecrets } from "../../src/runtime/secrets.ts";
import { sqliteGateway } from "../helpers/gateways.ts";
import { emptyFolder, type Server, SVC, startServer, stopServers } from "../helpers/server.ts";
import { svc, svcJson } from "./support/command.ts";

setDefaultTimeout(120_000);
afterAll(stopServers);

const KEYS = 1000;
const CHANNELS = 200;
const { hash } = createSecrets();

interface Item {
  readonly kind: string;
  readonly from: string;
  readonly to: string | null;
  readonly action: "bring" | "here" | "leave";
  readonly note: string;
}
interface Printed {
  readonly counts: { readonly bring: number; readonly here: number; readonly leave: number };
  readonly items: readonly Item[];
}

/** A new-api with as much as a busy one has. Everything secret in it has CANARY in it. */
function bigGateway(): Promise<string> {
  const secret = (id: number) => `CANARY${String(id).padStart(42, "0")}`;
  const users = Array.from({ length: 50 }, (_, i) => ({
    ...{ id: i + 1, username: `user${i + 1}`, password: "CANARY-password", access_token: "CANARY-access" },
    ...{ status: 1, quota: 1_000_000 * (i + 1), group: i % 2 === 0 ? "default" : "vip" },
  }));
  const tokens = Array.from({ length: KEYS }, (_, i) => ({
    ...{ id: i + 1, user_id: (i % 50) + 1, key: secret(i + 1), name: `key ${i % 100}`, expired_time: -1 },
    ...{ status: i % 20 === 19 ? 2 : 1, remain_quota: 500_000, unlimited_quota: i % 2 === 0 },
  }));
  const channels = Array.from({ length: CHANNELS }, (_, i) => ({
    ...{
      id: i + 1,
      type: i % 2 === 0 ? 1 : 14,
      key: `sk-CANARY-upstream-${i}`,
      status: 1,
      name: `channel ${i}`,
    },
    models: i % 2 === 0 ? "gpt-4o,gpt-image-2,pictures" : "claude",
    group: "default,vip",
  }));
  const options = [
    { key: "GroupRatio", value: '{"default":1,"vip":0.5}' },
    { key: "ModelPrice", value: '{"gpt-image-2":0.07}' },
    { key: "SMTPToken", value: "CANARY-smtp" },
  ];
  const rows = { users, tokens, channels, options };
  return sqliteGateway(join(emptyFolder("gateway"), "new-api.db"), { of: "new-api", rows });
}

/** Every file of a data folder that a secret could stand in. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

/**
 * Runs a command below a small process. The most memory that a process had counts from before it became the command, when it was a
 * copy of whoever started it: of these tests, that may be more than the command ever has.
 */
async function runMeasured(command: readonly string[]) {
  const between = `const child = Bun.spawn(process.argv.slice(1), { stdout: "pipe", stderr: "pipe" });
    const [printed, said] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    console.log(JSON.stringify({ printed, said, peakBytes: child.resourceUsage().maxRSS }));`;
  const child = Bun.spawn([process.execPath, "-e", between, ...command], { stdout: "pipe" });
  return (await child.stdout.json()) as { printed: string; said: string; peakBytes: number };
}

describe("an import of 1,000 keys and 200 channels", () => {
  let server: Server;
  let place: string[];
  let planned: Printed;

  test("is planned without changing anything", async () => {
    server = await startServer();
    place = [await bigGateway(), "--map", "pictures=sandbox-image", "--data-dir", server.dataDir];
    planned = (await svcJson(["import", "new-api", ...place])) as Printed;
    expect(planned.counts.bring).toBe(50 + 950 + 100 + 1 + 1);
    expect(planned.counts.leave).toBe(50 + 100);
    const keys = (await svcJson(["keys", "list", "--data-dir", server.dataDir])) as { keys: unknown[] };
    expect(keys.keys).toHaveLength(1);
    expect(existsSync(join(server.dataDir, "provider-keys"))).toBe(false);
  });

  test("does what was planned, in little memory, and says nothing secret", async () => {
    const { printed, said, peakBytes } = await runMeasured([
      ...[SVC, "import", "new-api", ...place, "--apply", "--json"],
    ]);
    const applied = JSON.parse(printed) as Printed;
    expect(applied).toEqual({ ...planned, applied: true } as Printed);
    expect(peakBytes).toBeLessThan(400 * 1024 * 1024);
    expect(printed + said).not.toContain("CANARY");
    const keys = (await svcJson(["keys", "list", "--data-dir", server.dataDir])) as { keys: unknown[] };
    const accounts = (await svcJson(["accounts", "list", "--data-dir", server.dataDir])) as {
      accounts: unknown[];
    };
    expect([keys.keys.length, accounts.accounts.length]).toEqual([951, 51]);
    expect(readdirSync(join(server.dataDir, "provider-keys"))).toHaveLength(100);
    const clear = filesOf(server.dataDir).filter((path) => readFileSync(path).includes("CANARY0"));
    expect(clear).toEqual([]);
  });

  test("brings nothing twice, also where a key was revoked since", async () => {
    const local = ["--data-dir", server.dataDir];
    const before = (await svcJson(["keys", "list", ...local])) as { keys: { id: string; name: string }[] };
    await svcJson(["keys", "revoke", String(before.keys.at(-1)?.id), "--yes", ...local]);
    const again = (await svcJson(["import", "new-api", ...place, "--apply"])) as Printed;
    expect(again.counts).toEqual({ bring: 0, here: planned.counts.bring, leave: planned.counts.leave });
    const keys = (await svcJson(["keys", "list", "--data-dir", server.dataDir])) as { keys: unknown[] };
    expect(keys.keys).toHaveLength(951);
    const audit = (await svcJson(["audit", "--data-dir", server.dataDir])) as { adds_up: boolean };
    expect(audit).toMatchObject({ adds_up: true });
  });

  test("leaves clients as they are: an old key, an old name of a model, and what its quota is", async () => {
    const client = new OpenAI({
      baseURL: `${server.url}/compat/v1`,
      apiKey: `sk-CANARY${"2".padStart(42, "0")}`,
    });
    const images = await client.images.generate({
      model: "pictures",
      prompt: "x",
      size: "64x64" as "1024x1024",
    });
    expect(images.data?.[0]?.b64_json).toBeString();
    const stranger = new OpenAI({
      baseURL: `${server.url}/compat/v1`,
      apiKey: `sk-CANARY${"x".padStart(42, "0")}`,
    });
    const refusal = await stranger.images.generate({ model: "pictures", prompt: "x" }).catch(String);
    expect(refusal).toContain("401");
    const { accounts } = (await svcJson(["accounts", "list", "--data-dir", server.dataDir])) as {
      accounts: { name: string; price_multiplier: string; balance: string }[];
    };
    // Quota of two million is four dollars; the group pays half of a cent.
    expect(accounts.find(({ name }) => name === "user2")).toMatchObject({
      price_multiplier: "0.5",
      balance: "3.995000",
    });
  });
});

describe("an import of LiteLLM", () => {
  const config = (folder: string) => {
    const path = join(folder, "config.yaml");
    writeFileSync(
      path,
      "model_list:\n  - { model_name: pictures, litellm_params: { model: openai/x, api_key: sk-CANARY-0123456789 } }\n",
    );
    return path;
  };
  const row = (name: string, token: string) => ({
    token,
    key_alias: name,
    models: [],
    max_budget: null,
    spend: 0,
  });

  test("of 1,000 keys and 200 deployments does what was planned, nothing twice, and says nothing secret", async () => {
    const server = await startServer();
    const folder = emptyFolder("litellm");
    const deployments = Array.from({ length: CHANNELS }, (_, i) => {
      const model = i % 2 === 0 ? "openai/gpt-image-2" : "openai/gpt-4o";
      return `  - { model_name: model-${i}, litellm_params: { model: ${model}, api_key: sk-CANARY-${i}-0123456789 } }`;
    });
    writeFileSync(join(folder, "config.yaml"), `model_list:\n${deployments.join("\n")}\n`);
    const keys = Array.from({ length: KEYS }, (_, i) => ({
      ...row(`key ${i % 100}`, hash(`sk-CANARY-${i}`)),
      ...{ max_budget: i % 2 === 0 ? 10 : null, budget_duration: i % 4 === 0 ? "30d" : null, spend: 1 },
      ...{ team_id: i % 3 === 0 ? `team-${i % 30}` : null, blocked: i % 20 === 19 },
    }));
    writeFileSync(join(folder, "list.json"), JSON.stringify({ keys }));
    const command = ["import", "litellm", "config.yaml", "--keys", "list.json", "--data-dir", server.dataDir];
    const plan = (await svcJson(command, { folder })) as Printed;
    expect(plan.counts.bring).toBeGreaterThan(950 + 100);
    const applied = await svc([...command, "--apply", "--json"], { folder });
    expect(JSON.parse(applied.stdout)).toEqual({ ...plan, applied: true });
    expect(applied.stdout + applied.stderr).not.toContain("CANARY");
    const made = (await svcJson(["keys", "list", "--data-dir", server.dataDir])) as { keys: unknown[] };
    expect(made.keys).toHaveLength(951);
    const again = (await svcJson([...command, "--apply"], { folder })) as Printed;
    expect(again.counts).toEqual({ bring: 0, here: plan.counts.bring, leave: plan.counts.leave });
    const clear = filesOf(server.dataDir).filter((path) => readFileSync(path).includes("sk-CANARY"));
    expect(clear).toEqual([]);
  });

  test("tells keys that clash, and gives keys that cannot go on new secrets, in a file for this user alone", async () => {
    const server = await startServer();
    const folder = emptyFolder("litellm");
    const list = join(folder, "list.json");
    const first = hash(server.firstKey());
    const rows = [
      row("default", hash("sk-other-key-of-theirs")),
      row("same", first),
      row("odd", "CANARY token"),
      row("twice", "CANARY token"),
    ];
    writeFileSync(list, JSON.stringify({ keys: rows }));
    const command = [
      "import",
      "litellm",
      config(folder),
      "--keys",
      list,
      "--map",
      "pictures=sandbox-image",
      "--data-dir",
      server.dataDir,
    ];
    const plan = (await svcJson(command)) as Printed;
    expect(
      plan.items
        .filter(({ kind }) => kind === "key")
        .map(({ from, to, action, note }) => [from, to, action, note]),
    ).toEqual([
      ["default", "default (litellm)", "bring", "its name is taken"],
      ["same", "default", "here", "the same key is here; it stays as it is"],
      ["odd", "odd", "bring", "gets a new secret: its own is not kept in a form that can go on"],
      ["twice", null, "leave", "another one there has the same key, and comes"],
    ]);
    const refused = await svc([...command, "--apply"]);
    expect([refused.exitCode, refused.stderr]).toMatchObject([2, expect.stringContaining("--new-keys FILE")]);
    const file = join(folder, "new.json");
    // What an import that was killed before it brought anything leaves.
    writeFileSync(
      file,
      JSON.stringify({ source: "litellm", keys: [{ name: "odd", key: "sk-svc-of-nobody" }] }),
    );
    const left = await svc([...command, "--apply", "--new-keys", file]);
    expect([left.exitCode, left.stderr]).toEqual([
      1,
      `error: ${file} is there already. An import that was cut off wrote it: none of its keys is here.\n  Remove it, and repeat the command.\n`,
    ]);
    rmSync(file);
    const applied = await svc([...command, "--apply", "--new-keys", file]);
    expect([applied.exitCode, applied.stdout + applied.stderr]).toEqual([
      0,
      expect.not.stringContaining("CANARY"),
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { keys } = JSON.parse(readFileSync(file, "utf8")) as { keys: { name: string; key: string }[] };
    expect(keys.map(({ name }) => name)).toEqual(["odd"]);
    const other = await svc([...command, "--source", "other", "--apply", "--new-keys", file]);
    expect([other.exitCode, other.stderr]).toEqual([
      1,
      `error: ${file} is there already.\n  Keep it, and give another file with --new-keys.\n`,
    ]);
    for (const apiKey of [keys[0]?.key ?? "", "sk-other-key-of-theirs"]) {
      const client = new OpenAI({ baseURL: `${server.url}/compat/v1`, apiKey });
      const { data } = await client.images.generate({
        model: "pictures",
        prompt: "x",
        size: "64x64" as "1024x1024",
      });
      expect(data).toHaveLength(1);
    }
    // Nothing is new now, so that no file is needed.
    const again = (await svcJson([...command, "--apply"])) as Printed;
    expect(again.counts.bring).toBe(0);
  });

  test("of half a file, of no database, of a newer version and of an unknown model is refused before anything changes, and names no secret", async () => {
    const server = await startServer();
    const folder = emptyFolder("litellm");
    const path = join(folder, "half.yaml");
    writeFileSync(path, "model_list:\n  - { model_name: pictures, litellm_params: { api_key: sk-CANARY");
    const into = ["--apply", "--data-dir", server.dataDir];
    const tokens = [{ id: 1, user_id: 1, key: `CANARY${"0".repeat(42)}`, status: 1, expired_time: -1 }];
    const users = [{ id: 1, username: "user1", status: 1, quota: 1, group: "default" }];
    const newer = await sqliteGateway(join(folder, "newer.db"), {
      ...{ of: "new-api", rows: { tokens, users } },
      renamed: { "tokens.allow_ips": "allowed_networks" },
    });
    const cut = join(folder, "cut.db");
    const whole = readFileSync(newer);
    writeFileSync(cut, whole.subarray(0, whole.length - 1));
    const tries = [
      ["litellm", path],
      ["litellm", config(folder), "--spend", "postgres://user:CANARY@127.0.0.1:1/litellm"],
      ["litellm", config(folder), "--spend", "CANARY://x"],
      ["litellm", config(folder), "--map", "a=no-such-model"],
      ["new-api", config(folder)],
      ["one-api", "mysql://root:CANARY@127.0.0.1:1/one"],
      ["new-api", newer],
      ["new-api", cut],
    ];
    for (const args of tries) {
      const { exitCode, stdout, stderr } = await svc(["import", ...args, ...into], { folder });
      expect(exitCode).toBeGreaterThan(0);
      expect(stdout + stderr).not.toContain("CANARY");
    }
    expect(existsSync(join(server.dataDir, "provider-keys"))).toBe(false);
    const { keys } = (await svcJson(["keys", "list", "--data-dir", server.dataDir])) as { keys: unknown[] };
    expect(keys).toHaveLength(1);
  });
});

test("keys of an environment are kept, once, and only where they go to the provider's own address", async () => {
  const server = await startServer();
  const folder = emptyFolder("env");
  writeFileSync(join(folder, ".env"), "export OPENAI_API_KEY='sk-CANARY-one' # mine\nFAL_KEY=CANARY-two\n");
  const command = ["import", "openai-env", "--file", ".env", "--data-dir", server.dataDir];
  const applied = await svc([...command, "--apply", "--plain"], { folder });
  expect(applied.stdout).toMatch(/OPENAI_API_KEY in .*\topenai\tcomes[\s\S]*FAL_KEY in .*\tfal\tcomes/);
  expect(applied.stdout + applied.stderr).not.toContain("CANARY");
  expect((await svcJson([...command, "--apply"], { folder })) as Printed).toMatchObject({
    counts: { bring: 0, here: 2, leave: 0 },
  });
  writeFileSync(
    join(folder, ".env"),
    "FAL_KEY=CANARY-two\nFAL_API_KEY=CANARY-two\nGOOGLE_API_KEY=CANARY-four\n",
  );
  const { items } = (await svcJson(command, { folder })) as Printed;
  expect(items.filter(({ note }) => note.includes("is read from"))).toMatchObject([
    {
      from: expect.stringMatching(/^GOOGLE_API_KEY in .*\.env$/),
      note: "the key of Google Gemini is read from GEMINI_API_KEY",
    },
  ]);
  const env = { OPENAI_API_KEY: "sk-CANARY-three", OPENAI_BASE_URL: "https://models.example/v1" };
  const moved = (await svcJson(["import", "openai-env", "--data-dir", server.dataDir, "--apply"], {
    env,
  })) as Printed;
  expect(moved.items).toMatchObject([
    { action: "leave", note: expect.stringContaining("base_url in svc.yaml") },
  ]);
});

test("a key that is used elsewhere is advised to have an account that no other key gets", async () => {
  const server = await startServer();
  const relay = (id: number, more: object) => ({
    ...{ id, type: 1, key: `sk-CANARY-${id}`, status: 1, name: "relay", models: "gpt-image-2" },
    ...more,
  });
  const channels = [
    relay(1, { base_url: "https://relay.example/v1" }),
    relay(2, { base_url: "" }),
    relay(3, { key: "sk-CANARY-1", base_url: "https://relay.example" }),
    relay(4, { models: "dall-e-9,gpt-4o" }),
  ];
  const database = join(emptyFolder("gateway"), "new-api.db");
  await sqliteGateway(database, { of: "new-api", rows: { channels } });
  const { items } = (await svcJson(["import", "new-api", database, "--data-dir", server.dataDir])) as Printed;
  const advice =
    "it is used at https://relay.example; give openai an account relay with that base_url in svc.yaml, then svc providers add openai --account relay";
  expect(items.filter(({ kind }) => kind === "provider_key")).toMatchObject([
    { action: "leave", note: advice },
    { action: "bring", to: "openai/relay-2" },
    { action: "leave", note: advice },
    { action: "leave", note: "no model here has a route to dall-e-9; --map says which one to take" },
  ]);
});

test("a name of a model that is newer than the keys that came is told, until it is among the aliases of the settings", async () => {
  const server = await startServer();
  const folder = emptyFolder("gateway");
  const list = {
    keys: [{ token: hash("sk-of-mary"), key_alias: "mary", models: [], max_budget: null, spend: 0 }],
  };
  writeFileSync(join(folder, "list.json"), JSON.stringify(list));
  const plan = async (names: readonly string[], ...flags: string[]) => {
    const models = names.map(
      (name) => `{ model_name: ${name}, litellm_params: { model: openai/gpt-image-2 } }`,
    );
    writeFileSync(join(folder, "config.yaml"), `model_list: [${models.join(", ")}]`);
    const command = ["import", "litellm", "config.yaml", "--keys", "list.json", "--data-dir", server.dataDir];
    const { items } = (await svcJson([...command, ...flags], { folder })) as Printed;
    return items.filter(({ kind }) => kind === "alias").map(({ from, action, note }) => [from, action, note]);
  };
  await plan(["pictures"], "--apply");
  const old = ["pictures", "here", "on the keys that were brought"];
  const why = "it is newer than the keys that were brought; put it below aliases in svc.yaml";
  expect(await plan(["pictures", "art"])).toEqual([old, ["art", "leave", why]]);
  writeFileSync(join(server.dataDir, "svc.yaml"), "aliases: { art: gpt-image-2 }");
  const known = "it is among the aliases of the settings";
  expect(await plan(["pictures", "art"])).toEqual([old, ["art", "here", known]]);
});

test("a price of a video stays there, because it is of a second or of the whole", async () => {
  const server = await startServer();
  const channel = { id: 1, type: 1, key: "sk-CANARY", status: 1, name: "a", models: "clip,pic" };
  const options = [{ key: "ModelPrice", value: '{"clip":0.1,"pic":0.05}' }];
  const database = join(emptyFolder("gateway"), "new-api.db");
  await sqliteGateway(database, { of: "new-api", rows: { channels: [channel], options } });
  const maps = ["--map", "clip=sandbox-video", "--map", "pic=sandbox-image"];
  const command = ["import", "new-api", database, ...maps, "--data-dir", server.dataDir];
  const { items } = (await svcJson(command)) as Printed;
  expect(
    items.filter(({ kind }) => kind === "price").map(({ to, action, note }) => [to, action, note]),
  ).toEqual([
    [
      ...["sandbox-video", "leave"],
      "it is of a second there, or of a whole video, as its channel has it: svc pricing set sandbox-video --per-second 0.100000, or --per-output",
    ],
    ["sandbox-image", "bring", "0.050000 USD for each output, whatever its size"],
  ]);
});
