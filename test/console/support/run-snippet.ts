import { mkdirSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The client of Python's package as far as the snippet uses it: what is sent goes to the service. */
const PYTHON_CLIENT = `import json, urllib.request
class Bag:
    def __init__(self, values): self.__dict__.update(values)
class Images:
    def __init__(self, url, key): self.url, self.key = url, key
    def generate(self, **body):
        headers = {"Authorization": "Bearer " + self.key, "Content-Type": "application/json"}
        asked = urllib.request.Request(self.url + "/images/generations", json.dumps(body).encode(), headers)
        return Bag({"data": [Bag(each) for each in json.load(urllib.request.urlopen(asked))["data"]]})
class OpenAI:
    def __init__(self, base_url, api_key): self.images = Images(base_url, api_key)
`;

/** Runs a snippet of a language in a folder of its own. @returns the picture that it wrote, or what it printed */
export async function runSnippet(language: "sh" | "js" | "py", text: string): Promise<Uint8Array | string> {
  const folder = mkdtempSync(join(tmpdir(), "svc-snippet-"));
  const file = join(folder, `snippet.${language === "js" ? "mjs" : language}`);
  await Bun.write(file, text);
  if (language === "js")
    symlinkSync(join(import.meta.dir, "../../../node_modules"), join(folder, "node_modules"));
  if (language === "py") {
    mkdirSync(join(folder, "openai"));
    await Bun.write(join(folder, "openai/__init__.py"), PYTHON_CLIENT);
  }
  const command = { sh: ["sh", file], js: [process.execPath, file], py: ["python3", file] }[language];
  const run = Bun.spawn(command, { cwd: folder, stdout: "pipe", stderr: "pipe" });
  const [out, trouble, code] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
    run.exited,
  ]);
  if (code !== 0) throw new Error(`${language} ended with ${code}: ${trouble}`);
  const picture = Bun.file(join(folder, "lighthouse.png"));
  return (await picture.exists()) ? new Uint8Array(await picture.arrayBuffer()) : out;
}

/** `NAME=value` lines, as programs read their environment. */
export function settingsOf(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split("\n").map((line) => {
      const [, name = "", value = ""] = /^([\w ]+?)\s*[=:]\s*(.*)$/.exec(line) ?? [];
      return [name, value];
    }),
  );
}
