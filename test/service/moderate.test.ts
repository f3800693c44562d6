import { expect, test } from "bun:test";
import type { Principal } from "../../src/domain/access/account.ts";
import type { KeyPolicy } from "../../src/domain/access/key-policy.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { AccountId, KeyId, ModelId } from "../../src/domain/ids.ts";
import type { Model } from "../../src/domain/model/model.ts";
import type { Judged } from "../../src/domain/overview.ts";
import type { Check, CheckVerdict, ModeratedRequest } from "../../src/domain/ports/moderation.ts";
import { createModerate } from "../../src/service/moderate.ts";

const ALLOWED = { kind: "allowed" } as const;
const OUTAGE = { kind: "outage", reason: "answered with status 500" } as const;
const CANARY = "canary-in-the-prompt";
const MODEL = { id: "fox" as ModelId, kind: "image", mediaFields: [], schema: {} } as unknown as Model;

function check(name: string, run: Check["run"], given: Partial<Check> = {}): Check {
  return { name, onOutage: "refuse", isQuick: false, run, ...given };
}

const says = (name: string, verdict: CheckVerdict, given?: Partial<Check>) =>
  check(name, () => verdict, given);
const later = (name: string, verdict: CheckVerdict, given?: Partial<Check>) =>
  check(name, async () => verdict, given);

function setup(checks: readonly Check[], policy: KeyPolicy = {}) {
  let now = 0;
  const lines: object[] = [];
  const judged: Omit<Judged, "durationMs">[] = [];
  const write = (fields: object, msg: string) => lines.push({ ...fields, msg });
  const moderate = createModerate({
    moderation: () => ({
      checks: new Map(checks.map((each) => [each.name, each])),
      apply: checks.map(({ name }) => name),
      models: [],
    }),
    clock: { elapsed: () => now },
    log: { info: write, warn: write },
    tally: { moderated: ({ durationMs: _, ...each }) => judged.push(each) },
  });
  const principal: Principal = {
    ...{
      accountId: "acc_1" as AccountId,
      keyId: "key_1" as KeyId,
      keyName: "web",
      policy,
      priceMultiplier: 1e6,
    },
  };
  const request = { model: MODEL, body: { prompt: CANARY }, principal, requestId: "req_1" };
  return {
    lines,
    judged,
    pass(ms: number) {
      now += ms;
    },
    isFor: () => moderate.isFor(request),
    check: (more: object = {}) =>
      moderate.check({ ...request, ...more }).then(
        () => "accepted",
        (error: unknown) => (error instanceof AppError ? error : Promise.reject(error)),
      ),
  };
}

test("a request that every check allows is accepted, and each verdict is counted", async () => {
  const { check: ask, judged, lines } = setup([says("a", ALLOWED), later("b", ALLOWED)]);
  expect(await ask()).toBe("accepted");
  expect(judged).toEqual([
    { check: "a", verdict: "allowed" },
    { check: "b", verdict: "allowed" },
  ]);
  expect(lines).toEqual([]);
});

test("a refusal names the field to its caller, and check and rule in the log alone", async () => {
  const {
    check: ask,
    judged,
    lines,
  } = setup([says("a", { kind: "refused", rule: "words[3]", field: "prompt" })]);
  const error = await ask();
  expect(error).toMatchObject({ code: "content_policy_violation", param: "prompt" });
  expect((error as AppError).message).toBe("The content policy of this service refuses prompt.");
  expect((error as AppError).details).toEqual({ shouldRetry: false });
  expect(judged).toEqual([{ check: "a", verdict: "refused" }]);
  const about = {
    check: "a",
    model: "fox",
    key: "web",
    request_id: "req_1",
    rule: "words[3]",
    field: "prompt",
  };
  expect(lines).toEqual([{ ...about, msg: "a request was refused for its content" }]);
});

test("what a check may know of a request is its texts and whose it is", async () => {
  let asked: ModeratedRequest | undefined;
  const { check: ask } = setup([
    check("a", (request) => {
      asked = request;
      return ALLOWED;
    }),
  ]);
  await ask();
  expect(asked).toEqual({
    ...{ kind: "image", model: "fox" as ModelId, accountId: "acc_1" as AccountId, keyId: "key_1" as KeyId },
    texts: [{ field: "prompt", text: CANARY }],
  });
});

test("while a check cannot tell, requests are refused as for a while, or accepted without it", async () => {
  const refusing = setup([later("a", OUTAGE)]);
  const error = await refusing.check();
  expect(error).toMatchObject({
    code: "moderation_unavailable",
    details: { retryAfterSec: 5, shouldRetry: true },
  });
  const allowing = setup([later("a", OUTAGE, { onOutage: "allow" })]);
  expect(await allowing.check()).toBe("accepted");
  expect([refusing.judged, allowing.judged]).toEqual([
    [{ check: "a", verdict: "outage" }],
    [{ check: "a", verdict: "outage" }],
  ]);
});

test("the log tells of a check that cannot tell once in ten seconds", async () => {
  const { check: ask, lines, pass } = setup([later("a", OUTAGE)]);
  await ask();
  await ask();
  pass(9_999);
  await ask();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({
    ...{ check: "a", reason: "answered with status 500" },
    msg: "a check of content cannot tell; requests are refused",
  });
  pass(1);
  await ask();
  expect(lines).toHaveLength(2);
});

test("a refusal counts more than that another check cannot tell", async () => {
  const { check: ask } = setup([later("a", OUTAGE), later("b", { kind: "refused" })]);
  expect(await ask()).toMatchObject({ code: "content_policy_violation" });
});

test("no slow check is asked about what a quick one refuses", async () => {
  let isAsked = false;
  const slow = check("slow", async () => {
    isAsked = true;
    return ALLOWED;
  });
  const { check: ask } = setup([slow, says("quick", { kind: "refused" }, { isQuick: true })]);
  expect(await ask()).toMatchObject({ code: "content_policy_violation" });
  expect(isAsked).toBe(false);
});

test("a check that is still asked when another refuses is called off, and not counted", async () => {
  const called = Promise.withResolvers<AbortSignal>();
  const asked = check("slow", (_, signal) => {
    called.resolve(signal());
    return new Promise((resolve) => {
      signal().addEventListener("abort", () => resolve(OUTAGE));
    });
  });
  const { check: ask, judged } = setup([asked, later("b", { kind: "refused" })]);
  expect(await ask()).toMatchObject({ code: "content_policy_violation" });
  expect((await called.promise).aborted).toBe(true);
  expect(judged).toEqual([{ check: "b", verdict: "refused" }]);
});

test("a caller that leaves ends its checks, which count nothing", async () => {
  const gone = new AbortController();
  const asked = check("slow", (_, signal) => {
    const aborted = new Promise<CheckVerdict>((resolve) => {
      signal().addEventListener("abort", () => resolve(OUTAGE));
    });
    gone.abort();
    return aborted;
  });
  const { check: ask, judged, lines } = setup([asked]);
  expect(await ask({ gone: () => gone.signal })).toMatchObject({ code: "moderation_unavailable" });
  expect([judged, lines]).toEqual([[], []]);
});

test("a check reads the fields that are its own, and nothing of requests without them", async () => {
  const { check: ask, judged } = setup([
    says("a", { kind: "refused" }, { fields: ["negative_prompt"] }),
    says("b", ALLOWED, { fields: ["prompt"] }),
  ]);
  expect(await ask()).toBe("accepted");
  expect(judged).toEqual([{ check: "b", verdict: "allowed" }]);
});

test("a key whose check is gone gets nothing", async () => {
  const { check: ask, judged, lines } = setup([says("a", ALLOWED)], { moderation: ["old"] });
  expect(await ask()).toMatchObject({ code: "moderation_unavailable" });
  expect(judged).toEqual([{ check: "old", verdict: "outage" }]);
  expect(lines).toMatchObject([{ check: "old", reason: "is none of those in the settings" }]);
});

test("a key without checks needs none", () => {
  expect(setup([says("a", ALLOWED)]).isFor()).toBe(true);
  expect(setup([says("a", ALLOWED)], { moderation: [] }).isFor()).toBe(false);
});

test("no line of the log holds a text", async () => {
  const { check: ask, lines } = setup([
    later("b", OUTAGE, { onOutage: "allow" }),
    later("a", { kind: "refused", rule: "hate", field: "prompt" }),
  ]);
  await ask();
  expect(lines.length).toBeGreaterThan(0);
  expect(JSON.stringify(lines)).not.toContain(CANARY);
});

test("no other program is asked about a request that cannot be paid, and rules are not asked whether it can", async () => {
  const unpaid = new AppError("insufficient_quota", { kind: "content_refused" });
  const requireFunds = () => Promise.reject(unpaid);
  const asked = setup([later("a", ALLOWED)]);
  expect(await asked.check({ requireFunds })).toBe(unpaid);
  expect(asked.judged).toEqual([]);
  expect(await setup([says("a", ALLOWED, { isQuick: true })]).check({ requireFunds })).toBe("accepted");
});
