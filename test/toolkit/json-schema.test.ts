import { describe, expect, test } from "bun:test";
import { checkSource, createSchemaChecker } from "../../src/toolkit/json-schema.ts";

const SIZE = {
  type: "object",
  properties: { width: { type: "integer", minimum: 64, default: 512, "x-must": "be at least 64" } },
  additionalProperties: false,
};

describe("a value that fits", () => {
  test("has no violations and is left alone", () => {
    const value = {};
    expect(createSchemaChecker({ annotations: ["x-must"] }).violations(SIZE, value)).toEqual([]);
    expect(value).toEqual({});
  });

  test("gets the defaults where the checker fills them in", () => {
    const value = {};
    createSchemaChecker({ annotations: ["x-must"], useDefaults: true }).violations(SIZE, value);
    expect(value).toEqual({ width: 512 });
  });

  test("is read as the schema's type where the checker coerces", () => {
    const value = { width: "100" };
    const checker = createSchemaChecker({ annotations: ["x-must"], coerceTypes: true });
    expect(checker.violations(SIZE, value)).toEqual([]);
    expect(value as unknown).toEqual({ width: 100 });
  });
});

describe("a value that does not fit", () => {
  test("is reported with its path, the value and the schema that refuses it", () => {
    const [violation, ...others] = createSchemaChecker({ annotations: ["x-must"] }).violations(SIZE, {
      width: 12,
    });
    expect(others).toEqual([]);
    expect(violation).toMatchObject({
      instancePath: "/width",
      keyword: "minimum",
      params: { comparison: ">=", limit: 64 },
      data: 12,
      parentSchema: { "x-must": "be at least 64" },
    });
  });

  test("has its first violation reported, or every one where asked for", () => {
    const schema = { type: "object", required: ["id", "kind"], additionalProperties: false };
    const missing = (allErrors: boolean) =>
      createSchemaChecker({ allErrors })
        .violations(schema, {})
        .map(({ params }) => params.missingProperty);
    expect(missing(false)).toEqual(["id"]);
    expect(missing(true)).toEqual(["id", "kind"]);
  });

  test("of a rule with alternatives, has the rule reported last", () => {
    const schema = { anyOf: [{ type: "string" }, { type: "boolean" }] };
    const keywords = createSchemaChecker()
      .violations(schema, 1)
      .map(({ keyword }) => keyword);
    expect(keywords).toEqual(["type", "type", "anyOf"]);
  });
});

test("strings are checked as URIs and by the formats given", () => {
  const checker = createSchemaChecker({ formats: { even: (text) => text.length % 2 === 0 } });
  const fits = (format: string, value: string) =>
    checker.violations({ type: "string", format }, value).length === 0;
  expect([fits("uri", "https://example.com/"), fits("uri", "example")]).toEqual([true, false]);
  expect([fits("even", "ab"), fits("even", "abc")]).toEqual([true, false]);
});

describe("a schema that is wrong", () => {
  test("is refused for a keyword nobody declared", () => {
    expect(() => createSchemaChecker().prepare({ type: "string", "x-other": 1 })).toThrow("x-other");
  });

  test("is checked against the meta-schema where asked for", () => {
    const schema = { type: "object", required: "id" };
    expect(() => createSchemaChecker({ validateSchema: true }).prepare(schema)).toThrow("required must be");
  });
});

describe("a check that was written down", () => {
  const formats = { even: (text: string) => text.length % 2 === 0 };
  const options = { annotations: ["x-must"], useDefaults: true, formats };
  const schema = {
    type: "object",
    properties: {
      ...SIZE.properties,
      name: { type: "string", minLength: 2, maxLength: 3 },
      link: { type: "string", format: "uri" },
      pair: { type: "string", format: "even" },
    },
    additionalProperties: false,
  };
  const compiled = createSchemaChecker(options);
  const source = checkSource(schema, options);
  const written = createSchemaChecker({ ...options, sourceOf: () => source });

  test.each([
    {},
    { width: 12 },
    { name: "🦊🦊🦊", link: "data:,x", pair: "ab" },
    { name: "🦊" },
    { name: "\udc00\ud800" },
    { name: "\ud800\ud800\ud800\ud800" },
    { link: "no link" },
    { pair: "abc" },
    { colour: "red" },
    "no object",
  ])("answers as the compiled one: %j", (given) => {
    const [one, other] = [structuredClone(given), structuredClone(given)];
    expect(written.violations(schema, one)).toEqual([...compiled.violations(schema, other)]);
    expect(one).toEqual(other);
  });

  test("belongs to one schema; others are compiled", () => {
    const checker = createSchemaChecker({
      ...options,
      sourceOf: (given) => (given === schema ? source : undefined),
    });
    expect(checker.violations({ type: "string" }, 1)).toHaveLength(1);
    expect(checker.violations(schema, { width: 12 })).toHaveLength(1);
  });

  test("does not repeat its schema", () => {
    expect(source).not.toContain("be at least 64");
  });
});
