import type { AssetStore } from "../../../domain/ports/asset-store.ts";
import { readJsonBody } from "../../body.ts";
import type { KeyedExchange } from "../../exchange.ts";
import type { JsonBody } from "../../read-json.ts";

/** Reads a body whose files are base64 without a header. @throws AppError as `readJsonBody` */
export function readGivenBody(
  { assets }: { readonly assets: Pick<AssetStore, "receive"> },
  exchange: KeyedExchange,
): Promise<JsonBody> {
  return readJsonBody(exchange, { receive: () => assets.receive(), takesBare: true });
}
