import { describe, expect, test } from "bun:test";
import type { KeyGrant, ManagementToken } from "../../src/domain/access/account.ts";
import { formatCredential } from "../../src/domain/access/credential.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { AccountStore } from "../../src/domain/ports/account-store.ts";
import { createAddresses } from "../../src/runtime/address-ranges.ts";
import {
  type Caller,
  createAuthenticate,
  createAuthenticateOperator,
} from "../../src/service/authenticate.ts";
import { fakeClock } from "../helpers/engine.ts";
import { fakeSecrets } from "../helpers/secrets.ts";
import { ACCOUNT, keyId, NOW, tokenId } from "../helpers/store.ts";

const KEY = formatCredential("api_key", "k".repeat(32));
const TOKEN = formatCredential("management_token", "t".repeat(32));
const GRANT: KeyGrant = {
  keyId: keyId(1),
  keyName: "web",
  accountId: ACCOUNT,
  accountStatus: "active",
  policy: {},
  priceMultiplier: 1_250_000,
};
const STORED: ManagementToken = {
  id: tokenId(1),
  name: "ci",
  hash: `hash of ${TOKEN}`,
  display: "…",
  scopes: ["read", "keys"],
  createdAt: NOW,
};

/** A caller whose address nobody may ask for. */
const NOBODY: Caller = {
  get address(): never {
    throw new Error("The address was asked for.");
  },
};

function setup(found: { grant?: KeyGrant; token?: ManagementToken } = {}) {
  let lookUps = 0;
  const lookUp = <T>(hash: string, credential: string, value: T): T | undefined => {
    lookUps += 1;
    return hash === `hash of ${credential}` ? value : undefined;
  };
  const accounts: Pick<AccountStore, "grantByHash" | "tokenByHash"> = {
    grantByHash: (hash) => lookUp(hash, KEY, found.grant),
    tokenByHash: (hash) => lookUp(hash, TOKEN, found.token),
  };
  const deps = {
    // What is not asked for here is not there.
    accounts: accounts as AccountStore,
    addresses: createAddresses(),
    clock: fakeClock(NOW),
    secrets: fakeSecrets({ hash: (text) => `hash of ${text}` }),
  };
  return {
    authenticate: createAuthenticate(deps),
    authenticateOperator: createAuthenticateOperator(deps),
    lookUps: () => lookUps,
  };
}

function refusal(attempt: () => unknown): string {
  try {
    attempt();
  } catch (error) {
    if (error instanceof AppError && error.code === "invalid_api_key") return error.message;
    throw error;
  }
  throw new Error("It was taken.");
}

describe("an API key", () => {
  test("says who it acts for and what it may do, and nobody asks where from", () => {
    const policy = { concurrency: 4 };
    const { authenticate } = setup({ grant: { ...GRANT, policy } });
    expect(authenticate(KEY, NOBODY)).toEqual({
      accountId: ACCOUNT,
      keyId: keyId(1),
      keyName: "web",
      policy,
      priceMultiplier: 1_250_000,
    });
  });

  test("is charged by its own multiplier before its account's", () => {
    const { authenticate } = setup({ grant: { ...GRANT, policy: { priceMultiplier: 2_000_000 } } });
    expect(authenticate(KEY, NOBODY).priceMultiplier).toBe(2_000_000);
  });

  test("that is missing, malformed or of the other kind is refused without a look-up", () => {
    const { authenticate, lookUps } = setup({ grant: GRANT, token: STORED });
    const refusals = [undefined, "", "sk-svc-x", `${KEY.slice(0, -1)}!`, TOKEN].map((credential) =>
      refusal(() => authenticate(credential, NOBODY)),
    );
    expect(refusals).toEqual([
      "No API key was given. Send it as `Authorization: Bearer <API_KEY>`.",
      "No API key was given. Send it as `Authorization: Bearer <API_KEY>`.",
      "The API key is malformed: check that it was copied whole.",
      "The API key is malformed: check that it was copied whole.",
      "This is a management token; model APIs take an API key.",
    ]);
    expect(lookUps()).toBe(0);
  });

  test("that is revoked reads as one that never was", () => {
    const revoked = setup({ grant: { ...GRANT, revokedAt: NOW - 1 } });
    const unknown = setup();
    const message = refusal(() => unknown.authenticate(KEY, NOBODY));
    expect(message).toBe("The API key is not valid.");
    expect(refusal(() => revoked.authenticate(KEY, NOBODY))).toBe(message);
  });

  test("is taken until it expires", () => {
    const ends = (expiresAt: number) => setup({ grant: { ...GRANT, expiresAt } }).authenticate;
    expect(ends(NOW + 1)(KEY, NOBODY).keyName).toBe("web");
    expect(refusal(() => ends(NOW)(KEY, NOBODY))).toBe("The API key has expired.");
  });

  test("of a suspended account is refused", () => {
    const { authenticate } = setup({ grant: { ...GRANT, accountStatus: "suspended" } });
    expect(refusal(() => authenticate(KEY, NOBODY))).toBe("The account of this API key is suspended.");
  });

  test("with a list of addresses is taken from those alone", () => {
    const grant = { ...GRANT, policy: { allowIps: ["10.0.0.0/8", "2001:db8::/32"] } };
    const { authenticate } = setup({ grant });
    const from = (address: string | undefined) => () => authenticate(KEY, { address });
    for (const address of ["10.0.0.0", "10.255.255.255", "2001:db8::1"]) {
      expect(from(address)().keyName).toBe("web");
    }
    for (const address of ["9.255.255.255", "11.0.0.0", "2001:db9::1", "::1", "", undefined]) {
      expect(refusal(from(address))).toBe("The API key may not be used from this address.");
    }
  });
});

describe("a management token", () => {
  test("says who manages", () => {
    expect(setup({ token: STORED }).authenticateOperator(TOKEN)).toEqual({
      tokenId: tokenId(1),
      tokenName: "ci",
      scopes: ["read", "keys"],
      expiresAt: undefined,
    });
  });

  test("that is missing, malformed, of the other kind, unknown, revoked or expired is refused", () => {
    const { authenticateOperator, lookUps } = setup({ grant: GRANT });
    const refusals = [undefined, "x", KEY].map((each) => refusal(() => authenticateOperator(each)));
    expect(lookUps()).toBe(0);
    const revoked = setup({ token: { ...STORED, revokedAt: NOW } });
    refusals.push(refusal(() => authenticateOperator(TOKEN)));
    refusals.push(refusal(() => revoked.authenticateOperator(TOKEN)));
    const expired = setup({ token: { ...STORED, expiresAt: NOW } });
    refusals.push(refusal(() => expired.authenticateOperator(TOKEN)));
    const expiring = setup({ token: { ...STORED, expiresAt: NOW + 1 } });
    expect(expiring.authenticateOperator(TOKEN).expiresAt).toBe(NOW + 1);
    expect(refusals).toEqual([
      "No management token was given. Send it as `Authorization: Bearer <MANAGEMENT_TOKEN>`.",
      "The management token is malformed: check that it was copied whole.",
      "This is an API key; a management token is needed here.",
      "The management token is not valid.",
      "The management token is not valid.",
      "The management token has expired.",
    ]);
  });
});
