import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { migrateLocal } from "../../src/app/migrate-local.ts";
import { emptyFolder, svc } from "./support.ts";

const FORM = `provider: house
form: 1
base: https://house.example/api
auth: { header: x-key, value: "\${key}", key_env: HOUSE_KEY }
submit:
  post: /pictures
  json: { prompt: "\${prompt}" }
  outputs: { base64: "\${body.picture}" }
`;
const MODEL = `id: house-1
kind: image
name: House style
description: Pictures as this house has them.
modes: [{ id: text-to-image, requires: [] }]
schema: { required: [prompt], properties: { prompt: { type: string } } }
price: { lines: [{ sku: house, unit: output, amount: "0.020000" }] }
deadline_seconds: 60
routes: [{ provider: house, upstream_model: style, wording: {} }]
`;

/** A data folder with a provider and a model of its own. */
async function folder(settings: string): Promise<string> {
  const cwd = emptyFolder();
  await migrateLocal({ dataDir: join(cwd, "svc-data") }, "up");
  for (const name of ["providers", "models"]) mkdirSync(join(cwd, "svc-data", name));
  writeFileSync(join(cwd, "svc-data/providers/house.yaml"), FORM);
  writeFileSync(join(cwd, "svc-data/models/house-1.yaml"), MODEL);
  writeFileSync(join(cwd, "svc-data/svc.yaml"), settings);
  return cwd;
}

const BROKEN = "providers: {house: {concurrency: none}}";
const TOLD = /svc\.yaml:1:21: providers\.house\.concurrency: must be .*\. The provider house stays off\.\n/;

test("settings that an own provider cannot be used with end no command that works without it", async () => {
  const cwd = await folder(BROKEN);
  for (const command of [
    ["callbacks", "list"],
    ["pricing", "list"],
    ["keys", "list"],
    ["models", "list"],
  ]) {
    const { exitCode, stdout } = await svc([...command, "--local"], { cwd });
    expect({ command, exitCode }).toEqual({ command, exitCode: 0 });
    if (command[0] === "pricing") expect(stdout).toContain("house-1");
  }
});

test("they are told where providers and models are listed, with what the provider needs", async () => {
  const cwd = await folder(BROKEN);
  const models = await svc(["models", "list", "--all", "--local", "--plain"], { cwd });
  expect(models.stderr).toMatch(TOLD);
  expect(models.stdout).toMatch(/^house-1\t.*HOUSE_KEY/m);
  const providers = await svc(["providers", "list", "--all", "--local", "--plain"], { cwd });
  expect(providers.stderr).toMatch(TOLD);
  expect(providers.stdout).toMatch(/^house\t.*HOUSE_KEY/m);
  expect((await svc(["providers", "test", "house", "--local"], { cwd })).exitCode).toBe(1);
});

test("a provider whose file cannot be used is not merely unknown", async () => {
  const cwd = await folder("");
  writeFileSync(join(cwd, "svc-data/providers/house.yaml"), FORM.replace("submit:", "submitt:"));
  const told = 'error: There is no provider "house".';
  const place = /A file that describes a provider cannot be used:\n {2}providers\/house\.yaml:\d+:\d+: /;
  for (const args of [
    ["show", "house"],
    ["test", "house"],
    ["add", "house"],
  ]) {
    const { exitCode, stderr } = await svc(["providers", ...args, "--data-dir", "svc-data"], { cwd });
    expect({ args, exitCode }).toEqual({ args, exitCode: 5 });
    expect(stderr).toStartWith(told);
    expect(stderr).toMatch(place);
  }
});

test("an account is tested at each provider that has one of its name, and refused where none has", async () => {
  const ofBoth = (url: string) => `{base_url: '${url}', accounts: [{name: second, key_env: SECOND_KEY}]}`;
  const cwd = await folder(
    `providers: {fal: ${ofBoth("http://127.0.0.1:1")}, bfl: ${ofBoth("http://127.0.0.1:1")}}`,
  );
  const env = { SECOND_KEY: "key-0123456789", OPENAI_API_KEY: "key-0123456789" };
  const test = (account: string) =>
    svc(["providers", "test", "--account", account, "--local", "--json"], { cwd, env });
  const { accounts } = JSON.parse((await test("second")).stdout);
  expect(accounts.map(({ lane }: { lane: string }) => lane).sort()).toEqual(["bfl/second", "fal/second"]);
  const none = await test("third");
  expect(none.exitCode).toBe(5);
  expect(JSON.parse(none.stderr).error.message).toBe(
    'No provider that is switched on has an account "third".',
  );
});
