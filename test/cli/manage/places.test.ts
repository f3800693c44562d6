import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startPlaces } from "./two-places.ts";

let places: Awaited<ReturnType<typeof startPlaces>>;
beforeAll(async () => {
  places = await startPlaces();
});
afterAll(() => places.stop());

const LIMITS = [
  ...["--expires", "2100-01-31", "--models", "sandbox-*, flux-dev", "--features", "images,compat"],
  ...["--rpm", "60", "--concurrency", "4", "--allow-ip", "10.0.0.1/8", "::1"],
  ...["--alias", "gpt-image-1=sandbox-image", "--compat-response-format", "url", "--sync-wait", "2m"],
  ...["--quota", "25.00", "--quota-reset", "monthly", "--price-multiplier", "1.25"],
];

/** In this order: later ones see what earlier ones did. */
const COMMANDS: readonly (readonly string[])[] = [
  ["callbacks", "list"],
  ["callbacks", "list", "--json"],
  ["callbacks", "list", "--all", "--state", "failed"],
  ["callbacks", "list", "--account", "default", "--of-key", "default", "--field", "callbacks.*.host"],
  ["callbacks", "list", "--account", "nobody"],
  ["callbacks", "list", "--of-key", "nobody"],
  ["callbacks", "list", "--task", "TASK"],
  ["callbacks", "list", "--task", "task_none"],
  ["callbacks", "show", "CALLED"],
  ["callbacks", "show", "CALLED", "--json"],
  ["callbacks", "show", "TASK"],
  ["callbacks", "show", "cb_none"],
  ["callbacks", "redeliver", "cb_none"],
  ["callbacks", "redeliver", "--since", "2001-01-01", "--until", "2001-01-02"],
  ["callbacks", "redeliver", "--since", "1h", "--account", "default", "--quiet"],
  ["models", "list", "--all"],
  ["models", "show", "sandbox-image", "--json"],
  ["models", "schema", "veo3"],
  ["models", "show", "no-such-model"],
  ["providers", "list", "--all", "--json"],
  ["providers", "show", "kling"],
  ["providers", "show", "kling", "--yaml"],
  ["providers", "show", "nobody", "--json"],
  ["providers", "test", "bfl"],
  ["providers", "test", "sandbox", "--field", "accounts.0.result"],
  ["routes", "block", "sandbox", "picture", "--reason", "spring cleaning", "--field", "0.detail"],
  ["routes", "list", "--field", "0.state"],
  ["routes", "allow", "sandbox/default", "--field", "0.state"],
  ["routes", "block", "sandbx"],
  ["routes", "block", "sandbox/second"],
  ["routes", "block", "sandbox", "drawing"],
  ["keys", "snippet", "default", "--for", "mcp-cursor", "--url", "https://svc.example/"],
  ["keys", "snippet", "default", "--for", "list", "--json"],
  ["keys", "snippet", "nobody", "--for", "curl"],
  ["keys", "snippet", "default", "--for", "crul"],
  ["keys", "snippet", "default", "--for", "curl", "--with-secret"],
  ["accounts", "create", "studio", "--credit", "5.00"],
  ["accounts", "create", "studio"],
  ["accounts", "create", "vast", "--credit", "999999999.999999"],
  ["accounts", "credit", "vast", "999999999.999999", "--json"],
  ["ledger", "vast"],
  ["accounts", "create", "free", "--mode", "unlimited", "--json"],
  ["accounts", "update", "studio", "--credit-limit", "10.00", "--low-balance", "1.00"],
  ["accounts", "update", "studio", "--retain-outputs", "30d", "--retain-tasks", "365d"],
  ["accounts", "update", "studio", "--retain-outputs", "2h", "--retain-tasks", "90d", "--json"],
  ["accounts", "update", "studio", "--low-balance", "none", "--price-multiplier", "1.25", "--json"],
  ["accounts", "update", "studio", "--credit-limit", "-1.00"],
  ["accounts", "credit", "studio", "2.5", "--reason", "invoice 7"],
  ["accounts", "credit", "studio", "-100", "--reason", "too much"],
  ["accounts", "credit", "studio", "0"],
  ["accounts", "credit", "nobody", "1"],
  ["accounts", "suspend", "free", "--yes"],
  ["accounts", "activate", "free", "--json"],
  ["accounts", "show", "studio"],
  ["accounts", "show", "studio", "--json"],
  ["accounts", "show", "nobody", "--json"],
  ["accounts", "list"],
  ["accounts", "list", "--json"],
  ["accounts", "list", "--limit", "1", "--json"],
  ["accounts", "list", "--limit", "none"],
  ["accounts", "refund", "TASK", "--reason", "wrong picture", "--amount", "0.001"],
  ["accounts", "refund", "TASK", "--reason", "again"],
  ["accounts", "refund", "task_none", "--reason", "unknown"],
  ["keys", "create", "--name", "web", "--account", "studio", ...LIMITS],
  ["keys", "create", "--name", "web", "--account", "studio"],
  ["keys", "create", "--name", " x"],
  ["keys", "create", "--name", "x", "--account", "nobody"],
  ["keys", "create", "--name", "x", "--expires", "2001-01-01"],
  ["keys", "create", "--name", "signed", "--callback-secret", "new", "--json"],
  ["keys", "create", "--name", "script", "--show-secret-only"],
  ["keys", "list"],
  ["keys", "list", "--account", "studio", "--json"],
  ["keys", "list", "--limit", "2"],
  ["keys", "list", "--limit", "2", "--newest-first"],
  ["keys", "list", "--account", "nobody"],
  ["keys", "show", "web"],
  ["keys", "show", "web", "--json"],
  ["keys", "show", "no such/key?"],
  ["keys", "update", "web", "--models", "sandbox-*, flux-deb, none-*"],
  ["keys", "update", "web", "--rpm", "none", "--models", "any", "--quota-reset", "daily"],
  ["keys", "update", "web", "--callback-secret", "new", "--json"],
  ["keys", "update", "web", "--callback-secret", "none", "--expires", "never", "--json"],
  ["keys", "rotate", "web", "--grace", "24h"],
  ["keys", "show", "web"],
  ["keys", "rotate", "web", "--grace", "60d"],
  ["keys", "revoke", "web", "--yes"],
  ["keys", "revoke", "web", "--yes"],
  ["keys", "rotate", "signed", "--json"],
  ["tokens", "create", "--name", "console"],
  ["tokens", "create", "--name", "console"],
  ["tokens", "create", "--name", "reader", "--scopes", "read,keys", "--json"],
  ["tokens", "create", "--name", "reader", "--scopes", "everything"],
  ["tokens", "create", "--name", "reader", "--expires", "2001-01-01"],
  ["tokens", "create", "--name", "month", "--scopes", "money", "--expires", "30d"],
  ["tokens", "list", "--json"],
  ["tokens", "revoke", "console", "--yes"],
  ["tokens", "revoke", "nobody", "--yes"],
  ["console", "list"],
  ["console", "end", "ses_none"],
  ["usage"],
  ["usage", "--by", "key", "--json"],
  ["usage", "--by", "model", "--csv"],
  ["usage", "--account", "nobody"],
  ["usage", "--since", "2026-02-01", "--until", "2026-01-01"],
  ["ledger", "studio"],
  ["ledger", "default", "--json"],
  ["ledger", "default", "--limit", "1"],
  ["ledger", "studio", "--csv"],
  ["ledger", "nobody"],
  ["audit"],
  ["audit", "--field", "sums"],
  ["pricing", "list"],
  ["pricing", "list", "--json"],
  ["pricing", "show", "sandbox-video"],
  ["pricing", "show", "veo3", "--json"],
  ["pricing", "show", "no-such-model"],
  ["pricing", "show", "sandbox-video", "-i", "duration=5", "--price-multiplier", "1.25"],
  ["pricing", "show", "sandbox-image", "-n", "3", "--json"],
  ["pricing", "show", "sandbox-video", "-i", "duration=500"],
  ["pricing", "set", "sandbox-image", "--per-output", "0.012", "--reason", "from December on"],
  ["pricing", "set", "sandbox-image", "--per-output", "0.012", "--reason", "x".repeat(201)],
  ["pricing", "set", "sandbox-image", "--per-second", "0.012"],
  ["pricing", "set", "no-such-model", "--per-output", "0.012"],
  ["pricing", "show", "sandbox-image", "--json"],
  ["pricing", "reset", "sandbox-image", "--yes", "--json"],
  ["pricing", "reset", "sandbox-image", "--yes"],
  ["assets", "list", "--field", "assets.*.sha256"],
  ["assets", "list", "--limit", "1", "--field", "assets.0.role"],
  ["assets", "list", "--after", "x"],
  ["assets", "verify", "--json"],
  ["assets", "gc", "--dry-run", "--json"],
  ["assets", "gc", "--yes"],
  ["db", "check", "--field", "ok"],
  ["providers", "remove", "bfl", "--account", "none", "--yes"],
  ["accounts", "create", "leaver"],
  ["accounts", "purge", "leaver", "--yes", "--json"],
  ["accounts", "purge", "nobody", "--yes"],
  ["audit", "log", "--json", "--limit", "100"],
  ["audit", "log", "--object", "web", "--all", "--json"],
  ["audit", "log", "--action", "key.create", "--field", "entries.*.object.name"],
  ["audit", "log", "--since", "1h", "--until", "2001-01-01"],
  ["audit", "log", "--action", "nonsense"],
  ["audit", "log", "--limit", "0"],
];

describe("on a server, as in its folder", () => {
  test.each(COMMANDS.map((args) => [args.join(" "), args] as const))("svc %s", async (_, args) => {
    const [there, here] = [await places.onServer(args), await places.inFolder(args)];
    expect(there.stdout).toBe(here.stdout);
    expect(there.exitCode).toBe(here.exitCode);
    // A refusal of a flag's value names the flag in both, and the server's message names the API's field.
    if (here.exitCode === 2) expect(there.stderr).toStartWith("error: --");
    else expect(there.stderr).toBe(here.stderr);
  });
});

test("a credit that arrives twice with one idempotency key counts once", async () => {
  const { url, token } = places.running;
  const credit = async (key: string, amount: string) => {
    const response = await fetch(`${url}/admin/v1/accounts/free/credit`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${token}`,
        "Content-Type": "application/json",
        "Idempotency-Key": key,
      },
      body: JSON.stringify({ amount, reason: "invoice 8" }),
    });
    const { data } = (await response.json()) as { data: { balance?: string; error_code?: string } };
    return [response.status, data.balance ?? data.error_code];
  };
  expect(await credit("a", "1.00")).toEqual([200, "1.000000"]);
  expect(await credit("a", "1.00")).toEqual([200, "1.000000"]);
  expect(await credit("a", "2.00")).toEqual([409, "idempotency_conflict"]);
  expect(await credit("ä", "2.00")).toEqual([400, "invalid_idempotency_key"]);
  expect(await credit("b", "1.00")).toEqual([200, "2.000000"]);
});
