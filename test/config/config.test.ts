import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConfigSources, loadConfig } from "../../src/config/config.ts";
import { ConfigError, describeProblem } from "../../src/config/problem.ts";
import { createSettings, variableOf } from "../../src/config/settings.ts";
import { fal } from "../../src/providers/fal/definition.ts";
import { openAi } from "../../src/providers/openai/definition.ts";
import { PROVIDERS as EVERY_PROVIDER } from "../../src/providers/registry.ts";
import { sandbox } from "../../src/providers/sandbox/definition.ts";
import type { Secret } from "../../src/toolkit/settings/secret.ts";
import { listSettings } from "../../src/toolkit/settings/setting.ts";

/** Three that differ: one without a key, one with settings of its own, one with the usual settings. */
const PROVIDERS = [sandbox, openAi, fal];

const workspace = mkdtempSync(join(tmpdir(), "svc-config-"));
afterAll(() => rmSync(workspace, { recursive: true, force: true }));

/** An empty folder, with svc.yaml in its data folder when given. */
function folder(yaml?: string, name = "svc.yaml"): string {
  const cwd = mkdtempSync(join(workspace, "folder-"));
  mkdirSync(join(cwd, "svc-data"));
  if (yaml !== undefined) writeFileSync(join(cwd, "svc-data", name), yaml);
  return cwd;
}

function load(sources: Partial<ConfigSources> = {}) {
  return loadConfig({ cwd: folder(), cores: 4, providers: PROVIDERS, ...sources });
}

function problemsOf(sources: Partial<ConfigSources>) {
  try {
    load(sources);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const ALIASES = { "gpt-image-1": "sandbox-image", "dall-e-3": "sandbox-image" };

describe("settings", () => {
  test("have defaults for everything", () => {
    const cwd = folder();
    const config = load({ cwd });
    expect(config).toMatchObject({
      dataDir: join(cwd, "svc-data"),
      host: "127.0.0.1",
      port: 8787,
      log: { level: "info", format: "auto" },
      providers: { sandbox: { enabled: true, workers: 2 } },
      callbacks: {
        delaysMs: [5_000, 60_000, 600_000, 3_600_000],
        limits: { total: 256, perAccount: 64, perHost: 32 },
      },
      egress: { allow: [] },
      warnings: [],
    });
    expect([config.longPort, config.publicUrl, config.configFile]).toEqual([undefined, undefined, undefined]);
    expect(config.scheduler).toMatchObject({ leaseMs: 30_000, drainMs: 25_000 });
  });

  test("leave a core free by default, and never ask for less than one worker", () => {
    const workers = (cores: number) => load({ cores }).providers.sandbox?.workers;
    expect([1, 2, 16].map(workers)).toEqual([1, 1, 2]);
  });

  test("come from a flag before a variable before the file", () => {
    const cwd = folder("port: 1\nhost: file.example\nlog: { level: error, format: json }\n");
    const config = load({ cwd, flags: { port: "3" }, env: { SVC_PORT: "2", SVC_HOST: "env.example" } });
    expect([config.port, config.host, config.log.level]).toEqual([3, "env.example", "error"]);
    expect(config.configFile).toBe(join(cwd, "svc-data/svc.yaml"));
  });

  test("are all reachable by flag, by variable and by file", () => {
    const given = {
      database: [
        "postgresql://svc:secret@db.example/svc",
        "postgres://svc:secret@db.example:5432/svc?sslmode=prefer&client=pg",
      ],
      database_driver: ["pg", "pg"],
      database_replica: [
        "postgres://svc:secret@copy.example/svc",
        "postgres://svc:secret@copy.example:5432/svc?sslmode=prefer&client=pg",
      ],
      database_connections: ["20", 20],
      role: ["worker", "worker"],
      node_name: ["rack-1.example", "rack-1.example"],
      host: ["::1", "::1"],
      port: ["0", 0],
      long_port: ["9000", 9000],
      public_url: ["https://media.example.com/", "https://media.example.com"],
      proxy: ["http://us:pass@proxy.example:3128/", "http://us:pass@proxy.example:3128"],
      hooks: ["false", false],
      "search.prompts": ["off", false],
      trusted_proxies: ["10.1.0.0/16", ["10.1.0.0/16"]],
      "cors.origins": [
        "https://a.example, http://b.example:3000",
        ["https://a.example", "http://b.example:3000"],
      ],
      console: ["off", false],
      facades: ["openai-videos, automatic1111", ["openai-videos", "automatic1111"]],
      "edge.timeout_seconds": ["5", 5000],
      "sync.wait_seconds": ["2.5", 2500],
      "sync.response_format": ["url", "url"],
      "streams.key_concurrency": ["11", 11],
      "waits.key_concurrency": ["12", 12],
      "streams.account_concurrency": ["13", 13],
      "waits.account_concurrency": ["14", 14],
      "mcp.max_cost_required_above": ["0.25", 250_000],
      "mcp.inline_bytes": ["1000", 1000],
      aliases: ["gpt-image-1=sandbox-image, dall-e-3 = sandbox-image", ALIASES],
      allow_env: ["BUN_OPTIONS, BUN_INSPECT", ["BUN_OPTIONS", "BUN_INSPECT"]],
      "log.level": ["debug", "debug"],
      "log.format": ["json", "json"],
      "log.kept_mb": ["64", 64],
      "log.requests": ["false", false],
      "metrics.public": ["true", true],
      "metrics.address": ["[::1]:9464", { host: "::1", port: 9464 }],
      "scheduler.concurrency": ["5", 5],
      "scheduler.steps": ["6", 6],
      "scheduler.lease_seconds": ["1.5", 1500],
      "scheduler.drain_seconds": ["0", 0],
      "sandbox.enabled": ["false", false],
      "sandbox.concurrency": ["7", 7],
      "sandbox.workers": ["4", 4],
      "providers.openai.base_url": ["http://127.0.0.1:8787/compat/v1/", "http://127.0.0.1:8787/compat/v1"],
      "providers.openai.concurrency": ["3", 3],
      "providers.openai.idempotent": ["true", true],
      "providers.openai.restarts": ["safe", "safe"],
      "providers.fal.restarts": ["safe", "safe"],
      "providers.fal.base_url": ["https://queue.example", "https://queue.example"],
      "providers.fal.concurrency": ["2", 2],
      "tracing.endpoint": ["http://127.0.0.1:4318/", "http://127.0.0.1:4318"],
      "tracing.service_name": ["media", "media"],
      "tracing.share": ["0.25", 0.25],
      "tracing.prompts": ["true", true],
      "shed.queue_seconds": ["90", 90_000],
      "shed.lag_ms": ["250", 250],
      "shed.memory_mb": ["2048", 2048],
      "outputs.metadata": ["keep", "keep"],
      "assets.store": ["folder", "folder"],
      "assets.path": ["/srv/files", "/srv/files"],
      "assets.endpoint": ["https://s3.example/", "https://s3.example"],
      "assets.bucket": ["media", "media"],
      "assets.prefix": ["svc", "svc/"],
      "assets.region": ["auto", "auto"],
      "assets.key_env": ["S3_ID, S3_SECRET", ["S3_ID", "S3_SECRET"]],
      "assets.serve": ["redirect", "redirect"],
      "assets.cache_mb": ["7", 7],
      "callbacks.delays_seconds": ["0.5, 60,3600", [500, 60_000, 3_600_000]],
      "callbacks.concurrency": ["9", 9],
      "callbacks.account_concurrency": ["8", 8],
      "callbacks.host_concurrency": ["1", 1],
      "backup.every": ["90m", 5_400_000],
      "backup.to": ["/backups", "/backups"],
      "backup.keep": ["3", 3],
      "backup.secret_key": ["false", false],
      "backup.endpoint": ["http://127.0.0.1:9000/", "http://127.0.0.1:9000"],
      "backup.region": ["auto", "auto"],
      "backup.key_env": ["S3_ID, S3_SECRET", ["S3_ID", "S3_SECRET"]],
      "retention.outputs_seconds": ["86400", 86_400_000],
      "retention.inputs_seconds": ["3600", 3_600_000],
      "retention.callbacks_seconds": ["60", 60_000],
      "retention.tasks_seconds": ["1", 1000],
      "retention.books_seconds": ["2678400", 2_678_400_000],
      "uploads.keep_seconds": ["60", 60_000],
      "uploads.account_mb": ["7", 7],
      "disk.warn_mb": ["900", 900],
      "disk.refuse_mb": ["20", 20],
      record: ["recordings", "recordings"],
      replay: ["recordings", "recordings"],
      "egress.allow": ["10.0.0.0/8, fd00::/8,192.0.2.7", ["10.0.0.0/8", "fd00::/8", "192.0.2.7/32"]],
    } as const;
    const settings = listSettings(createSettings({ cores: 4 }, PROVIDERS)).filter(
      ({ key }) => key !== "data_dir",
    );
    expect<string[]>(Object.keys(given).sort()).toEqual(settings.map(({ key }) => key).sort());
    const text = (key: string) => given[key as keyof typeof given][0];
    const byFlag = Object.fromEntries(settings.map(({ option, key }) => [option, text(key)]));
    const byVariable = Object.fromEntries(settings.map((each) => [variableOf(each), text(each.key)]));
    const yaml = settings.map(({ key }) => `${key}: ${JSON.stringify(text(key))}`).join("\n");

    const cwd = folder();
    const fromFlags = load({ cwd, flags: byFlag });
    expect(fromFlags).toMatchObject({
      host: "::1",
      port: 0,
      longPort: 9000,
      publicUrl: "https://media.example.com",
      hooks: false,
      search: { prompts: false },
      trustedProxies: ["10.1.0.0/16"],
      edgeTimeoutMs: 5000,
      sync: { waitMs: 2500, responseFormat: "url" },
      aliases: ALIASES,
      log: { level: "debug", format: "json" },
      scheduler: { concurrency: 5, steps: 6, leaseMs: 1500, drainMs: 0 },
      providers: {
        sandbox: { enabled: false, concurrency: 7, workers: 4 },
        openai: { baseUrl: "http://127.0.0.1:8787/compat/v1", concurrency: 3, isIdempotent: true },
        fal: { baseUrl: "https://queue.example", concurrency: 2 },
      },
      callbacks: {
        delaysMs: given["callbacks.delays_seconds"][1],
        limits: { total: 9, perAccount: 8, perHost: 1 },
      },
      egress: { allow: given["egress.allow"][1] },
    });
    const functions = { providerConfig: undefined, placed: undefined, shown: undefined };
    const secret = {
      ...{ proxy: given.proxy[1], database: given.database[1] },
      databaseReplica: given.database_replica[1],
    };
    const expected = { ...fromFlags, ...secret, ...functions };
    const shown = (config: ReturnType<typeof load>): object => ({
      ...{ ...config, ...functions },
      proxy: config.proxy?.reveal(),
      database: config.database?.reveal(),
      databaseReplica: config.databaseReplica?.reveal(),
    });
    expect(shown(fromFlags)).toEqual(expected);
    expect(shown(load({ cwd, env: byVariable }))).toEqual(expected);
    writeFileSync(join(cwd, "svc-data/svc.yml"), yaml);
    expect<object>({ ...shown(load({ cwd })), configFile: undefined }).toEqual(expected);
  });

  test("are nested in the file, and lists there are lists", () => {
    const cwd = folder(
      "sandbox:\n  workers: 3\n  enabled: no\negress:\n  allow: [10.0.0.0/8]\nlong_port: off\n",
    );
    const config = load({ cwd });
    expect(config.providers.sandbox).toMatchObject({ workers: 3, enabled: false });
    expect(config.egress.allow).toEqual(["10.0.0.0/8"]);
    expect(config.longPort).toBeUndefined();
  });

  test("cannot be changed afterwards", () => {
    const config = load();
    for (const part of [
      config,
      config.log,
      config.scheduler,
      config.egress,
      config.egress.allow,
      config.providers,
      config.providers.sandbox,
      config.providers.openai,
      config.providers.fal,
    ]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  test("count an empty variable as none", () => {
    expect(load({ env: { SVC_PORT: "", SVC_CONFIG: "" } }).port).toBe(8787);
  });

  test("count an empty file, and null in it, as nothing said", () => {
    expect(load({ cwd: folder("") }).port).toBe(8787);
    expect(load({ cwd: folder("port:\nlog:\n") }).port).toBe(8787);
  });
});

describe("the settings file", () => {
  test("can be another one, and says where the data folder is, relative to itself", () => {
    const cwd = folder("port: 1\n");
    writeFileSync(join(cwd, "other.yaml"), "data_dir: data\nport: 2\n");
    expect(load({ cwd: workspace, file: join(cwd, "other.yaml") })).toMatchObject({
      dataDir: join(cwd, "data"),
      port: 2,
    });
    expect(load({ cwd, env: { SVC_CONFIG: "other.yaml" } })).toMatchObject({
      dataDir: join(cwd, "data"),
      port: 2,
    });
  });

  test("that was asked for must be there", () => {
    const cwd = folder();
    expect(problemsOf({ cwd, file: "no.yaml" })).toEqual([
      { where: join(cwd, "no.yaml"), message: "there is no such settings file" },
    ]);
  });

  test("in the data folder cannot say where the data folder is", () => {
    expect(problemsOf({ cwd: folder("data_dir: elsewhere\n") })[0]?.message).toStartWith(
      "cannot be set in the data folder's own file",
    );
  });

  test("is one, not two", () => {
    const cwd = folder("port: 1\n");
    writeFileSync(join(cwd, "svc-data/svc.yml"), "port: 2\n");
    expect(problemsOf({ cwd })).toEqual([
      {
        where: join(cwd, "svc-data/svc.yml"),
        message: `there is a ${join(cwd, "svc-data/svc.yaml")} too; remove one of them`,
      },
    ]);
  });

  test("that is no YAML, or no mapping, is a problem with its name", () => {
    const broken = folder("port: [1\n");
    const [problem] = problemsOf({ cwd: broken });
    expect(problem?.where).toMatch(/svc-data\/svc\.yaml:2:1$/);
    const [twice] = problemsOf({ cwd: folder("port: 1\nport: 2\n") });
    expect(twice).toMatchObject({
      where: expect.stringMatching(/svc\.yaml:2:1$/),
      message: "this key is already in the same mapping",
    });
    expect(problemsOf({ cwd: folder("- a\n") })[0]?.message).toBe('must hold settings by name, got ["a"]');
  });

  test("with an unknown name suggests the closest known one", () => {
    const cwd = folder("prot: 1\nlog:\n  levle: debug\nlogg: { level: debug }\nquota: 1\n");
    const path = join(cwd, "svc-data/svc.yaml");
    expect(problemsOf({ cwd })).toEqual([
      { where: `${path}:1:1: prot`, message: "is not a setting", suggestion: "port" },
      { where: `${path}:3:3: log.levle`, message: "is not a setting", suggestion: "log.level" },
      { where: `${path}:4:1: logg`, message: "is not a setting", suggestion: undefined },
      { where: `${path}:5:1: quota`, message: "is not a setting", suggestion: undefined },
    ]);
  });

  test("says where a provider's key belongs, and shows none that stands in it", () => {
    const problems = (yaml: string) =>
      problemsOf({ cwd: folder(yaml) })
        .map(describeProblem)
        .join("\n");
    const key = "sk-1234567890";
    for (const name of ["api_key", "key", "token"])
      expect(problems(`providers: { openai: { ${name}: ${key} } }\n`)).toEndWith(
        `1:24: providers.openai.${name}: a key does not belong in this file; give it by a variable (OPENAI_API_KEY), or keep it sealed: svc providers add openai.`,
      );
    expect(problems("providers: { fal: { key_env: MY_KEY } }\n")).toEndWith(
      "providers.fal.key_env: belongs to an account, such as accounts: [{name: default, key_env: …}].",
    );
    expect(problems(`providers: { openai: ${key} }\n`)).toMatch(
      /providers\.openai: must hold settings by name, of base_url, concurrency, .*accounts\.$/,
    );
    expect(problems(`providers: { openai: ${key} }\n`)).not.toContain(key);
  });

  test("names the settings that belong below a name", () => {
    expect(problemsOf({ cwd: folder("sandbox: false\n") })[0]?.message).toBe(
      "must hold settings by name, of enabled, concurrency, workers, got false",
    );
  });
});

describe("problems", () => {
  test("are told all at once, each with its place", () => {
    const cwd = folder("sandbox: { workers: 9 }\nhots: x\n");
    const problems = problemsOf({
      cwd,
      flags: { port: "x", egressAllow: ["10.0.0.0/33"] },
      env: { SVC_PORT: "70000", SVC_LOG_LEVEL: "loud", SVC_PUBLIC_URL: "https://a.example/path" },
    });
    expect(problems.map(({ where }) => where.replace(cwd, "")).sort()).toEqual([
      "--egress-allow",
      "--port",
      "/svc-data/svc.yaml:1:12: sandbox.workers",
      "/svc-data/svc.yaml:2:1: hots",
      "SVC_LOG_LEVEL",
      "SVC_PORT",
      "SVC_PUBLIC_URL",
    ]);
    expect(new ConfigError(problems).message).toContain(
      'SVC_LOG_LEVEL: must be one of debug, info, warn, error, got "loud".',
    );
    expect(new ConfigError(problems).message).toContain(
      "sandbox.workers: must be an integer from 1 to 4, the cores of this machine, got 9.",
    );
  });

  test("include two listeners on one port", () => {
    expect(problemsOf({ flags: { port: "9000", longPort: "9000" } })).toHaveLength(1);
    expect(problemsOf({ flags: { port: "0", longPort: "0" } })).toEqual([]);
  });

  test.each([
    ["port", "-1"],
    ["port", "1e3"],
    ["port", "80.5"],
    ["port", "65536"],
    ["port", ""],
    ["metricsAddress", "9464"],
    ["metricsAddress", "127.0.0.1"],
    ["metricsAddress", "127.0.0.1:70000"],
    ["metricsAddress", "::1:9464"],
    ["metricsAddress", "http://127.0.0.1:9464"],
    ["longPort", "maybe"],
    ["host", "http://a"],
    ["host", "a:80"],
    ["host", ""],
    ["publicUrl", "a.example"],
    ["publicUrl", "ftp://a.example"],
    ["publicUrl", "https://user@a.example"],
    ["publicUrl", "https://a.example/?q"],
    ["schedulerConcurrency", "0"],
    ["schedulerLeaseSeconds", "0"],
    ["sandbox", "perhaps"],
    ["dataDir", " "],
    ["egressAllow", "10.0.0.0/8,nonsense"],
    ["egressAllow", "fe80::1%eth0/64"],
    ["egressAllow", "1.2.3.4/"],
    ["openaiBaseUrl", "api.openai.com/v1"],
    ["openaiBaseUrl", "ftp://api.openai.com"],
    ["openaiBaseUrl", "https://api.example.com/v1?key=x"],
    ["openaiConcurrency", "0"],
    ["falBaseUrl", "https://user@queue.example"],
    ["falConcurrency", "many"],
    ["callbacksDelaysSeconds", "5,60,600,3600,7200"],
    ["callbacksDelaysSeconds", "5,,60"],
    ["callbacksDelaysSeconds", "0"],
    ["callbacksDelaysSeconds", "soon"],
    ["callbacksHostConcurrency", "0"],
  ])("%s cannot be %p", (option, value) => {
    expect(problemsOf({ flags: { [option]: value } })).toHaveLength(1);
  });
});

describe("warnings", () => {
  test("name variables that are no settings, but not those of other parts", () => {
    const env = {
      SVC_PROT: "1",
      SVC_SERVER: "x",
      SVC_API_KEY: "x",
      SVC_MANAGEMENT_TOKEN: "x",
      SVC_PROFILE: "x",
      SVC_RELEASES_URL: "x",
      SVC_BIN: "x",
      SVC_NATIVE_DIR: "x",
      SVC_OUTPUT: "json",
      SVC_PREVIEW: "none",
      PATH: "x",
    };
    expect(load({ env }).warnings).toEqual([
      "SVC_PROT is set, but is no setting of svc. Did you mean SVC_PORT?",
    ]);
  });

  test("name listening everywhere without a public URL", () => {
    expect(load({ flags: { host: "0.0.0.0" } }).warnings).toHaveLength(1);
    expect(load({ flags: { host: "::" } }).warnings).toHaveLength(1);
    expect(load({ flags: { host: "0.0.0.0", publicUrl: "https://a.example" } }).warnings).toEqual([]);
  });
});

describe("a variable that changes how the executable runs", () => {
  test("is a problem unless it is allowed by its name", () => {
    const env = { BUN_OPTIONS: "--smol", BUN_INSPECT: "1", NODE_TLS_REJECT_UNAUTHORIZED: "0" };
    expect(problemsOf({ env }).map(({ where }) => where)).toEqual(Object.keys(env));
    expect(problemsOf({ env: { ...env, SVC_ALLOW_ENV: "BUN_OPTIONS, BUN_INSPECT" } })).toEqual([
      expect.objectContaining({ where: "NODE_TLS_REJECT_UNAUTHORIZED" }),
    ]);
    expect(load({ env, flags: { allowEnv: Object.keys(env) } }).warnings).toEqual([]);
  });

  test("is none without a value, and where it asks for what is usual", () => {
    expect(
      problemsOf({ env: { BUN_OPTIONS: "", NODE_TLS_REJECT_UNAUTHORIZED: "1", NODE_OPTIONS: "x" } }),
    ).toEqual([]);
  });

  test("that is none of these cannot be allowed", () => {
    expect(problemsOf({ env: { SVC_ALLOW_ENV: "LD_PRELOAD" } })).toHaveLength(1);
  });
});

describe("keys of providers", () => {
  const KEY = "sk-proj-0123456789abcdefghijklmnopqrstuvwxyz";

  /** Of OpenAI and fal. */
  const keysOf = (env: Record<string, string>) => {
    const { openai, fal } = load({ env }).providers;
    // What a credential is read as; the configuration does not know which value of a provider is one.
    return [openai, fal].map((values) => (values?.key as Secret | undefined)?.reveal());
  };

  test("come from their customary variables alone, and are absent without them", () => {
    expect(keysOf({ OPENAI_API_KEY: KEY, FAL_KEY: " id:secret\n" })).toEqual([KEY, "id:secret"]);
    for (const env of [{}, { OPENAI_API_KEY: "", FAL_KEY: " " }]) {
      expect(keysOf(env)).toEqual([undefined, undefined]);
    }
    const cwd = folder("providers: { openai: { api_key: x, key: x } }\n");
    const refused = expect.stringMatching(/^a key does not belong in this file/);
    expect(problemsOf({ cwd }).map(({ message }) => message)).toEqual([refused, refused]);
  });

  test("do not show in what is printed, logged or stored of the configuration", () => {
    const config = load({ env: { OPENAI_API_KEY: KEY, SVC_PROXY: `http://us:${KEY}@proxy.example` } });
    const shown = [
      JSON.stringify(config),
      Bun.inspect(config, { depth: 9 }),
      `${config.providers.openai?.key}`,
    ];
    for (const text of shown) {
      expect(text).toContain("[secret]");
      expect(text).not.toContain(KEY);
    }
  });

  test("that cannot be keys are a problem that does not repeat them", () => {
    const problems = problemsOf({ env: { OPENAI_API_KEY: `${KEY} ${KEY}` } });
    expect(problems.map(({ where }) => where)).toEqual(["OPENAI_API_KEY"]);
    expect(new ConfigError(problems).message).not.toContain(KEY);
  });

  test("are warned of when they would cross a network in the clear", () => {
    const warnings = (url: string) => load({ env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: url } }).warnings;
    expect(warnings("http://media.example/compat/v1")).toHaveLength(1);
    for (const url of ["https://media.example/v1", "http://127.0.0.1:8787/v1", "http://localhost:1/v1"]) {
      expect(warnings(url)).toEqual([]);
    }
    expect(load({ env: { OPENAI_BASE_URL: "http://media.example" } }).warnings).toEqual([]);
  });

  test("go to the address of the service's own variable before that of the customary one", () => {
    const env = { OPENAI_BASE_URL: "https://customary.example/v1" };
    expect(load({ env }).providers.openai?.baseUrl).toBe("https://customary.example/v1");
    const both = { ...env, SVC_PROVIDERS_OPENAI_BASE_URL: "https://own.example/v1" };
    expect(load({ env: both }).providers.openai?.baseUrl).toBe("https://own.example/v1");
  });

  test("of svc itself go to another svc, never to the provider's usual address", () => {
    const own = `sk-svc-${"0".repeat(38)}`;
    const ignored = load({ env: { OPENAI_API_KEY: own, FAL_KEY: KEY } });
    expect(ignored.providers.openai?.key).toBeUndefined();
    expect(ignored.warnings).toEqual([expect.stringContaining("OPENAI_API_KEY is ignored")]);
    expect(ignored.warnings.join()).not.toContain(own);
    expect(ignored.notes).toEqual(["fal: key from FAL_KEY"]);
    const chained = { OPENAI_API_KEY: own, OPENAI_BASE_URL: "https://behind.example/compat/v1" };
    expect(keysOf(chained)[0]).toBe(own);
    expect(load({ env: chained }).notes).toEqual([
      "openai: key from OPENAI_API_KEY, base URL from OPENAI_BASE_URL: https://behind.example/compat/v1",
    ]);
  });

  test("in variables of other programs are not used, and a note says what is read", () => {
    const names = {
      OPENAI_KEY: "openai: OPENAI_KEY is set, but the key of OpenAI is read from OPENAI_API_KEY",
      FAL_API_KEY: "fal: FAL_API_KEY is set, but the key of fal is read from FAL_KEY",
      GOOGLE_API_KEY:
        "gemini: GOOGLE_API_KEY is set, but the key of Google Gemini is read from GEMINI_API_KEY",
      GOOGLE_GENERATIVE_AI_API_KEY:
        "gemini: GOOGLE_GENERATIVE_AI_API_KEY is set, but the key of Google Gemini is read from GEMINI_API_KEY",
      REPLICATE_API_KEY:
        "replicate: REPLICATE_API_KEY is set, but the key of Replicate is read from REPLICATE_API_TOKEN",
      RUNWAY_API_KEY: "runway: RUNWAY_API_KEY is set, but the key of Runway is read from RUNWAYML_API_SECRET",
      LUMA_API_KEY:
        "luma: LUMA_API_KEY is set, but the key of Luma Dream Machine is read from LUMAAI_API_KEY",
      RECRAFT_API_KEY:
        "recraft: RECRAFT_API_KEY is set, but the key of Recraft is read from RECRAFT_API_TOKEN",
    };
    for (const [name, note] of Object.entries(names)) {
      const { notes, accounts } = load({ providers: EVERY_PROVIDER, env: { [name]: KEY } });
      expect([notes, Object.values(accounts).flat().length]).toEqual([[note], 1]);
    }
    const none = [
      "API_KEY",
      "OPENAI_ORG_ID",
      "GOOGLE_MAPS_API_KEY",
      "COMFYUI_KEY",
      "SVC_TOKEN",
      "GITHUB_TOKEN",
    ];
    for (const name of none)
      expect(load({ providers: EVERY_PROVIDER, env: { [name]: KEY } }).notes).toEqual([]);
    expect(
      load({ providers: EVERY_PROVIDER, env: { GOOGLE_API_KEY: `sk-svc-${"0".repeat(38)}` } }).notes,
    ).toEqual([]);
    expect(
      load({ providers: EVERY_PROVIDER, env: { GOOGLE_API_KEY: KEY, GEMINI_API_KEY: KEY } }).notes,
    ).toEqual(["gemini: key from GEMINI_API_KEY"]);
  });

  test("go nowhere when the address is the server's own, which matters to a server alone", () => {
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: "http://localhost:8787/compat/v1" };
    expect(problemsOf({ env, isServing: true }).map(({ where }) => where)).toEqual(["OPENAI_BASE_URL"]);
    expect(problemsOf({ env })).toEqual([]);
    for (const flags of [
      { port: 8788 },
      { port: "off", longPort: 8788 },
      { openaiBaseUrl: "https://a.example" },
    ]) {
      expect(problemsOf({ env, isServing: true, flags })).toEqual([]);
    }
    const { OPENAI_BASE_URL } = env;
    expect(problemsOf({ env: { OPENAI_BASE_URL }, isServing: true })).toEqual([]);
  });

  test("do not show when a proxy's address is refused", () => {
    for (const proxy of [
      `http://us:pa/${KEY}@proxy.example`,
      `us:${KEY}@proxy`,
      `socks5://us:${KEY}@proxy`,
    ]) {
      const problems = problemsOf({ env: { SVC_PROXY: proxy } });
      expect(problems.map(({ where }) => where)).toEqual(["SVC_PROXY"]);
      expect(new ConfigError(problems).message).not.toContain(KEY);
    }
  });

  test("do not show when an address that holds a password is refused", () => {
    const problems = problemsOf({ flags: { falBaseUrl: "https://user:pass-word@queue.example" } });
    expect(new ConfigError(problems).message).not.toContain("pass-word");
  });
});

test("a bucket of backups is reached as that of files is unless it says otherwise, and needs keys to serve", () => {
  const yaml =
    "assets: { endpoint: 'https://s3.example', region: r1, key_env: [A_ID, A_SECRET] }\nbackup: { every: 1d, to: 's3://backups/svc' }\n";
  const env = { A_ID: "id", A_SECRET: "secret", B_ID: "id of b", B_SECRET: "other" };
  const { service } = load({ cwd: folder(yaml), env, isServing: true }).backup;
  expect(service).toMatchObject({
    endpoint: "https://s3.example",
    region: "r1",
    keyEnv: ["A_ID", "A_SECRET"],
  });
  expect(service.keys?.secretAccessKey.reveal()).toBe("secret");
  const flags = {
    backupRegion: "r2",
    backupEndpoint: "http://127.0.0.1:9000",
    backupKeyEnv: ["C_ID,C_SECRET"],
  };
  expect(load({ cwd: folder(yaml), env, flags }).backup.service).toMatchObject({
    ...{ endpoint: "http://127.0.0.1:9000", region: "r2", keyEnv: ["C_ID", "C_SECRET"] },
  });
  expect(problemsOf({ cwd: folder(yaml), env, flags, isServing: true })).toMatchObject([
    { where: "C_ID", message: expect.stringContaining("backup.key_env") },
    { where: "C_SECRET" },
  ]);
  const ofB = { ...flags, backupKeyEnv: ["B_ID,B_SECRET"] };
  expect(problemsOf({ cwd: folder(yaml), env, flags: ofB })).toMatchObject([{ where: "B_ID" }]);
  // Nobody asks what variables hold that are not needed.
  expect(load({ env: { AWS_ACCESS_KEY_ID: "no key" }, isServing: true }).backup.service.keys).toBeUndefined();
  for (const to of [
    "s3://",
    "s3:///x",
    "s3://b",
    "s3://backups/a//b",
    "s3://backups/a/b/c/d/e",
    "s3://backups/../x",
  ])
    expect([to, problemsOf({ flags: { backupEvery: "1d", backupTo: to } })]).toMatchObject([
      to,
      [{ where: "backup.to", message: expect.stringContaining("s3://bucket/prefix") }],
    ]);
});

test("backups of a server need a folder, and a flag switches them off", () => {
  const config = load({ flags: { backupEvery: "6h", backupTo: "/backups", backupKeep: "3" } });
  expect(config.backup).toMatchObject({ everyMs: 21_600_000, to: "/backups", keep: 3, secretKey: true });
  expect(load({ cwd: folder("backup: { every: off }\n") }).backup.everyMs).toBeUndefined();
  expect(problemsOf({ flags: { backupEvery: "6h" } })).toMatchObject([{ where: "backup.every" }]);
  const off = load({ cwd: folder("backup: { every: 6h, to: /b }\n"), flags: { backupEvery: "off" } });
  expect(off.warnings).toEqual(["Nothing is backed up to /b: backup.every is off. Set it, such as 1d."]);
  for (const every of ["9s", "31d", "6", "1w", "", "-1h"])
    expect(problemsOf({ flags: { backupEvery: every, backupTo: "/b" } })[0]?.message).toContain(
      "from 10s to 30d, such as 6h",
    );
});

describe("a database that nodes share", () => {
  test("is needed by a node that does a part of the work, and its address is never shown", () => {
    const cwd = folder();
    expect(() => load({ cwd, flags: { role: "worker" } })).toThrow("set database too");
    const copy = "postgres://svc:CANARY@copy.example/svc";
    const alone = () => load({ cwd, env: { SVC_DATABASE_REPLICA: copy } });
    expect(alone).toThrow("database_replica: is of a PostgreSQL database that nodes share: set database too");
    expect(alone).not.toThrow("CANARY");
    const wrong = () => load({ cwd, env: { SVC_DATABASE: "mysql://svc:CANARY@db.example/svc" } });
    expect(wrong).toThrow("must be the URL of a PostgreSQL database");
    expect(wrong).not.toThrow("CANARY");
    const config = load({
      cwd,
      env: {
        ...{ SVC_DATABASE: "postgres://svc:CANARY@db.example/svc", SVC_ROLE: "api" },
        SVC_DATABASE_REPLICA: copy,
      },
    });
    expect(JSON.stringify([config, config.shown()])).not.toContain("CANARY");
  });

  test("is reached as the variables and the password file of PostgreSQL's own programs say", () => {
    const cwd = folder();
    const passwords = join(cwd, "passwords");
    writeFileSync(passwords, "db.example:*:svc:us:CANARY\n", { mode: 0o600 });
    const env = { SVC_DATABASE: "postgres://db.example/svc", PGUSER: "us", PGPASSFILE: passwords };
    const reached = () => load({ cwd, env }).database?.reveal();
    expect(reached()).toBe("postgres://us:CANARY@db.example:5432/svc?sslmode=prefer&client=bun");
    chmodSync(passwords, 0o640);
    expect(reached).toThrow("chmod 600");
    rmSync(passwords);
    expect(reached).toThrow("has a password file that is not there");
    expect(() => load({ cwd, env: { ...env, PGPASSFILE: "", PGSERVICE: "x" } })).toThrow("PGSERVICE");
  });
});
