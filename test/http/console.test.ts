import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { servePage } from "../../src/http/console/page.ts";
import { type PublishedService, startPublished } from "./openapi-service.ts";

let service: PublishedService;
beforeAll(async () => {
  service = await startPublished({ SVC_EGRESS_ALLOW: "127.0.0.1/32" });
});
afterAll(() => service.stop());

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookie?: string;
  readonly body?: unknown;
}

/** Asks as a browser on a page of the service does, unless the headers say otherwise. */
async function ask(path: string, { method = "GET", headers, cookie, body }: Asked = {}) {
  const response = await fetch(service.url + path, {
    method,
    redirect: "manual",
    headers: {
      "Sec-Fetch-Site": "same-origin",
      Origin: service.url,
      ...(cookie === undefined ? {} : { Cookie: `svc_session=${cookie}` }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}

const dataOf = ({ text }: { readonly text: string }) => JSON.parse(text).data;
const cookieOf = ({ headers }: { readonly headers: Headers }) =>
  /svc_session=(\w*)/.exec(headers.getSetCookie()[0] ?? "")?.[1] ?? "";

async function comeIn(body: object): Promise<string> {
  const opened = await ask("/console/session", { method: "POST", body });
  expect(opened.status).toBe(200);
  return cookieOf(opened);
}

async function newLink(): Promise<string> {
  const headers = { Authorization: `Bearer ${service.token}` };
  const made = await ask("/admin/v1/sessions", { method: "POST", headers });
  return new URL(dataOf(made).url).hash.slice("#link=".length);
}

describe("the page", () => {
  test("loads only files of its own, and no other page may frame it", async () => {
    for (const path of [
      "/console",
      "/console/",
      "/console/tasks",
      "/console/tasks/task_1",
      "/console/tasks/task_1/",
    ]) {
      const { status, headers, text } = await ask(path);
      expect([path, status]).toEqual([path, 200]);
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy).toStartWith("default-src 'none'; script-src 'self'; style-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      for (const [, address = ""] of text.matchAll(/(?:src|href)="([^"]+)"/g)) {
        if (address.startsWith("data:")) continue;
        const file = await ask(new URL(address, service.url + path).pathname);
        expect([address, file.status]).toEqual([address, 200]);
        expect(file.headers.get("cache-control")).toContain("immutable");
      }
      expect(text).not.toMatch(/<script>|<style|\son\w+=|style=/);
    }
  });

  test("is known by its ETag, and its files come compressed or plain, as the browser takes them", async () => {
    const { headers, text } = await ask("/console");
    const known = await ask("/console", { headers: { "If-None-Match": headers.get("etag") ?? "" } });
    expect(known.status).toBe(304);
    const file = `/console/assets/${/assets\/([^"]+\.js)/.exec(text)?.[1]}`;
    const sizes = new Map<string, number>();
    const texts = new Set<string>();
    for (const encoding of ["br", "gzip", "identity", "gzip;q=0"]) {
      const response = await fetch(service.url + file, { headers: { "Accept-Encoding": encoding } });
      texts.add(await response.text());
      expect(response.headers.get("content-encoding")).toBe(encoding.length < 5 ? encoding : null);
      const head = await fetch(service.url + file, {
        method: "HEAD",
        headers: { "Accept-Encoding": encoding },
      });
      sizes.set(encoding, Number(head.headers.get("content-length")));
    }
    expect(texts.size).toBe(1);
    expect(sizes.get("br")).toBeLessThan(sizes.get("gzip") ?? 0);
    expect(sizes.get("identity")).toBe(Buffer.byteLength([...texts][0] ?? ""));
  });
});

describe("a session", () => {
  test("acts as its key or its token, and as nobody else", async () => {
    const [tenant, operator] = [
      await comeIn({ credential: service.key }),
      await comeIn({ credential: service.token }),
    ];
    const statuses = async (path: string) =>
      Promise.all([tenant, operator].map(async (cookie) => (await ask(path, { cookie })).status));
    expect(await statuses("/v1/tasks")).toEqual([200, 401]);
    expect(await statuses("/admin/v1/tasks")).toEqual([401, 200]);
    expect(dataOf(await ask("/console/session", { cookie: tenant })).session).toMatchObject({
      role: "tenant",
      holder: { name: "default" },
    });
    expect(dataOf(await ask("/console/session")).session).toBeNull();
  });

  test("lies in a cookie that no script reads, no other site sends, and no other path gets", async () => {
    const opened = await ask("/console/session", { method: "POST", body: { credential: service.key } });
    const cookies = opened.headers.getSetCookie();
    expect(cookies.map((cookie) => /Path=([^;]+)/.exec(cookie)?.[1])).toEqual([
      "/v1",
      "/admin/v1",
      "/console/session",
    ]);
    for (const cookie of cookies) {
      expect(cookie).toMatch(/^svc_session=\w{32}; .*HttpOnly; SameSite=Strict$/);
      expect(cookie).not.toContain(service.key);
    }
    expect(opened.headers.get("cache-control")).toBe("no-store");
  });

  test("ends when its browser leaves, when an operator ends it, and when its key or token is revoked", async () => {
    const headers = { Authorization: `Bearer ${service.token}` };
    const isIn = async (cookie: string, path: string) => (await ask(path, { cookie })).status === 200;
    const left = await comeIn({ credential: service.token });
    await ask("/console/session", { method: "DELETE", cookie: left });
    expect(await isIn(left, "/admin/v1/token")).toBe(false);

    const ended = await comeIn({ credential: service.token });
    const { id } = dataOf(await ask("/console/session", { cookie: ended })).session;
    await ask(`/admin/v1/sessions/${id}/end`, { method: "POST", headers });
    expect(await isIn(ended, "/admin/v1/token")).toBe(false);

    const made = dataOf(await ask("/admin/v1/keys", { method: "POST", headers, body: { name: "guest" } }));
    const revoked = await comeIn({ credential: made.key });
    expect(await isIn(revoked, "/v1/tasks")).toBe(true);
    await ask(`/admin/v1/keys/${made.id}/revoke`, { method: "POST", headers });
    expect(await isIn(revoked, "/v1/tasks")).toBe(false);
    expect(dataOf(await ask("/console/session", { cookie: revoked })).session).toBeNull();
  });

  test("is opened by a link once, and may do no more than the token that made the link", async () => {
    const link = await newLink();
    const cookie = await comeIn({ link });
    expect(cookie).not.toBe(link);
    expect((await ask("/admin/v1/token", { cookie })).status).toBe(200);
    const again = await ask("/console/session", { method: "POST", body: { link } });
    expect([again.status, again.headers.getSetCookie()]).toEqual([401, []]);
    const headers = { Authorization: `Bearer ${service.token}` };
    const body = { name: "narrow", scopes: ["read", "system"], expires_at: 4_000_000_000 };
    const narrow = dataOf(await ask("/admin/v1/tokens", { method: "POST", headers, body })).token;
    const made = await ask("/admin/v1/sessions", {
      method: "POST",
      headers: { Authorization: `Bearer ${narrow}` },
    });
    const opened = await comeIn({ link: new URL(dataOf(made).url).hash.slice("#link=".length) });
    expect(dataOf(await ask("/console/session", { cookie: opened })).session.scopes).toEqual([
      "read",
      "system",
    ]);
    expect(
      (await ask("/admin/v1/keys", { method: "POST", cookie: opened, body: { name: "x" } })).status,
    ).toBe(403);
  });

  test("of a new browser ends the one it had, so that a planted one is worth nothing", async () => {
    const planted = await comeIn({ credential: service.key });
    const opened = await ask("/console/session", {
      method: "POST",
      cookie: planted,
      body: { credential: service.token },
    });
    expect(cookieOf(opened)).not.toBe(planted);
    expect((await ask("/v1/tasks", { cookie: planted })).status).toBe(401);
  });
});

describe("a session of one account", () => {
  const RANDOM_ID = "01jd0000000000000000000000";

  /** Every operation of the document that answers and ends, with ids that nobody has, or with those that are given. */
  function operations(
    ids: Readonly<Record<string, string>> = {},
  ): (readonly [method: string, path: string])[] {
    const paths = Object.entries(service.document.paths as Record<string, object>);
    return paths
      .filter(([path]) => /^\/(?:admin\/)?v1\//.test(path) && !path.endsWith("/events"))
      .flatMap(([path, methods]) =>
        Object.keys(methods).map((method): readonly [string, string] => [
          method.toUpperCase(),
          path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? RANDOM_ID),
        ]),
      );
  }

  test("reaches what its key reaches, and an operator's what the token does: everything else is refused alike", async () => {
    for (const credential of [service.key, service.token]) {
      const cookie = await comeIn({ credential });
      for (const [method, path] of operations()) {
        const [byHeader, bySession] = [
          await ask(path, { method, headers: { Authorization: `Bearer ${credential}` } }),
          await ask(path, { method, cookie }),
        ];
        expect([method, path, bySession.status]).toEqual([method, path, byHeader.status]);
      }
    }
  });

  test("finds nothing of another's, by any operation", async () => {
    const headers = { Authorization: `Bearer ${service.token}` };
    await ask("/admin/v1/accounts", { method: "POST", headers, body: { name: "other", mode: "unlimited" } });
    const { key } = dataOf(
      await ask("/admin/v1/keys", { method: "POST", headers, body: { name: "spy", account: "other" } }),
    );
    const body = {
      model: "sandbox-image",
      prompt: "a secret lighthouse",
      size: "16x16",
      sandbox: { delay_ms: 0 },
      callback_url: "http://127.0.0.1:45999/hook",
    };
    const own = { Authorization: `Bearer ${service.key}` };
    const made = await ask("/v1/images/generations", { method: "POST", headers: own, body });
    expect(made.status).toBe(200);
    const task_id = dataOf(made).task_id;
    await ask(`/v1/images/status/${task_id}?wait=30`, { headers: own });
    const callback_id = dataOf(await ask(`/v1/callbacks?task_id=${task_id}`, { headers: own })).callbacks[0]
      .id;
    const cookie = await comeIn({ credential: key });
    for (const [method, path] of operations({ task_id, callback_id })) {
      const { status, text } = await ask(path, { method, cookie });
      const names = path.includes(task_id) || path.includes(callback_id);
      if (names && path.startsWith("/v1/")) expect([method, path, status]).toEqual([method, path, 404]);
      if (path.startsWith("/admin/")) expect([method, path, status]).toEqual([method, path, 401]);
      expect([path, /secret lighthouse/.test(text)]).toEqual([path, false]);
      if (!names) expect([path, text.includes(task_id)]).toEqual([path, false]);
    }
    expect((await ask(`/v1/tasks/${task_id}`, { headers: own })).status).toBe(200);
  });
});

const FOREIGN = { "Sec-Fetch-Site": "cross-site", Origin: "https://evil.example" };

/** What is tried with a good session, and why it is refused. */
const ATTACKS: readonly (readonly [
  name: string,
  asked: Asked & { path?: string },
  status: number,
  code: string,
])[] = [
  ["a form of another site", { method: "POST", headers: FOREIGN }, 403, "permission_denied"],
  [
    "a page of a sibling host",
    { method: "POST", headers: { "Sec-Fetch-Site": "same-site" } },
    403,
    "permission_denied",
  ],
  [
    "a link somebody typed that writes",
    { method: "POST", headers: { "Sec-Fetch-Site": "none" } },
    403,
    "permission_denied",
  ],
  ["a picture on another site", { path: "/admin/v1/tokens", headers: FOREIGN }, 403, "permission_denied"],
  ["a session beside a token", { headers: { Authorization: "Bearer mt-svc-x" } }, 401, "invalid_api_key"],
  ["a session beside a key in the address", { path: "/v1/tasks?key=sk-svc-x" }, 401, "invalid_api_key"],
];

describe("an attack", () => {
  test.each(ATTACKS)(
    "by %s is refused",
    async (_, { path = "/admin/v1/sessions", ...asked }, status, code) => {
      const cookie = await comeIn({ credential: service.token });
      const refused = await ask(path, { ...asked, cookie });
      const body = JSON.parse(refused.text);
      expect([refused.status, body.data?.error_code ?? body.error?.code]).toEqual([status, code]);
      expect((await ask("/admin/v1/token", { cookie })).status).toBe(200);
    },
  );

  test("from a browser that says only its Origin is told by that", async () => {
    const cookie = await comeIn({ credential: service.token });
    const tried = async (origin: string | undefined) => {
      const headers = new Headers({ Cookie: `svc_session=${cookie}` });
      if (origin !== undefined) headers.set("Origin", origin);
      return (await fetch(`${service.url}/admin/v1/sessions`, { method: "POST", headers })).status;
    };
    const port = new URL(service.url).port;
    expect(await tried(service.url)).toBe(200);
    for (const origin of [
      undefined,
      "null",
      "https://evil.example",
      `http://127.0.0.1.evil.example:${port}`,
      "http://127.0.0.1:1",
      `${service.url}@evil.example`,
    ])
      expect([origin, await tried(origin)]).toEqual([origin, 403]);
  });

  test("with two sessions in one request is refused, whichever is good", async () => {
    const [one, other] = [
      await comeIn({ credential: service.token }),
      await comeIn({ credential: service.token }),
    ];
    expect((await ask("/admin/v1/token", { cookie: `${one}; svc_session=${other}` })).status).toBe(401);
    expect((await ask("/admin/v1/token", { cookie: `${one}; svc_session=${one}` })).status).toBe(200);
  });

  test("signs nobody in from another site, by a form, or without a body", async () => {
    const body = { credential: service.key };
    expect((await ask("/console/session", { method: "POST", body, headers: FOREIGN })).status).toBe(403);
    const form = { "Content-Type": "application/x-www-form-urlencoded" };
    expect((await ask("/console/session", { method: "POST", body, headers: form })).status).toBe(415);
    for (const wrong of [
      {},
      { credential: service.key, link: "x" },
      { credential: 1 },
      { next: "https://evil.example" },
    ])
      expect((await ask("/console/session", { method: "POST", body: wrong })).status).toBe(400);
  });

  test("by addresses leads nowhere else", async () => {
    for (const path of [
      "//evil.example",
      "/console//evil.example",
      "/console/..%2f..%2fetc",
      "/console/assets/..%2fmain.js",
      "/console?next=https://evil.example",
    ]) {
      const { headers } = await ask(path, { headers: { Accept: "text/html" } });
      expect([path, headers.get("location") ?? "console"]).toEqual([path, "console"]);
    }
  });

  test("by guesses is slowed down", async () => {
    const guess = () => ask("/console/session", { method: "POST", body: { link: "guess" } });
    const statuses = new Set<number>();
    for (let tries = 0; tries <= 60; tries += 1) statuses.add((await guess()).status);
    expect(statuses).toEqual(new Set([401, 429]));
    expect(Number((await guess()).headers.get("retry-after"))).toBeWithin(1, 61);
  });
});

describe("where the settings say", () => {
  test("nothing: the console is not there, no session is taken, and / is a page", async () => {
    const other = await startPublished({ SVC_CONSOLE: "off" });
    const at = (path: string, init: RequestInit = {}) =>
      fetch(other.url + path, { redirect: "manual", ...init });
    const body = JSON.stringify({ credential: other.token });
    const headers = { "Content-Type": "application/json", Origin: other.url };
    const gone = ["/console", "/console/tasks", "/console/session", "/console/assets/main.js"];
    expect(await Promise.all(gone.map(async (path) => (await at(path)).status))).toEqual([
      404, 404, 404, 404,
    ]);
    expect((await at("/console/session", { method: "POST", body, headers })).status).toBe(404);
    expect(
      (await at("/admin/v1/sessions", { headers: { Authorization: `Bearer ${other.token}` } })).status,
    ).toBe(404);
    expect((await at("/v1/tasks", { headers: { Cookie: "svc_session=x" } })).status).toBe(401);
    const root = await at("/", { headers: { Accept: "text/html" } });
    expect([root.status, await root.text()]).toEqual([200, expect.stringContaining('href="docs"')]);
    await other.stop();
  });

  test("that a proxy does TLS: the cookie goes over TLS only", async () => {
    const other = await startPublished({ SVC_TRUSTED_PROXIES: "127.0.0.1/32" });
    const opened = await fetch(`${other.url}/console/session`, {
      method: "POST",
      headers: {
        ...{ "Content-Type": "application/json", Origin: "https://media.example", Host: "media.example" },
        "X-Forwarded-Proto": "https",
      },
      body: JSON.stringify({ credential: other.key }),
    });
    expect(opened.status).toBe(200);
    for (const cookie of opened.headers.getSetCookie()) expect(cookie).toEndWith("; Secure");
    await other.stop();
  });

  test("that a proxy tells addresses: guesses from one network of IPv6 are counted together", async () => {
    const other = await startPublished({ SVC_TRUSTED_PROXIES: "127.0.0.1/32" });
    const guess = async (address: string) =>
      (
        await fetch(`${other.url}/console/session`, {
          method: "POST",
          headers: {
            ...{ "Content-Type": "application/json", Origin: other.url },
            "X-Forwarded-For": address,
          },
          body: JSON.stringify({ link: "guess" }),
        })
      ).status;
    for (let tries = 0; tries < 60; tries += 1) expect(await guess(`2001:db8:0:7:${tries}::1`)).toBe(401);
    expect(await guess("2001:db8:0:7:ffff::1")).toBe(429);
    for (const address of ["2001:db8:0:8::1", "192.0.2.1", "192.0.2.2"])
      expect(await guess(address)).toBe(401);
    await other.stop();
  });

  test("where results lie: pictures and films may come from there, and nothing else", () => {
    const files = { files: new Map(), script: "main.js", style: "main.css" };
    const at = { depth: 1, media: ["https://media.example", "https://s3.example"] };
    const { headers } = servePage(new Request("http://svc.example/console"), files, at);
    const policy = headers["Content-Security-Policy"];
    expect(policy?.split("; ").filter((each) => each.includes("example"))).toEqual([
      "img-src 'self' https://media.example https://s3.example data: blob:",
      "media-src 'self' https://media.example https://s3.example blob:",
    ]);
  });
});
