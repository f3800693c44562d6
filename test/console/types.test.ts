import { expect, test } from "bun:test";
import { currentTypes, TYPES_FILE } from "./support/write-types.ts";

test("the console's types are those of the published document; `bun run console:types` writes them anew", async () => {
  expect(await Bun.file(TYPES_FILE).text()).toBe(await currentTypes());
});
