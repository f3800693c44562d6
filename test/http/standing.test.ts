import { expect, test } from "bun:test";
import type { Principal } from "../../src/domain/access/account.ts";
import type { AtHand } from "../../src/domain/at-hand.ts";
import { AppError } from "../../src/domain/errors.ts";
import { StorageError } from "../../src/domain/ports/task-store.ts";
import { createStandings, requireStanding, whileAllowed } from "../../src/http/standing.ts";
import { fakeClock } from "../helpers/engine.ts";
import { PRINCIPAL } from "../helpers/principal.ts";

const REFUSAL = new AppError("invalid_api_key", { kind: "key_invalid" });

/** A caller whose check does as the test says. */
function caller() {
  const clock = fakeClock(0);
  let check: () => AtHand<Principal> = () => PRINCIPAL;
  let elapsedMs = 0;
  const standings = createStandings({ clock: { ...clock, elapsed: () => elapsedMs } });
  return {
    clock,
    standing: standings("/v1/events", () => check(), 0),
    refuseWith(error: Error) {
      check = () => {
        throw error;
      };
    },
    fetch(lookedUp: Promise<Principal>) {
      check = () => lookedUp;
    },
    pass(ms: number) {
      elapsedMs += ms;
    },
  };
}

const untilAborted = (signal: AbortSignal) =>
  new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve("let go")));

test("a wait ends with the refusal within a second of it", async () => {
  const { standing, clock, refuseWith } = caller();
  const waiting = whileAllowed(standing, untilAborted);
  refuseWith(REFUSAL);
  clock.advance(900);
  expect(await waiting.catch((error: unknown) => error)).toBe(REFUSAL);
});

test("a refusal hides whatever became of the work, also where nobody had looked yet", async () => {
  for (const work of [() => Promise.resolve("made"), () => Promise.reject(new Error("failed"))]) {
    const { standing, refuseWith } = caller();
    refuseWith(REFUSAL);
    expect(await whileAllowed(standing, work).catch((error: unknown) => error)).toBe(REFUSAL);
  }
});

test("a wait goes on while the database cannot say who is allowed", async () => {
  const { standing, clock, refuseWith } = caller();
  const { promise, resolve } = Promise.withResolvers<string>();
  const waiting = whileAllowed(standing, () => promise);
  refuseWith(new StorageError("busy", "busy"));
  clock.advance(10_000);
  resolve("made");
  expect(await waiting).toBe("made");
});

test("a wait goes on while its caller has to be looked up, and ends once the refusal is at hand", async () => {
  const { standing, clock, fetch, refuseWith } = caller();
  const waiting = whileAllowed(standing, untilAborted);
  fetch(Promise.reject(REFUSAL));
  clock.advance(900);
  expect(standing.refusal()).toBeUndefined();
  refuseWith(REFUSAL);
  clock.advance(900);
  expect(await waiting.catch((error: unknown) => error)).toBe(REFUSAL);
});

test("a further need is watched as the key is", async () => {
  const { standing, clock } = caller();
  let isMet = true;
  const needy = standing.needing(({ keyId }) => {
    if (!isMet)
      throw new AppError("permission_denied", { kind: "model_forbidden", model: keyId, field: "model" });
  });
  const waiting = whileAllowed(needy, untilAborted);
  isMet = false;
  clock.advance(900);
  expect(await waiting.catch((error: unknown) => error)).toMatchObject({ code: "permission_denied" });
});

test("a request is checked again before it acts only when it took long to arrive", () => {
  const { standing, pass, refuseWith } = caller();
  refuseWith(REFUSAL);
  requireStanding(standing);
  pass(500);
  expect(() => requireStanding(standing)).toThrow(REFUSAL);
});
