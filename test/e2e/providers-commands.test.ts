import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment, emptyFolder, SVC } from "../helpers/server.ts";

setDefaultTimeout(120_000);

/** A secret that must be in nothing that is printed or written. */
const CANARY = "canary-0123456789abcdefghijklmnopqrstuvwxyz";
const FIVE_FAULTS = `provider: plain
form: 1
base: https://api.plain.example
auth: { header: x-key, value: "\${key}", key_env: PLAIN_KEY }
limit: { under_way: 2 }
submit:
  post: /pictures
  json:
    prompt: \${promt}
    seed: \${params.seed +}
  operation: { id: "\${body.id}" }
poll:
  get: /pictures/\${operation.id}
  status: \${body.state}
  words: { done: succeeded, bad: { failed: moderate } }
  outputs: { url: "\${body.url.matches('x')}" }
`;

const upstream = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  // It echoes whatever key it gets.
  fetch: (request) =>
    Response.json({ id: "1", state: "bad", detail: request.headers.get("x-key") }, { status: 403 }),
});
afterAll(() => upstream.stop(true));

const USABLE = FIVE_FAULTS.replace("limit:", "limits:")
  .replace("${promt}", "${prompt}")
  .replace("${params.seed +}", "${params.?seed}")
  .replace("moderate }", "moderated }")
  .replace("${body.url.matches('x')}", "${body.url}")
  .replace("https://api.plain.example", `http://127.0.0.1:${upstream.port}`)
  .concat("test: { get: /me }\n");

async function run(cwd: string, ...args: string[]) {
  const env = cleanEnvironment({ PLAIN_KEY: CANARY, BFL_API_KEY: CANARY, SVC_EGRESS_ALLOW: "127.0.0.0/8" });
  const child = Bun.spawn([SVC, "providers", ...args], {
    cwd,
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  return { exitCode, stdout, stderr };
}

test("each of five faults is told at its line and column", async () => {
  const cwd = emptyFolder("form");
  await Bun.write(join(cwd, "plain.yaml"), FIVE_FAULTS);
  const { exitCode, stdout } = await run(cwd, "check", "plain.yaml", "--json");
  expect(exitCode).toBe(1);
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: Record<string, unknown>[] };
  expect(ok).toBe(false);
  expect(findings.map(({ file, line, column }) => `${file}:${line}:${column}`)).toEqual([
    ...["plain.yaml:5:1", "plain.yaml:9:15", "plain.yaml:10:26", "plain.yaml:15:44", "plain.yaml:16:22"],
  ]);
});

test("a form is checked, listed, tested and tried, and the key is in nothing that is printed or written", async () => {
  const cwd = emptyFolder("form");
  await Bun.write(join(cwd, "svc-data/providers/plain.yaml"), USABLE);
  const file = "svc-data/providers/plain.yaml";
  const ended = [
    await run(cwd, "check", file),
    await run(cwd, "list", "--json"),
    await run(cwd, "show", "plain", "--json"),
    await run(cwd, "test", "plain", "--json"),
    await run(cwd, "try", file, "a-model", "-p", "A fox", "--yes"),
  ];
  expect(ended.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 1, 1]);
  expect(JSON.parse(ended[3]?.stdout ?? "")).toMatchObject({
    accounts: [{ provider: "plain", lane: "plain", result: "refused" }],
  });
  expect(ended[4]?.stderr).toContain('< 403 {"id":"1","state":"bad","detail":"[secret]"}');
  for (const { stdout, stderr } of ended) expect(stdout + stderr).not.toContain(CANARY);
  const written = readdirSync(cwd, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  for (const { parentPath, name } of written)
    expect(readFileSync(join(parentPath, name), "latin1")).not.toContain(CANARY);
});
