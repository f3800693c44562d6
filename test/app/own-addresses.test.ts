import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOwnProviders } from "../../src/app/own-providers.ts";
import { readConfig } from "../../src/app/settings.ts";

const workspace = mkdtempSync(join(tmpdir(), "svc-own-"));
afterAll(() => rmSync(workspace, { recursive: true, force: true }));

const ENGINE = "http://127.0.0.1:8188";
const FORM = `provider: engine
form: 1
base: ${ENGINE}
auth: { none: true }
submit: { post: /pictures, outputs: { url: "\${body.url}" } }
`;

/** The accounts of the form in a data folder with these settings, each with its address, and what is told. */
async function accounts(settings: string, form = FORM) {
  const cwd = mkdtempSync(join(workspace, "folder-"));
  mkdirSync(join(cwd, "svc-data/providers"), { recursive: true });
  writeFileSync(join(cwd, "svc-data/providers/engine.yaml"), form);
  writeFileSync(join(cwd, "svc-data/svc.yaml"), settings);
  const config = readConfig({ cwd });
  const { providers, problems } = await readOwnProviders(config);
  const given = providers.map(({ definition }) => config.providerConfig(definition));
  return {
    problems: problems.map(({ text }) => text),
    lanes: given.flatMap(({ accounts, values }) => accounts.map(({ lane }) => `${lane} ${values.baseUrl}`)),
  };
}

test("the form's own address, given as a setting, switches a provider without a key on", async () => {
  expect(await accounts(`providers: { engine: { base_url: "${ENGINE}" } }`)).toEqual({
    problems: [],
    lanes: [`engine ${ENGINE}`],
  });
});

test("a private address that no setting gives is refused", async () => {
  const { problems, lanes } = await accounts("");
  expect(lanes).toEqual([]);
  expect(problems).toEqual([
    expect.stringContaining("give it in svc.yaml as providers.engine.base_url; the provider is left out"),
  ]);
  expect(await accounts("egress: { allow: [127.0.0.0/8] }")).toEqual({ problems: [], lanes: [] });
});

test("a setting of the form's address allows no other private one", async () => {
  const auth = `auth: { oauth: { token_url: https://10.0.0.7/token, client_id: "\${id}" }, env: { id: ENGINE_ID } }`;
  const settings = `providers: { engine: { base_url: "${ENGINE}" } }`;
  const { problems } = await accounts(
    settings,
    FORM.replace("auth: { none: true }", () => auth),
  );
  expect(problems.map((line) => line.replace(/ is \S.*?;/, ";"))).toEqual([
    "providers/engine.yaml:4:1: auth: https://10.0.0.7/token cannot be used: 10.0.0.7; allow it with egress.allow; the provider is left out",
  ]);
});

test("a key of this service does not go to the usual address of a provider that is a form", () => {
  const env = { BFL_API_KEY: "sk-svc-0123456789abcdef" };
  const usual = readConfig({ cwd: workspace, env });
  expect(usual.warnings.join()).toContain(
    "bfl: BFL_API_KEY is ignored, because it holds a key of svc, which https://api.bfl.ai",
  );
  expect(usual.accounts.bfl).toEqual([]);
  const other = readConfig({
    cwd: workspace,
    env: { ...env, SVC_PROVIDERS_BFL_BASE_URL: "https://svc.example" },
  });
  expect(other.accounts.bfl).toHaveLength(1);
});
