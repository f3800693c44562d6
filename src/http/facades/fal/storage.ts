import { AppError, invalid } from "../../../domain/errors.ts";
import { MAX_INPUT_BYTES } from "../../../domain/limits.ts";
import type { AccountStore } from "../../../domain/ports/account-store.ts";
import type { AssetStore } from "../../../domain/ports/asset-store.ts";
import {
  requireActiveOwner,
  stageUpload,
  type UploadFileDeps,
  uploadFile,
} from "../../../service/upload-file.ts";
import { readBody } from "../../body.ts";
import type { Endpoint, Exchange, KeyedExchange } from "../../exchange.ts";
import { keyed } from "../../exchange.ts";
import { piecesOf } from "../../files/read-upload.ts";
import { json, type Reply } from "../../reply.ts";
import type { UploadTickets } from "../upload-tickets.ts";
import { retentionIn } from "./headers.ts";
import { BASE } from "./target.ts";
import { BEGIN_FAL_PARTS, BEGIN_FAL_UPLOAD, SEND_FAL_UPLOAD, UPLOAD } from "./wire-storage.ts";

export interface FalStorageDeps extends UploadFileDeps {
  readonly accounts: Pick<AccountStore, "account" | "key">;
  readonly assets: Pick<AssetStore, "stage">;
  readonly uploadTickets: UploadTickets;
}

const STORAGE = `${BASE}/storage/upload`;
const LIFECYCLE = "x-fal-object-lifecycle";
const MOST_BYTES = Math.max(...Object.values(MAX_INPUT_BYTES));

/** Uploads in the way of that API's clients: they request an address, and send the file there. */
export function falStorageEndpoints(deps: FalStorageDeps): Endpoint[] {
  const options = { isCounted: true, sheds: "creates" } as const;
  return [
    keyed("POST", `${STORAGE}/initiate`, BEGIN_FAL_UPLOAD, options, (exchange) => begin(deps, exchange)),
    // Clients send files above 90 MB in parts, and no input here may be that large.
    keyed("POST", `${STORAGE}/initiate-multipart`, BEGIN_FAL_PARTS, options, () => {
      throw new AppError("request_too_large", { kind: "body_too_large", most: MOST_BYTES });
    }),
    {
      ...{ method: "PUT", path: `${STORAGE}/files/:ticket+`, access: "public", contract: SEND_FAL_UPLOAD },
      isSecret: true,
      handle: (exchange: Exchange) => receive(deps, exchange),
    },
  ];
}

interface Wanted {
  readonly file_name?: string;
}

async function begin(deps: FalStorageDeps, exchange: KeyedExchange): Promise<Reply> {
  await readBody<Wanted>(exchange, UPLOAD);
  const { principal, origin, request } = exchange;
  const retainSec = retentionIn(request.headers, LIFECYCLE, (field) =>
    invalid({ kind: "unknown_field", field, owner: "An upload", known: ["expiration_duration_seconds"] }),
  );
  const id = deps.ids.create("file");
  const retains = [retainSec, principal.retainSec].filter((each) => each !== undefined);
  const ticket = deps.uploadTickets.textOf({
    ...{ id, accountId: principal.accountId, keyId: principal.keyId },
    ...(retains.length > 0 && { retainSec: Math.min(...retains) }),
  });
  return json({ upload_url: `${origin}${STORAGE}/files/${ticket}`, file_url: `${origin}/assets/${id}` });
}

async function receive(deps: FalStorageDeps, { param, intakeFor }: Exchange): Promise<Reply> {
  const { id, ...owner } = deps.uploadTickets.read(param("ticket"));
  await requireActiveOwner(deps, owner);
  const staged = await intakeFor(owner.accountId).receive(MOST_BYTES, async (body) => {
    await body.takeFile();
    return stageUpload("file", owner, (options) => deps.assets.stage(piecesOf(body), options));
  });
  try {
    // A slow upload may take longer than key and account are accepted.
    await requireActiveOwner(deps, owner);
  } catch (error) {
    await staged.release(false);
    throw error;
  }
  await uploadFile(deps, { id, owner, staged, field: "file" });
  return json({});
}
