import type { Principal } from "../domain/access/account.ts";
import { mustBe } from "../domain/errors.ts";
import type { Json } from "../domain/json.ts";

/**
 * @param retainSec from a create body that its schema accepts
 * @param outputsKeptMs how long the service keeps the files of results; for ever unless given
 * @throws AppError `invalid_request` if the task's files would be kept longer than the key, the account or the service keeps
 * files
 */
export function checkRetention(
  retainSec: Json | undefined,
  outputsKeptMs: number | undefined,
  principal: Pick<Principal, "retainSec">,
): void {
  const ofService = outputsKeptMs === undefined ? undefined : Math.floor(outputsKeptMs / 1000);
  const most = principal.retainSec ?? ofService;
  if (typeof retainSec !== "number" || most === undefined || retainSec <= most) return;
  throw mustBe("retain_seconds", { integer: { least: 1, most } }, retainSec);
}
