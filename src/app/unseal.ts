import type { LaneId } from "../domain/ids.ts";
import { type OpenedKey, openKey } from "../runtime/kept-keys.ts";
import { createSecret, type Secret } from "../toolkit/settings/secret.ts";
import { type SecretKeys, sealOf } from "./data-folder.ts";
import { keptKeyOf } from "./settings.ts";

/**
 * Opens the stored keys of accounts. An opened key stays in use even if its file is removed or replaced.
 *
 * @param isReadOnly seals nothing again
 * @param onFault receives why an account's key cannot be used, without a full stop
 */
export function createUnseal(
  config: SecretKeys,
  onFault: (lane: LaneId, fault: string) => void,
  { isReadOnly = false } = {},
) {
  const seal = sealOf(config);
  const opened = new Map<LaneId, Readonly<Record<string, Secret>>>();
  return (lane: LaneId): Readonly<Record<string, Secret>> | undefined => {
    const before = opened.get(lane);
    if (before !== undefined) return before;
    const key = keptKeyOf(config.dataDir, lane);
    const found = openKey(key, seal, { isReadOnly });
    if (found.kind !== "opened") {
      onFault(lane, `the kept key of ${lane} ${faultOf(found, key.path)}`);
      return undefined;
    }
    const all = Object.entries(found.secrets).map(([name, text]) => [name, createSecret(text)] as const);
    const secrets = Object.fromEntries(all);
    opened.set(lane, secrets);
    return secrets;
  };
}

const ANEW = "keep it anew with `svc providers add`";

function faultOf(found: Exclude<OpenedKey, { kind: "opened" }>, path: string): string {
  switch (found.kind) {
    case "absent":
      return `is gone, so it stays off: ${ANEW}`;
    case "unreadable":
      return `cannot be read from ${path}, so it stays off: ${found.reason}`;
    case "spoilt":
      return `is not what svc wrote to ${path}, so it stays off: put the right file back, or ${ANEW}`;
    case "locked":
      return `is sealed with another key, so it stays off: give SVC_SECRET_KEY or SVC_SECRET_KEY_PREVIOUS that key, or ${ANEW}`;
  }
}
