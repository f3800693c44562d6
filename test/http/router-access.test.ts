import { describe, expect, setSystemTime, test } from "bun:test";
import type { Principal } from "../../src/domain/access/account.ts";
import type { Operator } from "../../src/domain/access/actor.ts";
import type { KeyPolicy } from "../../src/domain/access/key-policy.ts";
import type { AtHand } from "../../src/domain/at-hand.ts";
import { AppError } from "../../src/domain/errors.ts";
import { toMicros } from "../../src/domain/money/money.ts";
import type { LogFields } from "../../src/domain/ports/runtime.ts";
import type { ShedClass } from "../../src/domain/shedding.ts";
import { accepted } from "../../src/http/accepted.ts";
import type { Handling } from "../../src/http/exchange.ts";
import { success } from "../../src/http/reply.ts";
import { createRouter } from "../../src/http/router.ts";
import { createStandings } from "../../src/http/standing.ts";
import type { Turns } from "../../src/http/turns.ts";
import { createAddresses } from "../../src/runtime/address-ranges.ts";
import { createSystemClock } from "../../src/runtime/clock.ts";
import { createRateLimiter } from "../../src/runtime/rate-limiter.ts";
import { countingIds } from "../helpers/engine.ts";
import { ACCOUNT, keyId, tokenId } from "../helpers/store.ts";

const ROUTES: Handling[] = [
  {
    method: "POST",
    path: "/v1/images/generations",
    access: "api_key",
    feature: "images",
    isCounted: true,
    sheds: "creates",
    handle: async ({ request }) => {
      if (request.headers.has("x-bad")) throw new AppError("invalid_request", { kind: "body_not_object" });
      return success({ made: true });
    },
  },
  { method: "GET", path: "/v1/models", access: "api_key", handle: ({ address }) => success({ address }) },
  {
    method: "PATCH",
    path: "/admin/v1/keys/:id",
    access: "management",
    handle: ({ operator, param }) => success({ by: operator.tokenName, id: param("id") }),
  },
  {
    method: "POST",
    path: "/v1/videos/generations",
    access: "public",
    handle: ({ request: { headers } }) =>
      accepted(
        { held: toMicros(10_000), replayed: headers.has("x-again") },
        { own: headers.has("x-named") ? { "X-Task": "task_1" } : undefined, body: "{}", log: {} },
      ),
  },
];

const OVERLOADED = new AppError(
  "service_unavailable",
  { kind: "overloaded", retryAfterSec: 7 },
  { retryAfterSec: 7 },
);

const NO_TURNS: Turns = Object.assign(
  <T>(_: unknown, begin: (isLate: boolean) => T | Promise<T>) => begin(false),
  { aside: <T>(begin: () => T) => begin() },
);
const NO_BODY = {
  small: () => undefined,
  receive: () => Promise.reject(new Error("No body is read here.")),
};

/** The key "good" has the policy given; the token "boss" manages. */
function setup(
  policy: KeyPolicy = {},
  {
    shed = [],
    logsRequests = true,
    areFetched = false,
    guestTurns = NO_TURNS,
  }: {
    shed?: readonly ShedClass[];
    logsRequests?: boolean;
    areFetched?: boolean;
    guestTurns?: Turns;
  } = {},
) {
  const found = <T>(look: () => T): AtHand<T> => (areFetched ? Promise.resolve().then<T>(look) : look());
  const lines: LogFields[] = [];
  const write = (fields: LogFields) => void lines.push(fields);
  const clock = createSystemClock();
  const handle = createRouter(
    {
      authenticate: (credential) =>
        found((): Principal => {
          if (credential !== "good") throw new AppError("invalid_api_key", { kind: "key_invalid" });
          return { accountId: ACCOUNT, keyId: keyId(1), keyName: "web", policy, priceMultiplier: 1_000_000 };
        }),
      authenticateOperator: (credential) =>
        found((): Operator => {
          if (credential !== "boss") throw new AppError("invalid_api_key", { kind: "key_invalid" });
          return { tokenId: tokenId(1), tokenName: "ci", scopes: ["read", "keys"] };
        }),
      tokenUsed() {},
      rateLimiter: createRateLimiter({ clock }),
      standings: createStandings({ clock }),
      turns: NO_TURNS,
      guestTurns,
      addresses: createAddresses(),
      trustedProxies: ["10.0.0.0/8"],
      ids: countingIds(),
      log: { debug: write, info: write, warn: write, error: write },
      elapsed: () => 0,
      now: () => 0,
      stays: Object.assign(() => () => {}, { open: { streams: 0, waits: 0 } }),
      tally: { answered() {} },
      shedding: { refusal: (kind) => (shed.includes(kind) ? OVERLOADED : undefined) },
      logsRequests,
      ingress: { intakeOf: () => NO_BODY },
      edge: { deadline: () => 0, within: (_asked, _startedAt, reply) => reply },
    },
    ROUTES,
  );
  async function send(method: string, path: string, headers: Record<string, string> = {}) {
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: { authorization: "Bearer good", ...headers },
    });
    const answer = await handle(request, { isLong: false, address: () => "10.0.0.1" });
    return { status: answer.status, headers: answer.headers, body: await answer.json() };
  }
  const isAtOnce = (path: string) =>
    handle(new Request(`http://localhost${path}`, { headers: { authorization: "Bearer good" } }), {
      isLong: false,
      address: () => "10.0.0.1",
    }) instanceof Response;
  return {
    send,
    lines,
    isAtOnce,
    create: (headers?: Record<string, string>) => send("POST", "/v1/images/generations", headers),
  };
}

const limitsIn = (headers: Headers) =>
  ["ratelimit-policy", "ratelimit", "retry-after", "retry-after-ms"].map((name) => headers.get(name));

test("what is at hand is answered without a promise, and so is a refusal", () => {
  const { isAtOnce } = setup();
  expect([isAtOnce("/v1/models"), isAtOnce("/v1/nothing")]).toEqual([true, true]);
  expect(setup({}, { areFetched: true }).isAtOnce("/v1/models")).toBe(false);
});

test("keys that were sent in a path by mistake, also those of other gateways, are not in the log and the answer", async () => {
  const { send, lines } = setup();
  const own = `sk-svc-${"a".repeat(38)}`;
  const sent = [own, "mt-svc-abc", "sk-1234", "sk-proj-a_b.c", `x/sk-${"k".repeat(300)}`].map(
    (key) => `/v1/${key}`,
  );
  const kept = ["/v1/task-1234", "/v1/disk-image-12", "/v1/sk-abc"];
  for (const path of [...sent, ...kept]) expect((await send("GET", path)).status).toBe(404);
  const rest = "k".repeat(50);
  expect(lines.map(({ path }) => path)).toEqual([
    ...["/v1/…", "/v1/…", "/v1/…", "/v1/…", `/v1/x/…${rest}`],
    ...kept,
  ]);
  expect((await send("GET", "/v1/sk-proj-a_b.c")).body).toMatchObject({
    message: expect.stringContaining("/v1/…."),
  });
});

test("a caller that has to be looked up first is let in, limited and refused like one at hand", async () => {
  setSystemTime(1_800_000_000_000);
  try {
    const answers = async (areFetched: boolean) => {
      const { create, send } = setup({ requestsPerMinute: 1 }, { areFetched });
      const sent = [
        await create(),
        await create(),
        await create({ authorization: "Bearer bad" }),
        await send("PATCH", "/admin/v1/keys/1", { authorization: "Bearer boss" }),
        await send("PATCH", "/admin/v1/keys/1"),
      ];
      return sent.map(({ status, headers, body }) => ({ status, headers: [...headers], body }));
    };
    const fetched = await answers(true);
    expect(fetched).toEqual(await answers(false));
    expect(fetched.map(({ status }) => status)).toEqual([200, 429, 401, 200, 401]);
  } finally {
    setSystemTime();
  }
});

describe("a key with a rate limit", () => {
  test("is told with every create what is left, and is refused past it with the time to wait", async () => {
    setSystemTime(1_800_000_000_000);
    try {
      const { create } = setup({ requestsPerMinute: 2 });
      const policy = '"requests";q=2;w=60';
      const first = await create();
      expect([first.status, ...limitsIn(first.headers)]).toEqual([
        200,
        policy,
        '"requests";r=1;t=60',
        null,
        null,
      ]);
      setSystemTime(1_800_000_017_500);
      const refused = await create({ "x-bad": "1" });
      expect([refused.status, ...limitsIn(refused.headers)]).toEqual([
        400,
        policy,
        '"requests";r=0;t=43',
        null,
        null,
      ]);
      const over = await create();
      expect([over.status, ...limitsIn(over.headers)]).toEqual([
        429,
        policy,
        '"requests";r=0;t=43',
        "43",
        "42500",
      ]);
      expect(over.body).toEqual({
        code: 429,
        message: "This API key may make 2 requests that begin work a minute, and has. Try again in 43 s.",
        data: { type: "rate_limit_error", error_code: "rate_limit_exceeded" },
      });
      setSystemTime(1_800_000_060_000);
      expect((await create()).status).toBe(200);
    } finally {
      setSystemTime();
    }
  });

  test("reads as much as it likes, and nothing it reads is counted", async () => {
    const { create, send } = setup({ requestsPerMinute: 1 });
    for (let i = 0; i < 5; i++) {
      const read = await send("GET", "/v1/models");
      expect([read.status, ...limitsIn(read.headers)]).toEqual([200, null, null, null, null]);
    }
    expect([(await create()).status, (await create()).status]).toEqual([200, 429]);
    expect((await send("GET", "/v1/models")).status).toBe(200);
  });
});

test("a key without a rate limit is told of none", async () => {
  const { create } = setup();
  for (let i = 0; i < 100; i++) expect(limitsIn((await create()).headers)).toEqual([null, null, null, null]);
});

test("a key that lacks the feature is refused by name, and is not counted", async () => {
  const { create } = setup({ features: ["videos"], requestsPerMinute: 1 });
  for (let i = 0; i < 3; i++) {
    const { status, headers, body } = await create();
    expect([status, ...limitsIn(headers)]).toEqual([403, null, null, null, null]);
    expect(body).toEqual({
      code: 403,
      message: 'This API key may not create images: it lacks the feature "images".',
      data: { type: "permission_error", error_code: "permission_denied" },
    });
  }
});

describe("a management endpoint", () => {
  test("takes a management token, and the log names it", async () => {
    const { send, lines } = setup();
    const answer = await send("PATCH", "/admin/v1/keys/web", { authorization: "Bearer boss" });
    expect(answer).toMatchObject({ status: 200, body: { data: { by: "ci", id: "web" } } });
    expect(lines).toMatchObject([{ token: "ci", path: "/admin/v1/keys/web", status: 200 }]);
  });

  test("takes no API key, and a model endpoint no management token; both say so in the compatible envelope", async () => {
    const { send } = setup();
    const answers = [
      await send("PATCH", "/admin/v1/keys/web"),
      await send("GET", "/v1/models", { authorization: "Bearer boss" }),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(401);
      expect(body).toEqual({
        error: {
          message: "The API key is not valid.",
          type: "authentication_error",
          code: "invalid_api_key",
        },
      });
    }
  });

  test("takes its own method alone", async () => {
    const { send } = setup();
    const { status, headers } = await send("PUT", "/admin/v1/keys/web", { authorization: "Bearer boss" });
    expect([status, headers.get("allow")]).toEqual([405, "PATCH"]);
  });
});

test("a handler is told the caller's address from behind a trusted proxy", async () => {
  const { send } = setup();
  const { body } = await send("GET", "/v1/models", { "x-forwarded-for": "198.51.100.1, 203.0.113.9" });
  expect(body).toMatchObject({ data: { address: "203.0.113.9" } });
});

test("those without a credential take turns by the network of their address", async () => {
  const names: string[] = [];
  const turns = <T>(asker: string | (() => string), begin: (isLate: boolean) => T | Promise<T>) => {
    names.push(typeof asker === "string" ? asker : asker());
    return begin(false);
  };
  const { send } = setup({}, { guestTurns: Object.assign(turns, { aside: <T>(begin: () => T) => begin() }) });
  for (const address of ["2001:db8::1", "2001:db8::2:3", "203.0.113.9"]) {
    await send("POST", "/v1/videos/generations", { "x-forwarded-for": address });
    await send("GET", "/v1/models", { authorization: "Bearer bad", "x-forwarded-for": address });
  }
  const network = "2001:db8::/64";
  expect(names).toEqual([network, network, network, network, "203.0.113.9", "203.0.113.9"]);
});

test("what is refused for want of time is refused before its credential is looked at, and no other endpoint is", async () => {
  const { send, create } = setup({}, { shed: ["creates"] });
  const { status, headers } = await create({ authorization: "Bearer bad" });
  expect([status, headers.get("retry-after")]).toEqual([503, "7"]);
  expect((await send("GET", "/v1/models")).status).toBe(200);
  expect((await setup({}, { shed: ["lists", "reads"] }).create()).status).toBe(200);
});

describe("the log line of a request", () => {
  test("has its caller, its result and what it took, and no credential", async () => {
    const { create, lines } = setup();
    await create();
    expect(lines).toMatchObject([
      {
        ...{ request_id: expect.any(String), account: ACCOUNT, key: "web", key_id: keyId(1) },
        ...{ method: "POST", path: "/v1/images/generations", status: 200, ms: 0 },
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain("good");
  });

  test("is left out when the operator wants none, unless the service is at fault", async () => {
    const { create, send, lines } = setup({}, { logsRequests: false });
    await create();
    await send("GET", "/v1/models", { authorization: "Bearer wrong" });
    expect(lines).toEqual([]);
  });
});

test("answers that share headers have only their own besides", async () => {
  const { send } = setup();
  const answers = [
    await send("POST", "/v1/videos/generations", { "x-again": "1", "x-named": "1", "x-request-id": "one" }),
    await send("POST", "/v1/videos/generations", { "x-request-id": "two" }),
    await send("POST", "/v1/videos/generations", { "x-named": "1" }),
  ];
  const shared = { "content-type": "application/json", "x-request-cost": "0.010000" };
  expect(answers.map(({ headers }) => Object.fromEntries(headers))).toEqual([
    { ...shared, "x-request-id": "one", "x-task": "task_1", "x-idempotent-replay": "true" },
    { ...shared, "x-request-id": "two" },
    { ...shared, "x-request-id": expect.any(String), "x-task": "task_1" },
  ]);
});
