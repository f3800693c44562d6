import type { JsonObject } from "../../../domain/json.ts";
import type { AssetStore } from "../../../domain/ports/asset-store.ts";
import type { InlineFiles } from "../../../service/inline-files.ts";
import { readJsonBody } from "../../body.ts";
import type { KeyedExchange } from "../../exchange.ts";

/** A body as it came. */
export interface GivenBody {
  readonly body: JsonObject;
  readonly inlineFiles: InlineFiles | undefined;
  /** Releases the files; those that a task uses stay. */
  release(): Promise<void>;
}

/** Reads a body whose files are base64 without a header. @throws AppError as `readJsonBody` */
export async function readGivenBody(
  { assets }: { readonly assets: Pick<AssetStore, "receive"> },
  exchange: KeyedExchange,
): Promise<GivenBody> {
  const receiver = { receive: () => assets.receive(), takesBare: true };
  const { body, inlineFiles, discard } = await readJsonBody(exchange, receiver);
  return { body, inlineFiles, release: async () => discard?.() };
}
