import { statSync } from "node:fs";
import type { AccountSettings } from "../../config/accounts/accounts.ts";
import type { ProviderConfig } from "../../config/providers.ts";
import { keptKeyOf } from "../settings.ts";

/** A text that differs whenever the settings, the accounts or the keys of a provider differ. Nothing can be read from it. */
export function signOf(
  { values, accounts }: Pick<ProviderConfig, "values" | "accounts">,
  { dataDir }: { readonly dataDir: string },
): string {
  // JSON contains masks instead of secrets, so keys are compared separately.
  const plain = [
    values,
    accounts.map((account) => [account, keyOf(account, dataDir), account.proxy?.reveal()]),
  ];
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(plain)).digest("hex");
}

/** The keys of an account, or the state of the file in which they lie sealed. */
function keyOf({ secrets, lane }: AccountSettings, dataDir: string): unknown {
  if (secrets !== undefined) return Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()]);
  const stats = statSync(keptKeyOf(dataDir, lane).path, { throwIfNoEntry: false, bigint: true });
  return stats === undefined ? "" : `${stats.ino} ${stats.mtimeNs} ${stats.size}`;
}
