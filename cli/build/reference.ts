import { join } from "node:path";

/** The program of the API reference page, and what it was bundled from. */
export type Reference = {
  gzipped: Uint8Array<ArrayBuffer>;
  /** Paths of files of the packages inside, relative to the root; for the licence notices. */
  inputs: readonly string[];
};

const FOLDER = "node_modules/@scalar/api-reference/dist/browser";
const PACKAGE = /(?:^|\/)node_modules\/(?!\.pnpm\/)((?:@[^/]+\/)?[^/@][^/]*)\//g;
/** The source map names the publisher's own packages as sibling folders. */
const WORKSPACE = /^(?:\.\.\/)+([a-z][a-z0-9-]*)\/(?:dist|src)\//;

/** The publisher bundled the script; its source map lists the packages inside. */
export async function readReference(root: string): Promise<Reference> {
  const script = Bun.file(join(root, FOLDER, "standalone.js"));
  const map: { sources: string[] } = await Bun.file(join(root, FOLDER, "standalone.js.map")).json();
  const names = new Set(["@scalar/api-reference", ...map.sources.flatMap(packageOf)]);
  return {
    gzipped: Bun.gzipSync(await script.bytes(), { level: 9 }),
    inputs: [...names].sort().map((name) => `node_modules/${name}/package.json`),
  };
}

function packageOf(source: string): string[] {
  const name = [...source.matchAll(PACKAGE)].at(-1)?.[1] ?? undefined;
  if (name !== undefined) return [name];
  const workspace = WORKSPACE.exec(source)?.[1];
  return workspace === undefined ? [] : [`@scalar/${workspace}`];
}
