import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { ApiProblem } from "../../api/problem.ts";
import type { Schemas } from "../../api/published.d.ts";
import { readManifest } from "./read.ts";

type Written = Schemas["WrittenManifest"];

interface Saving {
  readonly isBusy: boolean;
  readonly problem: unknown;
  /** The file is another one than the text began with: somebody else wrote it. */
  readonly isOther: boolean;
  /** @param overwrites whatever is there by now */
  readonly save: (overwrites?: boolean) => Promise<void>;
  /** Says nothing of the other text any more. */
  readonly forget: () => void;
}

interface Text {
  /** Absent for a model that is new: its text says what it is called. */
  readonly model?: string;
  readonly text: string;
  /** The text that the reader began with; empty for a model that is new. */
  readonly base: string;
}

/** Saves the file of a model, unless it has changed since the reader began with it. */
export function useSaving(
  { model, text, base }: Text,
  onSaved: (written: Written) => Promise<void> | void,
): Saving {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const [isOther, setOther] = useState(false);
  const save = async (overwrites = false) => {
    setBusy(true);
    setProblem(undefined);
    setOther(false);
    try {
      const id = model ?? (await idIn(text));
      const now = overwrites ? base : ((await readManifest(id))?.text ?? "");
      if (now === base || now === text) await onSaved(await write(id, text));
      else setOther(true);
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, problem, isOther, save, forget: () => setOther(false) };
}

/** @throws ApiProblem where the text cannot be used */
async function idIn(text: string): Promise<string> {
  const { model } = await ask("POST /admin/v1/models/check", { body: { text } });
  if (model !== null) return model;
  throw new ApiProblem("It cannot be used yet. What is wrong is told at its lines.", {
    ...{ status: 0, code: "invalid_request", param: "text" },
  });
}

function write(model: string, text: string): Promise<Written> {
  return ask("PUT /admin/v1/models/{model}/manifest", { path: { model }, body: { text } });
}

const LOOK_EVERY_MS = 400;
const LOOK_TIMES = 12;

/** Waits until the server has taken a model up; some seconds at most. */
export async function untilTaken(model: string): Promise<void> {
  for (let times = 0; times < LOOK_TIMES; times += 1) {
    const { models } = await ask("GET /admin/v1/models", {});
    if (models.some(({ id, file }) => id === model && file !== undefined)) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
