/*
 * A tour on a fresh machine: `bun run demo` compiles svc, starts it on an empty data folder and makes an image and a
 * video with the client half of the same executable. On a terminal it keeps serving until Ctrl-C.
 */
import { mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isBuildCurrent } from "./executable.ts";
import { BINARY, buildStep, installStep, run, say } from "./steps.ts";

const READY_WITHIN_MS = 30_000;

await mustSucceed(installStep);
if (isBuildCurrent()) say(`\n==> build: ${BINARY} is newer than the sources`);
else await mustSucceed(buildStep);

const folder = mkdtempSync(join(tmpdir(), "svc-demo-"));
const dataDir = join(folder, "data");
const files = join(folder, "files");
mkdirSync(files);
const port = await freePort();
const server = `http://127.0.0.1:${port}`;
const logFile = join(folder, "server.log");

const serveCommand = `dist/svc serve --data-dir ${dataDir} --port ${port}`;
say(`\n==> serve: ${serveCommand} (log: ${logFile})`);
const log = Bun.file(logFile);
const service = Bun.spawn([BINARY, "serve", "--data-dir", dataDir, "--port", String(port)], {
  cwd: folder,
  stdin: "ignore",
  stdout: log,
  stderr: log,
});
const stop = () => service.kill("SIGTERM");
process.on("SIGINT", stop);
process.on("SIGTERM", stop);

try {
  await untilReady();
  const { key } = parse(await svc("keys", "create", "--name", "demo", "--data-dir", dataDir, "--json"));
  const image = await generate(String(key), "sandbox-image", "a lighthouse at dusk", []);
  const video = await generate(String(key), "sandbox-video", "waves at a lighthouse", ["-i", "duration=2"]);
  console.log(summary(String(key), image, video));
  if (process.stdout.isTTY) {
    console.log("\nServing until Ctrl-C.");
    await service.exited;
  }
} finally {
  stop();
  await service.exited;
}

/** Create a task, wait for it, save what it made. Returns the task's id. */
async function generate(key: string, model: string, prompt: string, inputs: string[]): Promise<string> {
  const access = ["--server", server, "--key", key, "--json"];
  const answer = parse(
    await svc("task", "submit", "--model", model, "--prompt", prompt, ...inputs, "--wait", ...access),
  );
  const task = typeof answer.data === "object" ? record(answer.data) : answer;
  const id = String(task.task_id ?? task.id);
  await svc("task", "download", id, "-o", files, ...access);
  return id;
}

/** Run one command of the executable, shown as typed. Returns what it prints. */
async function svc(...args: string[]): Promise<string> {
  say(`\n==> svc ${args.map((word) => (/^[\w./:=-]+$/.test(word) ? word : `'${word}'`)).join(" ")}`);
  const child = Bun.spawn([BINARY, ...args], {
    cwd: folder,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const [text, exitCode] = await Promise.all([child.stdout.text(), child.exited]);
  if (exitCode !== 0)
    throw new Error(`svc ${args.slice(0, 2).join(" ")} ended with exit code ${exitCode}.\n${text}`);
  process.stderr.write(text);
  return text;
}

async function untilReady(): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS;
  while (performance.now() < deadline && service.exitCode === null) {
    const response = await fetch(`${server}/readyz`).catch(() => undefined);
    if (response?.ok) return;
    await Bun.sleep(50);
  }
  throw new Error(`The server did not become ready. Its log:\n${await log.text()}`);
}

function summary(key: string, image: string, video: string): string {
  const made = readdirSync(files).map((name) => `  ${join(files, name)}`);
  const auth = `-H 'Authorization: Bearer ${key}'`;
  return [
    "\nFiles made:",
    ...made,
    ...(process.stdout.isTTY ? [] : ["\nThe server stops now. Start it again with:", `  ${serveCommand}`]),
    "\nGo on with:",
    `  curl ${auth} ${server}/v1/images/status/${image}`,
    `  curl ${auth} ${server}/v1/videos/status/${video}`,
    `  curl ${auth} -H 'Content-Type: application/json' \\`,
    `    -d '{"model":"sandbox-image","prompt":"a red bicycle"}' ${server}/v1/images/generations`,
    `  curl ${auth} ${server}/v1/models`,
  ].join("\n");
}

async function freePort(): Promise<number> {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}

async function mustSucceed(step: typeof installStep): Promise<void> {
  const exitCode = await run(step);
  if (exitCode !== 0) process.exit(exitCode);
}

function parse(json: string): Record<string, unknown> {
  return record(JSON.parse(json));
}

function record(value: unknown): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new Error(`Expected a JSON object, got ${JSON.stringify(value)}`);
}
