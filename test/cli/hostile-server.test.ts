import { afterAll, describe, expect, test } from "bun:test";
import { runProgram } from "../../cli/program.ts";
import { fakeContext } from "./support.ts";

/* A server can write anything into an answer. Nothing of it may reach the terminal as a command. */

const CLEAR = "\u001b[2J";
const KEY = "sk-svc-any";
const TOKEN = "mt-svc-any";

const ACCOUNT = {
  ...{ id: "acc_1", name: `a${CLEAR}b`, mode: "prepaid", status: "active", currency: "USD" },
  ...{ balance: "1.000000", held: "0.000000", available: "1.000000", credit_limit: "0.000000" },
  ...{ low_balance: null, price_multiplier: "1", created_at: 1 },
};
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  routes: {
    "/": Response.json({ name: "svc", version: `9.${CLEAR}9.0` }),
    "/v1/account/status": Response.json({ data: { account: { id: "acc_1", name: `a${CLEAR}b` } } }),
    "/admin/v1/accounts": Response.json({ data: { accounts: [ACCOUNT] } }),
    "/admin/v1/accounts/x/activate": Response.json({ data: ACCOUNT }),
    "/v1/tasks": Response.json(
      { message: `No ${CLEAR} here`, data: { error_code: "invalid_request" } },
      { status: 400 },
    ),
  },
});
afterAll(() => server.stop(true));

describe("what a server wrote", () => {
  test.each([
    ["a name in fields and a version", ["whoami", "--key", KEY]],
    ["an error", ["api", "GET", "/v1/tasks", "--key", KEY]],
    ["a name in a table", ["accounts", "list", "--token", TOKEN]],
    ["a name in plain lines", ["accounts", "list", "--plain", "--token", TOKEN]],
    ["a name in a message", ["accounts", "activate", "x", "--token", TOKEN]],
  ])("is no command to the terminal: %s", async (_, args) => {
    const context = fakeContext({ isTerminal: true });
    await runProgram([...args, "--server", server.url.origin], context);
    const text = context.stdout.text() + context.stderr.text();
    expect(text).toContain("\\u001b[2J");
    expect(text).not.toContain(CLEAR);
  });
});
