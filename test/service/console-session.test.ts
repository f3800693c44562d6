import { afterEach, describe, expect, test } from "bun:test";
import { ALL_SCOPES } from "../../src/domain/access/token-terms.ts";
import { AppError } from "../../src/domain/errors.ts";
import { createAddresses } from "../../src/runtime/address-ranges.ts";
import { createSecrets } from "../../src/runtime/secrets.ts";
import { createAuthenticate, createAuthenticateOperator } from "../../src/service/authenticate.ts";
import { createConsoleSessions } from "../../src/service/console-session.ts";
import { createManageAccounts } from "../../src/service/manage-account.ts";
import { openEmptyStore } from "../helpers/open-store.ts";
import { NOW, tokenId } from "../helpers/store.ts";

const HOUR_MS = 3_600_000;
const HERE = { address: "127.0.0.1" };

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function setup() {
  const store = openEmptyStore();
  stops.push(store.stop);
  let now = NOW;
  let count = 0;
  const deps = {
    ...{ accounts: store.accounts, sessions: store.sessions, usage: store.usage, charges: store.usage },
    ...{ addresses: createAddresses(), secrets: createSecrets() },
    clock: { now: () => now, elapsed: () => now, after: () => () => {} },
    ids: { create: (prefix: string) => `${prefix}_${String(++count).padStart(26, "0")}` as never },
  };
  const manage = createManageAccounts({ ...deps, actor: { kind: "local", name: "root" } });
  const [authenticate, authenticateOperator] = [createAuthenticate(deps), createAuthenticateOperator(deps)];
  const { key, record } = await manage.createKey({ name: "web" });
  const later = (ms: number) => {
    now += ms;
  };
  const sessions = createConsoleSessions({ ...deps, authenticate, authenticateOperator });
  return { deps, manage, sessions, key, keyId: record.id, authenticate, authenticateOperator, later };
}

const kindOf = (act: () => unknown) => {
  try {
    act();
    return "let in";
  } catch (error) {
    return error instanceof AppError ? error.facts.kind : String(error);
  }
};

describe("a session", () => {
  test("stands for its key for twelve hours, with the key's limits of the moment", async () => {
    const { sessions, key, keyId, manage, authenticate, later } = await setup();
    const { secret } = await sessions.signIn(key, HERE);
    const enter = (address = "127.0.0.1") => kindOf(() => authenticate({ session: secret }, { address }));
    expect(enter()).toBe("let in");
    await manage.updateKey(keyId, { allowIps: ["10.0.0.0/8"] });
    expect([enter(), enter("10.1.1.1")]).toEqual(["key_elsewhere", "let in"]);
    later(12 * HOUR_MS - 1);
    expect(enter("10.1.1.1")).toBe("let in");
    later(1);
    expect(enter("10.1.1.1")).toBe("session_ended");
  });

  test("ends with its key's secret: revoked, or replaced and no longer accepted", async () => {
    const { sessions, key, keyId, manage, authenticate, later } = await setup();
    const { secret } = await sessions.signIn(key, HERE);
    const enter = () => kindOf(() => authenticate({ session: secret }, HERE));
    await manage.rotateKey(keyId, { graceMs: HOUR_MS });
    expect(enter()).toBe("let in");
    later(HOUR_MS);
    expect(enter()).toBe("key_expired");
    await manage.revokeKey(keyId);
    expect(enter()).toBe("key_invalid");
  });

  test("is no credential: neither its secret nor its hash, nor a link, opens anything in a header", async () => {
    const { deps, sessions, key, manage, authenticate, authenticateOperator } = await setup();
    const { secret } = await sessions.signIn(key, HERE);
    const link = (await manage.createConsoleLink()).secret;
    for (const text of [secret, deps.secrets.hash(secret), deps.secrets.hash(key), link])
      expect([kindOf(() => authenticate(text, HERE)), kindOf(() => authenticateOperator(text))]).toEqual([
        "key_malformed",
        "token_malformed",
      ]);
    for (const session of [link, deps.secrets.hash(secret), key, ""])
      expect(kindOf(() => authenticateOperator({ session }))).toBe("session_ended");
  });

  test("is taken nowhere without a console", async () => {
    const { deps, sessions, key } = await setup();
    const { secret } = await sessions.signIn(key, HERE);
    const authenticate = createAuthenticate({ ...deps, sessions: undefined });
    expect(kindOf(() => authenticate({ session: secret }, HERE))).toBe("session_ended");
  });
});

describe("a link", () => {
  test("waits half an hour", async () => {
    const { sessions, manage, later } = await setup();
    const [one, other] = [await manage.createConsoleLink(), await manage.createConsoleLink()];
    later(HOUR_MS / 2 - 1);
    const { secret } = await sessions.openLink(one.secret);
    expect(await sessions.visitor(secret, HERE)).toMatchObject({
      kind: "operator",
      operator: { scopes: ALL_SCOPES },
    });
    later(1);
    expect(sessions.openLink(other.secret)).rejects.toThrow("used already, or has expired");
  });

  test("lets nobody stay longer than the token that made it, or do more", async () => {
    const { deps, sessions, later } = await setup();
    const actor = {
      kind: "token",
      tokenId: tokenId(9),
      tokenName: "short",
      scopes: ["read"],
      expiresAt: NOW + HOUR_MS,
    } as const;
    const { secret } = await createManageAccounts({ ...deps, actor }).createConsoleLink();
    const opened = await sessions.openLink(secret);
    const enter = () => sessions.visitor(opened.secret, HERE);
    expect(await enter()).toMatchObject({ operator: { scopes: ["read"] } });
    later(HOUR_MS);
    expect(enter()).rejects.toMatchObject({ facts: { kind: "token_expired" } });
  });

  test("that is taken back opens nothing", async () => {
    const { sessions, manage } = await setup();
    const { secret, session } = await manage.createConsoleLink();
    expect(await manage.listSessions()).toEqual([session]);
    await manage.endSession(session.id);
    expect(sessions.openLink(secret)).rejects.toThrow("used already");
    expect(manage.endSession(session.id)).rejects.toThrow("session");
  });
});
