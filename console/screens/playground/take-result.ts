import { useEffect } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { query, setQuery } from "../../shell/router.ts";
import { say } from "../../shell/toasts.tsx";
import { chosen, setValue } from "./draft.ts";
import type { ListedModel } from "./models.ts";
import { placeFor } from "./request.ts";

/** Takes the result that the address brings, `use=task_….0`, into the form, once the models are known. */
export function useResult(
  listed: readonly ListedModel[] | undefined,
  choose: (ids: readonly string[]) => void,
): void {
  useEffect(() => {
    const { use } = query.peek();
    if (listed === undefined || use === undefined) return;
    setQuery({ use: undefined });
    take(use, listed, choose).then(
      (field) => say(`It is given as ${field}.`),
      (error: unknown) =>
        say(`That result cannot be used: ${error instanceof Error ? error.message : error}`, "failed"),
    );
  }, [listed, choose]);
}

/** @returns the field that has it now @throws ApiProblem; Error where no model takes it, or it is gone */
async function take(
  use: string,
  listed: readonly ListedModel[],
  choose: (ids: readonly string[]) => void,
): Promise<string> {
  const [id = "", index = "0"] = use.split(".");
  const task = await ask("GET /v1/tasks/{task_id}", { path: { task_id: id } });
  const uri = task.files_removed_at === undefined ? task.result?.[Number(index)] : undefined;
  if (uri === undefined) throw new Error("its file is not there.");
  const place = placeFor(task.kind, listed, [...chosen.peek(), task.model]);
  if (place === undefined)
    throw new Error(
      `no model that this key may use takes ${task.kind === "video" ? "a film" : "a picture"}.`,
    );
  if (!chosen.peek().includes(place.model)) choose([place.model]);
  setValue(place.field, [{ uri, name: `…${id.slice(-8)} · ${Number(index) + 1}`, isShown: true }]);
  return place.field;
}
