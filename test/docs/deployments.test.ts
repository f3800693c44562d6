import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { loadConfig } from "../../src/config/config.ts";
import { PROVIDERS } from "../../src/providers/registry.ts";
import { ROOT } from "./blocks.ts";

/** How long a server takes to close once its drain is over, at most (docs/deploying.md). */
const CLOSING_SEC = 20;
const SECRET_KEY = Buffer.alloc(32, 1).toString("base64");

const read = (path: string) => Bun.file(join(ROOT, path)).text();

/** The settings that a process has with these variables, as `svc serve` reads them. */
function configOf(env: Record<string, string>) {
  const cwd = mkdtempSync(join(tmpdir(), "svc-deployments-"));
  try {
    return loadConfig({ cwd, cores: 2, providers: PROVIDERS, env, isServing: true });
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

describe("compose.nodes.yaml", async () => {
  const { services } = parse(await read("compose.nodes.yaml"), { merge: true }) as {
    services: Record<
      string,
      { environment?: Record<string, string>; stop_grace_period?: string; depends_on: object }
    >;
  };
  const secrets = {
    ...{ SVC_DATABASE: "postgres://svc:x@database/svc", SVC_SECRET_KEY: SECRET_KEY },
    ...{ AWS_ACCESS_KEY_ID: "x", AWS_SECRET_ACCESS_KEY: "x" },
  };

  test("has PostgreSQL, an S3 server, two nodes of each role, and Caddy with the file for them", async () => {
    expect(Object.keys(services).sort()).toEqual([
      ...["api-1", "api-2", "bucket", "caddy", "database", "worker-1", "worker-2"],
    ]);
    const caddy = await read("deploy/nodes.Caddyfile");
    for (const name of ["api-1", "api-2"])
      for (const port of [8787, 8788]) expect(caddy).toContain(`${name}:${port}`);
  });

  for (const name of ["api-1", "api-2", "worker-1", "worker-2"])
    test(`${name} has settings that a server takes, and the time that its drain needs`, () => {
      const {
        environment = {},
        stop_grace_period: grace,
        depends_on: needs,
      } = services[name] ?? { depends_on: {} };
      const config = configOf({ ...environment, ...secrets });
      expect(config.warnings).toEqual([]);
      expect([config.role, config.nodeName, config.assets.store]).toEqual([
        ...[name.startsWith("api") ? "api" : "worker", name, "s3"],
      ] as never);
      expect(Number.parseInt(grace ?? "", 10)).toBeGreaterThanOrEqual(
        config.scheduler.drainMs / 1000 + CLOSING_SEC,
      );
      expect(Object.keys(needs)).toEqual(["database", "bucket"]);
    });
});

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Record<string, string>;
  readonly stringData?: Record<string, string>;
  readonly spec: {
    readonly selector: { readonly matchLabels?: object };
    readonly template: { readonly metadata: { readonly labels: object }; readonly spec: Pod };
  };
}
interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly {
    readonly env: readonly { readonly name: string; readonly value?: string }[];
    readonly envFrom: readonly {
      readonly configMapRef?: { name: string };
      readonly secretRef?: { name: string };
    }[];
    readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
    readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  }[];
}

describe("deploy/kubernetes", async () => {
  const folder = "deploy/kubernetes";
  const { resources } = parse(await read(`${folder}/kustomization.yaml`)) as { resources: string[] };
  const texts = await Promise.all([...resources, "secret.yaml"].map((file) => read(`${folder}/${file}`)));
  const all = texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Manifest));
  const of = (kind: string, name: string) =>
    all.find((each) => each.kind === kind && each.metadata.name === name);
  const variables = { ...of("ConfigMap", "svc")?.data, ...of("Secret", "svc")?.stringData };

  for (const role of ["api", "worker"] as const) {
    const deployment = of("Deployment", `svc-${role}`);
    const pod = deployment?.spec.template.spec;
    const container = pod?.containers[0];

    test(`a node of role ${role} has settings that a server takes, and the time that its drain needs`, () => {
      const own = Object.fromEntries(
        (container?.env ?? []).map(({ name, value = "svc-pod-1" }) => [name, value]),
      );
      const config = configOf({ ...variables, SVC_SECRET_KEY: SECRET_KEY, ...own });
      expect(config.warnings).toEqual([]);
      expect([config.role, config.nodeName, config.assets.store]).toEqual([role, "svc-pod-1", "s3"] as never);
      expect(container?.ports).toEqual([{ name: "http", containerPort: config.port ?? 0 }]);
      const needed =
        (container?.lifecycle?.preStop.sleep.seconds ?? 0) + config.scheduler.drainMs / 1000 + CLOSING_SEC;
      expect(pod?.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(needed);
      expect(container?.envFrom).toEqual([{ configMapRef: { name: "svc" } }, { secretRef: { name: "svc" } }]);
    });

    test(`the nodes of role ${role} are those that their deployment and their disruption budget mean`, () => {
      const labels = deployment?.spec.template.metadata.labels;
      expect(deployment?.spec.selector.matchLabels).toEqual(labels as object);
      expect(of("PodDisruptionBudget", `svc-${role}`)?.spec.selector.matchLabels).toEqual(labels as object);
    });
  }

  test("the service leads to nodes that answer", () => {
    expect(of("Service", "svc")?.spec.selector).toEqual(
      of("Deployment", "svc-api")?.spec.template.metadata.labels as object,
    );
  });

  test("probes ask paths that a worker answers, too", async () => {
    const paths = texts.flatMap((text) =>
      [...text.matchAll(/httpGet: \{ path: (\S+),/g)].map(([, path]) => path),
    );
    expect([...new Set(paths)].sort()).toEqual(["/healthz", "/readyz"]);
    expect(paths).toHaveLength(6);
  });
});
