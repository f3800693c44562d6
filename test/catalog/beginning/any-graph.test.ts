import { expect, test } from "bun:test";
import fc from "fast-check";
import { beginModel } from "../../../src/catalog/beginning/begin.ts";
import { WorkflowError } from "../../../src/catalog/beginning/graph.ts";
import { createManifestReader } from "../../../src/catalog/read-manifest.ts";
import { FILM, FLUX, INPAINT, PLAIN } from "./workflows.ts";

const IDS = ["1", "2", "3", "57:8", "__proto__", 'a"b\n', "constructor", "é #: {"];
const TYPES = [PLAIN, FLUX, FILM, INPAINT].flatMap((graph) =>
  Object.values(graph).map(({ class_type }) => class_type),
);
const INPUTS = [PLAIN, FLUX, FILM, INPAINT].flatMap((graph) =>
  Object.values(graph).flatMap(({ inputs }) => Object.keys(inputs)),
);

const value = fc.oneof(
  fc.tuple(fc.constantFrom(...IDS), fc.nat(2)),
  fc.constantFrom("", "text: x # y", '"\\', "\u2028", "on", "~", "- a", "16x16"),
  fc.oneof(fc.integer({ min: -3, max: 2000 }), fc.double({ noNaN: true }), fc.constant(null), fc.boolean()),
  fc.array(fc.integer(), { maxLength: 3 }),
);
const node = fc.record({
  class_type: fc.constantFrom(...TYPES, "", "Odd: type # \n"),
  inputs: fc.dictionary(fc.constantFrom(...INPUTS, "__proto__", "odd: input"), value, { maxKeys: 8 }),
});

test("whatever a graph is like, it makes a manifest that can be read, or says why not", () => {
  const graphs = fc.uniqueArray(fc.tuple(fc.constantFrom(...IDS), node), {
    selector: ([id]) => id,
    minLength: 1,
    maxLength: 6,
  });
  let made = 0;
  fc.assert(
    fc.property(graphs, (entries) => {
      const text = `{${entries.map(([id, each]) => `${JSON.stringify(id)}:${JSON.stringify(each)}`).join(",")}}`;
      try {
        const begun = beginModel(text, "comfyui").write({ id: "mine", source: "w.json" }, []);
        const { model } = createManifestReader().read("mine.yaml", begun.text);
        const nodes = model.routes[0]?.wording?.workflow?.nodes ?? {};
        expect(JSON.stringify(nodes)).toBe(JSON.stringify(JSON.parse(text)));
        made += 1;
      } catch (error) {
        if (!(error instanceof WorkflowError)) throw error;
        if (error.message.startsWith("makes no manifest")) throw error;
      }
    }),
    { numRuns: 100 },
  );
  expect(made).toBeGreaterThan(0);
});
