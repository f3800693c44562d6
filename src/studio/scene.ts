import type { Canvas, Layer, Scene } from "./drawing.ts";
import { choosePalette } from "./palette.ts";
import { createRandom, type Random } from "./random.ts";
import { drawFacets } from "./scenes/facets.ts";
import { drawFlow } from "./scenes/flow.ts";
import { drawLandscape } from "./scenes/landscape.ts";
import { drawOrbits } from "./scenes/orbits.ts";
import { drawPapercut } from "./scenes/papercut.ts";
import { drawWeave } from "./scenes/weave.ts";

type Family = (canvas: Canvas) => Layer[];

const FAMILIES = [
  drawLandscape,
  drawFlow,
  drawFacets,
  drawOrbits,
  drawWeave,
  drawPapercut,
] as const satisfies readonly [Family, ...Family[]];

const SUBJECTS: readonly { words: RegExp; family: Family }[] = [
  {
    words: /\b(mountains?|landscape|valley|hills?|horizon|sunset|sunrise|forest|dunes?|lake)\b/i,
    family: drawLandscape,
  },
  { words: /\b(space|planets?|galaxy|moon|orbits?|stars?|cosmos)\b/i, family: drawOrbits },
  { words: /\b(crystals?|diamond|low.?poly|geometric|glass)\b/i, family: drawFacets },
  { words: /\b(fabric|woven|textile|pattern|tiles?|carpet)\b/i, family: drawWeave },
  { words: /\b(wind|hair|smoke|silk|flow|music)\b/i, family: drawFlow },
  { words: /\b(paper|cave|canyon|layers?|origami)\b/i, family: drawPapercut },
];

/** Composes the scene for one prompt, seed and index. The prompt may suggest family and palette; the hash decides the rest. */
export function composeScene(job: {
  prompt: string;
  seed: number;
  index: number;
  width: number;
  height: number;
}): Scene {
  const random = createRandom("scene", job.prompt, job.seed, job.index);
  const family = chooseFamily(job.prompt, random);
  const palette = choosePalette(job.prompt, random);
  const short = Math.min(job.width, job.height);
  const ratio = Math.min(8, Math.max(job.width, job.height) / short);
  const width = job.width > job.height ? 1000 * ratio : 1000;
  const height = job.height > job.width ? 1000 * ratio : 1000;
  return { width, height, layers: family({ width, height, palette, random, night: timeOfDay(job.prompt) }) };
}

function chooseFamily(prompt: string, random: Random): Family {
  const free = random.pick(FAMILIES);
  const subject = SUBJECTS.find((entry) => entry.words.test(prompt));
  return subject?.family ?? free;
}

function timeOfDay(prompt: string): boolean | undefined {
  if (/\b(night|moon|moonlit|midnight|stars?|starry|dark)\b/i.test(prompt)) return true;
  return /\b(sun|sunny|sunset|sunrise|day|morning|noon|bright|dawn)\b/i.test(prompt) ? false : undefined;
}
