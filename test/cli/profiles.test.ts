import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readClientSettings, readOperatorSettings } from "../../cli/environment.ts";
import { Failure } from "../../cli/failure.ts";
import { readProfiles, writeProfiles } from "../../cli/profiles/profile-file.ts";
import { emptyFolder } from "./support.ts";

const PROD = { server: "https://prod.example", key: "sk-prod", token: "mt-prod" };
const HOME = { server: "http://127.0.0.1:9000", key: "sk-home" };

/** A file of profiles as `svc login` leaves it. */
function withProfiles(profiles: object, env: Record<string, string> = {}) {
  const XDG_CONFIG_HOME = emptyFolder();
  const environment = { env: { XDG_CONFIG_HOME, ...env } };
  writeProfiles(environment, new Map(Object.entries(profiles)));
  return environment;
}

/** A file of profiles that somebody wrote by hand. */
function withText(text: string, mode = 0o600) {
  const XDG_CONFIG_HOME = emptyFolder();
  mkdirSync(join(XDG_CONFIG_HOME, "svc"), { mode: 0o700 });
  const path = join(XDG_CONFIG_HOME, "svc", "profiles.json");
  writeFileSync(path, text, { mode });
  chmodSync(path, mode);
  return { path, environment: { env: { XDG_CONFIG_HOME } } };
}

function failureOf(act: () => unknown): Failure {
  try {
    act();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error("Nothing failed.");
}

describe("the server and the credential", () => {
  test("are those of the default profile, where nothing else names any", () => {
    const environment = withProfiles({ default: PROD });
    expect(readClientSettings({}, environment)).toEqual({ server: PROD.server, key: "sk-prod" });
    expect(readOperatorSettings({}, environment)).toEqual({ server: PROD.server, key: "mt-prod" });
  });

  test("of a variable go before the profile's, and those of a flag before both", () => {
    const environment = withProfiles({ default: PROD }, { SVC_API_KEY: "sk-env", SVC_SERVER: "other:1" });
    expect(readClientSettings({}, environment)).toEqual({ server: "http://other:1", key: "sk-env" });
    const flags = { server: "https://flag.example/v1", key: "sk-flag" };
    expect(readClientSettings(flags, environment)).toEqual({
      server: "https://flag.example",
      key: "sk-flag",
    });
  });

  test("of a profile that a flag names go before variables", () => {
    const variables = { SVC_API_KEY: "sk-env", SVC_SERVER: "http://env", SVC_PROFILE: "home" };
    const environment = withProfiles({ prod: PROD, home: HOME }, variables);
    expect(readClientSettings({ profile: "prod" }, environment)).toEqual({
      server: PROD.server,
      key: "sk-prod",
    });
    expect(readClientSettings({}, withProfiles({ home: HOME }, { SVC_PROFILE: "home" }))).toEqual(HOME);
  });

  test("a profile's key is not used for another server", () => {
    const environment = withProfiles({ default: PROD });
    const failure = failureOf(() => readClientSettings({ server: "https://evil.example" }, environment));
    expect(failure).toMatchObject({
      exitCode: 4,
      code: "no_api_key",
      message:
        'There is no API key to use at https://evil.example. Profile "default" has none: it is for https://prod.example.',
    });
  });

  test("a management token that nothing holds is asked for by name", () => {
    const failure = failureOf(() => readOperatorSettings({}, withProfiles({ default: HOME })));
    expect(failure).toMatchObject({ exitCode: 4, code: "no_management_token" });
    expect(failure.message).toBe(
      'There is no management token to use at http://127.0.0.1:9000. Profile "default" has none.',
    );
  });

  test("a name that no profile has is a mistake, even with a key and a server at hand", () => {
    const environment = withProfiles({ prod: PROD }, { SVC_API_KEY: "sk-env", SVC_SERVER: "http://env" });
    const failure = failureOf(() => readClientSettings({ profile: "prud" }, environment));
    expect(failure.exitCode).toBe(2);
    expect(failure.message).toEndWith("Did you mean prod?");
    expect(failureOf(() => readClientSettings({}, withProfiles({}, { SVC_PROFILE: "x" }))).exitCode).toBe(2);
  });

  test("the file is not read where it is not needed", () => {
    const { environment } = withText("{", 0o666);
    const env = { ...environment.env, SVC_API_KEY: "sk-env", SVC_SERVER: "http://env" };
    expect(readClientSettings({}, { env })).toEqual({ server: "http://env", key: "sk-env" });
  });
});

describe("the file of profiles", () => {
  test("is its owner's alone, in a folder of the same kind, and replaced as a whole", () => {
    const environment = withProfiles({ default: PROD });
    const path = writeProfiles(environment, new Map([["home", HOME]]));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
    expect([...readProfiles(environment)]).toEqual([["home", HOME]]);
  });

  test("stays a link where its owner made one", () => {
    const elsewhere = withText('{"profiles": {}}').path;
    const XDG_CONFIG_HOME = emptyFolder();
    mkdirSync(join(XDG_CONFIG_HOME, "svc"), { mode: 0o700 });
    symlinkSync(elsewhere, join(XDG_CONFIG_HOME, "svc", "profiles.json"));
    writeProfiles({ env: { XDG_CONFIG_HOME } }, new Map([["home", HOME]]));
    expect(JSON.parse(readFileSync(elsewhere, "utf8")).profiles).toEqual({ home: HOME });
  });

  test.each(["0644", "0640", "0620", "0606"])("is refused with mode %s, with what mends it", (mode) => {
    const { path, environment } = withText(`{"profiles": {}}`, Number.parseInt(mode, 8));
    const failure = failureOf(() => readProfiles(environment));
    expect(failure.exitCode).toBe(12);
    expect(failure.message).toBe(`${path} holds keys, and other users can use it (mode ${mode}).`);
    expect(failure.hint).toStartWith(`Close it: chmod 600 '${path}'.`);
  });

  test("is refused in a folder where others can replace it", () => {
    const { path, environment } = withText('{"profiles": {}}');
    chmodSync(join(path, ".."), 0o777);
    const failure = failureOf(() => readProfiles(environment));
    expect(failure.hint).toBe(`Close it: chmod 700 '${join(path, "..")}'.`);
  });

  test.each([
    [
      '{\n  "profiles": {\n    "default": {"server": "http://a", "key": "sk-secret"\n  }\n',
      "5:1",
      "not JSON",
    ],
    ['{"profiles": {"a": {"server": "http://a",\n "kee": "sk-secret"}}}', "2:2", "perhaps key is meant"],
    ['{"profiles": {"a": {"server": "http://a",\n "key": 5}}}', "2:2", "key must be text"],
    ['{"profiles": {"a": {"key": "sk-secret"}}}', "1:15", 'must have a "server"'],
    ['{"profiles": {"a b": {}}}', "1:15", "a profile's name"],
    ["[]", "1:1", 'an object "profiles"'],
    ["", "1:1", "not JSON"],
  ])("that is damaged is named with line and column: %j", (text, position, problem) => {
    const { path, environment } = withText(text);
    const failure = failureOf(() => readProfiles(environment));
    expect(failure.exitCode).toBe(12);
    expect(failure.message).toStartWith(`${path}:${position}: `);
    expect(failure.message).toContain(problem);
    expect(failure.message + failure.hint).not.toContain("sk-secret");
  });
});
