import { useRef, useState } from "preact/hooks";
import { ask, newIdempotencyKey } from "../../api/ask.ts";
import { Button } from "../../parts/button.tsx";
import type { ListedModel } from "../playground/models.ts";
import { retryTask, type Trace } from "../task/read.ts";
import { ExtendDialog } from "./extend.tsx";

interface Props {
  readonly task: Trace["task"];
  /** Place among the results. */
  readonly index: number;
  readonly say: (text: string) => void;
}

type Way = "again" | "variation" | "upscale" | "extend";

const NAMES: Readonly<Record<Way, string>> = {
  ...{ again: "Make it again", variation: "Again, another seed" },
  ...{ upscale: "Make it larger", extend: "Go on from its end" },
};

/** What can be made from a result that is there: the service says why where a model cannot. */
export function FollowUps({ task, index, say }: Props) {
  const [busy, setBusy] = useState<Way>();
  // Kept until an answer came: the same, pressed twice, makes one task.
  const keys = useRef(new Map<string, string>());
  const [extenders, setExtenders] = useState<readonly ListedModel[]>();
  const make = async (way: Way, model?: string) => {
    setBusy(way);
    try {
      const others = way === "extend" && model === undefined ? await othersFor(task.model) : [];
      if (others.length > 0) return setExtenders(others);
      const about = isOfResult(way) ? [way, index, model].join() : way;
      const key = keys.current.get(about) ?? newIdempotencyKey();
      keys.current.set(about, key);
      say(await makeBy(way, { task, index, model }, key));
      keys.current.delete(about);
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(undefined);
    }
  };
  return (
    <>
      {waysOf(task).map((way) => (
        <Button key={way} isOnce isBusy={busy === way} onClick={() => void make(way)}>
          {NAMES[way]}
        </Button>
      ))}
      {extenders !== undefined && (
        <ExtendDialog
          models={extenders}
          maker={task.model}
          onClose={() => setExtenders(undefined)}
          onModel={(model) => {
            setExtenders(undefined);
            void make("extend", model);
          }}
        />
      )}
    </>
  );
}

/** Whether it is made of one result, perhaps by a model that was chosen: of another one it is another task. */
function isOfResult(way: Way): boolean {
  return way === "upscale" || way === "extend";
}

/** Models that go on where a film ends, where the one that made it cannot. @throws ApiProblem */
async function othersFor(maker: string): Promise<readonly ListedModel[]> {
  const { models } = await ask("GET /v1/models", { query: {} });
  const able = models.filter(({ follow_ups }) => follow_ups.includes("extend"));
  return able.some(({ id }) => id === maker) ? [] : able;
}

function waysOf({ status, kind, request, files_removed_at }: Trace["task"]): readonly Way[] {
  const { seed } = request.parameters;
  const again: Way = typeof seed === "number" && seed >= 0 ? "variation" : "again";
  if (status !== "completed" || files_removed_at !== undefined) return [again];
  return kind === "video" ? [again, "upscale", "extend"] : [again, "upscale"];
}

/** @returns what came of it @throws ApiProblem */
async function makeBy(
  way: Way,
  { task, index, model: asked }: Pick<Props, "task" | "index"> & { readonly model: string | undefined },
  idempotencyKey: string,
): Promise<string> {
  const body = { index, ...(asked === undefined ? {} : { model: asked }) };
  const input = { path: { task_id: task.task_id } };
  const options = { idempotencyKey };
  const done = "It is being made, and appears in the gallery when it is done.";
  switch (way) {
    case "again":
      await retryTask(task.task_id, idempotencyKey);
      return done;
    case "variation":
      await ask("POST /v1/tasks/{task_id}/variations", { ...input, body: { count: 1 } }, options);
      return done;
    case "upscale":
    case "extend": {
      const { model } = await ask(`POST /v1/tasks/{task_id}/${way}`, { ...input, body }, options);
      return `${model} makes it. It appears in the gallery when it is done.`;
    }
  }
}
