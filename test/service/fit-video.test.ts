import { describe, expect, test } from "bun:test";
import { createCatalog } from "../../src/catalog/catalog.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { Model } from "../../src/domain/model/model.ts";
import { fitVideo, type VideoWish, wishOf } from "../../src/service/fit-video.ts";
import { MODEL } from "../helpers/engine.ts";

const built = createCatalog();
/** The catalogue's models, with every route. */
const catalog = { routes: (model: Model) => model.routes, validate: built.validate };

const modelOf = (id: string): Model => {
  const model = built.all().find((each) => each.id === id);
  if (model === undefined) throw new Error(`There is no ${id}.`);
  return model;
};

const fitted = (id: string, wish: VideoWish, given: JsonObject = {}) => {
  const body = { model: id, prompt: "x", ...given };
  const { body: made, names } = fitVideo(catalog, modelOf(id), body, wish);
  return {
    added: Object.fromEntries(Object.entries(made).filter(([name]) => !(name in body))),
    names,
    isTaken: built.validate(modelOf(id), made).ok,
  };
};
const refusal = (make: () => unknown) => {
  try {
    make();
  } catch (error) {
    if (error instanceof AppError) return { param: error.param, message: error.message };
  }
  throw new Error("not refused");
};

describe("a size", () => {
  test.each([
    ["sandbox-video", "1280x720", { aspect_ratio: "16:9", resolution: "720p" }],
    ["sandbox-video", "360x640", { aspect_ratio: "9:16", resolution: "360p" }],
    ["veo3", "1792x1024", { aspect_ratio: "16:9", resolution: "1080p" }],
    ["minimax-h3", "1280x720", { aspect_ratio: "16:9", resolution: "768p" }],
    ["flux-3-video", "1080x1920", { aspect_ratio: "9:16", resolution: "fhd" }],
    ["kling-v3-pro", "720x1280", { aspect_ratio: "9:16" }],
  ])("of %s, %s, is its own parameters", (id, size, expected) => {
    const { added, names, isTaken } = fitted(id, { size });
    expect([added, isTaken]).toEqual([expected, true]);
    expect(Object.keys(names)).toEqual(Object.keys(expected));
  });

  test("leaves what the caller says in the model's own words", () => {
    const given = { aspect_ratio: "1:1", resolution: "360p", duration: 2 };
    expect(fitted("sandbox-video", { size: "1280x720", seconds: "8" }, given)).toMatchObject({
      added: {},
      names: {},
    });
  });

  test("that is auto, or absent, is left to the model", () => {
    expect(fitted("sandbox-video", { size: "auto" }).added).toEqual({});
    expect(fitted("sandbox-video", {}).added).toEqual({});
  });

  test("leaves out the proportions where the picture decides them", () => {
    const image_url = "https://example.com/a.png";
    expect(fitted("kling-v3-pro", { size: "720x1280" }, { image_url })).toMatchObject({
      added: {},
      isTaken: true,
    });
    expect(fitted("viduq2-pro", { size: "720x1280" }, { image_url })).toMatchObject({
      added: { resolution: "720p" },
      isTaken: true,
    });
    expect(fitted("sandbox-video", { size: "720x1280" }, { image_url }).added).toEqual({
      aspect_ratio: "9:16",
      resolution: "720p",
    });
  });

  test("of a model that has sizes is one of its own", () => {
    const model = { ...MODEL, schema: { type: "object", properties: { size: { type: "string" } } } };
    expect(fitVideo(catalog, model, {}, { size: "1x2" }).body).toEqual({ size: "1x2" });
  });

  test.each([
    ["sandbox-video", "1000x300", "proportions 16:9, 9:16 or 1:1"],
    ["sandbox-video", "1024x1792", "about 360 or 720 pixels"],
    ["sandbox-video", "large", '"<width>x<height>" or "auto"'],
    ["hailuo-02", "1280x720", "cannot be chosen for hailuo-02"],
  ])("that %s cannot make, %s, is refused by its name", (id, size, says) => {
    const { param, message } = refusal(() => fitted(id, { size }));
    expect([param, message]).toEqual(["size", expect.stringContaining(says)]);
  });
});

describe("seconds", () => {
  test("are the model's duration, as a number", () => {
    expect(fitted("veo3", { seconds: "8" })).toEqual({
      added: { duration: 8 },
      names: { duration: "seconds" },
      isTaken: true,
    });
    expect(fitted("veo3", { seconds: 4 }).added).toEqual({ duration: 4 });
  });

  test("that the model does not have are left for its schema to refuse", () => {
    expect(fitted("kling-v2-5-turbo-pro", { seconds: "8" }).isTaken).toBe(false);
  });

  test.each([
    ["sandbox-video", "eight", "a number of seconds"],
    ["sandbox-video", true, "a number of seconds"],
    ["sandbox-video", "1e3", "a number of seconds"],
    ["grok-imagine-video-edit", "8", "cannot be chosen for grok-imagine-video-edit"],
  ])("of %s, %p, are refused by their name", (id, seconds, says) => {
    const { param, message } = refusal(() => fitted(id, { seconds }));
    expect([param, message]).toEqual(["seconds", expect.stringContaining(says)]);
  });
});

test("a request tells of its size and length what its parameters say", () => {
  const of = (parameters: JsonObject) => wishOf({ parameters: parameters as Record<string, string> });
  expect(of({ aspect_ratio: "16:9", resolution: "720p", duration: 8 })).toEqual({
    size: "1280x720",
    seconds: 8,
  });
  expect(of({ size: "640x480", duration: "5" })).toEqual({ size: "640x480", seconds: 5 });
  expect(of({ aspect_ratio: "16:9" })).toEqual({ size: undefined, seconds: undefined });
  expect(of({ size: "auto", duration: -1 })).toEqual({ size: undefined, seconds: undefined });
});
