import { AppError, invalid, mustBe } from "../../../domain/errors.ts";
import type { ThumbnailWidth } from "../../../domain/media/thumbnail.ts";
import type { AssetStore } from "../../../domain/ports/asset-store.ts";
import type { TaskStore } from "../../../domain/ports/task-store.ts";
import type { Thumbnails } from "../../../domain/ports/thumbnails.ts";
import { isTerminal, type TaskSummary } from "../../../domain/task/task.ts";
import { findAsset } from "../../../service/read-asset.ts";
import { readTask } from "../../../service/read-task.ts";
import { assetReply, ownFileHeaders } from "../../assets/routes.ts";
import type { KeyedExchange } from "../../exchange.ts";
import type { Reply } from "../../reply.ts";

export interface ContentDeps {
  readonly tasks: TaskStore;
  readonly assets: Pick<AssetStore, "deliver">;
  readonly thumbnails: Thumbnails;
}

/** What can be read of a video, in that API's words. */
export const VARIANTS = ["video", "thumbnail", "spritesheet"] as const;

const THUMBNAIL_WIDTH: ThumbnailWidth = 640;

/**
 * Answers with the video of a completed task, a part of it, or its thumbnail.
 * @throws AppError `task_not_found`; `not_found` while there is no video, and for one without a thumbnail; `invalid_request`
 */
export async function videoContent(deps: ContentDeps, exchange: KeyedExchange): Promise<Reply> {
  const { request, principal, param, query, isLate } = exchange;
  const width = widthOf(query().getAll("variant"));
  const task = await readTask(deps, principal, param("video_id"), "video");
  const [result] = task.results;
  if (task.status !== "completed" || result === undefined) throw withoutVideo(task);
  const asset = await findAsset(deps, result.assetId);
  const reply = await assetReply(deps, request, asset, { width, isLate, headersOf: ownFileHeaders });
  return { ...reply, log: { task: task.id, model: task.model } };
}

/** The width of the thumbnail that is asked for; undefined for the video itself. */
function widthOf(given: readonly string[]): ThumbnailWidth | undefined {
  if (given.length > 1) throw invalid({ kind: "given_twice", field: "variant" });
  const [text = "video"] = given;
  const variant = VARIANTS.find((each) => each === text);
  if (variant === undefined) throw mustBe("variant", { oneOf: ["video", "thumbnail"] }, { json: text });
  if (variant === "spritesheet") throw invalid({ kind: "spritesheet_none", field: "variant" });
  return variant === "thumbnail" ? THUMBNAIL_WIDTH : undefined;
}

function withoutVideo({ id, status }: TaskSummary): AppError {
  const kind = isTerminal(status) ? "video_unmade" : "video_unready";
  return new AppError("not_found", { kind, task: id, status });
}
