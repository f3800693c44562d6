import { expect, test } from "bun:test";
import { closestRatio, closestResolution, parseSize } from "../../../src/domain/media/size.ts";

const RATIOS = ["1:1", "16:9", "9:16", "4:3", "3:2", "2:3", "21:9"];

test("a size is two positive numbers of pixels, and nothing else is", () => {
  expect(parseSize("1536x1024")).toEqual({ width: 1536, height: 1024 });
  const refused = [
    "",
    "x",
    "0x1",
    "1x0",
    "1024",
    "1024X768",
    "1e3x1",
    "-1x1",
    " 1x1",
    "1.5x2",
    "100000x1",
    "auto",
  ];
  for (const text of refused) expect(parseSize(text)).toBeUndefined();
});

test("a size has the proportions that are nearest", () => {
  const ratioOf = (size: string) => closestRatio(parseSize(size) ?? { width: 1, height: 1 }, RATIOS);
  expect(ratioOf("1024x1024")).toBe("1:1");
  expect(ratioOf("1792x1024")).toBe("16:9");
  expect(ratioOf("1344x768")).toBe("16:9");
  expect(ratioOf("1024x1536")).toBe("2:3");
  expect(ratioOf("1000x300")).toBe("21:9");
  expect(closestRatio({ width: 1, height: 1 }, [])).toBeUndefined();
  expect(closestRatio({ width: 1, height: 1 }, ["auto"])).toBeUndefined();
});

test("a size has the resolution whose square is nearest to it", () => {
  const labels = ["512", "1K", "2K", "4K"];
  const of = (size: string) => closestResolution(parseSize(size) ?? { width: 1, height: 1 }, labels);
  expect(of("256x256")).toBe("512");
  expect(of("1792x1024")).toBe("1K");
  expect(of("2048x2048")).toBe("2K");
  expect(of("4096x4096")).toBe("4K");
  expect(closestResolution({ width: 1, height: 1 }, ["720p"])).toBeUndefined();
});
