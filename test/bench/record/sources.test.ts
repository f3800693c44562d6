import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readSources } from "./sources.ts";

let root = "";
afterEach(() => rmSync(root, { recursive: true }));

function write(name: string, text: string): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
}

function commit(files: Readonly<Record<string, string>>): Promise<string | undefined> {
  for (const [name, text] of Object.entries(files)) write(name, text);
  git("add", ".");
  git("commit", "-q", "-m", "a");
  return readSources(root);
}

function git(...args: readonly string[]): void {
  const who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
  const { exitCode, stderr } = Bun.spawnSync(["git", ...who, ...args], { cwd: root });
  if (exitCode !== 0) throw new Error(String(stderr));
}

async function setup(): Promise<string> {
  root = realpathSync(mkdtempSync(join(tmpdir(), "svc-sources-")));
  git("init", "-q");
  const first = await commit({ "src/docs/page.ts": "1", "package.json": "{}", ".gitignore": ".cache/\n" });
  return first ?? "";
}

test("a commit of documents and tests alone is the same to measure", async () => {
  const first = await setup();
  expect(first).toMatch(/^[0-9a-f]{64}$/);
  const more = { "docs/images/a.svg": "", "docs/a.md": "", "CHANGELOG.md": "", "test/docs/a.test.ts": "" };
  expect(await commit(more)).toBe(first);
});

test.each(["src/docs/page.ts", "test/bench/new.ts", "package.json", "bun.lock"])(
  "a commit that changes %s is another",
  async (name) => {
    const first = await setup();
    const second = await commit({ [name]: "2" });
    expect(second).toMatch(/^[0-9a-f]{64}$/);
    expect(second).not.toBe(first);
  },
);

test("sources with a change or a new file that is not committed are none, and documents and ignored files do not matter", async () => {
  const first = await setup();
  write("docs/a.md", "2");
  write(".cache/bench/record/a.json", "2");
  expect(await readSources(root)).toBe(first);
  write("src/new.ts", "2");
  expect(await readSources(root)).toBeUndefined();
  rmSync(join(root, "src/new.ts"));
  write("package.json", "2");
  expect(await readSources(root)).toBeUndefined();
  git("add", ".");
  expect(await readSources(root)).toBeUndefined();
});
