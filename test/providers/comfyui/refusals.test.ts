import { expect, test } from "bun:test";
import { readFailure } from "../../../src/providers/comfyui/refusals.ts";
import { createScrub } from "../../../src/providers/kit/scrub.ts";

const failure = (message: string) =>
  readFailure(
    { name: "comfyui", scrub: createScrub([]) },
    { exception_type: "FileNotFoundError", exception_message: message },
  ).detail;

test("an error says the name of a file, and not where the server keeps it", () => {
  expect(failure("no such file: /home/me/models/a.safetensors")).toBe(
    'comfyui: FileNotFoundError: "no such file: …/a.safetensors"',
  );
  expect(failure("C:\\models\\b.ckpt is missing")).toBe('comfyui: FileNotFoundError: "…/b.ckpt is missing"');
});

test("a path that is long is shortened without delay", () => {
  expect(failure(`no such file: /a/${"b".repeat(60_000)}/c.png`)).toBe(
    'comfyui: FileNotFoundError: "no such file: …/c.png"',
  );
});
