import { expect, test } from "bun:test";
import { createCatalog } from "../../../src/catalog/catalog.ts";
import { AppError } from "../../../src/domain/errors.ts";
import { namesFrom } from "../../../src/domain/words/say.ts";
import { type FilmDeps, readFilm } from "../../../src/http/facades/gemini/films.ts";
import type { MediaContext } from "../../../src/http/facades/gemini/media.ts";

const catalog = createCatalog();

/** What the model is asked for a film of a prompt beside its defaults, or the field that is refused. Nothing is read of what media would need. */
function sentFor(id: string, generateAudio: boolean) {
  const model = catalog.find(id);
  if (model === undefined) throw new Error(`There is no ${id}.`);
  const body = { instances: [{ prompt: "A fox" }], parameters: { generateAudio } };
  try {
    const read = readFilm({ catalog } as unknown as FilmDeps, {} as MediaContext, { model, body });
    const { body: asked, names } = read as Awaited<typeof read>;
    const checked = catalog.validate(model, asked);
    if (!checked.ok) throw new AppError("invalid_request", checked.facts).renamed(namesFrom(names));
    return "generate_audio" in checked.body ? checked.body.generate_audio : "not told";
  } catch (error) {
    if (error instanceof AppError) return error.param;
    throw error;
  }
}

test("sound is asked for of models that make it anyway, and choose it where they can; silence they cannot make is refused", () => {
  const path = "parameters.generateAudio";
  expect(sentFor("veo3.1", true)).toBe("not told");
  expect(sentFor("veo3.1", false)).toBe(path);
  expect(sentFor("veo3", false)).toBe(false);
  expect(sentFor("sandbox-video", false)).toBe("not told");
  expect(sentFor("sandbox-video", true)).toBe(path);
  // Whether it films with sound is not known here.
  expect(sentFor("kling-v3-4k", true)).toBe(path);
});
