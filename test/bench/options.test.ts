import { expect, test } from "bun:test";
import { readOptions } from "./options.ts";

const DEFAULTS = {
  only: undefined,
  isQuick: false,
  isStrict: false,
  json: undefined,
  isRecord: false,
  against: undefined,
  pairs: 9,
};

test("without arguments all benches run at full length, beside their baselines", () => {
  expect(readOptions([], undefined)).toEqual(DEFAULTS);
});

test("a comparison has nine pairs, a quick one as few as show anything, or as many as are asked for", () => {
  const against = ["--against", "v0.1.0"];
  expect(readOptions(against, undefined)).toEqual({ ...DEFAULTS, against: "v0.1.0" });
  expect(readOptions([...against, "--quick"], undefined)).toEqual({
    ...{ ...DEFAULTS, against: "v0.1.0", isQuick: true },
    pairs: 6,
  });
  expect(readOptions([...against, "--pairs", "20"], undefined)).toMatchObject({ pairs: 20 });
});

test("benches that import what they measure may stand beside others in a comparison", () => {
  const args = ["--against", "main", "--only", "creates,routing", "--strict", "--json", "a.json"];
  expect(readOptions(args, undefined)).toEqual({
    ...DEFAULTS,
    ...{ only: ["creates", "routing"], isStrict: true, json: "a.json", against: "main" },
  });
});

test("a record can be made in pieces", () => {
  expect(readOptions(["--record", "--only", "creates,routing"], undefined)).toEqual({
    ...{ ...DEFAULTS, isRecord: true },
    only: ["creates", "routing"],
  });
});

test.each([
  [["--only", "creates,nothing"], /^--only: there is no bench "nothing"; there are creates, statuses, /],
  [["--only", ""], /^--only: there is no bench ""/],
  [["--json", ""], /^--json: name the file/],
  [["--pairs", "9"], /^--pairs: say with --against/],
  [["--against", "main", "--pairs", "5"], /^--pairs: give a whole number of at least 6, .* got "5"\.$/],
  [["--against", "main", "--pairs", "7.5"], /^--pairs: give a whole number of at least 6, .* got "7\.5"\.$/],
  [["--against", ""], /^--against: name a commit/],
  [["--against", "main", "--only", "routing,forms"], /^--against: routing, forms: no such bench/],
  [["--record", "--quick"], /^--record: a record is at full length/],
  [["--record", "--against", "main"], /^--record: a record is at full length/],
  [["--agaist", "main"], /'--agaist'/],
  [["creates"], /'creates'/],
] as const)("%p are refused", (args, refusal) => {
  expect(readOptions(args, undefined)).toEqual({ refusal: expect.stringMatching(refusal) });
});

test("an executable of unknown commit is neither compared nor recorded", () => {
  expect(readOptions(["--against", "main"], "/opt/svc")).toEqual({
    refusal: "--against: compares this tree's own executable; unset SVC_BIN.",
  });
  expect(readOptions(["--record"], "/opt/svc")).toEqual({
    refusal: expect.stringMatching(/^--record: .* SVC_BIN\.$/),
  });
  expect(readOptions([], "/opt/svc")).toEqual(DEFAULTS);
});
