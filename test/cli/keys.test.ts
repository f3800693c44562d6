import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { quotaField } from "../../cli/commands/keys/quota.ts";
import { readTermFlags } from "../../cli/flags/terms.ts";
import { KEY_TERMS } from "../../src/domain/access/key-policy.ts";
import { openStore } from "../../src/store/open.ts";
import { micros, newTask } from "../helpers/store.ts";
import { emptyFolder, svc } from "./support.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");

/** A folder with a data folder and a key "web" in it. */
async function withKey(...limits: string[]): Promise<string> {
  const cwd = emptyFolder();
  expect((await svc(["migrate"], { cwd })).exitCode).toBe(0);
  await json(cwd, "keys", "create", "--name", "web", ...limits);
  return cwd;
}

async function json(cwd: string, ...args: string[]) {
  const { exitCode, stdout, stderr } = await svc([...args, "--json"], { cwd });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return JSON.parse(stdout);
}

const UNLIMITED = {
  expires_at: null,
  models: null,
  features: null,
  allow_ips: null,
  requests_per_minute: null,
  concurrency: null,
  aliases: null,
  response_format: null,
  sync_wait_seconds: null,
  quota: null,
  price_multiplier: null,
};

describe("the limits of a key", () => {
  test("that name no model are told, and kept: the model may still come", async () => {
    const cwd = emptyFolder();
    await svc(["migrate"], { cwd });
    const told = (stderr: string) => stderr.split("\n").filter((line) => line.startsWith("! "));
    const given = ["--models", "nonsense,flux-dev,sandbox-*,none-*", "--alias", "mine=sandbox-imge"];
    const made = await svc(["keys", "create", "--name", "web", ...given], { cwd });
    expect([made.exitCode, told(made.stderr)]).toEqual([
      0,
      [
        "! models: nonsense is no model.",
        "! models: the id of no model fits none-*.",
        "! aliases: mine stands for sandbox-imge, which is no model. Did you mean sandbox-image?",
      ],
    ]);
    expect((await json(cwd, "keys", "show", "web")).models).toContain("nonsense");
    const changed = await svc(["keys", "update", "web", "--models", "flux-deb"], { cwd });
    expect(told(changed.stderr)).toEqual(["! models: flux-deb is no model. Did you mean flux-dev?"]);
    for (const unrelated of [
      ["--rpm", "6"],
      ["--models", "any"],
      ["--alias", "none"],
    ])
      expect(told((await svc(["keys", "update", "web", ...unrelated], { cwd })).stderr)).toEqual([]);
  });

  test("are given by flags, shown, changed one by one and lifted", async () => {
    const cwd = await withKey(
      ...["--expires", "2100-01-31", "--models", "sandbox-*, flux-dev", "--features", "images,compat"],
      ...["--rpm", "60", "--concurrency", "4", "--allow-ip", "10.0.0.1/8", "::1,192.0.2.7"],
      ...["--alias", "gpt-image-1=sandbox-image", "--compat-response-format", "url", "--sync-wait", "2m"],
      ...["--quota", "25.00", "--quota-reset", "monthly", "--price-multiplier", "1.25"],
    );
    const limits = {
      expires_at: Date.parse("2100-01-31T00:00:00Z") / 1000,
      models: ["sandbox-*", "flux-dev"],
      features: ["images", "compat"],
      allow_ips: ["10.0.0.0/8", "::1/128", "192.0.2.7/32"],
      requests_per_minute: 60,
      concurrency: 4,
      aliases: { "gpt-image-1": "sandbox-image" },
      response_format: "url",
      sync_wait_seconds: 120,
      quota: { limit: "25.000000", reset: "monthly" },
      price_multiplier: "1.25",
    };
    expect(await json(cwd, "keys", "show", "web")).toMatchObject(limits);
    expect(await json(cwd, "keys", "update", "web", "--concurrency", "9", "--models", "any")).toMatchObject({
      ...limits,
      concurrency: 9,
      models: null,
    });
    const lifted = await json(
      cwd,
      ...["keys", "update", "web", "--expires", "never", "--features", "any", "--rpm", "none"],
      ...["--concurrency", "none", "--allow-ip", "any", "--alias", "none"],
      ...["--compat-response-format", "none", "--sync-wait", "none"],
      ...["--quota", "none", "--price-multiplier", "none"],
    );
    expect(lifted).toMatchObject(UNLIMITED);
    expect(await json(cwd, "keys", "list")).toEqual({ keys: [lifted], next: null });
  });

  test("are told in words, to people", async () => {
    const cwd = await withKey(
      "--rpm",
      "60",
      "--models",
      "sandbox-*",
      "--quota",
      "5",
      "--price-multiplier",
      "2",
    );
    const row = (await svc(["keys", "list"], { cwd })).stdout.trimEnd().split("\t");
    expect(row.slice(6)).toEqual([
      "never",
      "models sandbox-*; creates a minute 60; quota 5.000000 USD total; prices × 2",
    ]);
    expect((await svc(["keys", "show", "web"], { cwd })).stdout).toContain("creates a minute\t60\n");
    expect(await svc(["keys", "update", "web", "--rpm", "9"], { cwd })).toMatchObject({
      exitCode: 0,
      stderr: "✓ Key web is changed in ./svc-data. A running server follows within a second.\n",
    });
  });

  test("hold a quota, of which amount and reset change apart", async () => {
    const cwd = await withKey("--quota", "25");
    const quotaAfter = async (...flags: string[]) =>
      (await json(cwd, "keys", "update", "web", ...flags)).quota;
    expect(await quotaAfter("--quota-reset", "daily")).toEqual({ limit: "25.000000", reset: "daily" });
    expect(await quotaAfter("--quota", "0.5")).toEqual({ limit: "0.500000", reset: "daily" });
    expect(await quotaAfter("--rpm", "9")).toEqual({ limit: "0.500000", reset: "daily" });
  });

  test("of a quota, tell what was spent and is held of it, as long as the key is active", async () => {
    const cwd = await withKey("--quota", "0.05");
    const { id, account_id: accountId } = await json(cwd, "keys", "show", "web");
    const store = openStore({ path: join(cwd, "svc-data/svc.db") });
    const task = newTask({ accountId, keyId: id, held: micros(30_000) });
    await store.tasks.admit({ task, assets: [], quota: { limit: micros(50_000), period: 0 } });
    await store.stop();
    expect((await json(cwd, "keys", "show", "web")).quota_use).toEqual({
      ...{ used: "0.000000", reserved: "0.030000", remaining: "0.020000", resets_at: null },
    });
    expect((await svc(["keys", "show", "web"], { cwd })).stdout).toEndWith(
      "of its quota\t0.020000 USD left; 0.000000 spent, 0.030000 held\n",
    );
    await svc(["keys", "revoke", "web", "--yes"], { cwd });
    expect((await json(cwd, "keys", "show", id)).quota_use).toBeUndefined();
  });

  test("of a quota that begins anew, tell until when it counts", () => {
    const amounts = { limit: micros(3), used: micros(1), reserved: micros(0), remaining: micros(2) };
    expect(quotaField({ ...amounts, reset: "daily", resetsAt: Date.parse("2026-11-22T00:00:00Z") })).toEqual([
      "of its quota",
      "0.000002 USD left until 2026-11-22 00:00:00Z; 0.000001 spent, 0.000000 held",
    ]);
  });

  test("that cannot be end with exit code 2, name the flag and change nothing", async () => {
    const cwd = await withKey();
    const before = await json(cwd, "keys", "show", "web");
    const refused: [string[], string][] = [
      [["--rpm", "0"], "--rpm must be an integer from 1 to 1000000, got 0."],
      [["--rpm", "many"], '--rpm must be a whole number from 1, or none, got "many".'],
      [["--concurrency", "10001"], "--concurrency must be an integer from 1 to 10000, got 10001."],
      [["--models", "a b"], '--models must hold ids of models, * standing for any characters, got "a b".'],
      [["--features", "audio"], '--features must hold some of images, videos, compat, got "audio".'],
      [["--allow-ip", "10.0.0.0/33"], 'got "10.0.0.0/33".'],
      [["--alias", "x"], '--alias must be like gpt-image-1=sandbox-image, or none, got "x".'],
      [
        ["--compat-response-format", "png"],
        '--compat-response-format must be one of b64_json, url, got "png".',
      ],
      [["--sync-wait", "2h"], "--sync-wait must be an integer from 1 to 3600, got 7200."],
      [
        ["--expires", "2001-01-01"],
        '--expires must be a time to come, before the year 10000, got "2001-01-01',
      ],
      [["--expires", "9999999d"], '--expires must be a time to come, before the year 10000, got "+02'],
      [["--quota", "-1"], '--quota must be an amount from 0, got "-1.000000".'],
      [
        ["--quota", "25,00"],
        '--quota must be an amount like 5.00, with at most nine digits before the point and six after, got "25,00".',
      ],
      [["--quota-reset", "daily"], "--quota must say how much the key may spend"],
      [
        ["--quota-reset", "hourly"],
        '--quota-reset must be one of total, daily, weekly, monthly, got "hourly".',
      ],
      [["--quota", "none", "--quota-reset", "daily"], "A quota that is lifted has no --quota-reset."],
      [["--price-multiplier", "1001"], "--price-multiplier must be a number above 0 and at most 1000"],
      [[], "There is nothing to change"],
    ];
    const answers = await Promise.all(
      refused.map(([flags]) => svc(["keys", "update", "web", ...flags], { cwd })),
    );
    for (const [i, [, says]] of refused.entries()) {
      expect([answers[i]?.exitCode, answers[i]?.stdout]).toEqual([2, ""]);
      expect(answers[i]?.stderr).toContain(says);
    }
    expect(await json(cwd, "keys", "show", "web")).toEqual(before);
    expect((await svc(["keys", "create", "--name", "x", "--rpm", "0"], { cwd })).exitCode).toBe(2);
    expect((await json(cwd, "keys", "list")).keys).toHaveLength(1);
  });
});

describe("--expires", () => {
  test.each([
    ["90d", "2027-02-19T12:00:00Z"],
    ["1h30m", "2026-11-21T13:30:00Z"],
    ["2027-01-31", "2027-01-31T00:00:00Z"],
    ["2028-02-29", "2028-02-29T00:00:00Z"],
    ["2027-01-31T12:30Z", "2027-01-31T12:30:00Z"],
    ["2027-01-31T12:30:15+02:00", "2027-01-31T10:30:15Z"],
  ])("%s is %s", (given, expected) => {
    expect(readTermFlags(KEY_TERMS, { expires: given }, NOW).expiresAt).toBe(Date.parse(expected));
  });

  test.each([
    "",
    "90",
    "soon",
    "2027-02-29",
    "2027-06-31",
    "2027-13-01",
    "2027-01-31T12:30",
    "31.1.2027",
    "-1d",
    "90 d",
  ])("%j is refused", (given) => {
    expect(() => readTermFlags(KEY_TERMS, { expires: given }, NOW)).toThrow("--expires must be ");
  });
});

describe("rotating a key", () => {
  test("shows another secret once and keeps the rest", async () => {
    const cwd = await withKey("--rpm", "60");
    const before = await json(cwd, "keys", "show", "web");
    const { key, ...rotated } = await json(cwd, "keys", "rotate", "web");
    expect(key).toMatch(/^sk-svc-[0-9A-Za-z]{38}$/);
    expect(rotated).toEqual({ ...before, display: rotated.display });
    expect(rotated.display).not.toBe(before.display);
    expect(await json(cwd, "keys", "show", "web")).toEqual(rotated);
  });

  test("with a grace tells until when the old secret is taken", async () => {
    const cwd = await withKey();
    const { display } = await json(cwd, "keys", "show", "web");
    const { stdout, stderr } = await svc(["keys", "rotate", "web", "--grace", "24h"], { cwd });
    expect(stdout).toMatch(/^sk-svc-[0-9A-Za-z]{38}\n$/);
    expect(stderr).toMatch(
      /^✓ Key web has another secret in \.\/svc-data; the old one is taken until \d{4}-.*Z\. Shown once:\n$/,
    );
    const { previous } = await json(cwd, "keys", "show", "web");
    expect(previous).toEqual({ display, expires_at: expect.any(Number) });
    expect((await svc(["keys", "show", "web"], { cwd })).stdout).toContain(`old key\t${display} until `);
  });

  test.each([
    ["soon", '--grace must be a duration such as 90s, 24h or 7d, got "soon".'],
    ["31d", "--grace must be from 0 to 2592000 (30 days), got 2678400."],
  ])("takes no grace of %s", async (grace, says) => {
    const { exitCode, stderr } = await svc(["keys", "rotate", "web", "--grace", grace], {
      cwd: await withKey(),
    });
    expect([exitCode, stderr.includes(says)]).toEqual([2, true]);
  });
});

test("--show-secret-only prints the key and nothing else", async () => {
  const cwd = await withKey();
  for (const command of [
    ["create", "--name", "ci"],
    ["rotate", "ci"],
  ]) {
    const { stdout, stderr } = await svc(["keys", ...command, "--show-secret-only"], { cwd });
    expect(stdout).toMatch(/^sk-svc-[0-9A-Za-z]{38}\n$/);
    expect(stderr).toBe("");
  }
});

describe("the callback secret of a key", () => {
  const GIVEN = `whsec_${"B".repeat(32)}`;
  const run = async (cwd: string, args: readonly string[], stdin?: string) =>
    svc(["keys", ...args], { cwd, ...(stdin === undefined ? {} : { stdin }) });

  test("is made and shown once, on a line of its own", async () => {
    const cwd = await withKey();
    const created = await run(cwd, ["create", "--name", "ci", "--callback-secret", "new"]);
    expect(created.stdout).toMatch(/^sk-svc-[0-9A-Za-z]{38}\nwhsec_[A-Za-z0-9+/]{43}=\n$/);
    expect(created.stderr).toMatch(/^✓ Key ci .* created in .*\. Shown once:\n$/);

    const changed = await run(cwd, ["update", "web", "--callback-secret", "new"]);
    expect(changed.stdout).toMatch(/^whsec_[A-Za-z0-9+/]{43}=\n$/);
    expect(changed.stderr).toBe(
      "✓ Key web is changed in ./svc-data. A running server follows within a second. Callback secret, shown once:\n",
    );

    const scripted = ["update", "web", "--callback-secret", "new", "--callback-secret-grace", "24h"];
    const alone = await run(cwd, [...scripted, "--show-secret-only"]);
    expect(alone).toEqual({ exitCode: 0, stdout: expect.stringMatching(/^whsec_\S{44}\n$/), stderr: "" });

    const made = await json(cwd, "keys", "update", "web", "--callback-secret", "new");
    const { callback_secret: secret, ...shown } = made;
    expect(secret).toMatch(/^whsec_/);
    expect(shown).toEqual(await json(cwd, "keys", "show", "web"));
    expect(shown).toMatchObject({ signs_callbacks: true });
  });

  test("is read from standard input, and shown by nothing", async () => {
    const cwd = await withKey();
    const printed = [
      await run(cwd, ["update", "web", "--callback-secret", "-"], `${GIVEN}\n`),
      await run(cwd, ["show", "web"]),
      await run(cwd, ["list"]),
      await run(cwd, ["list", "--json"]),
      await run(cwd, ["rotate", "web", "--json"]),
      await run(cwd, ["update", "web", "--rpm", "9", "--json"]),
      await svc(["audit", "--json"], { cwd }),
    ];
    expect(printed.map(({ exitCode }) => exitCode)).toEqual(printed.map(() => 0));
    expect(JSON.stringify(printed)).not.toContain("whsec_");
    expect(printed[1]?.stdout).toContain("callbacks\tsigned\n");
    expect(printed[2]?.stdout).toContain("\tcallbacks signed\n");
    expect(await json(cwd, "keys", "show", "web")).toMatchObject({ signs_callbacks: true });

    const none = await run(cwd, ["update", "web", "--callback-secret", "none"]);
    expect(none.stdout).not.toContain("signed");
    expect(await json(cwd, "keys", "show", "web")).toMatchObject({ signs_callbacks: false });
  });

  test.each<[string, string[], string, string]>([
    ["on the command line", ["--callback-secret", GIVEN], "", "--callback-secret must be new, none, or - "],
    [
      "that is too short",
      ["--callback-secret", "-"],
      GIVEN.slice(0, -1),
      '--callback-secret must be "new", or whsec_ and ',
    ],
    ["that is empty", ["--callback-secret", "-"], "", '--callback-secret must be "new", or whsec_ and '],
    [
      "that replaces nothing, but has a grace",
      ["--callback-secret", "none", "--callback-secret-grace", "1h"],
      "",
      "--callback-secret-grace is only for a callback secret that takes another one's place.",
    ],
    [
      "with a grace above 30 days",
      ["--callback-secret", "new", "--callback-secret-grace", "31d"],
      "",
      "--callback-secret-grace must be from 0 to 2592000 (30 days), got 2678400.",
    ],
    [
      "that was not made, but is to be shown",
      ["--callback-secret", "none", "--show-secret-only"],
      "",
      "--show-secret-only belongs to --callback-secret new, which is not given.",
    ],
  ])("%s is refused with exit code 2, is not repeated and changes nothing", async (_, flags, stdin, says) => {
    const cwd = await withKey();
    const { exitCode, stdout, stderr } = await run(cwd, ["update", "web", ...flags], stdin);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain(says);
    expect(stderr).not.toContain(GIVEN.slice(0, -1));
    expect(await json(cwd, "keys", "show", "web")).toMatchObject({ signs_callbacks: false });
  });
});
