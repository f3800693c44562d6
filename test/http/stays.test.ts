import { describe, expect, test } from "bun:test";
import { createStays, type StayLimits, whileStaying } from "../../src/http/stays.ts";
import { accountId, keyId, tokenId } from "../helpers/store.ts";

const LIMITS: StayLimits = {
  perKey: { streams: 2, waits: 3 },
  perAccount: { streams: 3, waits: 5 },
  total: 8,
};
const who = (account: number, key: number) => ({ accountId: accountId(account), keyId: keyId(key) });
const refused = (take: () => unknown) => {
  try {
    take();
    return undefined;
  } catch (error) {
    return error;
  }
};

describe("places for connections that stay", () => {
  test("of a management token are as many as a key's, and its own", () => {
    const stays = createStays(LIMITS);
    const token = { tokenId: tokenId(1) };
    stays("streams", token);
    const leave = stays("streams", token);
    expect(refused(() => stays("streams", token))).toMatchObject({
      code: "rate_limit_exceeded",
      facts: { whose: "token", what: "streams", most: 2 },
      message: "This management token may have 2 event streams at once, and has. Try again in 5 s.",
    });
    stays("streams", { tokenId: tokenId(2) });
    stays("streams", who(1, 1));
    leave();
    stays("streams", token);
  });

  test("are limited by key and by account, for each kind by itself", () => {
    const stays = createStays(LIMITS);
    stays("streams", who(1, 1));
    const leave = stays("streams", who(1, 1));
    const ofKey = { code: "rate_limit_exceeded", facts: { whose: "key", what: "streams", most: 2 } };
    expect(refused(() => stays("streams", who(1, 1)))).toMatchObject(ofKey);
    stays("streams", who(1, 2));
    const ofAccount = {
      code: "rate_limit_exceeded",
      details: { retryAfterSec: 5 },
      facts: { whose: "account" },
    };
    expect(refused(() => stays("streams", who(1, 2)))).toMatchObject(ofAccount);
    stays("waits", who(1, 1));
    leave();
    leave();
    stays("streams", who(1, 1));
    expect(refused(() => stays("streams", who(1, 1)))).toMatchObject(ofKey);
  });

  test("are limited in all, and one account leaves a quarter to others", () => {
    const stays = createStays(LIMITS);
    for (let i = 0; i < 3; i++) stays("waits", who(1, 1));
    for (let i = 0; i < 2; i++) stays("waits", who(1, 2));
    stays("streams", who(1, 1));
    const none = { code: "service_unavailable", details: { retryAfterSec: 5, shouldRetry: true } };
    expect(refused(() => stays("streams", who(1, 1)))).toMatchObject(none);
    stays("waits", who(2, 3));
    stays("waits", who(2, 3));
    expect(refused(() => stays("waits", who(3, 4)))).toMatchObject(none);
    expect(stays.open).toEqual({ streams: 1, waits: 7 });
  });

  test("are counted until they are given back, once each", () => {
    const stays = createStays(LIMITS);
    const leave = stays("streams", who(1, 1));
    stays("waits", who(1, 1));
    leave();
    leave();
    expect(stays.open).toEqual({ streams: 0, waits: 1 });
  });
});

describe("a place", () => {
  test("is given back with the answer, also with one that is an error", async () => {
    let left = 0;
    const leave = () => void left++;
    await whileStaying(leave, () => ({ status: 200, headers: {}, body: null }));
    expect(left).toBe(1);
    const failing = whileStaying(leave, () => {
      throw new Error("no");
    });
    expect(await failing.catch((error: Error) => error.message)).toBe("no");
    expect(left).toBe(2);
  });

  test("is kept until an answer that is made while it is read has been read", async () => {
    let left = 0;
    const over = Promise.withResolvers<void>();
    await whileStaying(
      () => void left++,
      () => ({ status: 200, headers: {}, body: null, over: over.promise }),
    );
    expect(left).toBe(0);
    over.resolve();
    await over.promise;
    expect(left).toBe(1);
  });
});
