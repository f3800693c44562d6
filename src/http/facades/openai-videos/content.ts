import { AppError, invalid, mustBe } from "../../../domain/errors.ts";
import type { ThumbnailSize } from "../../../domain/media/thumbnail.ts";
import type { AssetStore } from "../../../domain/ports/asset-store.ts";
import type { TaskStore } from "../../../domain/ports/task-store.ts";
import type { Thumbnails } from "../../../domain/ports/thumbnails.ts";
import { isTerminal, type TaskSummary } from "../../../domain/task/task.ts";
import { findAsset } from "../../../service/read-asset.ts";
import { readTask } from "../../../service/read-task.ts";
import { ownFileReply } from "../../assets/routes.ts";
import type { KeyedExchange } from "../../exchange.ts";
import type { Reply } from "../../reply.ts";

export interface ContentDeps {
  readonly tasks: TaskStore;
  readonly assets: Pick<AssetStore, "deliver">;
  readonly thumbnails: Thumbnails;
}

/** What can be read of a video, in that API's words. */
export const VARIANTS = ["video", "thumbnail", "spritesheet"] as const;

const SIZES = {
  video: undefined,
  thumbnail: 640,
  spritesheet: "spritesheet",
} as const satisfies Record<(typeof VARIANTS)[number], ThumbnailSize | undefined>;

/**
 * Answers with the video of a completed task, a part of it, its thumbnail or its spritesheet.
 * @throws AppError `task_not_found`; `not_found` while there is no video, and for one without that picture; `invalid_request`
 */
export async function videoContent(deps: ContentDeps, exchange: KeyedExchange): Promise<Reply> {
  const { request, principal, param, query, isLate } = exchange;
  const size = sizeOf(query().getAll("variant"));
  const task = await readTask(deps, principal, param("video_id"), "video");
  const [result] = task.results;
  if (task.status !== "completed" || result === undefined) throw withoutVideo(task);
  const asset = await findAsset(deps, result.assetId);
  const reply = await ownFileReply(deps, request, asset, { size, isLate });
  return { ...reply, log: { task: task.id, model: task.model } };
}

/** What is asked for in place of the video itself. */
function sizeOf(given: readonly string[]): ThumbnailSize | undefined {
  if (given.length > 1) throw invalid({ kind: "given_twice", field: "variant" });
  const [text = "video"] = given;
  const variant = VARIANTS.find((each) => each === text);
  if (variant === undefined) throw mustBe("variant", { oneOf: VARIANTS }, { json: text });
  return SIZES[variant];
}

function withoutVideo({ id, status }: TaskSummary): AppError {
  const kind = isTerminal(status) ? "video_unmade" : "video_unready";
  return new AppError("not_found", { kind, task: id, status });
}
