import { AppError } from "../../domain/errors.ts";
import { type AccountId, type FileId, isId, type KeyId } from "../../domain/ids.ts";
import type { Clock, Seal } from "../../domain/ports/runtime.ts";

/** What an upload is for. */
export interface UploadTicket {
  readonly id: FileId;
  readonly accountId: AccountId;
  /** The key that asked for it, which the address needs no longer than it is accepted. */
  readonly keyId: KeyId;
  /** How long the file is to stay at most, in seconds. */
  readonly retainSec?: number | undefined;
}

/** Addresses for uploads, which need no key: each contains its purpose and our signature, so none is stored. */
export interface UploadTickets {
  textOf(ticket: UploadTicket): string;
  /** @throws AppError `not_found` for a text that is none, or has ended */
  read(text: string): UploadTicket;
}

/** How long an address can be uploaded to. */
const VALID_MS = 60 * 60 * 1000;

/** `<id>-<account>-<key>-<end in seconds>-<seconds to stay, or 0>-<signature>` */
const TICKET = /^(([0-9a-z]{26})-([0-9a-z]{26})-([0-9a-z]{26})-(\d{1,11})-(\d{1,16}))-([A-Za-z0-9_-]{43})$/;

export function createUploadTickets({
  seal,
  clock,
}: {
  readonly seal: Pick<Seal, "sign" | "isSigned">;
  readonly clock: Pick<Clock, "now">;
}): UploadTickets {
  const signed = (claim: string) => `upload ${claim}`;
  return {
    textOf({ id, accountId, keyId, retainSec = 0 }) {
      const end = Math.ceil((clock.now() + VALID_MS) / 1000);
      const [file, account, key] = [id, accountId, keyId].map((each) => each.slice(each.indexOf("_") + 1));
      const claim = `${file}-${account}-${key}-${end}-${retainSec}`;
      return `${claim}-${seal.sign(signed(claim))}`;
    },
    read(text) {
      const [, claim = "", file, account, key, end, retain, signature = ""] = TICKET.exec(text) ?? [];
      const [id, accountId, keyId] = [`file_${file}`, `acc_${account}`, `key_${key}`];
      const isValid = seal.isSigned(signed(claim), signature) && Number(end) * 1000 > clock.now();
      if (!isValid || !isId("acc", accountId) || !isId("key", keyId))
        throw new AppError("not_found", { kind: "file_unknown" });
      // Safe: only what this function signed comes here, and it signs ids of files.
      return { id: id as FileId, accountId, keyId, ...(Number(retain) > 0 && { retainSec: Number(retain) }) };
    },
  };
}
