import { describe, expect, test } from "bun:test";
import type { KeyGrant, ManagementToken } from "../../src/domain/access/account.ts";
import { formatCredential } from "../../src/domain/access/credential.ts";
import type { AtHand } from "../../src/domain/at-hand.ts";
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

/** Grants are at hand, or have to be fetched first. */
type Place = "at hand" | "fetched";

function setupAt(place: Place, found: { grant?: KeyGrant; of?: string; token?: ManagementToken } = {}) {
  let lookUps = 0;
  const lookUp = <T>(hash: string, credential: string, value: T): AtHand<T | undefined> => {
    lookUps += 1;
    const seen = hash === `hash of ${credential}` ? value : undefined;
    return place === "at hand" ? seen : Promise.resolve(seen);
  };
  const accounts: Pick<AccountStore, "grantByHash" | "tokenByHash"> = {
    grantByHash: (hash) => lookUp(hash, found.of ?? KEY, found.grant),
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

async function refusal(attempt: () => unknown): Promise<string> {
  try {
    await attempt();
  } catch (error) {
    if (error instanceof AppError && error.code === "invalid_api_key") return error.message;
    throw error;
  }
  throw new Error("It was taken.");
}

describe.each(["at hand", "fetched"] as const)("an API key whose grant is %s", (place) => {
  const setup = (found?: Parameters<typeof setupAt>[1]) => setupAt(place, found);

  test("says who it acts for and what it may do, and nobody asks where from", async () => {
    const policy = { concurrency: 4 };
    const { authenticate } = setup({ grant: { ...GRANT, policy } });
    expect(await authenticate(KEY, NOBODY)).toEqual({
      accountId: ACCOUNT,
      keyId: keyId(1),
      keyName: "web",
      policy,
      priceMultiplier: 1_250_000,
    });
  });

  test("is charged by its own multiplier before its account's", async () => {
    const { authenticate } = setup({ grant: { ...GRANT, policy: { priceMultiplier: 2_000_000 } } });
    expect((await authenticate(KEY, NOBODY)).priceMultiplier).toBe(2_000_000);
  });

  test("that is missing, malformed or of the other kind is refused without a look-up", async () => {
    const { authenticate, lookUps } = setup({ grant: GRANT, token: STORED });
    const bad = [undefined, "", "sk-svc-x", `${KEY.slice(0, -1)}!`, TOKEN];
    const refusals = await Promise.all(
      bad.map((credential) => refusal(() => authenticate(credential, NOBODY))),
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

  test("that another gateway made is taken where it was brought here, and reads as malformed where it was not", async () => {
    const old = "sk-4f_OlD.key-of-theirs";
    const brought = setup({ grant: GRANT, of: old });
    expect((await brought.authenticate(old, NOBODY)).keyName).toBe("web");
    const malformed = "The API key is malformed: check that it was copied whole.";
    expect(await refusal(() => setup({ grant: GRANT }).authenticate(old, NOBODY))).toBe(malformed);
    const revoked = setup({ grant: { ...GRANT, revokedAt: NOW - 1 }, of: old });
    expect(await refusal(() => revoked.authenticate(old, NOBODY))).toBe("The API key is not valid.");
    const asToken = await refusal(() => brought.authenticateOperator("x"));
    expect(await refusal(() => brought.authenticateOperator(old))).toBe(asToken);
    expect(brought.lookUps()).toBe(1);
  });

  test("that is no key anywhere is refused without a look-up", async () => {
    const { authenticate, lookUps } = setup({ grant: GRANT });
    const long = `sk-${"k".repeat(251)}`;
    const texts = [
      "sk-",
      "sk-123",
      "sk-with space",
      long,
      `sk-svc-${"k".repeat(30)}`,
      "pk-123456789",
      "sk-é12345",
    ];
    for (const text of texts) expect(await refusal(() => authenticate(text, NOBODY))).toMatch(/malformed/);
    expect(lookUps()).toBe(0);
  });

  test("that is revoked reads as one that never was", async () => {
    const revoked = setup({ grant: { ...GRANT, revokedAt: NOW - 1 } });
    const unknown = setup();
    const message = await refusal(() => unknown.authenticate(KEY, NOBODY));
    expect(message).toBe("The API key is not valid.");
    expect(await refusal(() => revoked.authenticate(KEY, NOBODY))).toBe(message);
  });

  test("is taken until it expires", async () => {
    const ends = (expiresAt: number) => setup({ grant: { ...GRANT, expiresAt } }).authenticate;
    expect((await ends(NOW + 1)(KEY, NOBODY)).keyName).toBe("web");
    expect(await refusal(() => ends(NOW)(KEY, NOBODY))).toBe("The API key has expired.");
  });

  test("of a suspended account is refused", async () => {
    const { authenticate } = setup({ grant: { ...GRANT, accountStatus: "suspended" } });
    expect(await refusal(() => authenticate(KEY, NOBODY))).toBe("The account of this API key is suspended.");
  });

  test("with a list of addresses is taken from those alone", async () => {
    const grant = { ...GRANT, policy: { allowIps: ["10.0.0.0/8", "2001:db8::/32"] } };
    const { authenticate } = setup({ grant });
    const from = (address: string | undefined) => () => authenticate(KEY, { address });
    for (const address of ["10.0.0.0", "10.255.255.255", "2001:db8::1"]) {
      expect((await from(address)()).keyName).toBe("web");
    }
    for (const address of ["9.255.255.255", "11.0.0.0", "2001:db9::1", "::1", "", undefined]) {
      expect(await refusal(from(address))).toBe("The API key may not be used from this address.");
    }
  });
});

describe.each(["at hand", "fetched"] as const)("a management token that is %s", (place) => {
  const setup = (found?: Parameters<typeof setupAt>[1]) => setupAt(place, found);

  test("says who manages", async () => {
    expect(await setup({ token: STORED }).authenticateOperator(TOKEN)).toEqual({
      tokenId: tokenId(1),
      tokenName: "ci",
      scopes: ["read", "keys"],
      expiresAt: undefined,
    });
  });

  test("that is missing, malformed, of the other kind, unknown, revoked or expired is refused", async () => {
    const { authenticateOperator, lookUps } = setup({ grant: GRANT });
    const bad = [undefined, "x", KEY];
    const refusals = await Promise.all(bad.map((each) => refusal(() => authenticateOperator(each))));
    expect(lookUps()).toBe(0);
    const revoked = setup({ token: { ...STORED, revokedAt: NOW } });
    refusals.push(await refusal(() => authenticateOperator(TOKEN)));
    refusals.push(await refusal(() => revoked.authenticateOperator(TOKEN)));
    const expired = setup({ token: { ...STORED, expiresAt: NOW } });
    refusals.push(await refusal(() => expired.authenticateOperator(TOKEN)));
    const expiring = setup({ token: { ...STORED, expiresAt: NOW + 1 } });
    expect((await expiring.authenticateOperator(TOKEN)).expiresAt).toBe(NOW + 1);
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
