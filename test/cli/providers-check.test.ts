import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { emptyFolder, svc } from "./support.ts";

const GOOD = `provider: plain
form: 1
base: https://api.plain.example
auth: { header: x-key, value: "\${key}", key_env: PLAIN_KEY }
test: { get: /account }
refusals: { when: [{ status: 401, means: refused }] }
submit:
  post: /pictures
  json: { prompt: "\${prompt}" }
  outputs: { base64: "\${body.picture}" }
`;
const BAD = GOOD.replace("post:", "pots:").replace("${prompt}", "${promt}");

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const cwd = emptyFolder();
  for (const [name, text] of Object.entries(files)) await Bun.write(join(cwd, name), text);
  return cwd;
}

describe("svc providers check", () => {
  test("prints each finding as file, line and column, and ends with 1", async () => {
    const cwd = await folderWith({ "bad.yaml": BAD });
    const { exitCode, stdout, stderr } = await svc(["providers", "check", "bad.yaml"], { cwd });
    expect(exitCode).toBe(1);
    expect(stdout).toBe(
      [
        'bad.yaml:8:3: submit has an unknown field "pots"; did you mean "post"?',
        'bad.yaml:9:22: submit.json.prompt reads "promt", which is not known here; did you mean "prompt"?',
        "2 findings\n",
      ].join("\n"),
    );
    expect(stderr).toBe("error: 2 errors to mend.\n");
  });

  test("prints JSON on stdout, also when it fails", async () => {
    const cwd = await folderWith({ "good.yaml": GOOD, "bad.yaml": BAD });
    const { exitCode, stdout } = await svc(["providers", "check", "good.yaml", "bad.yaml", "--json"], {
      cwd,
    });
    expect(exitCode).toBe(1);
    const { ok, findings } = JSON.parse(stdout);
    expect(ok).toBe(false);
    expect(findings.map(({ file, severity }: Record<string, string>) => `${severity} ${file}`)).toEqual([
      "warning good.yaml",
      "error bad.yaml",
      "error bad.yaml",
    ]);
    expect(findings[1]).toEqual({
      ...{ file: "bad.yaml", line: 8, column: 3, severity: "error" },
      message: 'submit has an unknown field "pots"; did you mean "post"?',
    });
  });

  test("ends with 0 where there are only warnings, and says what was tried", async () => {
    const cwd = await folderWith({ "good.yaml": GOOD });
    const { exitCode, stdout, stderr } = await svc(["providers", "check", "good.yaml"], { cwd });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toEndWith("\nok: 0 examples, 11 troubles, 1 warning\n");
  });

  test("names a file that is not there", async () => {
    const { exitCode, stderr } = await svc(["providers", "check", "none.yaml"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 5, stderr: "error: There is no file none.yaml.\n" });
  });
});
