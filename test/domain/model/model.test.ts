import { expect, test } from "bun:test";
import { isId } from "../../../src/domain/ids.ts";
import { type Model, selectMode } from "../../../src/domain/model/model.ts";
import { isIdempotencyKey } from "../../../src/domain/task/idempotency.ts";

test("the mode that needs most of the inputs given is chosen", () => {
  const model = {
    modes: [
      { id: "text", requires: [] },
      { id: "image", requires: ["image"] },
      { id: "mask", requires: ["image", "mask"] },
    ],
  } as unknown as Model;
  const chosen = (...roles: ("image" | "mask")[]) => selectMode(model, new Set(roles))?.id;
  expect(chosen()).toBe("text");
  expect(chosen("image")).toBe("image");
  expect(chosen("image", "mask")).toBe("mask");
  expect(chosen("mask")).toBe("text");
});

test("an id has its prefix and the 26 characters of a TypeID", () => {
  expect(isId("task", "task_01m7yk2ejse49swyrks9d6ra6r")).toBe(true);
  for (const text of [
    "task_",
    "att_01m7yk2ejse49swyrks9d6ra6r",
    "task_01M7YK2EJSE49SWYRKS9D6RA6R",
    "task_81m7yk2ejse49swyrks9d6ra6r",
    "task_01m7yk2ejse49swyrks9d6ra6r\n",
  ]) {
    expect(isId("task", text)).toBe(false);
  }
});

test("an idempotency key is 1 to 255 printable ASCII characters", () => {
  expect(["a", "a".repeat(255), "with space"].every(isIdempotencyKey)).toBe(true);
  expect(["", "a".repeat(256), "tab\t", "é", "line\n"].some(isIdempotencyKey)).toBe(false);
});
