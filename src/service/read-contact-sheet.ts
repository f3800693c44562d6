import { AppError } from "../domain/errors.ts";
import type { Asset } from "../domain/media/asset.ts";
import { SHEET_MOST_CELLS } from "../domain/media/thumbnail.ts";
import type { Secrets } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { SheetCell, Thumbnails } from "../domain/ports/thumbnails.ts";
import { type LabelledMember, memberLabels } from "../domain/task/group-labels.ts";
import { type GroupReading, readGroup } from "./read-group.ts";
import { pictureIn } from "./read-thumbnail.ts";

export interface ContactSheetDeps {
  readonly tasks: Pick<TaskStore, "assetById" | "byId" | "requestOf" | "summary">;
  readonly thumbnails: Pick<Thumbnails, "sheet">;
  readonly secrets: Pick<Secrets, "hash">;
}

/** A contact sheet that has not been drawn yet. */
export interface ContactSheet {
  /** Identifies the content of the sheet; equal for sheets that look alike. */
  readonly tag: string;
  /** Draws it. @throws AppError `service_unavailable` if too many requests wait already */
  readonly read: () => Promise<Blob>;
}

/**
 * The results of a group in one picture, each with its model and its differences.
 * @param asset one of its results; anybody who may read it may read the sheet
 * @throws AppError `not_found` if it is not a result of the group
 */
export async function readContactSheet(
  deps: ContactSheetDeps,
  asset: Asset,
  id: string,
): Promise<ContactSheet> {
  const group = await readGroup(deps, asset, id).catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error;
    return undefined;
  });
  const results = group?.members.flatMap(({ task }) => task?.results ?? []) ?? [];
  if (group === undefined || !results.some(({ assetId }) => assetId === asset.id))
    throw new AppError("not_found", { kind: "file_unknown" });
  const cells = (await cellsOf(deps, group)).slice(0, SHEET_MOST_CELLS);
  const seen = cells.map(({ file, label }) => [file.sha256, ...label]);
  return {
    tag: deps.secrets.hash(JSON.stringify(seen)).slice(0, 32),
    read: async () => pictureIn(await deps.thumbnails.sheet(cells)),
  };
}

/** Each result of the group in its order, with its label. */
async function cellsOf(deps: ContactSheetDeps, { members }: GroupReading): Promise<SheetCell[]> {
  const known: LabelledMember[] = [];
  for (const [place, { task }] of members.entries()) {
    const request = task && (await deps.tasks.requestOf(task));
    if (task !== undefined && request !== undefined) known.push({ place, task, request });
  }
  const cells: SheetCell[] = [];
  for (const { task, labels } of memberLabels(known)) {
    for (const [i, { assetId }] of task.results.entries()) {
      const file = await deps.tasks.assetById(assetId);
      if (file !== undefined) cells.push({ file, label: labels(i) });
    }
  }
  return cells;
}
