import { expect, test } from "bun:test";
import { parseSize } from "../../../src/domain/media/size.ts";
import {
  ratioOfSize,
  resolutionOfSize,
  shorterSideOf,
  videoSize,
} from "../../../src/domain/media/video-size.ts";

const size = (text: string) => parseSize(text) ?? { width: 0, height: 0 };

test("a label of a resolution names the shorter side, in pixels or by a name", () => {
  expect(["360p", "1080P", "hd", "fhd", "2K", "4k"].map(shorterSideOf)).toEqual([
    360, 1080, 720, 1080, 1440, 2160,
  ]);
  expect(["", "p", "720", "auto", "constructor", "1p"].map(shorterSideOf)).toEqual(Array(6).fill(undefined));
});

test("proportions and a resolution are a size of even sides", () => {
  expect(videoSize("16:9", "720p")).toBe("1280x720");
  expect(videoSize("9:16", "720p")).toBe("720x1280");
  expect(videoSize("1:1", "hd")).toBe("720x720");
  expect(videoSize("16:9", "480p")).toBe("854x480");
  expect(videoSize("21:9", "1080p")).toBe("2520x1080");
  expect([videoSize("auto", "720p"), videoSize("0:9", "720p"), videoSize("16:9", "best")]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("a size has proportions that it is rounded from, and no others", () => {
  const ratios = ["16:9", "9:16", "1:1", "21:9"];
  const of = (text: string) => ratioOfSize(size(text), ratios);
  expect(["1280x720", "1792x1024", "854x480", "1280x704"].map(of)).toEqual(Array(4).fill("16:9"));
  expect(["720x1280", "1024x1792"].map(of)).toEqual(["9:16", "9:16"]);
  expect(["1024x768", "1000x900", "1x9999"].map(of)).toEqual([undefined, undefined, undefined]);
  expect(ratioOfSize(size("1280x720"), [])).toBeUndefined();
  expect(ratioOfSize(size("1280x720"), ["auto"])).toBeUndefined();
});

test("a size has the resolution that is about as large, if there is one", () => {
  const of = (text: string, labels: readonly string[]) => resolutionOfSize(size(text), labels);
  expect(of("1280x720", ["480p", "720p", "1080p"])).toBe("720p");
  expect(of("720x1280", ["768p", "1080p"])).toBe("768p");
  expect(of("1024x1792", ["480p", "720p", "1080p"])).toBe("1080p");
  expect(of("1024x1792", ["360p", "720p"])).toBeUndefined();
  expect(of("1920x1080", ["hd", "fhd"])).toBe("fhd");
  expect(of("1280x720", ["best"])).toBeUndefined();
});
