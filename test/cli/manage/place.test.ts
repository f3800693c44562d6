import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { choosePlace, type PlaceFlags } from "../../../cli/manage/place.ts";
import { writeProfiles } from "../../../cli/profiles/profile-file.ts";
import { runProgram } from "../../../cli/program.ts";
import { auditForm } from "../../../src/domain/money/audit-form.ts";
import type { AuditReport } from "../../../src/domain/ports/audit.ts";
import { accountId, keyId } from "../../helpers/store.ts";
import {
  refusal,
  type Script,
  type ScriptedServer,
  startScriptedServer,
  success,
} from "../scripted-server.ts";
import { emptyFolder, fakeContext, svc } from "../support.ts";

const TOKEN = { SVC_MANAGEMENT_TOKEN: "mt-x" };
const PROD = { server: "https://prod.example", token: "mt-prod" };

function place(
  flags: PlaceFlags,
  given: { env?: Record<string, string>; hasFolder?: boolean; profile?: object } = {},
) {
  const cwd = emptyFolder();
  if (given.hasFolder === true) mkdirSync(join(cwd, "svc-data"));
  const env = { XDG_CONFIG_HOME: emptyFolder(), ...given.env };
  if (given.profile !== undefined) writeProfiles({ env }, new Map([["default", PROD]]));
  return choosePlace(flags, fakeContext({ cwd, env }));
}

describe("an administration command works", () => {
  test("on the folder, where no server is named", () => {
    expect(place({})).toBe("folder");
    expect(place({}, { hasFolder: true })).toBe("folder");
    expect(place({}, { env: { SVC_SERVER: "http://a", SVC_API_KEY: "sk-x" } })).toBe("folder");
    expect(place({ dataDir: "x" }, { env: TOKEN })).toBe("folder");
  });

  test("on a server that a flag names, whatever lies here", () => {
    for (const flags of [{ server: "http://a" }, { token: "mt-x" }, { profile: "prod" }])
      expect(place(flags, { hasFolder: true })).toBe("server");
  });

  test("on a server whose token is in a variable or a profile, where there is no folder", () => {
    expect(place({}, { env: TOKEN })).toBe("server");
    expect(place({}, { profile: PROD })).toBe("server");
  });

  test("on the folder with --local, whatever is wrong with the profiles", () => {
    const env = { XDG_CONFIG_HOME: emptyFolder() };
    chmodSync(writeProfiles({ env }, new Map([["default", PROD]])), 0o644);
    expect(place({ local: true }, { env })).toBe("folder");
    expect(() => place({}, { env })).toThrow(
      expect.objectContaining({ exitCode: 12, hint: expect.stringMatching(/--local\.$/) }),
    );
  });

  test("nowhere, where both are at hand and no flag says which", () => {
    const both = [
      { env: TOKEN, hasFolder: true },
      { profile: PROD, hasFolder: true },
      { env: { ...TOKEN, SVC_DATA_DIR: "elsewhere" } },
    ];
    for (const given of both) {
      expect(() => place({}, given)).toThrow(/^There is a management token .*, and a data folder here /);
      expect(place({ local: true }, given)).toBe("folder");
      expect(place({ server: "http://a" }, given)).toBe("server");
    }
    expect(() => place({ local: true, server: "http://a" })).toThrow(
      "--local is for the data folder and --server for a server; give one of them.",
    );
  });
});

let server: ScriptedServer | undefined;
afterEach(() => server?.[Symbol.dispose]());

function withServer(script: Script) {
  server = startScriptedServer(script);
  const flags = ["--server", server.url, "--token", "mt-secret"];
  return { server, run: (...args: string[]) => svc([...args, ...flags]) };
}

describe("a server", () => {
  test("gets the token, and no key", async () => {
    const { server, run } = withServer({ "GET /admin/v1/tokens": () => success({ tokens: [] }) });
    const { exitCode, stderr } = await run("tokens", "list");
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: `There are no tokens on ${server.url}. Make one: svc tokens create --name NAME --server ${server.url}\n`,
    });
    expect(server.seen[0]?.headers.get("authorization")).toBe("Bearer mt-secret");
  });

  test("is named before a list on a terminal, and not elsewhere", async () => {
    const { server } = withServer({ "GET /admin/v1/usage": () => refusal(404, "not_found", "None.") });
    const run = async (isTerminal: boolean) => {
      const context = fakeContext({ isTerminal, env: { XDG_CONFIG_HOME: emptyFolder() } });
      await runProgram(["usage", "--server", server.url, "--token", "mt-secret"], context);
      return context.stderr.text();
    };
    expect(await run(true)).toStartWith(`(on ${server.url})\n`);
    expect(await run(false)).toStartWith("error: None.");
  });

  test("is named in a question that is asked before a change", async () => {
    const { server } = withServer({});
    const env = { XDG_CONFIG_HOME: emptyFolder() };
    const context = fakeContext({ isTerminal: true, typed: ["no"], env });
    const flags = ["--server", server.url, "--token", "mt-secret"];
    expect(await runProgram(["keys", "revoke", "web", ...flags], context)).toBe(1);
    expect(context.stderr.text()).toContain(`Revoke key web on ${server.url}? A revoked key`);
    expect(server.seen).toEqual([]);
  });

  test("that refuses the token is answered with where tokens come from", async () => {
    const { run } = withServer({
      "GET /admin/v1/tokens": () => refusal(401, "invalid_api_key", "This is no management token."),
    });
    const { exitCode, stderr } = await run("tokens", "list");
    expect(exitCode).toBe(4);
    expect(stderr).toContain("Give a valid token with SVC_MANAGEMENT_TOKEN");
    expect(stderr).not.toContain("mt-secret");
  });

  test("whose answer to a create is lost is not asked again, and the message says how to look", async () => {
    const { server, run } = withServer({
      "POST /admin/v1/tokens": () => refusal(504, "upstream_timeout", "Too slow."),
    });
    const { exitCode, stderr } = await run("tokens", "create", "--name", "x");
    expect(exitCode).toBe(9);
    expect(stderr).toEndWith("The request may have arrived: `svc tokens list` shows whether it was done.\n");
    expect(server.seen).toHaveLength(1);
  });

  test("whose answer to a credit is lost gets the same credit again, with the same idempotency key", async () => {
    const account = {
      ...{ id: "acc_1", name: "shop", mode: "prepaid", status: "active", currency: "USD" },
      ...{ balance: "5.000000", held: "0.000000", available: "5.000000", credit_limit: "0.000000" },
      ...{ low_balance: null, price_multiplier: "1", created_at: 1 },
    };
    const { server, run } = withServer({
      "POST /admin/v1/accounts/shop/credit": (_, times) =>
        times === 1 ? refusal(504, "upstream_timeout", "Slow.", { "Retry-After": "0" }) : success(account),
    });
    const { exitCode, stdout } = await run("accounts", "credit", "shop", "5");
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "5.000000\n" });
    const [first, second] = server.seen.map(({ headers }) => headers.get("idempotency-key"));
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect(second).toBe(first);
  });

  test("of which a credit may have been counted says how to look, whatever came last", async () => {
    const lost = () => refusal(504, "upstream_timeout", "Slow.", { "Retry-After": "0" });
    const { server, run } = withServer({
      "POST /admin/v1/accounts/shop/credit": (_, times) =>
        times === 1 ? lost() : refusal(401, "invalid_api_key", "This token is revoked."),
      "POST /admin/v1/accounts/lab/credit": lost,
    });
    const [revoked, slow] = [
      await run("accounts", "credit", "shop", "5"),
      await run("accounts", "credit", "lab", "5"),
    ];
    expect([revoked.exitCode, slow.exitCode]).toEqual([4, 9]);
    expect(revoked.stderr).toEndWith("may have arrived: `svc ledger shop` shows whether it was done.\n");
    expect(slow.stderr).toEndWith("may have arrived: `svc ledger lab` shows whether it was done.\n");
    expect(server.seen).toHaveLength(2 + 6);
  });

  test("that refuses a create before it looks at it is asked again", async () => {
    const token = { id: "tok_1", name: "x", display: "mt-svc-…", status: "active", created_at: 1 };
    const { server, run } = withServer({
      "POST /admin/v1/tokens": (_, times) =>
        times === 1
          ? refusal(503, "service_unavailable", "Stopping.", { "Retry-After": "0" })
          : success({ ...token, revoked_at: null, token: "mt-new" }),
    });
    expect(await run("tokens", "create", "--name", "x")).toMatchObject({ exitCode: 0, stdout: "mt-new\n" });
    expect(server.seen).toHaveLength(2);
  });

  test("whose books differ is told so, in the same form, with sums that no number holds", async () => {
    const report: AuditReport = {
      rows: { accounts: 1, ledgerEntries: 2, tasks: 3, liveTasks: 0, quotas: 1, usageDays: 1 },
      sums: { credited: 90_071_992_547_409_931n, captured: 1n, refunded: 0n, balance: -5n, held: 0n },
      differences: [
        { check: "account_balance", accountId: accountId(1), stored: -5n, expected: 90_071_992_547_409_930n },
        { check: "quota_used", keyId: keyId(1), day: 0, stored: 1n, expected: 2n },
        { check: "usage_tasks", accountId: accountId(1), day: 20_000, stored: 3n, expected: 4n },
      ],
      sealed: { depth: "checksums", tasks: 0, ledgerEntries: 0 },
    };
    const { server, run } = withServer({ "GET /admin/v1/audit": () => success(auditForm(report)) });
    const { exitCode, stdout, stderr } = await run("audit", "--json");
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toEqual({ server: server.url, ...auditForm(report) });
    expect(JSON.parse(stderr).error.code).toBe("books_differ");
    const lines = (await run("audit")).stdout.split("\n").slice(-4, -1);
    expect(lines.map((line) => line.split("\t")[2])).toEqual([
      `account ${accountId(1)}: stored -0.000005 USD, must be 90071992547.409930 USD`,
      `key ${keyId(1)}: stored 0.000001 USD, must be 0.000002 USD`,
      `account ${accountId(1)}, day 2024-10-04: stored 3, must be 4`,
    ]);
  });

  test.each([
    ["another form", () => success({ tokens: [{ id: 5 }] }), 'is none of svc\'s: "id" is not text.'],
    ["no list", () => success({ tokens: "none" }), 'is none of svc\'s: "tokens" is not a list of objects.'],
    ["HTML", () => new Response("<h1>Hello</h1>"), "does not answer like an svc server."],
  ])("that answers in %s is named", async (_, answer, message) => {
    const { run } = withServer({ "GET /admin/v1/tokens": answer });
    const { stdout, stderr } = await run("tokens", "list");
    expect(stdout).toBe("");
    expect(stderr).toContain(message);
  });
});
