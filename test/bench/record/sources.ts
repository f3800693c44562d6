import { runToEnd } from "../run/process.ts";

/** Everything but documents and tests. A new folder counts until somebody says that it does not. */
const MEASURED = ["--", ".", ":!docs", ":!*.md", ":!*.test.ts"];

/**
 * Tells what the executable and the benches consist of, so that a commit of documents alone is the same to measure.
 *
 * @returns a hash; undefined when a file of them is not as git has it
 */
export async function readSources(root: string): Promise<string | undefined> {
  const changes = await runToEnd(["git", "status", "--porcelain", ...MEASURED], { cwd: root });
  if (changes.trim() !== "") return undefined;
  const files = await runToEnd(["git", "ls-files", "--stage", ...MEASURED], { cwd: root });
  return new Bun.CryptoHasher("sha256").update(files).digest("hex");
}
