import { expect, test } from "bun:test";
import { type CallerFlags, findCaller } from "../../../cli/manage/caller.ts";
import type { Profile } from "../../../cli/profiles/profile.ts";
import { writeProfiles } from "../../../cli/profiles/profile-file.ts";
import { formatCredential } from "../../../src/domain/access/credential.ts";
import { emptyFolder, fakeContext } from "../support.ts";

const KEY = formatCredential("api_key", "k".repeat(32));
const TOKEN = formatCredential("management_token", "t".repeat(32));
const SERVER = "https://prod.example";
const BOTH = { SVC_API_KEY: KEY, SVC_MANAGEMENT_TOKEN: TOKEN };

interface Given {
  readonly env?: Readonly<Record<string, string>>;
  readonly profiles?: Readonly<Record<string, Profile>>;
  readonly isForOperators?: boolean;
}

/** Who runs the command, and with which credential. */
function caller(flags: CallerFlags, { env = {}, profiles = {}, isForOperators = false }: Given = {}) {
  const context = fakeContext({
    cwd: emptyFolder(),
    env: { XDG_CONFIG_HOME: emptyFolder(), ...env },
  });
  writeProfiles(context, new Map(Object.entries(profiles)));
  const found = findCaller(flags, context, isForOperators);
  return found.kind === "folder" ? ["folder"] : [found.kind, found.settings.key];
}

test("a key is used wherever one is at hand, beside a token too", () => {
  expect(caller({ key: KEY })).toEqual(["key", KEY]);
  expect(caller({}, { env: BOTH })).toEqual(["key", KEY]);
  const profiles = { default: { server: SERVER, key: KEY, token: TOKEN } };
  expect(caller({}, { profiles })).toEqual(["key", KEY]);
  expect(caller({ profile: "default" }, { profiles })).toEqual(["key", KEY]);
});

test("a token is used by its flag, where there is no key, and for what operators alone can ask", () => {
  expect(caller({ token: TOKEN }, { env: BOTH })).toEqual(["operator", TOKEN]);
  expect(caller({}, { env: { SVC_MANAGEMENT_TOKEN: TOKEN } })).toEqual(["operator", TOKEN]);
  expect(caller({}, { profiles: { default: { server: SERVER, token: TOKEN } } })).toEqual([
    ...["operator", TOKEN],
  ]);
  expect(caller({}, { env: BOTH, isForOperators: true })).toEqual(["operator", TOKEN]);
  expect(caller({}, { env: { SVC_API_KEY: TOKEN } })).toEqual(["operator", TOKEN]);
});

test("a profile that a flag names goes before the key of the environment", () => {
  const profiles = { ops: { server: SERVER, token: TOKEN } };
  expect(caller({ profile: "ops" }, { env: { SVC_API_KEY: KEY }, profiles })).toEqual(["operator", TOKEN]);
});

test("a data folder is used where a flag asks for it, whatever is at hand", () => {
  for (const flags of [{ local: true }, { dataDir: "x" }, { config: "svc.yaml" }])
    expect(caller(flags, { env: BOTH })).toEqual(["folder"]);
});

test("flags that exclude each other are refused, and so is having no credential", () => {
  for (const flags of [
    { local: true, token: TOKEN },
    { dataDir: "x", server: SERVER },
    { local: true, profile: "ops" },
    { key: KEY, token: TOKEN },
  ])
    expect(() => caller(flags)).toThrow(expect.objectContaining({ exitCode: 2 }));
  expect(() => caller({})).toThrow(expect.objectContaining({ exitCode: 4, code: "no_api_key" }));
  expect(() => caller({}, { env: { SVC_API_KEY: KEY }, isForOperators: true })).toThrow(
    expect.objectContaining({ exitCode: 4, code: "no_management_token" }),
  );
});
