import { expect, test } from "bun:test";
import { createCatalog } from "../../../src/catalog/catalog.ts";
import { AppError } from "../../../src/domain/errors.ts";
import { type FilmDeps, readFilm } from "../../../src/http/facades/gemini/films.ts";
import type { MediaContext } from "../../../src/http/facades/gemini/media.ts";

const catalog = createCatalog();

/** The model's own body for a film of a prompt, or the field that is refused. Nothing is read of what media would need. */
function sentFor(id: string, generateAudio: boolean) {
  const model = catalog.find(id);
  if (model === undefined) throw new Error(`There is no ${id}.`);
  const body = { instances: [{ prompt: "A fox" }], parameters: { generateAudio } };
  try {
    const read = readFilm({ catalog } as unknown as FilmDeps, {} as MediaContext, { model, body });
    return (read as Awaited<typeof read>).body;
  } catch (error) {
    if (error instanceof AppError) return error.param;
    throw error;
  }
}

test("sound is asked for of models that make it anyway, and choose it where they can; silence they cannot make is refused", () => {
  const path = "parameters.generateAudio";
  expect(sentFor("veo3.1", true)).toEqual({ model: "veo3.1", prompt: "A fox" });
  expect(sentFor("veo3.1", false)).toBe(path);
  expect(sentFor("veo3", false)).toEqual({ model: "veo3", prompt: "A fox", generate_audio: false });
  // Whether others film with sound is not known here.
  expect(sentFor("sandbox-video", true)).toBe(path);
});
