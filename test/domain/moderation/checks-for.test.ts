import { expect, test } from "bun:test";
import type { ModelId } from "../../../src/domain/ids.ts";
import { checksFor } from "../../../src/domain/moderation/checks-for.ts";

const MODERATION = {
  apply: ["words"],
  models: [
    ["sandbox-image", ["endpoint"]],
    ["sandbox-*", []],
  ],
} as const;
const model = (id: string) => id as ModelId;

test("a model of which nothing is said has the checks for all", () => {
  expect(checksFor(MODERATION, {}, model("veo3"))).toEqual(["words"]);
});

test("the first name or pattern that a model fits counts", () => {
  expect(checksFor(MODERATION, {}, model("sandbox-image"))).toEqual(["endpoint"]);
  expect(checksFor(MODERATION, {}, model("sandbox-video"))).toEqual([]);
});

test("what the operator chose for a key goes before what is chosen for the model", () => {
  expect(checksFor(MODERATION, { moderation: ["command"] }, model("sandbox-image"))).toEqual(["command"]);
  expect(checksFor(MODERATION, { moderation: [] }, model("veo3"))).toEqual([]);
});
