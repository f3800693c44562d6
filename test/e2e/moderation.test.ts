import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MISBEHAVIOURS, pour, type ScriptedUpstream, startUpstream } from "../helpers/scripted-upstream.ts";
import { emptyFolder, startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { arranged, keyIn, svc, svcJson } from "./support/command.ts";

setDefaultTimeout(120_000);

const started: { stop(): void }[] = [];
afterEach(async () => {
  for (const upstream of started.splice(0)) upstream.stop();
  await stopServers();
});

const CANARY = "canaryprompt8f3a61c2";
const FOX = { model: "sandbox-image", prompt: "a fox", size: "16x16", sandbox: { delay_ms: 0 } };
const VENDOR_KEY = "vendor-key-27b5e0417c93ad60";

/** A data folder with these settings and files. */
function folderWith(yaml: string, files: Readonly<Record<string, string>> = {}): string {
  const dataDir = join(emptyFolder("moderated"), "svc-data");
  mkdirSync(dataDir, { mode: 0o700 });
  writeFileSync(join(dataDir, "svc.yaml"), yaml);
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(dataDir, name), content);
    if (content.startsWith("#!")) chmodSync(join(dataDir, name), 0o700);
  }
  return dataDir;
}

async function serve(yaml: string, files: Readonly<Record<string, string>> = {}) {
  const dataDir = folderWith(yaml, files);
  const server = await startServer({ dataDir, env: { VENDOR_KEY, HOUSE_SECRET: CANARY } });
  return { server, dataDir, api: createApi(server.url, server.firstKey()) };
}

async function vendor(answer: ScriptedUpstream["answer"]): Promise<ScriptedUpstream> {
  const upstream = await startUpstream(answer);
  started.push(upstream);
  return upstream;
}

const endpoint = (origin: string, more = "") => `
egress: { allow: [127.0.0.1/32] }
moderation:
  checks:
    vendor: { endpoint: "${origin}/v1/moderations", key_env: VENDOR_KEY, model: omni, timeout_seconds: 1${more} }
  apply: [vendor]
`;
const RULES = `
moderation:
  checks:
    slurs: { words: [nude], words_file: words.txt }
    shapes: { patterns: ['bomb\\s+recipe', 'x\\d{12}'] }
    strict: { words: [fox] }
  apply: [slurs, shapes]
  models: { sandbox-video: [] }
`;
const WORDS = { "words.txt": "# more\nверботен\n" };

test("rules refuse creates, synchronous calls, edits and retries, in the error of each API", async () => {
  const { api } = await serve(RULES, WORDS);
  const task = await api.create({ ...FOX, prompt: "a NÜDE fox" });
  expect([task.status, task.data.error_code, task.data.param]).toEqual([
    400,
    "content_policy_violation",
    "prompt",
  ]);
  expect(task.headers.get("x-should-retry")).toBe("false");
  const negative = await api.create({ ...FOX, model: "sandbox-image", prompt: "Bomb  recipe" });
  expect(negative.data.error_code).toBe("content_policy_violation");
  const body = { model: "sandbox-image", prompt: "ВЕРБОТЕН!", size: "16x16" };
  const call = await api.send("/compat/v1/images/generations", { method: "POST", body });
  expect([call.status, call.body.error?.code, call.body.error?.param]).toEqual([
    ...[400, "content_policy_violation", "prompt"],
  ]);
  const picture = await Bun.file(
    join(import.meta.dir, "../../docs/images/a-lighthouse-at-dusk.webp"),
  ).arrayBuffer();
  const image_url = `data:image/webp;base64,${Buffer.from(picture).toString("base64")}`;
  const edit = await api.send("/compat/v1/images/edits", {
    method: "POST",
    body: { ...body, prompt: "nude", images: [{ image_url }] },
  });
  expect([edit.status, edit.body.error?.code]).toEqual([400, "content_policy_violation"]);
  expect((await api.create(FOX)).status).toBe(200);
  expect(
    (await api.create({ model: "sandbox-video", prompt: "nude", sandbox: { delay_ms: 0 } })).status,
  ).toBe(200);
});

test("a refused request uses up neither money nor its idempotency key", async () => {
  const { api } = await serve(RULES, WORDS);
  const headers = { "Idempotency-Key": "one" };
  expect((await api.create({ ...FOX, prompt: "nude" }, headers)).status).toBe(400);
  const accepted = await api.create(FOX, headers);
  expect(accepted.status).toBe(200);
  const again = await api.create(FOX, headers);
  expect([again.data.task_id, again.headers.get("x-idempotent-replay")]).toEqual([
    accepted.data.task_id,
    "true",
  ]);
  const listed = await api.send("/v1/tasks");
  expect(listed.data.tasks).toHaveLength(1);
});

test("a key has the checks that the operator chose for it", async () => {
  const { api, server, dataDir } = await serve(RULES, WORDS);
  const local = ["--data-dir", dataDir];
  const create = (name: string, checks: string) =>
    arranged(["keys", "create", "--name", name, "--moderation", checks, ...local]).then(keyIn);
  const strict = createApi(server.url, await create("strict", "strict"));
  expect((await strict.create(FOX)).data.error_code).toBe("content_policy_violation");
  expect((await strict.create({ ...FOX, prompt: "nude" })).status).toBe(200);
  const free = createApi(server.url, await create("free", "none"));
  expect((await free.create({ ...FOX, prompt: "nude" })).status).toBe(200);
  expect((await api.create({ ...FOX, prompt: "nude" })).status).toBe(400);
  expect(await svcJson(["keys", "show", "free", ...local])).toMatchObject({ moderation: [] });
  expect((await svc(["keys", "show", "free", ...local])).stdout).toMatch(/moderation\s+none/);
  expect(await svcJson(["keys", "update", "free", "--moderation", "default", ...local])).toMatchObject({
    moderation: null,
  });
  const wrong = await svc(["keys", "create", "--name", "x", "--moderation", "slur", ...local]);
  expect([wrong.exitCode, wrong.stderr]).toEqual([
    2,
    expect.stringContaining("there are slurs, shapes, strict"),
  ]);
});

test("what is wrong with rules ends the start, with file, line and column", async () => {
  const yaml = "moderation:\n  checks:\n    a: { patterns: [ok, '('], words_file: none.txt }\n  apply: [b]\n";
  const dataDir = folderWith(yaml);
  const form = await svc(["serve", "--data-dir", dataDir, "--port", "0"]);
  expect(form.exitCode).toBe(12);
  expect(form.stderr).toContain(
    'svc.yaml:4:11: moderation.apply[0]: is no check of moderation.checks, got "b"',
  );
  writeFileSync(join(dataDir, "svc.yaml"), yaml.replace("[b]", "[a]"));
  const content = await svc(["serve", "--data-dir", dataDir, "--port", "0"]);
  expect(content.exitCode).toBe(12);
  expect(content.stderr).toContain(
    "svc.yaml:3:25: moderation.checks.a.patterns[1]: is no pattern (RE2 syntax): missing closing )",
  );
  expect(content.stderr).toContain("svc.yaml:3:43: moderation.checks.a.words_file: names ");
  expect(existsSync(join(dataDir, "bootstrap.json"))).toBe(false);
});

test("an endpoint is asked with its key, and its verdict is the caller's", async () => {
  let flagged = false;
  const upstream = await vendor(() => ({
    json: { results: [{ flagged, categories: { violence: flagged }, category_scores: { violence: 0.9 } }] },
  }));
  const { api, server } = await serve(endpoint(upstream.origin));
  expect((await api.create(FOX)).status).toBe(200);
  const [asked] = upstream.arrived;
  expect([asked?.method, asked?.path, asked?.headers.get("authorization")]).toEqual([
    ...["POST", "/v1/moderations", `Bearer ${VENDOR_KEY}`],
  ]);
  expect(JSON.parse(String(asked?.body))).toEqual({ input: "a fox", model: "omni" });
  flagged = true;
  expect((await api.create(FOX)).data.error_code).toBe("content_policy_violation");
  expect(await server.says(/"rule":"violence"/)).toContain('"check":"vendor"');
});

const LIES: Readonly<Record<string, ScriptedUpstream["answer"]>> = {
  ...Object.fromEntries(Object.entries(MISBEHAVIOURS).map(([name, lie]) => [name, () => lie])),
  "answers with HTML": () => ({ body: "<html>" }),
  "answers 200 without results": () => ({ json: { ok: true } }),
  "answers 429": () => ({ status: 429, json: { error: { code: "rate_limit_exceeded" } } }),
  "pours 50 MB": () => (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n");
    pour(socket);
  },
};

test("an endpoint that gives no verdict is an outage: neither a verdict on the content nor a lack of capacity", async () => {
  const upstream = await vendor(() => ({ json: {} }));
  const { api, server } = await serve(endpoint(upstream.origin));
  for (const [name, lie] of Object.entries(LIES)) {
    upstream.answer = lie;
    const answer = await api.create(FOX);
    expect([name, answer.status, answer.data.error_code]).toEqual([name, 503, "moderation_unavailable"]);
    expect(answer.headers.get("retry-after")).toBe("5");
  }
  const call = await api.send("/compat/v1/images/generations", { method: "POST", body: FOX });
  expect([call.status, call.body.error?.code]).toEqual([503, "moderation_unavailable"]);
  upstream.answer = () => ({ json: { results: [{ flagged: false }] } });
  expect((await api.create(FOX)).status).toBe(200);
  expect(await server.says(/a check of content cannot tell/)).toContain('"check":"vendor"');
});

test("with on_outage: allow, requests are accepted without the check", async () => {
  const upstream = await vendor(() => MISBEHAVIOURS["hangs before the head"]);
  const { api } = await serve(endpoint(upstream.origin, ", on_outage: allow"));
  expect((await api.create(FOX)).status).toBe(200);
});

test("an endpoint at an address that is not let through ends the start", async () => {
  const yaml = endpoint("http://127.0.0.1:9").replace("egress: { allow: [127.0.0.1/32] }", "");
  const ended = await svc(["serve", "--data-dir", folderWith(yaml), "--port", "0"]);
  expect(ended.exitCode).toBe(12);
  expect(ended.stderr).toContain("moderation.checks.vendor: has an endpoint that names ");
  expect(ended.stderr).toContain("names VENDOR_KEY, which is not set");
});

const command = (script: string, more = "") => ({
  yaml: `
moderation:
  checks:
    house: { command: [./check.sh, "a b"], timeout_seconds: 1${more} }
  apply: [house]
`,
  files: { "check.sh": `#!/bin/sh\n${script}\n` },
});

test("a command is asked without a shell and without the environment, and its verdict counts", async () => {
  const script = `env >environment; echo "$#:$1" >arguments; cat >request
grep -q bad request && { echo '{"allowed":false,"reason":"house/1"}'; exit 0; }
echo '{"allowed":true}'`;
  const { yaml, files } = command(script);
  const { api, dataDir, server } = await serve(yaml, files);
  expect((await api.create(FOX)).status).toBe(200);
  const request = JSON.parse(readFileSync(join(dataDir, "request"), "utf8"));
  expect(request).toMatchObject({
    kind: "image",
    model: "sandbox-image",
    texts: [{ field: "prompt", text: "a fox" }],
  });
  expect(readFileSync(join(dataDir, "arguments"), "utf8")).toBe("1:a b\n");
  expect(readFileSync(join(dataDir, "environment"), "utf8")).not.toMatch(/VENDOR_KEY|HOUSE_SECRET|SVC_/);
  expect((await api.create({ ...FOX, prompt: "bad" })).data.error_code).toBe("content_policy_violation");
  expect(await server.says(/"rule":"house\/1"/)).toContain('"check":"house"');
});

test.each([
  ["hangs", "sleep 1000 & echo $! >child; wait"],
  ["floods", "yes"],
  ["dies", "kill -9 $$"],
  ["fails", `echo '{"allowed":true}'; exit 1`],
  ["says nothing", "exit 0"],
])("a command that %s is an outage, and what it started is gone", async (what, script) => {
  const { yaml, files } = command(script);
  const { api, dataDir } = await serve(yaml, files);
  const answer = await api.create(FOX);
  expect([answer.status, answer.data.error_code]).toEqual([503, "moderation_unavailable"]);
  if (what !== "hangs") return;
  const child = readFileSync(join(dataDir, "child"), "utf8").trim();
  const isAlive = () =>
    existsSync(`/proc/${child}/stat`) && !/\) Z/.test(readFileSync(`/proc/${child}/stat`, "utf8"));
  while (isAlive()) await Bun.sleep(2);
});

test("a program that is not there is named at the start, and is an outage until it comes", async () => {
  const { yaml, files } = command(`echo '{"allowed":true}'`);
  const { api, dataDir, server } = await serve(yaml);
  await server.says(/moderation\.checks\.house names the program \.\/check\.sh, which is not there/);
  expect((await api.create(FOX)).data.error_code).toBe("moderation_unavailable");
  writeFileSync(join(dataDir, "check.sh"), files["check.sh"], { mode: 0o700 });
  expect((await api.create(FOX)).status).toBe(200);
});

test("a slow check holds up no other request, and a caller that leaves ends it", async () => {
  const upstream = await vendor(() => MISBEHAVIOURS["hangs before the head"]);
  const { api, server, dataDir } = await serve(
    endpoint(upstream.origin).replace("timeout_seconds: 1", "timeout_seconds: 60"),
  );
  const free = createApi(
    server.url,
    keyIn(
      await arranged(["keys", "create", "--name", "free", "--moderation", "none", "--data-dir", dataDir]),
    ),
  );
  const closed = Promise.withResolvers<void>();
  upstream.answer = () => (socket) => void socket.on("close", () => closed.resolve());
  const leaving = new AbortController();
  const left = fetch(`${server.url}/v1/images/generations`, {
    method: "POST",
    headers: { Authorization: `Bearer ${api.key}`, "Content-Type": "application/json" },
    body: JSON.stringify(FOX),
    signal: leaving.signal,
  }).catch(() => "left");
  await upstream.until(1);
  expect((await free.create(FOX)).status).toBe(200);
  leaving.abort();
  expect(await left).toBe("left");
  await closed.promise;
});

test("verdicts are counted by check, and no text is in the log, the database or an answer", async () => {
  const upstream = await vendor(({ body }) => ({
    // It says back what it was asked.
    json: { results: [{ flagged: true, categories: { [String(body)]: true }, echo: String(body) }] },
  }));
  const yaml = `
egress: { allow: [127.0.0.1/32] }
log: { level: debug }
moderation:
  checks:
    slurs: { words: [nude] }
    house: { command: [./check.sh] }
    vendor: { endpoint: "${upstream.origin}" }
  apply: [slurs, vendor]
`;
  const script = `#!/bin/sh\ninput=$(cat); echo "$input" >&2; echo "$input"\n`;
  const { api, server, dataDir } = await serve(yaml, { "check.sh": script });
  for (const prompt of [`nude ${CANARY}`, `flagged ${CANARY}`]) {
    const answer = await api.create({ ...FOX, prompt });
    expect([answer.status, answer.data.error_code]).toEqual([400, "content_policy_violation"]);
    expect(answer.text).not.toContain(CANARY);
  }
  const housed = ["keys", "create", "--name", "housed", "--moderation", "house", "--data-dir", dataDir];
  const echoed = await createApi(server.url, keyIn(await svcJson(housed))).create({ ...FOX, prompt: CANARY });
  expect([echoed.status, echoed.text.includes(CANARY)]).toEqual([503, false]);
  const { token } = (await arranged(["tokens", "create", "--name", "t", "--data-dir", dataDir])) as {
    token: string;
  };
  const overview = await fetch(`${server.url}/admin/v1/overview`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  const { data } = (await overview.json()) as { data: { checks: unknown } };
  expect(data.checks).toEqual([
    { check: "house", allowed: 0, refused: 0, outages: 1, p50_ms: null },
    { check: "slurs", allowed: 1, refused: 1, outages: 0, p50_ms: expect.any(Number) },
    { check: "vendor", allowed: 0, refused: 1, outages: 0, p50_ms: expect.any(Number) },
  ]);
  const top = await svc(["top", "--once", "--plain", "--server", server.url], {
    env: { SVC_MANAGEMENT_TOKEN: token },
  });
  expect(top.stdout).toContain("content_refused_hour=2\tcontent_outages_hour=1");
  await server.stop();
  const kept = ["svc.db", "svc.db-wal"].map((name) => join(dataDir, name)).filter((path) => existsSync(path));
  const all = [server.stdout(), server.stderr(), ...kept.map((path) => readFileSync(path, "latin1"))];
  expect(all.join("")).not.toContain(CANARY);
});

test("svc moderation test says what each check says, and which rule is broken", async () => {
  const dataDir = folderWith(RULES, WORDS);
  const run = (...args: string[]) => svc(["moderation", "test", ...args, "--data-dir", dataDir, "--json"]);
  const allowed = await run("a fishing boat");
  expect([allowed.exitCode, JSON.parse(allowed.stdout)]).toMatchObject([
    0,
    {
      verdict: "allowed",
      checks: [{ check: "slurs" }, { check: "shapes" }, { check: "strict", verdict: "allowed" }],
    },
  ]);
  const refused = await run("верботен", "--check", "slurs");
  expect([refused.exitCode, JSON.parse(refused.stdout)]).toMatchObject([
    1,
    {
      verdict: "refused",
      checks: [{ check: "slurs", verdict: "refused", rule: "words.txt:2", reason: null }],
    },
  ]);
  expect(refused.stderr).toContain("The check slurs refuses this text: words.txt:2.");
  const piped = await svc(["moderation", "test", "-", "--data-dir", dataDir], { stdin: "a fox\n" });
  expect([piped.exitCode, piped.stdout]).toEqual([1, expect.stringContaining("words[0]")]);
  const unknown = await run("x", "--check", "slur");
  expect([unknown.exitCode, unknown.stderr]).toEqual([2, expect.stringContaining("Did you mean slurs?")]);
});
