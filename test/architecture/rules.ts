/*
 * The architecture as functions from source text to violations. Each rule has a test with a violating input in
 * rules.test.ts; architecture.test.ts applies them to this repository.
 */
import { dirname, join } from "node:path/posix";
import { blank, importsOf, lineAt, type Sources } from "./source.ts";

/** A list has the names of packages. */
type Externals = "any" | "node" | "none" | readonly string[];
type Layer = { name: string; covers: readonly string[]; imports: readonly string[]; externals: Externals };

/** First match wins. A layer may always import itself. `covers` are files, or folders ending in a slash. */
const LAYERS: readonly Layer[] = [
  { name: "domain", covers: ["src/domain/"], imports: [], externals: "none" },
  { name: "service", covers: ["src/service/"], imports: ["domain"], externals: "node" },
  { name: "scheduler", covers: ["src/scheduler/"], imports: ["domain"], externals: "node" },
  { name: "toolkit", covers: ["src/toolkit/"], imports: [], externals: "any" },
  {
    name: "http",
    covers: ["src/http/"],
    imports: ["domain", "service", "snippets", "toolkit"],
    externals: "any",
  },
  { name: "studio", covers: ["src/studio/"], imports: ["toolkit"], externals: "any" },
  // The studio is to the sandbox what sharp is to others: a library that draws, and knows no provider.
  {
    name: "sandbox",
    covers: ["src/providers/sandbox/"],
    imports: ["domain", "toolkit", "providers", "studio"],
    externals: "any",
  },
  {
    name: "providers",
    covers: ["src/providers/"],
    imports: ["domain", "toolkit", "sandbox"],
    externals: "any",
  },
  { name: "catalog", covers: ["src/catalog/"], imports: ["domain", "toolkit"], externals: "any" },
  { name: "store", covers: ["src/store/"], imports: ["domain", "toolkit"], externals: "any" },
  // The studio is to thumbnails of videos what sharp is to those of images.
  {
    name: "thumbnails",
    covers: ["src/assets/thumbnails/"],
    imports: ["domain", "toolkit", "assets", "studio"],
    externals: "any",
  },
  { name: "assets", covers: ["src/assets/"], imports: ["domain", "toolkit"], externals: "any" },
  { name: "runtime", covers: ["src/runtime/"], imports: ["domain", "toolkit"], externals: "any" },
  { name: "egress", covers: ["src/egress/"], imports: ["domain", "toolkit"], externals: "any" },
  { name: "backup", covers: ["src/backup/"], imports: ["domain", "toolkit"], externals: "any" },
  { name: "alerting", covers: ["src/alerting/"], imports: ["domain", "toolkit"], externals: "any" },
  { name: "moving", covers: ["src/moving/"], imports: ["domain", "toolkit"], externals: "any" },
  { name: "moderation", covers: ["src/moderation/"], imports: ["domain", "toolkit"], externals: "any" },
  // Texts for people to copy. The console has them too, as they know nothing of the service but its address.
  { name: "snippets", covers: ["src/snippets/"], imports: ["domain"], externals: "none" },
  { name: "version", covers: ["src/version.ts", "package.json"], imports: [], externals: "none" },
  {
    name: "config",
    covers: ["src/config/"],
    imports: ["domain", "toolkit", "version"],
    externals: "any",
  },
  {
    name: "app",
    covers: ["src/app/"],
    imports: [
      ...[
        "domain",
        "toolkit",
        "studio",
        "service",
        "scheduler",
        "http",
        "providers",
        "catalog",
        "store",
        "assets",
        "thumbnails",
        "runtime",
        "egress",
        "backup",
        "moderation",
        "moving",
        "snippets",
        "alerting",
      ],
      ...["config", "version"],
    ],
    externals: "any",
  },
  // Its only way to the service is the published API, whose types are generated.
  {
    name: "console",
    covers: ["console/"],
    imports: ["snippets"],
    externals: ["preact", "@preact/signals", "uplot"],
  },
  {
    name: "build",
    covers: ["cli/build.ts", "cli/build/"],
    // It compiles the checks of the built-in models, and of the files that operators write.
    imports: ["catalog", "providers", "toolkit"],
    externals: "any",
  },
  // Unlike other programs for developers, this one runs when everything is installed.
  {
    name: "captures",
    covers: ["cli/dev/captures.ts", "cli/dev/captures/"],
    imports: ["dev"],
    externals: "any",
  },
  { name: "dev", covers: ["cli/dev/"], imports: [], externals: "node" },
  // A video's first picture is decoded by the studio, which knows nothing of tasks.
  { name: "picture", covers: ["cli/picture/"], imports: ["cli", "studio"], externals: "any" },
  {
    name: "cli",
    covers: ["cli/"],
    imports: ["app", "config", "domain", "picture", "snippets", "toolkit", "version"],
    externals: "any",
  },
];

type Exception = { path: string; reason: string };

const READS_ENVIRONMENT: readonly Exception[] = [
  { path: "src/config/config.ts", reason: "the one reader of the service's settings" },
  {
    path: "src/assets/native.ts",
    reason: "runs while sharp is being imported, in Workers too, before any config exists",
  },
  { path: "cli/main.ts", reason: "hands the environment to config and reads NO_COLOR and the like" },
  { path: "cli/build.ts", reason: "not part of the executable" },
  { path: "cli/build/", reason: "not part of the executable" },
  { path: "cli/dev/", reason: "not part of the executable" },
];

const READS_CLOCK: readonly Exception[] = [
  { path: "src/runtime/", reason: "implements Clock, Ids and Random" },
  { path: "cli/", reason: "talks to people, who live in real time" },
  { path: "console/", reason: "talks to people, who live in real time" },
];

const FETCHES: readonly Exception[] = [
  { path: "src/egress/", reason: "the guarded way out to addresses callers chose" },
  { path: "src/providers/kit/", reason: "the guarded way out to upstreams" },
  { path: "cli/client/", reason: "the client half of the executable" },
  { path: "console/api/", reason: "runs in a browser, and asks the service it came from" },
  { path: "src/assets/s3/client.ts", reason: "goes to the operator's own bucket, and nowhere else" },
  {
    path: "src/providers/declared/rehearsal/upstream.ts",
    reason: "a server on this machine, from the module that has the client too",
  },
  { path: "cli/dev/", reason: "not part of the executable" },
];

/** Imports that leave the matrix. */
export function matrixViolations(sources: Sources): string[] {
  return modules(sources).flatMap(([path, text]) => {
    const layer = layerOf(path);
    if (!layer) return [`${path} belongs to no layer: add its folder to the matrix`];
    return importsOf(text).flatMap(({ specifier, line }) => {
      const problem = importProblem(layer, path, specifier);
      return problem ? [`${path}:${line} ${problem}`] : [];
    });
  });
}

function importProblem(layer: Layer, path: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) {
    const isPlatform = /^(?:node:|bun$|bun:)/.test(specifier);
    const { externals } = layer;
    if (typeof externals === "object" && externals.some((name) => isOfPackage(specifier, name)))
      return undefined;
    if (layer.externals === "any" || (layer.externals === "node" && isPlatform)) return undefined;
    return `${layer.name} may not import the package ${specifier}`;
  }
  const target = join(dirname(path), specifier);
  const imported = layerOf(target);
  if (!imported) return `imports ${target}, which belongs to no layer`;
  if (imported.name === layer.name || layer.imports.includes(imported.name)) return undefined;
  return `${layer.name} may not import ${imported.name} (${target})`;
}

function isOfPackage(specifier: string, name: string): boolean {
  return specifier === name || specifier.startsWith(`${name}/`);
}

/** `import(expression)`, `import x = require()`: imports this checker could not follow. */
export function opaqueImportViolations(sources: Sources): string[] {
  return matches(sources, /\bimport\s*\(\s*(?!["'`\s])/g, [], "imports a module by an expression");
}

/** Chains of imports that lead back to their start, each reported once. */
export function cycleViolations(sources: Sources): string[] {
  const paths = new Set(modules(sources).map(([path]) => path));
  const edges = new Map(
    modules(sources).map(([path, text]) => [
      path,
      importsOf(text)
        .filter(({ specifier }) => specifier.startsWith("."))
        .map(({ specifier }) => join(dirname(path), specifier))
        .filter((target) => paths.has(target)),
    ]),
  );
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) cycles.push([...trail.slice(at), path].join(" → "));
    if (at >= 0 || done.has(path)) return;
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of paths) visit(path, []);
  return cycles;
}

export function environmentViolations(sources: Sources): string[] {
  return matches(
    sources,
    /\b(?:process|Bun|import\.meta)\s*\.\s*env\b/g,
    READS_ENVIRONMENT,
    "reads the environment",
  );
}

export function clockViolations(sources: Sources): string[] {
  const pattern =
    /\bDate\s*\.\s*now\b|\bnew\s+Date\b(?!\s*\(\s*[^)\s])|\bMath\s*\.\s*random\b|\brandomUUID\w*|\bperformance\s*\.\s*now\b|\bhrtime\b|\bBun\s*\.\s*nanoseconds\b|\bTemporal\s*\.\s*Now\b/g;
  return matches(sources, pattern, READS_CLOCK, "reads the clock or chance");
}

/** Calls of fetch, and what else makes requests. Declaring a method of that name, or calling one of an object, is something else. */
export function fetchViolations(sources: Sources): string[] {
  const pattern =
    /(?:\b(?:globalThis|Bun|window|self)\s*\.\s*|(?<![.\w$])(?<!\bfunction\s))fetch\b\s*\((?!(?:[^()]|\([^()]*\))*\)\s*(?:[:{]|=>))/g;
  const clients = [...sources].filter(
    ([path, text]) =>
      /\bfrom "node:(?:http|https|http2)"/.test(text) && !FETCHES.some((each) => isCovered(path, each.path)),
  );
  return [
    ...matches(sources, pattern, FETCHES, "calls fetch"),
    ...clients.map(([path]) => `${path} imports an HTTP client of node`),
  ];
}

export function defaultExportViolations(sources: Sources): string[] {
  const declared = new Map([...sources].filter(([path]) => !path.endsWith(".d.ts")));
  return matches(declared, /\bexport\s+default\b|\bas\s+default\b/g, [], "has a default export");
}

export function anyViolations(sources: Sources): string[] {
  return matches(sources, /(?:[:<|&,(=]|\bas|\bextends|\bsatisfies)\s*any\b(?!\s*[:=(.?])/g, [], "uses any");
}

/** Messages are made of facts where somebody reads them. One that is edited was made too early. */
export function editedMessageViolations(sources: Sources): string[] {
  return matches(sources, /\bmessage\s*(?:\?\s*)?\.\s*replace(?:All)?\b/g, [], "edits a message");
}

/** A folder of a provider counts once its definition is listed. */
export function registryViolations(sources: Sources): string[] {
  const definitions = providerFolders(sources).map((id) => `src/providers/${id}/definition.ts`);
  return missing(definitions, sources, ["src/providers/registry.ts"]);
}

/** Folders of the room that hold no provider of their own: the kit, providers that are data, and what was exchanged with any. */
const NO_PROVIDERS: readonly string[] = ["kit", "declared", "recordings"];

/** The ids of the providers that are code: every other folder is one. */
function providerFolders(sources: Sources): string[] {
  const folders = [...sources.keys()].flatMap(
    (path) => /^src\/providers\/([^/]+)\//.exec(path)?.slice(1) ?? [],
  );
  return [...new Set(folders)].filter((folder) => !NO_PROVIDERS.includes(folder));
}

/** Rooms in which no provider is named, neither in code nor in a comment. Models may be: `sandbox-image` is one. */
export function providerNameViolations(sources: Sources): string[] {
  const rooms = modules(sources).filter(([path]) =>
    /^src\/(?:app|catalog|config|providers\/kit|toolkit)\//.test(path),
  );
  // The provider that is another instance of the program has its name, which every room may say.
  const ids = providerFolders(sources).filter((id) => id !== "svc");
  return ids.flatMap((id) =>
    rooms.flatMap(([path, text]) =>
      [...text.matchAll(new RegExp(id, "gi"))]
        .filter(({ 0: word, index }) => {
          const before = text[index - 1] ?? "";
          const after = text.slice(index + word.length);
          // Of `hasFal`, `falBaseUrl` and `fallback`, the first two name the provider fal.
          const isOwnWord = !/[a-z]/i.test(before) || /^[A-Z]/.test(word);
          // `fal-image` is a model; `x-fal-request-id` is not.
          const isModel = before !== "-" && /^-[a-z]/.test(after);
          return isOwnWord && !isModel && !/^[a-z]/.test(after);
        })
        .map(({ index }) => `${path}:${lineAt(text, index)} names the provider ${id}`),
    ),
  );
}

function missing(paths: readonly string[], sources: Sources, lists: readonly string[]): string[] {
  const listed = importedBy(sources, lists);
  return paths
    .filter((path) => !listed.has(path))
    .map((path) => `${path} is not imported in ${lists.join(" or ")}`);
}

function importedBy(sources: Sources, lists: readonly string[]): Set<string> {
  return new Set(
    lists.flatMap((list) =>
      importsOf(sources.get(list) ?? "").map(({ specifier }) => join(dirname(list), specifier)),
    ),
  );
}

function layerOf(path: string): Layer | undefined {
  return LAYERS.find((layer) => layer.covers.some((covered) => isCovered(path, covered)));
}

function isCovered(path: string, covered: string): boolean {
  return covered.endsWith("/") ? path.startsWith(covered) : path === covered;
}

function modules(sources: Sources): [string, string][] {
  return [...sources].filter(([path]) => /^(?:src|cli|console)\/.*\.tsx?$/.test(path));
}

function matches(
  sources: Sources,
  pattern: RegExp,
  allowed: readonly Exception[],
  problem: string,
): string[] {
  return modules(sources)
    .filter(([path]) => !allowed.some((exception) => isCovered(path, exception.path)))
    .flatMap(([path, text]) =>
      [...blank(text).matchAll(pattern)].map((match) => `${path}:${lineAt(text, match.index)} ${problem}`),
    );
}
