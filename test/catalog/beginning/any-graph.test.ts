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

/** A link to a node that comes before, unless there is none. */
interface Link {
  readonly back: number;
  readonly output: number;
}
const value = fc.oneof(
  fc.record({ back: fc.nat(4), output: fc.nat(2) }),
  fc.constantFrom("", "text: x # y", '"\\', "\u2028", "on", "~", "- a", "16x16"),
  fc.oneof(fc.integer({ min: -3, max: 2000 }), fc.double({ noNaN: true }), fc.constant(null), fc.boolean()),
  fc.array(fc.integer(), { maxLength: 3 }),
);
const node = fc.record({
  class_type: fc.constantFrom(...TYPES, "", "Odd: type # \n"),
  inputs: fc.dictionary(fc.constantFrom(...INPUTS, "__proto__", "odd: input"), value, { maxKeys: 8 }),
});

/** Text of a graph. JSON text may have names that objects cannot. */
function textOf(
  entries: readonly (readonly [string, { class_type: string; inputs: Record<string, unknown> }])[],
): string {
  const ids = entries.map(([id]) => id);
  const nodes = entries.map(([id, { class_type, inputs }], i) => {
    const linked = Object.entries(inputs).map(([name, given]) => {
      const { back, output } = (typeof given === "object" && given !== null ? given : {}) as Partial<Link>;
      if (back === undefined) return [name, given] as const;
      return [name, i === 0 ? "text" : [ids[i - 1 - (back % i)], output]] as const;
    });
    const texts = linked.map(([name, each]) => `${JSON.stringify(name)}:${JSON.stringify(each)}`);
    return `${JSON.stringify(id)}:{"class_type":${JSON.stringify(class_type)},"inputs":{${texts.join(",")}}}`;
  });
  return `{${nodes.join(",")}}`;
}

test("whatever a graph is like, it makes a manifest that can be read, or says why not", () => {
  const graphs = fc.uniqueArray(fc.tuple(fc.constantFrom(...IDS), node), {
    selector: ([id]) => id,
    minLength: 1,
    maxLength: 6,
  });
  const reader = createManifestReader();
  let made = 0;
  fc.assert(
    fc.property(graphs, (entries) => {
      const text = textOf(entries);
      try {
        const begun = beginModel(text, "comfyui", reader).write({ id: "mine", source: "w.json" }, []);
        const { model } = reader.read("mine.yaml", begun.text);
        const nodes = model.routes[0]?.wording?.workflow?.nodes ?? {};
        expect(JSON.stringify(nodes)).toBe(JSON.stringify(JSON.parse(text)));
        made += 1;
      } catch (error) {
        if (!(error instanceof WorkflowError)) throw error;
        if (error.message.startsWith("makes no manifest")) throw error;
      }
    }),
    { numRuns: 80 },
  );
  // A quarter of them, of which none by chance alone comes once in ten thousand million runs.
  expect(made).toBeGreaterThan(0);
}, 60_000);
