import { describe, expect, test } from "bun:test";
import { type ConsoleSession, linkTokenName } from "../../src/domain/access/console-session.ts";
import type { SessionId } from "../../src/domain/ids.ts";
import { bySystem, keyId, type MakeStore, NOW, tokenId, withStore } from "../helpers/store.ts";

const sessionId = (number: number) => `ses_${String(number).padStart(26, "0")}` as SessionId;

const session = (number: number, more: Partial<ConsoleSession> = {}): ConsoleSession => ({
  ...{ id: sessionId(number), kind: "management_token", grantHash: "token", isLink: false },
  ...{ holderId: tokenId(1), holderName: "ops", createdAt: NOW, expiresAt: NOW + 1_000 },
  ...more,
});

/** What every implementation of `SessionStore` does. `make` gives an empty store each time. */
export function describeSessionStore(name: string, make: MakeStore): void {
  describe(name, () => {
    test(
      "a session is found by its secret's hash alone, whole, until it is ended",
      withStore(make, async ({ sessions }) => {
        await sessions.create(session(1), "one");
        await sessions.create(session(2), "two");
        expect(await sessions.byHash("one", NOW)).toEqual(session(1));
        expect(await sessions.byHash("token", NOW)).toBeUndefined();
        expect(await sessions.end(sessionId(1))).toBe("ended");
        expect(await sessions.end(sessionId(1))).toBe("not_found");
        expect([await sessions.byHash("one", NOW), await sessions.byHash("two", NOW)]).toEqual([
          undefined,
          session(2),
        ]);
      }),
    );

    test(
      "a link is opened once, before it expires, and has another secret from then on",
      withStore(make, async ({ sessions }) => {
        const link = session(1, { isLink: true });
        await sessions.create(link, "link");
        await sessions.create(session(2), "open");
        const open = (hash: string, at: number) =>
          sessions.open(hash, { hash: `of ${hash} at ${at}`, at, expiresAt: at + 9_000 });
        expect([await open("none", NOW), await open("open", NOW), await open("link", NOW + 1_000)]).toEqual([
          undefined,
          undefined,
          undefined,
        ]);
        const tries = await Promise.all([open("link", NOW + 1), open("link", NOW + 2)]);
        // Which of two at the same time opens it is not said.
        const at = tries[0] === undefined ? NOW + 2 : NOW + 1;
        const opened = { ...link, isLink: false, expiresAt: at + 9_000 };
        expect(tries.filter((session) => session !== undefined)).toEqual([opened]);
        expect(await sessions.byHash("link", at)).toBeUndefined();
        expect(await sessions.byHash(`of link at ${at}`, at)).toEqual(opened);
      }),
    );

    test(
      "those that have expired are in no list, and are forgotten when another one begins",
      withStore(make, async ({ sessions }) => {
        await sessions.create(session(1), "one");
        await sessions.create(session(2, { expiresAt: NOW + 5_000 }), "two");
        expect((await sessions.all(NOW)).map(({ id }) => id)).toEqual([sessionId(2), sessionId(1)]);
        expect((await sessions.all(NOW + 1_000)).map(({ id }) => id)).toEqual([sessionId(2)]);
        expect(await sessions.byHash("one", NOW + 1_000)).toEqual(session(1));
        await sessions.create(session(3, { createdAt: NOW + 1_000, expiresAt: NOW + 2_000 }), "three");
        expect(await sessions.end(sessionId(1))).toBe("not_found");
      }),
    );

    test(
      "a key that signs in again and again has its last hundred sessions, and hides no operator's",
      withStore(make, async ({ sessions }) => {
        await sessions.create(session(1), "ops");
        const ofKey = { kind: "api_key", holderId: keyId(1), holderName: "laptop" } as const;
        for (let i = 0; i < 100; i++) {
          await sessions.create(session(2 + i, { ...ofKey, expiresAt: NOW + 2_000 + i }), `key ${i}`);
        }
        expect(await sessions.byHash("key 0", NOW)).toBeDefined();
        // A clock that was set back does not end the session that begins.
        await sessions.create(session(102, { ...ofKey, expiresAt: NOW + 1_500 }), "last");
        expect([await sessions.byHash("key 0", NOW), await sessions.byHash("key 1", NOW)]).toEqual([
          undefined,
          session(3, { ...ofKey, expiresAt: NOW + 2_001 }),
        ]);
        expect((await sessions.byHash("last", NOW))?.id).toBe(sessionId(102));
        const listed = await sessions.all(NOW);
        expect([listed.length, listed[0]?.id]).toEqual([101, sessionId(1)]);
      }),
    );

    test(
      "the token of a link goes with its session, and no other token does",
      withStore(make, async ({ sessions, accounts }) => {
        const ofLink = (number: number): Partial<ConsoleSession> => ({
          holderId: tokenId(number),
          holderName: linkTokenName(sessionId(number)),
        });
        const names = [1, 2, 3].map((number) => linkTokenName(sessionId(number)));
        for (const [i, tokenName] of [...names, "ops"].entries())
          await accounts.createToken(
            {
              ...{ id: tokenId(i + 1), name: tokenName, hash: `hash ${i}`, display: "mt-svc-abcd…wxyz" },
              ...{ scopes: ["read"], createdAt: NOW },
            },
            bySystem(),
          );
        const known = async () => (await accounts.tokens({ limit: 100 })).map((token) => token.name);
        await sessions.create(session(1, ofLink(1)), "one");
        await sessions.create(session(2, ofLink(2)), "two");
        await sessions.create(session(3, { ...ofLink(3), expiresAt: NOW + 5_000 }), "three");
        await sessions.create(session(4, { holderId: tokenId(4) }), "four");
        await sessions.create(session(5, { holderId: tokenId(4) }), "five");
        expect(await known()).toEqual([...names, "ops"]);
        await sessions.end(sessionId(1));
        await sessions.end(sessionId(4));
        expect(await known()).toEqual([...names.slice(1), "ops"]);
        await sessions.create(session(6, { createdAt: NOW + 1_000, expiresAt: NOW + 2_000 }), "six");
        expect(await known()).toEqual([...names.slice(2), "ops"]);
      }),
    );
  });
}
