import type { JsonObject } from "../../../domain/json.ts";
import { readBody } from "../../body.ts";
import type { KeyedExchange } from "../../exchange.ts";
import { json, type Reply } from "../../reply.ts";
import { inOtherWords } from "../create.ts";
import { CHECKPOINT, type CheckpointDeps, chooseCheckpoint, currentTitle } from "./checkpoints.ts";
import { OPTIONS } from "./wire.ts";

/** Settings that clients look at. They are as they are: only the model can be chosen. */
const SETTINGS: JsonObject = {
  ...{ sd_checkpoint_hash: "", sd_vae: "Automatic", CLIP_stop_at_last_layers: 1 },
  ...{ samples_format: "png", samples_save: true, enable_pnginfo: true },
  ...{ return_grid: false, grid_save: false, show_progressbar: true, live_previews_enable: true },
  ...{ face_restoration_model: null, upscaler_for_img2img: "None", img2img_color_correction: false },
};

/** What holds for the key. */
export async function readOptions(deps: CheckpointDeps, { principal }: KeyedExchange): Promise<Reply> {
  return json({ [CHECKPOINT]: (await currentTitle(deps, principal)) ?? null, ...SETTINGS });
}

/** Chooses the model for the key's later requests. Clients send all settings back that they have read; the others stay as they are. */
export async function writeOptions(deps: CheckpointDeps, exchange: KeyedExchange): Promise<Reply> {
  const { [CHECKPOINT]: title } = await readBody<JsonObject>(exchange, OPTIONS);
  if (title !== undefined && title !== null && title !== "")
    await inOtherWords({ model: CHECKPOINT }, () => chooseCheckpoint(deps, exchange.principal, title));
  return json(null);
}
