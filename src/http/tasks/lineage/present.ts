import type { JsonObject } from "../../../domain/json.ts";
import { assetPath } from "../../../domain/media/asset.ts";
import type { ThumbnailWidth } from "../../../domain/media/thumbnail.ts";
import type { FamilyNode, FamilyPage } from "../../../domain/task/family.ts";
import type { TaskSummary } from "../../../domain/task/task.ts";

const THUMBNAIL_WIDTH: ThumbnailWidth = 320;

/** A page of a family. */
export function presentFamily({ nodes, next }: FamilyPage, origin: string): JsonObject {
  return { tasks: nodes.map((node) => presentNode(node, origin)), next: next ?? null };
}

/** A task in its family, or what remains of a removed one. */
function presentNode(node: FamilyNode, origin: string): JsonObject {
  const [id, parent] = node.kind === "task" ? [node.task.id, node.task.parent] : [node.id, node.parent];
  return {
    task_id: id,
    parent_id: parent?.id ?? null,
    relation: parent?.relation ?? null,
    deleted: node.kind === "removed",
    ...(node.kind === "task" && presentMember(node.task, origin)),
  };
}

function presentMember(task: TaskSummary, origin: string): JsonObject {
  const { kind, model, status, createdAt, completedAt, results, filesRemovedAt } = task;
  const urls = results.map(({ assetId, type }) => origin + assetPath({ id: assetId, type }));
  const isThere = status === "completed" && filesRemovedAt === undefined;
  return {
    ...{ kind, model, status, created_at: Math.floor(createdAt / 1000) },
    ...(completedAt !== undefined && { completed_at: Math.floor(completedAt / 1000) }),
    ...(isThere && { result: urls, thumbnails: urls.map((url) => `${url}?w=${THUMBNAIL_WIDTH}`) }),
  };
}
