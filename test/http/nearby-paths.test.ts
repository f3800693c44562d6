import { describe, expect, test } from "bun:test";
import {
  createLongerPaths,
  createNearbyPaths,
  createOtherBases,
  createSimilarPaths,
} from "../../src/http/nearby-paths.ts";

const nearby = createNearbyPaths([
  "/v1/images/generations",
  "/v1/images/status/:task_id",
  "/v1/models",
  "/v1/models/:model",
  "/v1/models/:model:predict",
  "/v1/models/:model:generateContent",
  "/v1/models/:model/operations/:operation",
  "/fal/:model+",
  "/fal/queue/:model+/requests/:request",
]);

test.each([
  ["/v1/chat/completions", "/v1", ["images", "models"]],
  ["/v1/images", "/v1/images", ["generations", "status"]],
  ["/v1/images/status", "/v1/images/status", ["{task_id}"]],
  ["/v1/models/fox:countTokens", "/v1/models/fox", [":generateContent", ":predict", "operations"]],
  ["/v1/models/:countTokens", "/v1/models", ["{model}"]],
  ["/fal/queue", "/fal/queue", ["{model}"]],
])("instead of %s, what is below %s is named", (path, below, next) => {
  expect(nearby(path)).toEqual({ below, next });
});

test("nothing is named instead of a first segment, nor below a path that has nothing below it", () => {
  expect(nearby("/")).toBeUndefined();
  expect(nearby("/images/generations")).toBeUndefined();
  expect(nearby("/v1/images/generations/more")).toBeUndefined();
});

test("too many are not named", () => {
  const names = Array.from({ length: 21 }, (_, i) => `/v1/${i}`);
  expect(createNearbyPaths(names)("/v1/x")).toBeUndefined();
  expect(createNearbyPaths(names.slice(1))("/v1/x")?.next).toHaveLength(20);
});

test("paths that end with an unknown one are named", () => {
  const longer = createLongerPaths([
    "/v1/images/generations",
    "/compat/v1/images/generations",
    "/compat/v1/images/edits",
    "/gemini/v1beta/models/:model:generateContent",
    "/replicate/v1/models/:owner/:name/predictions",
    "/v1/tasks/:task_id",
    "/fal/:model+",
  ]);
  expect(longer("/images/generations")).toEqual(["/compat/v1/images/generations", "/v1/images/generations"]);
  expect(longer("/v1/images/edits")).toEqual(["/compat/v1/images/edits"]);
  expect(longer("/v1beta/models/fox:generateContent")).toEqual([
    "/gemini/v1beta/models/{model}:generateContent",
  ]);
  expect(longer("/models/svc/fox/predictions")).toEqual(["/replicate/v1/models/{owner}/{name}/predictions"]);
  for (const path of [
    "/",
    "/x",
    "/fox",
    "/v1/images",
    "/compat/v1/images/edits",
    "/tasks/",
    "/images/generations/",
  ])
    expect(longer(path)).toEqual([]);
});

test("too many paths that end with an unknown one are not named", () => {
  const patterns = ["/a/v1/models", "/b/v1/models", "/c/v1/models"];
  expect(createLongerPaths(patterns)("/models")).toEqual(patterns);
  expect(createLongerPaths([...patterns, "/d/models"])("/models")).toEqual([]);
});

describe("a path with a misspelt segment", () => {
  const similar = createSimilarPaths([
    "/healthz",
    "/v1/images/generations",
    "/v1/images/status/:task_id",
    "/v1/models",
    "/v1/models/:model",
    "/v1/models/:model:predict",
    "/fal/:model+",
  ]);

  test.each([
    ["/health", "/healthz"],
    ["/v1/model", "/v1/models"],
    ["/v2/models", "/v1/models"],
    ["/v1/image/generations", "/v1/images/generations"],
    ["/v1/images/generation", "/v1/images/generations"],
    ["/v1/image/status/task_1", "/v1/images/status/task_1"],
    ["/v1/modls/fox", "/v1/models/fox"],
  ])("%s is nearly %s", (path, near) => {
    expect(similar(path)).toBe(near);
  });

  test.each([
    "/",
    "/v1",
    "/v1/chat/completions",
    "/v1/image/generation",
    "/v1/models/fox:edit",
    "/images/generations",
  ])("%s is nearly none", (path) => {
    expect(similar(path)).toBeUndefined();
  });
});

describe("below the base address of another service", () => {
  const otherBases = createOtherBases([
    "/v1/images/generations",
    "/v1/images/status/:task_id",
    "/v1/account/status",
    "/v1/models",
    "/compat/v1/images/generations",
    "/compat/v1/models",
    "/replicate/v1/models",
    "/replicate/v1/models/:owner/:name",
    "/admin/v1/models",
    "/fal/:model+",
  ]);
  const images = ["/compat/v1/images/generations", "/v1/images/generations"];

  test.each([
    ["/openai/v1/images/generations", images],
    ["/v1/v1/images/generations", images],
    ["/compat/v1/v1/images/generations", images],
    ["/v1/compat/v1/images/generations", ["/compat/v1/images/generations"]],
    ["/compat/images/generations", images],
    ["/api/v1/models", ["/compat/v1/models", "/replicate/v1/models", "/v1/models"]],
    ["/api/v1/images/status/task_1", ["/v1/images/status/{task_id}"]],
  ])("%s has other paths that end the same", (path, meant) => {
    expect(otherBases(path)).toEqual(meant);
  });

  test.each([
    "/",
    "/status",
    "/ping/status",
    "/v1/chat/completions",
    "/gemini/v1/models/fox:countTokens",
    `${"/x".repeat(5_000)}`,
  ])("of path %#, none ends the same", (path) => {
    expect(otherBases(path)).toEqual([]);
  });
});
