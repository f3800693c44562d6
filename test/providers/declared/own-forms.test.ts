import { expect, test } from "bun:test";
import { OwnForms } from "../../../src/providers/declared/own-forms.ts";
import { type FormText, readForms } from "../../../src/providers/declared/read-form.ts";

const form = (provider: string) => `provider: ${provider}
form: 1
base: https://api.example.com
auth: {key_env: EXAMPLE_KEY, header: authorization}
submit:
  post: /jobs
  json: {prompt: "\${prompt}"}
  outputs: {each: "\${[body]}", url: "\${item.url}"}
`;

function setup(options: Partial<ConstructorParameters<typeof OwnForms>[0]> = {}) {
  const asked: string[][] = [];
  const read = (texts: readonly FormText[]) => {
    asked.push(texts.map(({ file }) => file));
    return readForms(texts);
  };
  return { asked, forms: new OwnForms({ builtIn: ["fal"], read, ...options }) };
}

const told = ({ findings }: { findings: readonly { file: string; line: number; message: string }[] }) =>
  findings.map(({ file, line, message }) => `${file}:${line}: ${message}`);

test("new texts are read all at once, and those that stayed are not read again", async () => {
  const { asked, forms } = setup();
  const a = { name: "a.yaml", text: form("one") };
  const first = await forms.take([a, { name: "b.yaml", text: form("two") }]);
  const second = await forms.take([a, { name: "b.yaml", text: form("three") }]);
  expect(asked).toEqual([["a.yaml", "b.yaml"], ["b.yaml"]]);
  expect(second.forms.map(({ form }) => form.provider)).toEqual(["one", "three"]);
  expect(second.forms[0]).toBe(first.forms[0]);
});

test("what an earlier start has checked is not read", async () => {
  const files = [{ name: "a.yaml", text: form("one") }];
  const { checked: known } = await setup().forms.take(files);
  const { asked, forms } = setup({ known });
  const taken = await forms.take(files);
  expect(asked).toEqual([]);
  expect(taken.forms.map(({ form }) => form.provider)).toEqual(["one"]);
});

test("a form that is checked but may not be used counts as checked", async () => {
  const { forms } = setup({ refuseAddress: () => "cannot be used" });
  const taken = await forms.take([{ name: "a.yaml", text: form("one") }]);
  expect(told(taken)).toEqual(["a.yaml:3: base: https://api.example.com cannot be used"]);
  expect(taken.checked.size).toBe(1);
});

test("a broken text leaves the last good one in force, and is told at each look", async () => {
  const { forms } = setup();
  await forms.take([{ name: "a.yaml", text: form("one") }]);
  const broken = [{ name: "a.yaml", text: form("one").replace("form: 1", "form: 2") }];
  const told = ["form must be 1, the version of the form"];
  for (const _ of [1, 2]) {
    const taken = await forms.take(broken);
    expect(taken.forms.map(({ form }) => form.provider)).toEqual(["one"]);
    expect(taken.findings.map(({ message }) => message)).toEqual(told);
    expect(taken.findings[0]).toMatchObject({ line: 2, keepsEarlier: true });
    expect(taken.checked.size).toBe(0);
  }
});

test("two files of one name, a built-in name and a file that cannot be read are told", async () => {
  const { forms } = setup();
  const taken = await forms.take([
    { name: "a.yaml", text: form("one") },
    { name: "b.yaml", text: `# again\n${form("one")}` },
    { name: "c.yaml", text: form("fal") },
    { name: "d.yaml", problem: "is larger than 5 bytes" },
  ]);
  expect(told(taken)).toEqual([
    'a.yaml:1: provider: "one" is described by b.yaml too',
    'b.yaml:2: provider: "one" is described by a.yaml too',
    'c.yaml:1: provider: "fal" is built in; choose another name, or say `replaces: true`',
    "d.yaml:1: the file is larger than 5 bytes",
  ]);
});

const providers = ({ forms }: { forms: readonly { file: string; form: { provider: string } }[] }) =>
  forms.map(({ file, form }) => `${file} ${form.provider}`);

test("a copy of a file in force is told, and takes nothing over, whatever its name", async () => {
  const { forms } = setup();
  const own = { name: "flux.yaml", text: form("flux") };
  await forms.take([own]);
  const copies = ["flux copy.yaml", "g.yaml"].map((name) => ({ name, text: `# copy\n${form("flux")}` }));
  for (const text of [own.text, "broken"]) {
    const taken = await forms.take([copies[0]!, { ...own, text }, copies[1]!]);
    expect(providers(taken)).toEqual(["flux.yaml flux"]);
    expect(told(taken).filter((line) => line.includes("described"))).toEqual([
      'flux copy.yaml:2: provider: "flux" is described by flux.yaml already',
      'g.yaml:2: provider: "flux" is described by flux.yaml already',
    ]);
  }
  expect(providers(await forms.take([copies[0]!]))).toEqual(["flux copy.yaml flux"]);
});

test("of two files of one name that are there from the start none is taken, until one is gone", async () => {
  const { forms } = setup();
  const both = ["a.yaml", "b.yaml"].map((name) => ({ name, text: form("one") }));
  for (const _ of [1, 2]) expect(providers(await forms.take(both))).toEqual([]);
  expect(providers(await forms.take(both.slice(1)))).toEqual(["b.yaml one"]);
  expect(providers(await forms.take(both))).toEqual(["b.yaml one"]);
});

test("two files may exchange their providers", async () => {
  const { forms } = setup();
  const files = (a: string, b: string) => [
    { name: "a.yaml", text: form(a) },
    { name: "b.yaml", text: form(b) },
  ];
  await forms.take(files("one", "two"));
  expect(providers(await forms.take(files("three", "one")))).toEqual(["a.yaml three", "b.yaml one"]);
  expect(providers(await forms.take(files("one", "three")))).toEqual(["a.yaml one", "b.yaml three"]);
});

test("every address that requests go to is looked at, and named by the key that has it", async () => {
  const own = `provider: one
form: 1
base: https://base.example
regions: { eu: https://region.example }
origins: [https://origin.example, "https://*.origins.example"]
media: [media.example, "*.media.example", any-public]
auth:
  - { oauth: { token_url: https://token.example/token, client_id: "\${id}" }, env: { id: ONE_ID } }
  - { oauth: { token_url: /token, client_id: "\${id}" }, env: { id: ONE_ID } }
${form("one").slice(form("one").indexOf("submit:"))}`;
  const hosts: string[] = [];
  const refused: string[] = [];
  for (const refusedHost of ["", "base", "region", "origin", "token", "media"]) {
    const refuseAddress = (url: string) => {
      const { hostname } = new URL(url);
      if (refusedHost === "") hosts.push(hostname);
      return hostname === `${refusedHost}.example` ? "is private" : undefined;
    };
    refused.push(...told(await setup({ refuseAddress }).forms.take([{ name: "a.yaml", text: own }])));
  }
  expect(hosts).toEqual(["base", "region", "origin", "token", "media"].map((each) => `${each}.example`));
  expect(refused).toEqual([
    "a.yaml:3: base: https://base.example is private",
    "a.yaml:4: regions: https://region.example is private",
    "a.yaml:5: origins: https://origin.example is private",
    "a.yaml:7: auth: https://token.example/token is private",
    "a.yaml:6: media: https://media.example is private",
  ]);
});
