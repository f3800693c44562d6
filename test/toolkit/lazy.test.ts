import { expect, test } from "bun:test";

const PROGRAM = `
await import("./src/toolkit/yaml.ts");
await import("./src/toolkit/json-schema.ts");
console.log(Object.keys(require.cache).filter((path) => path.includes("node_modules")).length);
`;

test("importing the YAML and JSON Schema modules loads no library", async () => {
  const run = Bun.spawn([process.execPath, "-e", PROGRAM], {
    cwd: `${import.meta.dir}/../..`,
    stderr: "inherit",
  });
  expect(await run.stdout.text()).toBe("0\n");
});
