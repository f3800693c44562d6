import { invalid } from "../../../domain/errors.ts";
import type { Slots } from "../../../toolkit/slots.ts";
import { readJsonBody } from "../../body.ts";
import type { KeyedExchange } from "../../exchange.ts";
import { json, type Reply } from "../../reply.ts";
import { check } from "../../wire/check.ts";
import type { DrawDeps } from "./draw.ts";
import { readInfotext } from "./infotext.ts";
import { bytesOfPicture } from "./pictures.ts";
import { textsOf } from "./png-text.ts";
import { PNG_INFO } from "./wire.ts";

/** POST /sdapi/v1/png-info: what a picture says about how it was made. Nothing is stored. */
export async function pngInfo(
  { assets, readings }: Pick<DrawDeps, "assets"> & { readonly readings: Slots },
  exchange: KeyedExchange,
): Promise<Reply> {
  const receive = () => assets.receive();
  const { body, inlineFiles, discard } = await readJsonBody(exchange, { receive, takesBare: true });
  try {
    check(PNG_INFO, body);
    const { image } = body;
    if (typeof image !== "string" || image === "") throw invalid({ kind: "required", field: "image" });
    const read = async () => textsOf(await bytesOfPicture("image", image, inlineFiles));
    const texts = await readings.run(read, exchange.principal.accountId);
    const info = texts.get("parameters") ?? "";
    return json({ info, items: Object.fromEntries(texts), parameters: readInfotext(info) });
  } finally {
    await discard?.();
  }
}
